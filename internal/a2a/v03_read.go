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
	w := v03Reader{v: v}
	w.out.Grow(len(raw) + len(`{"artifactUpdate":}`))
	if !wrapped {
		w.out.WriteByte('{')
		w.member(name, value, w.event(name))
		w.out.WriteByte('}')
		return w.out.Bytes()
	}
	w.object(raw, func(member string, value []byte) bool {
		return member == name && rawjson.KindOf(value) == rawjson.Object && w.member(name, value, w.event(name))
	})
	return w.out.Bytes()
}

// v03Reader writes an event of A2A 1.0, all of it into one buffer: what agents send
// may be large, and a copy for every level of it would cost several times that.
type v03Reader struct {
	v   V03
	out bytes.Buffer
}

// object writes an object member by member: those that change does not write or
// leave out as they are. What is no object is written as it is.
func (w *v03Reader) object(raw []byte, change func(name string, value []byte) (done bool)) {
	if rawjson.KindOf(raw) != rawjson.Object {
		w.out.Write(raw)
		return
	}
	w.out.WriteByte('{')
	for name, value := range rawjson.Members(raw) {
		if !change(name, value) {
			w.raw(name, value)
		}
	}
	w.out.WriteByte('}')
}

// raw writes a member of an object as it is.
func (w *v03Reader) raw(name string, value []byte) bool {
	w.name(name)
	w.out.Write(value)
	return true
}

// member writes a member of an object by way of write.
func (w *v03Reader) member(name string, value []byte, write func([]byte)) bool {
	w.name(name)
	write(value)
	return true
}

func (w *v03Reader) name(name string) {
	if written := w.out.Bytes(); written[len(written)-1] != '{' { // no value ends like that
		w.out.WriteByte(',')
	}
	w.out.Write(quoted(name))
	w.out.WriteByte(':')
}

// each writes an array element by element. What is no array is written as it is.
func (w *v03Reader) each(raw []byte, write func([]byte)) {
	if rawjson.KindOf(raw) != rawjson.Array {
		w.out.Write(raw)
		return
	}
	w.out.WriteByte('[')
	first := true
	for element := range rawjson.Elements(raw) {
		if !first {
			w.out.WriteByte(',')
		}
		first = false
		write(element)
	}
	w.out.WriteByte(']')
}

func (w *v03Reader) event(name string) func([]byte) {
	switch name {
	case "task":
		return w.task
	case "message":
		return w.message
	default:
		return w.update
	}
}

func (w *v03Reader) task(raw []byte) {
	w.object(raw, func(name string, value []byte) bool {
		switch name {
		case "kind":
			return isKind(value)
		case "status":
			return w.member(name, value, w.status)
		case "artifacts":
			return w.member(name, value, func(all []byte) { w.each(all, w.artifact) })
		case "history":
			return w.member(name, value, func(all []byte) { w.each(all, w.message) })
		}
		return false
	})
}

// update writes a status update or an artifact update.
func (w *v03Reader) update(raw []byte) {
	w.object(raw, func(name string, value []byte) bool {
		switch name {
		case "kind":
			return isKind(value)
		case "status":
			return w.member(name, value, w.status)
		case "artifact":
			return w.member(name, value, w.artifact)
		}
		return false
	})
}

func (w *v03Reader) status(raw []byte) {
	w.object(raw, func(name string, value []byte) bool {
		switch name {
		case "state":
			text, ok := rawjson.Text(value)
			return ok && ParseState(text).Known() && w.raw(name, quoted(string(ParseState(text))))
		case "message":
			return w.member(name, value, w.message)
		}
		return false
	})
}

func (w *v03Reader) message(raw []byte) {
	hasParts := rawjson.Member(raw, "parts") != nil
	w.object(raw, func(name string, value []byte) bool {
		switch name {
		case "kind":
			return isKind(value)
		case "role":
			text, _ := rawjson.Text(value)
			isRole := text == string(RoleUser) || text == string(RoleAgent)
			return isRole && w.raw(name, quoted(Role(text).wire()))
		case "parts":
			return w.member(name, value, w.parts)
		case "content":
			return !hasParts && w.member("parts", value, w.parts)
		}
		return false
	})
}

func (w *v03Reader) artifact(raw []byte) {
	w.object(raw, func(name string, value []byte) bool {
		return name == "parts" && w.member(name, value, w.parts)
	})
}

func (w *v03Reader) parts(raw []byte) { w.each(raw, w.part) }

// part writes a part of text, data or a file. One of another kind stays as it is.
func (w *v03Reader) part(raw []byte) {
	kind, hasKind := rawjson.Text(rawjson.Member(raw, "kind"))
	if rawjson.KindOf(raw) != rawjson.Object || hasKind && kind != "text" && kind != "data" && kind != "file" {
		w.out.Write(raw)
		return
	}
	metadata := rawjson.Member(raw, "metadata")
	wrapped := string(bytes.TrimSpace(rawjson.Member(metadata, metadataWrapped))) == "true"
	mediaType, hasMediaType := rawjson.Text(rawjson.Member(metadata, metadataMediaType))
	w.out.WriteByte('{')
	for name, value := range rawjson.Members(raw) {
		switch name {
		case "kind":
		case "file":
			hasMediaType = w.file(value) && hasMediaType
		case "data":
			w.raw(name, w.v.data(value, hasKind, wrapped))
		case "mediaType":
			hasMediaType = false
			w.raw(name, value)
		case "metadata":
			w.name(name)
			if wrapped {
				w.object(value, func(name string, _ []byte) bool { return name == metadataWrapped })
			} else {
				w.out.Write(value)
			}
		default:
			w.raw(name, value)
		}
	}
	if hasMediaType {
		w.raw("mediaType", quoted(mediaType))
	}
	w.out.WriteByte('}')
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
func (w *v03Reader) file(file []byte) (untyped bool) {
	untyped = true
	if rawjson.KindOf(file) != rawjson.Object {
		w.raw("file", file)
		return untyped
	}
	var rest object
	for name, value := range rawjson.Members(file) {
		switch name {
		case "bytes":
			w.raw("raw", value)
		case "fileWithBytes":
			w.raw("raw", innerBase64(value))
		case "uri", "fileWithUri":
			w.raw("url", value)
		case "mimeType":
			text, _ := rawjson.Text(value)
			untyped = text == ""
			w.raw("mediaType", value)
		case "name":
			w.raw("filename", value)
		default:
			rest.raw(name, value)
		}
	}
	if rest.buf.Len() > 0 {
		w.raw("file", rest.bytes())
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

// isKind reports a discriminator that tells nothing more.
func isKind(value []byte) bool {
	text, _ := rawjson.Text(value)
	return kinds[text] != ""
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
