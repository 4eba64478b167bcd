package scheme

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxKnown is how many values a Redactor looks for: those that were used last.
const maxKnown = 32

const redaction = "[redacted]"

// Redactor replaces the secrets of one agent in what is kept of its exchanges.
// The zero value knows none. It is safe for concurrent use.
//
// It finds a secret as it is and in the encodings that it usually travels in:
// URL encoding, the escapes of JSON and HTML, base64 of any alignment and
// alphabet, and hexadecimal digits. An agent that wants to give away what it was
// sent can always find another.
type Redactor struct {
	mu    sync.Mutex
	known []string // those used last at the end
	find  atomic.Pointer[finders]
}

type finders struct {
	all     *finder
	numeric *finder // for numbers of JSON, which must stay numbers
	names   *finder // for names of headers, in lower case
}

// Learn makes the redactor look for values. Those under MinSecret bytes are
// ignored.
func (r *Redactor) Learn(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := false
	for _, v := range values {
		if len(v) < MinSecret {
			continue
		}
		if i := slices.Index(r.known, v); i >= 0 {
			r.known = append(slices.Delete(r.known, i, i+1), v)
			continue
		}
		if r.known = append(r.known, v); len(r.known) > maxKnown {
			r.known = slices.Delete(r.known, 0, 1)
		}
		changed = true
	}
	if changed {
		r.find.Store(newFinders(r.known))
	}
}

func newFinders(values []string) *finders {
	var all, numeric, names []needle
	for _, v := range values {
		for _, form := range forms(v) {
			all = append(all, needle{form, redaction})
			names = append(names, needle{string(lowerASCII([]byte(form))), redaction})
			if strings.Trim(form, "0123456789+-.eE") == "" {
				numeric = append(numeric, needle{form, strings.Repeat("9", len(form))})
			}
		}
	}
	return &finders{all: newFinder(all), numeric: newFinder(numeric), names: newFinder(names)}
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string { return string(r.Bytes([]byte(s))) }

// Header returns a copy of h without secrets. In names, which lose their case on
// the way, a secret is found in any; the values of names that become the same are
// together under it.
func (r *Redactor) Header(h http.Header) http.Header {
	find := r.find.Load()
	if find == nil || h == nil {
		return h.Clone()
	}
	out := make(http.Header, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		clean := find.name(name)
		if _, ok := out[clean]; !ok {
			out[clean] = make([]string, 0, len(h[name]))
		}
		for _, v := range h[name] {
			out[clean] = append(out[clean], r.Text(v))
		}
	}
	return out
}

// name redacts the name of a header.
func (f *finders) name(name string) string {
	clean, _ := f.names.replaceAs([]byte(name), lowerASCII([]byte(name)), samePlace)
	return string(clean)
}

// lowerASCII returns b in lower case, as long as b is.
func lowerASCII(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// Bytes returns b without secrets: b itself, unchanged, if there are none in it.
// JSON stays JSON, and everything in it that holds no secret stays as it is. What
// is not JSON, or not all of it, may still be read as JSON later: its escapes are
// looked behind, too.
func (r *Redactor) Bytes(b []byte) []byte {
	find := r.find.Load()
	if find == nil {
		return b
	}
	if _, found := find.all.replace(b); !found && bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	if json.Valid(b) {
		return find.json(b)
	}
	clean, _ := find.all.replaceText(b)
	return clean
}

// json redacts a valid JSON text: each string by what it says, however it is
// escaped, and numbers.
func (f *finders) json(b []byte) []byte {
	var out []byte // nil as long as nothing is replaced
	done := 0      // what of b is in out
	put := func(from, to int, with []byte) {
		out = append(append(out, b[done:from]...), with...)
		done = to
	}
	for i := 0; i < len(b); {
		end := i
		if b[i] == '"' {
			end = stringEnd(b, i)
			if with, found := f.jsonString(b[i:end]); found {
				put(i, end, with)
			}
		} else {
			if end = bytes.IndexByte(b[i:], '"') + i; end < i {
				end = len(b)
			}
			if with, found := f.numeric.replace(b[i:end]); found {
				put(i, end, with)
			}
		}
		i = end
	}
	if out == nil {
		return b
	}
	return append(out, b[done:]...)
}

// stringEnd returns where the JSON string that begins at b[start] ends.
func stringEnd(b []byte, start int) int {
	for i := start + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// jsonString redacts a JSON string, given with its quotes.
func (f *finders) jsonString(quoted []byte) ([]byte, bool) {
	if len(quoted) < MinSecret+2 {
		return nil, false
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return f.all.replace(quoted)
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil, false // it is part of valid JSON
	}
	clean, found := f.all.replaceText([]byte(text))
	if !found {
		return nil, false
	}
	return jsonText(string(clean), false), true
}

// jsonText returns s as a JSON string.
func jsonText(s string, escapeHTML bool) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(s) // a string can be encoded
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
