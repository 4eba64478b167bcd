package a2a

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// object writes a JSON object member by member. Values are written exactly as
// they are given, which encoding/json would not do.
type object struct{ buf bytes.Buffer }

func (o *object) raw(name string, value []byte) {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	} else {
		o.buf.WriteByte(',')
	}
	o.buf.Write(quoted(name))
	o.buf.WriteByte(':')
	o.buf.Write(value)
}

func (o *object) string(name, value string) { o.raw(name, quoted(value)) }

// optional writes a string that is not empty.
func (o *object) optional(name, value string) {
	if value != "" {
		o.string(name, value)
	}
}

// optionalRaw writes JSON that is there.
func (o *object) optionalRaw(name string, value []byte) {
	if len(value) > 0 {
		o.raw(name, value)
	}
}

// optionalStrings writes a list that is not empty.
func (o *object) optionalStrings(name string, values []string) {
	if len(values) == 0 {
		return
	}
	items := make([][]byte, len(values))
	for i, v := range values {
		items[i] = quoted(v)
	}
	o.raw(name, list(items))
}

func (o *object) bytes() []byte {
	if o.buf.Len() == 0 {
		return []byte("{}")
	}
	o.buf.WriteByte('}')
	return o.buf.Bytes()
}

func list(items [][]byte) []byte {
	size := len("[]") + len(items)
	for _, item := range items {
		size += len(item)
	}
	out := append(make([]byte, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// quoted returns s as a JSON string, without the escapes that encoding/json adds
// for HTML. Bytes that are not UTF-8 become U+FFFD.
func quoted(s string) []byte {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func base64String(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
