package scheme

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeSays are the escapes of JSON that are one letter long.
var escapeSays = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape returns what the escape of JSON at the beginning of b says, and its length;
// 0 if there is none, or not all of it.
func escape(b []byte) (says rune, length int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	if says, ok := escapeSays[b[1]]; ok {
		return says, 2
	}
	says, ok := codeUnit(b)
	if !ok {
		return 0, 0
	}
	if low, ok := codeUnit(b[6:]); ok {
		if pair := utf16.DecodeRune(says, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	if utf16.IsSurrogate(says) {
		says = utf8.RuneError
	}
	return says, 6
}

// codeUnit returns the unit of UTF-16 that an escape at the beginning of b is for.
func codeUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(unit), err == nil
}

// unescaped returns b with its escapes of JSON read. Where strings begin and end
// does not matter: outside of them, JSON has no escapes.
func unescaped(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		says, length := escape(b[i:])
		if length == 0 {
			out = append(out, b[i])
			i++
			continue
		}
		out = utf8.AppendRune(out, says)
		i += length
	}
	return out
}

// escapedPlaces finds places of an unescaped text in the text itself, one after
// the other.
type escapedPlaces struct {
	text      []byte
	at, plain int // the same place in the text, and unescaped
}

// place returns where in the text those characters are that unescaped are at from
// up to to. Every place is behind the one before.
func (e *escapedPlaces) place(from, to int) (begin, end int) {
	for {
		length, plain := e.character()
		if e.plain+plain > from {
			break
		}
		e.at, e.plain = e.at+length, e.plain+plain
	}
	begin = e.at
	for e.plain < to {
		length, plain := e.character()
		e.at, e.plain = e.at+length, e.plain+plain
	}
	return begin, e.at
}

// character returns how long the next character is, in the text and unescaped.
func (e *escapedPlaces) character() (length, plain int) {
	says, length := escape(e.text[e.at:])
	if length == 0 {
		return 1, 1
	}
	return length, utf8.RuneLen(says)
}
