package scheme

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// needle is a text to look for, and what takes its place.
type needle struct{ text, mask string }

// finder looks for many texts at once, in one pass. Two bytes tell whether any
// can begin at a place, which is hardly ever the case.
type finder struct {
	starts  [1 << 16 / 64]uint64
	needles map[uint16][]needle // by their first two bytes, longest first
}

func newFinder(needles []needle) *finder {
	f := &finder{needles: make(map[uint16][]needle)}
	slices.SortFunc(needles, func(a, b needle) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	for _, n := range slices.Compact(needles) {
		start := pair(n.text[0], n.text[1])
		f.starts[start/64] |= 1 << (start % 64)
		f.needles[start] = append(f.needles[start], n)
	}
	return f
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// replace returns b with every needle replaced; b itself and false if there is none.
func (f *finder) replace(b []byte) ([]byte, bool) {
	return f.replaceAs(b, b, samePlace)
}

func samePlace(from, to int) (begin, end int) { return from, to }

// replaceAs is replace for needles that are in another reading of b. A place in it
// is the one in b that place returns for it; places are asked for in order.
func (f *finder) replaceAs(b, reading []byte, place func(from, to int) (int, int)) ([]byte, bool) {
	if len(f.needles) == 0 {
		return b, false
	}
	var out []byte
	done, found := 0, false
	for i := 0; i+1 < len(reading); i++ {
		start := pair(reading[i], reading[i+1])
		if f.starts[start/64]&(1<<(start%64)) == 0 {
			continue
		}
		for _, n := range f.needles[start] {
			if len(reading)-i >= len(n.text) && string(reading[i:i+len(n.text)]) == n.text {
				begin, end := place(i, i+len(n.text))
				out = append(append(out, b[done:begin]...), n.mask...)
				done, found = end, true
				i += len(n.text) - 1
				break
			}
		}
	}
	if !found {
		return b, false
	}
	return append(out, b[done:]...), true
}

// replaceText is replace for text that may have escapes of JSON in it: needles are
// found as they are, and as what the text says.
func (f *finder) replaceText(b []byte) ([]byte, bool) {
	clean, found := f.replace(b)
	if bytes.IndexByte(clean, '\\') < 0 {
		return clean, found
	}
	places := escapedPlaces{text: clean}
	clean, more := f.replaceAs(clean, unescaped(clean), places.place)
	return clean, found || more
}

// forms returns a value in every encoding that it is looked for in.
func forms(value string) []string {
	inQuotes := func(escapeHTML bool) string {
		quoted := jsonText(value, escapeHTML)
		return string(quoted[1 : len(quoted)-1])
	}
	digits := hex.EncodeToString([]byte(value))
	query, path := url.QueryEscape(value), url.PathEscape(value)
	all := []string{
		value, inQuotes(false), inQuotes(true), html.EscapeString(value),
		query, path, lowerEscapes(query), lowerEscapes(path),
		digits, strings.ToUpper(digits),
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		unpadded := encoding.WithPadding(base64.NoPadding)
		all = append(all, encoding.EncodeToString([]byte(value)), unpadded.EncodeToString([]byte(value)))
		for before := range 3 {
			all = append(all, base64Core(encoding, value, before))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < MinSecret })
}

var escapes = regexp.MustCompile(`%[0-9A-F]{2}`)

func lowerEscapes(s string) string { return escapes.ReplaceAllStringFunc(s, strings.ToLower) }

// base64Core returns those characters that a value always brings into the base64
// of a longer text, if it has that many bytes before it, modulo three.
func base64Core(encoding *base64.Encoding, value string, before int) string {
	encoded := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("-", before) + value))
	first := (before*8 + 5) / 6
	last := (before + len(value)) * 8 / 6
	return encoded[first:last]
}
