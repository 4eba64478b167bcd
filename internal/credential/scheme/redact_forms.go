package scheme

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strings"
)

// maxTwice is up to which size, in bytes, a value is looked for in one encoding
// inside another.
const maxTwice = 1 << 10

// alphabet is what a text is read in when a value is looked for: what of it counts,
// and for what.
type alphabet [256]int16

// What an alphabet says of a byte that is no symbol of it.
const (
	alien   = -1 // nothing goes on past it
	skipped = -2 // it is passed over, as a line end in base64
)

const letterCase = 'a' - 'A'

// plainAlphabet is that of all bytes; without their case, if fold is set.
func plainAlphabet(fold bool) *alphabet {
	var a alphabet
	for c := range a {
		a[c] = int16(c)
		if fold && 'A' <= c && c <= 'Z' {
			a[c] += letterCase
		}
	}
	return &a
}

const blanks = " \t\r\n"

// base64Alphabet is that of base64 (RFC 4648, 4 and 5), in lines or not.
func base64Alphabet(fold bool) *alphabet {
	a := aliens()
	plain := plainAlphabet(fold)
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		a[c] = plain[c]
	}
	a['-'], a['_'] = '+', '/'
	return a.skip(blanks)
}

// hexAlphabet is that of hexadecimal digits, with what is put between them.
func hexAlphabet() *alphabet {
	a := aliens()
	for _, c := range []byte("0123456789abcdefABCDEF") {
		a[c] = int16(digitValue(c))
	}
	return a.skip(blanks + ":-,.")
}

func aliens() *alphabet {
	var a alphabet
	for c := range a {
		a[c] = alien
	}
	return &a
}

func (a *alphabet) skip(these string) *alphabet {
	for _, c := range []byte(these) {
		a[c] = skipped
	}
	return a
}

// symbols is a text as its alphabet has it.
func (a *alphabet) symbols(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if symbol := a[text[i]]; symbol >= 0 {
			out = append(out, byte(symbol))
		}
	}
	return string(out)
}

// once returns a value as it is inside of another encoding: as such, or encoded.
// The escapes are as usual; which is usual, nobody has to care for outside.
func once(value string) []string {
	all := []string{value}
	if len(value) > maxTwice {
		return all
	}
	digits := hex.EncodeToString([]byte(value))
	for _, escapeHTML := range []bool{false, true} {
		quoted := jsonText(value, escapeHTML)
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	all = append(all, digits, strings.ToUpper(digits), url.QueryEscape(value), url.PathEscape(value), html.EscapeString(value))
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, encoding.EncodeToString([]byte(value)))
		for before := range 3 {
			all = append(all, base64Core(encoding, value, before))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// base64Forms returns what a value brings into base64: all of it, and what it always
// brings into the base64 of a longer text.
func base64Forms(value string) []string {
	padded := base64.StdEncoding.EncodeToString([]byte(value))
	forms := []string{padded, strings.TrimRight(padded, "=")}
	for before := range 3 {
		forms = append(forms, base64Core(base64.StdEncoding, value, before))
	}
	return forms
}

// base64Core returns those characters that a value always brings into the base64
// of a longer text, if it has that many bytes before it, modulo three.
func base64Core(encoding *base64.Encoding, value string, before int) string {
	encoded := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("-", before) + value))
	first := (before*8 + 5) / 6
	last := (before + len(value)) * 8 / 6
	return encoded[first:last]
}

// newMatcher returns one that finds values in every form; in any case, if fold is
// set, as for texts that have lost theirs.
func newMatcher(values []string, fold bool) *matcher {
	plain, coded, digits := newAutomaton(plainAlphabet(fold)), newAutomaton(base64Alphabet(fold)), newAutomaton(hexAlphabet())
	for _, v := range values {
		plain.add(v)
		for _, form := range once(v) {
			digits.add(hex.EncodeToString([]byte(form)))
			for _, f := range base64Forms(form) {
				coded.add(f)
			}
		}
	}
	m := &matcher{automata: []*automaton{plain, coded, digits}, digits: digits, nested: maxNested}
	m.setUp()
	return m
}

// newNumberMatcher returns one that finds those forms of values that are numbers of
// JSON, or part of one.
func newNumberMatcher(values []string) *matcher {
	plain := newAutomaton(plainAlphabet(false))
	for _, v := range values {
		for _, form := range []string{v, hex.EncodeToString([]byte(v))} {
			if strings.Trim(form, "0123456789+-.eE") == "" {
				plain.add(form)
			}
		}
	}
	m := &matcher{automata: []*automaton{plain}}
	m.setUp()
	return m
}
