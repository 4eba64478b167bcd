package a2a

import (
	"bytes"
	"encoding/json"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// V03 is one of the two ways in which A2A 0.3 writes its objects.
type V03 int

// JSON-RPC has the types of the specification: "kind" tells them apart.
// HTTP+JSON has the JSON of its protocol buffers: a message's parts are its
// content, data stands in a data object, and bytes are in base64 twice.
const (
	V03JSONRPC V03 = iota
	V03HTTPJSON
)

// What A2A 0.3 has no member for goes into a part's metadata.
const (
	metadataMediaType = "mediaType"        // of a part that is no file, as agents that ask with forms write it
	metadataWrapped   = "data_part_compat" // true: the data is no object, and stands in one as "value"
)

// Event returns what an agent of A2A 0.3 said, valid JSON, as a StreamResponse of
// A2A 1.0. Members that both versions have, and those that neither knows, keep
// their bytes; the discriminator "kind" is left out where the place of an object
// says as much. Anything but a task, message, status update or artifact update is
// returned as it is.
func (v V03) Event(raw json.RawMessage) json.RawMessage {
	name, value, wrapped := eventMember(raw)
	if name == "" {
		return raw
	}
	translated := v.event(name, value)
	if !wrapped {
		return Wrap(name, translated)
	}
	return rewritten(raw, func(member string, value []byte) (string, []byte) {
		if member == name && rawjson.KindOf(value) == rawjson.Object {
			return name, translated
		}
		return member, value
	})
}

func (v V03) event(name string, raw []byte) []byte {
	switch name {
	case "task":
		return v.task(raw)
	case "message":
		return v.message(raw)
	default:
		return v.update(raw)
	}
}

func (v V03) task(raw []byte) []byte {
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		switch name {
		case "kind":
			return name, unlessKind(value)
		case "status":
			value = v.status(value)
		case "artifacts":
			value = eachRewritten(value, v.artifact)
		case "history":
			value = eachRewritten(value, v.message)
		}
		return name, value
	})
}

// update translates a status update or an artifact update.
func (v V03) update(raw []byte) []byte {
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		switch name {
		case "kind":
			return name, unlessKind(value)
		case "status":
			value = v.status(value)
		case "artifact":
			value = v.artifact(value)
		}
		return name, value
	})
}

func (v V03) status(raw []byte) []byte {
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		switch name {
		case "state":
			if text, ok := rawjson.Text(value); ok && ParseState(text).Known() {
				value = quoted(string(ParseState(text)))
			}
		case "message":
			value = v.message(value)
		}
		return name, value
	})
}

func (v V03) message(raw []byte) []byte {
	hasParts := rawjson.Member(raw, "parts") != nil
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		switch name {
		case "kind":
			return name, unlessKind(value)
		case "role":
			if text, ok := rawjson.Text(value); ok && (text == string(RoleUser) || text == string(RoleAgent)) {
				value = quoted(Role(text).wire())
			}
		case "parts":
			value = eachRewritten(value, v.part)
		case "content":
			if !hasParts {
				return "parts", eachRewritten(value, v.part)
			}
		}
		return name, value
	})
}

func (v V03) artifact(raw []byte) []byte {
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		if name == "parts" {
			value = eachRewritten(value, v.part)
		}
		return name, value
	})
}

// part translates a part of text, data or a file. One of another kind stays as it is.
func (v V03) part(raw []byte) []byte {
	kind, hasKind := rawjson.Text(rawjson.Member(raw, "kind"))
	if rawjson.KindOf(raw) != rawjson.Object || hasKind && kind != "text" && kind != "data" && kind != "file" {
		return raw
	}
	metadata := rawjson.Member(raw, "metadata")
	wrapped := string(bytes.TrimSpace(rawjson.Member(metadata, metadataWrapped))) == "true"
	mediaType, hasMediaType := rawjson.Text(rawjson.Member(metadata, metadataMediaType))
	var o object
	for name, value := range rawjson.Members(raw) {
		switch name {
		case "kind":
		case "file":
			hasMediaType = v.file(&o, value) && hasMediaType
		case "data":
			o.raw("data", v.data(value, hasKind, wrapped))
		case "mediaType":
			hasMediaType = false
			o.raw(name, value)
		case "metadata":
			if wrapped {
				value = without(value, metadataWrapped)
			}
			o.raw(name, value)
		default:
			o.raw(name, value)
		}
	}
	if hasMediaType {
		o.string("mediaType", mediaType)
	}
	return o.bytes()
}

// data takes a data part's value out of what it is wrapped in.
func (v V03) data(value []byte, hasKind, wrapped bool) []byte {
	if v == V03HTTPJSON && !hasKind {
		if inner, only := onlyMember(value, "data"); only {
			value = inner
		}
	}
	if wrapped {
		if inner := rawjson.Member(value, "value"); inner != nil {
			value = inner
		}
	}
	return value
}

// file writes a file's members into its part, what is not known of them still
// under "file", and reports whether the file has no media type.
func (v V03) file(o *object, file []byte) (untyped bool) {
	untyped = true
	if rawjson.KindOf(file) != rawjson.Object {
		o.raw("file", file)
		return untyped
	}
	var rest object
	for name, value := range rawjson.Members(file) {
		switch name {
		case "bytes":
			o.raw("raw", value)
		case "fileWithBytes":
			o.raw("raw", innerBase64(value))
		case "uri", "fileWithUri":
			o.raw("url", value)
		case "mimeType":
			text, _ := rawjson.Text(value)
			untyped = text == ""
			o.raw("mediaType", value)
		case "name":
			o.raw("filename", value)
		default:
			rest.raw(name, value)
		}
	}
	if rest.buf.Len() > 0 {
		o.raw("file", rest.bytes())
	}
	return untyped
}

// innerBase64 returns the base64 that is inside of base64. Some agents encode
// once: what is inside then is no base64, short texts aside.
func innerBase64(value []byte) []byte {
	outer, ok := rawjson.Text(value)
	if !ok {
		return value
	}
	inner, ok := decodeBase64(outer)
	if !ok || len(inner) == 0 || len(inner)%4 != 0 {
		return value
	}
	if _, ok := decodeBase64(string(inner)); !ok {
		return value
	}
	return quoted(string(inner))
}

// unlessKind returns nil for a discriminator that tells nothing more.
func unlessKind(value []byte) []byte {
	if text, _ := rawjson.Text(value); kinds[text] != "" {
		return nil
	}
	return value
}

// rewritten returns an object with its members as change returns them; one whose
// value is nil is left out. What is no object is returned as it is.
func rewritten(raw []byte, change func(name string, value []byte) (string, []byte)) []byte {
	if rawjson.KindOf(raw) != rawjson.Object {
		return raw
	}
	var o object
	for name, value := range rawjson.Members(raw) {
		if name, value = change(name, value); value != nil {
			o.raw(name, value)
		}
	}
	return o.bytes()
}

// eachRewritten returns an array with its elements as change returns them. What is
// no array is returned as it is.
func eachRewritten(raw []byte, change func([]byte) []byte) []byte {
	if rawjson.KindOf(raw) != rawjson.Array {
		return raw
	}
	items := [][]byte{}
	for item := range rawjson.Elements(raw) {
		items = append(items, change(item))
	}
	return list(items)
}

func without(raw []byte, member string) []byte {
	return rewritten(raw, func(name string, value []byte) (string, []byte) {
		if name == member {
			value = nil
		}
		return name, value
	})
}

// onlyMember returns the value of an object's member if it has no other.
func onlyMember(raw []byte, member string) (value []byte, only bool) {
	for name, v := range rawjson.Members(raw) {
		if name != member || value != nil {
			return nil, false
		}
		value = v
	}
	return value, value != nil
}
