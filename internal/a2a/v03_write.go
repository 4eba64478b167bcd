package a2a

import (
	"encoding/json"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// Message returns a message as A2A 0.3 sends it: data and metadata exactly as they
// are given. A part's media type goes into its metadata as "mediaType", since 0.3
// has a member for that of files alone; the file name of a part that is no file is
// left out. It fails for what WireMessage fails for.
func (v V03) Message(m Message) (json.RawMessage, error) {
	parts := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		part, err := v.wirePart(p)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		parts[i] = part
	}
	if err := checkObject(m.Metadata); err != nil {
		return nil, err
	}
	var o object
	if v == V03JSONRPC {
		o.string("kind", "message")
	}
	o.string("messageId", m.MessageID)
	o.optional("contextId", m.ContextID)
	o.optional("taskId", m.TaskID)
	if v == V03JSONRPC {
		o.string("role", string(m.Role.orUser()))
		o.raw("parts", list(parts))
	} else {
		o.string("role", m.Role.wire())
		o.raw("content", list(parts))
	}
	o.optionalRaw("metadata", m.Metadata)
	o.optionalStrings("extensions", m.Extensions)
	o.optionalStrings("referenceTaskIds", m.ReferenceTaskIDs)
	return o.bytes(), nil
}

func (v V03) wirePart(p Part) ([]byte, error) {
	if err := p.sendable(); err != nil {
		return nil, err
	}
	var o object
	metadata := p.Metadata
	switch {
	case p.Text != nil:
		v.kind(&o, "text")
		o.string("text", *p.Text)
		if p.MediaType != "text/plain" {
			metadata = withText(metadata, metadataMediaType, p.MediaType)
		}
	case p.Data != nil:
		v.kind(&o, "data")
		metadata = v.writeData(&o, p.Data, metadata)
		metadata = withText(metadata, metadataMediaType, p.MediaType)
	default:
		v.kind(&o, "file")
		o.raw("file", v.wireFile(p))
	}
	o.optionalRaw("metadata", metadata)
	return o.bytes(), nil
}

func (v V03) kind(o *object, kind string) {
	if v == V03JSONRPC {
		o.string("kind", kind)
	}
}

// writeData writes data, which has to be an object in A2A 0.3, and returns the
// metadata that says how it was wrapped.
func (v V03) writeData(o *object, data, metadata []byte) []byte {
	if rawjson.KindOf(data) != rawjson.Object {
		data = Wrap("value", data)
		metadata = with(metadata, metadataWrapped, []byte("true"))
	}
	if v == V03HTTPJSON {
		data = Wrap("data", data)
	}
	o.raw("data", data)
	return metadata
}

func (v V03) wireFile(p Part) []byte {
	var o object
	bytes, uri := "bytes", "uri"
	encoded := base64String(p.Raw)
	if v == V03HTTPJSON {
		bytes, uri = "fileWithBytes", "fileWithUri"
		encoded = base64String([]byte(encoded))
	}
	if p.URL != "" {
		o.string(uri, p.URL)
	} else {
		o.string(bytes, encoded)
	}
	o.optional("mimeType", p.MediaType)
	o.optional("name", p.Filename)
	return o.bytes()
}

// withText returns metadata with a text added to it, unless the text is empty.
func withText(metadata []byte, name, text string) []byte {
	if text == "" {
		return metadata
	}
	return with(metadata, name, quoted(text))
}

// with returns metadata with a member added to it, unless it has one of that name.
func with(metadata []byte, name string, value []byte) []byte {
	var o object
	for n, v := range rawjson.Members(metadata) {
		if n == name {
			return metadata
		}
		o.raw(n, v)
	}
	o.raw(name, value)
	return o.bytes()
}
