package scheme

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxNested   = 4   // escapes within escapes that are read, such as %2561
	maxSpelling = 250 // bytes of a text that spell one character
)

// spelling is one way to read the beginning of a text: what it says, and how many
// bytes of the text say it.
type spelling struct {
	says   [utf8.UTFMax]byte
	size   uint8 // of says
	length uint8
}

func literal(c byte) spelling { return spelling{says: [utf8.UTFMax]byte{c}, size: 1, length: 1} }

func (s *spelling) text() []byte { return s.says[:s.size] }

// single returns the byte that a spelling says, if it is one.
func (s *spelling) single() (byte, bool) { return s.says[0], s.size == 1 }

func isIntroducer(c byte) bool { return c == '%' || c == '&' || c == '\\' }

// spellings are all ways to read what begins at a place, the shortest first. More
// than one begin only with what introduces an escape: the next reads the escape
// that the one before says the introducer of, as %25 does of %2561.
type spellings struct {
	of    [maxNested + 1]spelling
	count uint8
}

func (s *spellings) all() []spelling { return s.of[:s.count] }

// speller reads the characters of a text. It remembers what it read for a while, so
// that escapes within escapes cost no more than others.
type speller struct {
	text  []byte
	known [maxNested + 1][window]struct {
		behind int // the place, which is another one than 0
		spellings
	}
}

// reset makes the speller read another text.
func (s *speller) reset(text []byte) { *s = speller{text: text} }

// read returns how that can be read which begins at a place of the text, with up to
// nested escapes within each other: those of URLs, of HTML, and of JSON and its kin.
func (s *speller) read(at, nested int) spellings {
	if c := s.text[at]; !isIntroducer(c) || nested == 0 {
		return spellings{of: [maxNested + 1]spelling{literal(c)}, count: 1}
	}
	known := &s.known[nested][at%window]
	if known.behind != at+1 {
		known.spellings, known.behind = s.readEscapes(at, nested), at+1
	}
	return known.spellings
}

func (s *speller) readEscapes(at, nested int) spellings {
	all := spellings{of: [maxNested + 1]spelling{literal(s.text[at])}, count: 1}
	for int(all.count) <= nested {
		last := all.of[all.count-1]
		introducer, ok := last.single()
		if !ok || !isIntroducer(introducer) {
			break
		}
		r := escapeReader{speller: s, at: at + int(last.length), end: min(at+maxSpelling, len(s.text)), nested: nested - 1, level: int(all.count) - 1}
		says, ok := r.escape(introducer)
		if !ok || r.at > r.end {
			break
		}
		says.length = uint8(r.at - at)
		all.of[all.count] = says
		all.count++
	}
	return all
}

// escapeReader reads an escape behind its introducer. Each of its characters may be
// an escape itself.
type escapeReader struct {
	*speller
	at, end int
	nested  int
	level   int // of escapes that the introducer itself is behind
}

// char returns the next character if it is ASCII, and nothing that introduces an escape.
func (r *escapeReader) char() (c byte, next int, ok bool) {
	if r.at >= r.end {
		return 0, 0, false
	}
	if c := r.text[r.at]; !isIntroducer(c) {
		return c, r.at + 1, c < utf8.RuneSelf
	}
	all := r.read(r.at, r.nested)
	last := all.of[all.count-1]
	c, ok = last.single()
	return c, r.at + int(last.length), ok && c < utf8.RuneSelf && !isIntroducer(c)
}

// take returns the next character and goes past it, if fits says so.
func (r *escapeReader) take(fits func(byte) bool) (byte, bool) {
	c, next, ok := r.char()
	if !ok || !fits(c) {
		return 0, false
	}
	r.at = next
	return c, true
}

func (r *escapeReader) takeOne(c byte) bool {
	_, ok := r.take(func(is byte) bool { return is == c })
	return ok
}

// digits returns the number that the next digits are, of which there are at least
// least and at most most.
func (r *escapeReader) digits(base rune, least, most int) (rune, bool) {
	var number rune
	count := 0
	for ; count < most; count++ {
		c, ok := r.take(func(c byte) bool { return digitValue(c) < base })
		if !ok {
			break
		}
		if number = number*base + digitValue(c); number > utf8.MaxRune {
			return 0, false
		}
	}
	return number, count >= least
}

// digitValue is what a hexadecimal digit is worth; more than any for what is none.
func digitValue(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return 99
}

func (r *escapeReader) escape(introducer byte) (spelling, bool) {
	switch introducer {
	case '%':
		return r.percent()
	case '&':
		return r.entity()
	}
	return r.backslash()
}

// percent reads %61, and %u0061 as old scripts write it.
func (r *escapeReader) percent() (spelling, bool) {
	if r.takeOne('u') {
		return character(r.digits(16, 4, 4))
	}
	value, ok := r.digits(16, 2, 2)
	return literal(byte(value)), ok
}

// entity reads &#97; and &#x61;, with any zeros before and with or without the
// semicolon, and &amp; and all of its kind.
func (r *escapeReader) entity() (spelling, bool) {
	if r.takeOne('#') {
		base := rune(10)
		if _, ok := r.take(func(c byte) bool { return c == 'x' || c == 'X' }); ok {
			base = 16
		}
		says, ok := character(r.digits(base, 1, maxSpelling))
		if ok {
			r.takeOne(';')
		}
		return says, ok
	}
	return r.named()
}

// unclosed are the names that are read without a semicolon behind them, too.
var unclosed = []string{"amp", "AMP", "lt", "LT", "gt", "GT", "quot", "QUOT"}

func (r *escapeReader) named() (spelling, bool) {
	const longest = 31 // of HTML: CounterClockwiseContourIntegral
	var name []byte
	open := -1 // where an unclosed name ends
	for len(name) <= longest {
		c, ok := r.take(func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == ';' })
		if !ok {
			break
		}
		if name = append(name, c); c == ';' {
			if says, ok := characterOf(html.UnescapeString("&" + string(name))); ok {
				return says, true
			}
			break
		}
		for _, n := range unclosed {
			if open < 0 && string(name) == n {
				open = r.at
			}
		}
	}
	if open < 0 {
		return spelling{}, false
	}
	r.at = open
	for _, n := range unclosed {
		if strings.HasPrefix(string(name), n) {
			return characterOf(html.UnescapeString("&" + n))
		}
	}
	return spelling{}, false
}

// letters are the escapes that are one letter long.
var letters = [256]byte{'"': '"', '\'': '\'', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// backslash reads \n, \u0061, a pair of those for one character, and \x61.
func (r *escapeReader) backslash() (spelling, bool) {
	if r.takeBackslash() {
		return literal('\\'), true
	}
	if r.takeOne('u') {
		return r.unit()
	}
	if r.takeOne('x') {
		value, ok := r.digits(16, 2, 2)
		return literal(byte(value)), ok
	}
	c, ok := r.take(func(c byte) bool { return letters[c] != 0 })
	return literal(letters[c]), ok
}

// takeBackslash goes past a backslash that is behind as many escapes as the
// introducer is: another introducer, which take returns none of.
func (r *escapeReader) takeBackslash() bool {
	if r.at >= r.end || !isIntroducer(r.text[r.at]) {
		return false
	}
	all := r.read(r.at, r.nested)
	s := all.of[min(r.level, int(all.count)-1)]
	if c, ok := s.single(); !ok || c != '\\' {
		return false
	}
	r.at += int(s.length)
	return true
}

// unit reads the rest of \u0061, and the second half of a pair behind it.
func (r *escapeReader) unit() (spelling, bool) {
	first, ok := r.digits(16, 4, 4)
	if !ok {
		return spelling{}, false
	}
	if utf16.IsSurrogate(first) {
		second := *r
		if low, ok := second.lowHalf(); ok {
			if pair := utf16.DecodeRune(first, low); pair != utf8.RuneError {
				*r = second
				return character(pair, true)
			}
		}
	}
	return character(first, true)
}

func (r *escapeReader) lowHalf() (rune, bool) {
	if !r.takeBackslash() || !r.takeOne('u') {
		return 0, false
	}
	return r.digits(16, 4, 4)
}

// character is the spelling of a character of Unicode.
func character(c rune, ok bool) (spelling, bool) {
	if !ok {
		return spelling{}, false
	}
	var s spelling
	s.size = uint8(utf8.EncodeRune(s.says[:], c))
	return s, true
}

// characterOf is the spelling of a text of one character.
func characterOf(text string) (spelling, bool) {
	c, size := utf8.DecodeRuneInString(text)
	return character(c, size == len(text) && size > 0)
}
