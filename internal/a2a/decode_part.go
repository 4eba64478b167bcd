package a2a

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

func (d *decoder) parts(raw []byte) []Part {
	var parts []Part
	d.elements(raw, func(v []byte) { parts = append(parts, d.part(v)...) })
	return parts
}

// part reads one part. Usually that is one Part; an agent that puts two kinds of
// content into one part, such as text and data, gets a Part of each.
func (d *decoder) part(raw []byte) []Part {
	if rawjson.KindOf(raw) != rawjson.Object || d.deep && rawjson.Depth(raw) > MaxDepth {
		d.problem("is not a part that can be read")
		return []Part{{Unknown: d.bounded(raw)}}
	}
	var p partReader
	d.members(raw, func(name string, v []byte) { p.member(d, name, v) })
	found := p.found
	if len(found) > 1 {
		found = withoutEmpty(found)
	}
	if len(found) == 0 && rawjson.KindOf(rawjson.Member(raw, "data")) == rawjson.Null {
		found = []Part{{Data: json.RawMessage("null")}}
	}
	if len(found) == 0 {
		d.problem("has no content of a known kind")
		return []Part{{Unknown: json.RawMessage(raw)}}
	}
	if len(found) > 1 {
		d.problem("has several kinds of content; each is kept as a part of its own")
	}
	for i := range found {
		found[i].MediaType, found[i].Filename, found[i].Metadata = p.mediaType, p.filename, p.metadata
	}
	return found
}

// partReader gathers the members of one part.
type partReader struct {
	found               []Part
	mediaType, filename string
	metadata            json.RawMessage
}

func (p *partReader) member(d *decoder, name string, v []byte) {
	switch name {
	case "text":
		if text, ok := rawjson.Text(v); ok {
			p.found = append(p.found, Part{Text: &text})
		} else {
			d.problem("is not a string")
		}
	case "data":
		p.found = append(p.found, Part{Data: v})
	case "url":
		if url := d.text(v); url != "" {
			p.found = append(p.found, Part{URL: url})
		}
	case "raw":
		p.bytes(d, v)
	case "file":
		d.members(v, func(name string, v []byte) { p.fileMember(d, name, v) })
	case "mediaType":
		p.mediaType = d.label(v)
	case "filename":
		p.filename = d.label(v)
	case "metadata":
		p.metadata = d.object(v)
	}
}

// fileMember reads the file object of an A2A 0.3 part.
func (p *partReader) fileMember(d *decoder, name string, v []byte) {
	switch name {
	case "bytes":
		p.bytes(d, v)
	case "uri":
		p.member(d, "url", v)
	case "mimeType":
		p.mediaType = d.label(v)
	case "name":
		p.filename = d.label(v)
	}
}

func (p *partReader) bytes(d *decoder, v []byte) {
	text, ok := rawjson.Text(v)
	if ok {
		var decoded []byte
		if decoded, ok = decodeBase64(text); ok {
			p.found = append(p.found, Part{Raw: decoded})
			return
		}
	}
	d.problem("is not base64")
}

// withoutEmpty drops the empty content that some encoders write beside the real one.
func withoutEmpty(parts []Part) []Part {
	var kept []Part
	for _, p := range parts {
		empty := p.Text != nil && *p.Text == "" || p.Raw != nil && len(p.Raw) == 0
		if !empty {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return parts[:1]
	}
	return kept
}

var base64Alphabet = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", " ", "", "\t", "")

// decodeBase64 reads base64 in either alphabet, padded or not, in lines or not.
func decodeBase64(s string) ([]byte, bool) {
	s = strings.TrimRight(base64Alphabet.Replace(s), "=")
	decoded, err := base64.RawStdEncoding.DecodeString(s)
	return decoded, err == nil
}
