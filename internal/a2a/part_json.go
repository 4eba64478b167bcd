package a2a

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// MarshalJSON writes a part as the console's API has it: the A2A 1.0 JSON, with
// "artifact" {sha256, size} in place of bytes that are kept outside, and
// {"unknown": …} for a part of no known kind. Bytes that are still with the part
// are written as "raw", in base64.
//
// Data keeps its member order and digits. Note that json.Marshal compacts what it
// is given here and escapes <, > and & in it; an encoder with SetEscapeHTML(false)
// does not escape.
func (p Part) MarshalJSON() ([]byte, error) {
	var o object
	if p.Unknown != nil {
		o.raw("unknown", p.Unknown)
		return o.bytes(), nil
	}
	if p.Artifact != nil {
		blob, err := json.Marshal(p.Artifact)
		if err != nil {
			return nil, err
		}
		o.raw("artifact", blob)
	}
	p.writeContent(&o)
	p.writeLabels(&o)
	return o.bytes(), nil
}

// writeContent writes the content that A2A 1.0 has a member for.
func (p Part) writeContent(o *object) {
	switch {
	case p.Text != nil:
		o.string("text", *p.Text)
	case p.Data != nil:
		o.raw("data", p.Data)
	case p.URL != "":
		o.string("url", p.URL)
	case p.Raw != nil:
		o.string("raw", base64String(p.Raw))
	}
}

func (p Part) writeLabels(o *object) {
	o.optional("mediaType", p.MediaType)
	o.optional("filename", p.Filename)
	o.optionalRaw("metadata", p.Metadata)
}

// UnmarshalJSON reads a part as MarshalJSON writes it, and as callers of the API
// give it. It is strict: exactly one kind of content, no other members. An error
// is a *fault.Error of kind Invalid whose Field names the member by a JSON Pointer
// into the part.
func (p *Part) UnmarshalJSON(raw []byte) error {
	if rawjson.KindOf(raw) != rawjson.Object {
		return invalidPart("", "A part is a JSON object.")
	}
	raw = bytes.Clone(raw)
	var read Part
	contents := 0
	for name, value := range rawjson.Members(raw) {
		isContent, err := read.setMember(name, value)
		if err != nil {
			return err
		}
		if isContent {
			contents++
		}
	}
	if contents != 1 {
		return invalidPart("", "A part has exactly one of text, data, url, raw and artifact.")
	}
	if read.Unknown != nil && (read.MediaType != "" || read.Filename != "" || read.Metadata != nil) {
		return invalidPart("", "A part that is unknown has no other members.")
	}
	*p = read
	return nil
}

// setMember sets one member, and reports whether it is content.
func (p *Part) setMember(name string, value []byte) (isContent bool, err error) {
	switch name {
	case "text":
		text, err := stringMember(name, value)
		p.Text = &text
		return true, err
	case "data":
		p.Data = value
		return true, checkDepth(name, value)
	case "url":
		p.URL, err = stringMember(name, value)
		if err == nil && p.URL == "" {
			err = invalidPart("/url", "An address is expected.")
		}
		return true, err
	case "raw":
		p.Raw, err = bytesMember(name, value)
		return true, err
	case "artifact":
		p.Artifact, err = blobMember(value)
		return true, err
	case "unknown":
		p.Unknown = value
		return true, checkDepth(name, value)
	case "mediaType":
		p.MediaType, err = labelMember(name, value)
	case "filename":
		p.Filename, err = labelMember(name, value)
	case "metadata":
		p.Metadata, err = objectMember(name, value)
	default:
		err = invalidPart("/"+pointerEscape.Replace(cut(name, 100)), "A part has no member of this name.")
	}
	return false, err
}

func invalidPart(location, message string) error {
	return &fault.Error{
		Kind:    fault.Invalid,
		Message: "A part is not as it should be.",
		Fields:  []fault.Field{{Location: location, Message: message}},
	}
}

func stringMember(name string, value []byte) (string, error) {
	if s, ok := rawjson.Text(value); ok {
		return s, nil
	}
	return "", invalidPart("/"+name, "A string is expected.")
}

func labelMember(name string, value []byte) (string, error) {
	s, err := stringMember(name, value)
	if err == nil && (len(s) > maxID || hasControl(s)) {
		err = invalidPart("/"+name, fmt.Sprintf("One line of at most %d bytes is expected.", maxID))
	}
	return s, err
}

func bytesMember(name string, value []byte) ([]byte, error) {
	s, ok := rawjson.Text(value)
	if ok {
		if decoded, ok := decodeBase64(s); ok {
			return decoded, nil
		}
	}
	return nil, invalidPart("/"+name, "Bytes in base64 are expected.")
}

func objectMember(name string, value []byte) (json.RawMessage, error) {
	if rawjson.KindOf(value) != rawjson.Object {
		return nil, invalidPart("/"+name, "A JSON object is expected.")
	}
	return value, checkDepth(name, value)
}

func checkDepth(name string, value []byte) error {
	if rawjson.Depth(value) > MaxDepth {
		return invalidPart("/"+name, fmt.Sprintf("At most %d levels of nesting are allowed.", MaxDepth))
	}
	return nil
}

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

func blobMember(value []byte) (*Blob, error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	var blob Blob
	if err := decoder.Decode(&blob); err != nil || !sha256Pattern.MatchString(blob.SHA256) || blob.Size < 0 || blob.Limit < 0 {
		return nil, invalidPart("/artifact", "An object of sha256 (64 lower-case hexadecimal digits) and size (bytes) is expected.")
	}
	return &blob, nil
}
