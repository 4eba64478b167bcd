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

// How many values a Redactor looks for: those that it heard of last.
const (
	maxLasting = 32 // that credentials have or had
	maxIssued  = 16 // that were issued for a while, such as access tokens
)

const redaction = "[redacted]"

// Redactor replaces the secrets of one agent in what is kept of its exchanges.
// The zero value knows none. It is safe for concurrent use.
//
// It finds a secret however its characters are spelled, each as it is or as an
// escape of URLs, HTML or JSON, up to four within each other; as base64 of any
// alignment and alphabet, in lines or not; as hexadecimal digits, with or without
// something between them; and as one of these in base64 or hexadecimal digits. An
// agent that wants to give away what it was sent can always find another.
type Redactor struct {
	mu      sync.Mutex
	lasting recent
	issued  recent
	find    atomic.Pointer[matchers]
}

type matchers struct {
	all     *matcher
	numeric *matcher // for numbers of JSON, which must stay numbers
	names   *matcher // for names of headers, which lose their case
}

// Remember makes the redactor look for the secrets of a credential, that of now or
// one that has ended. Those under MinSecret bytes are ignored.
func (r *Redactor) Remember(values ...string) { r.learn(&r.lasting, maxLasting, values) }

// Learn makes the redactor look for values that were issued for a while. However many
// there are, none takes the place of what Remember was given. Those under MinSecret
// bytes are ignored.
func (r *Redactor) Learn(values ...string) { r.learn(&r.issued, maxIssued, values) }

func (r *Redactor) learn(list *recent, most int, values []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := false
	for _, v := range values {
		if len(v) >= MinSecret && list.put(v, most) {
			changed = true
		}
	}
	if changed {
		known := slices.Concat(r.lasting, r.issued)
		r.find.Store(&matchers{all: newMatcher(known, false), numeric: newNumberMatcher(known), names: newMatcher(known, true)})
	}
}

// recent are values, those used last at the end.
type recent []string

// put adds a value, and reports whether it is new.
func (r *recent) put(v string, most int) bool {
	if i := slices.Index(*r, v); i >= 0 {
		*r = append(slices.Delete(*r, i, i+1), v)
		return false
	}
	if *r = append(*r, v); len(*r) > most {
		*r = slices.Delete(*r, 0, 1)
	}
	return true
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
		clean := string(find.names.replace([]byte(name)))
		if _, ok := out[clean]; !ok {
			out[clean] = make([]string, 0, len(h[name]))
		}
		for _, v := range h[name] {
			out[clean] = append(out[clean], r.Text(v))
		}
	}
	return out
}

// Bytes returns b without secrets: b itself, unchanged, if there are none in it.
// JSON stays JSON, and everything in it that holds no secret stays as it is.
func (r *Redactor) Bytes(b []byte) []byte {
	find := r.find.Load()
	if find == nil {
		return b
	}
	spans := find.all.spans(b)
	if len(spans) == 0 {
		return b
	}
	if text, marked := bytes.CutPrefix(b, []byte("\uFEFF")); json.Valid(text) {
		clean := find.json(text)
		if marked {
			clean = append([]byte("\uFEFF"), clean...)
		}
		return clean
	}
	return replaced(b, spans, mask)
}

// replace returns b with every needle replaced; b itself if there is none.
func (m *matcher) replace(b []byte) []byte { return replaced(b, m.spans(b), mask) }

func mask(span) string { return redaction }

// nines keep a number one, as long as it was.
func nines(s span) string { return strings.Repeat("9", s.to-s.from) }

// replaced returns b with something else in the place of each span; b itself if
// there is none.
func replaced(b []byte, spans []span, with func(span) string) []byte {
	if len(spans) == 0 {
		return b
	}
	var out []byte
	done := 0
	for _, s := range spans {
		out = append(append(out, b[done:s.from]...), with(s)...)
		done = s.to
	}
	return append(out, b[done:]...)
}

// json redacts a valid JSON text: each string by what it says, however it is
// escaped, and numbers.
func (f *matchers) json(b []byte) []byte {
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
			if spans := f.numeric.spans(b[i:end]); len(spans) > 0 {
				put(i, end, replaced(b[i:end], spans, nines))
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
func (f *matchers) jsonString(quoted []byte) ([]byte, bool) {
	if len(quoted) < MinSecret+2 {
		return nil, false
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil, false // it is part of valid JSON
	}
	spans := f.all.spans([]byte(text))
	if len(spans) == 0 {
		return nil, false
	}
	return jsonText(string(replaced([]byte(text), spans, mask)), false), true
}

// jsonText returns s as a JSON string.
func jsonText(s string, escapeHTML bool) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(s) // a string can be encoded
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
