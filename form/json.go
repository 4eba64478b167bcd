package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf8"
)

// The functions below cut valid JSON into pieces without building a tree of it, so that document
// order, repeated members and every digit of a number survive, and so that a document costs no more
// memory than the pieces that are looked at. Every slice that they take must be valid JSON without
// white space around it.

// jsonKind is what a JSON value is; a missing one is jsonMissing.
type jsonKind uint8

const (
	jsonMissing jsonKind = iota
	jsonObject
	jsonArray
	jsonString
	jsonNumber
	jsonTrue
	jsonFalse
	jsonNull
)

func kindOf(value []byte) jsonKind {
	if len(value) == 0 {
		return jsonMissing
	}
	switch value[0] {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	case '"':
		return jsonString
	case 't':
		return jsonTrue
	case 'f':
		return jsonFalse
	case 'n':
		return jsonNull
	default:
		return jsonNumber
	}
}

// describe says what a value is, in words that follow "is" or "not".
func describe(value []byte) string {
	switch kindOf(value) {
	case jsonMissing:
		return "missing"
	case jsonObject:
		return "an object"
	case jsonArray:
		return "an array"
	case jsonString:
		return "a string"
	case jsonNumber:
		return "a number"
	case jsonNull:
		return "null"
	default:
		return string(value)
	}
}

// members yields the members of an object in document order, repeated names included. It yields
// nothing for a value that is no object.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if kindOf(object) != jsonObject {
			return
		}
		for rest := skipSpace(object[1:]); rest[0] != '}'; {
			end := valueEnd(rest)
			name := rest[:end]
			rest = skipSpace(skipSpace(rest[end:])[1:]) // over the colon
			end = valueEnd(rest)
			if !yield(decodeString(name), rest[:end]) {
				return
			}
			rest = nextItem(rest[end:])
		}
	}
}

// elements yields the elements of an array with their indexes. It yields nothing for a value that is
// no array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if kindOf(array) != jsonArray {
			return
		}
		rest := skipSpace(array[1:])
		for i := 0; rest[0] != ']'; i++ {
			end := valueEnd(rest)
			if !yield(i, rest[:end]) {
				return
			}
			rest = nextItem(rest[end:])
		}
	}
}

// nextItem moves from behind an item to the next one, or to the closing bracket.
func nextItem(rest []byte) []byte {
	rest = skipSpace(rest)
	if rest[0] == ',' {
		return skipSpace(rest[1:])
	}
	return rest
}

func skipSpace(data []byte) []byte {
	for len(data) > 0 && isSpace(data[0]) {
		data = data[1:]
	}
	return data
}

// trimJSON takes away the white space around a JSON document.
func trimJSON(data []byte) []byte {
	data = skipSpace(data)
	for len(data) > 0 && isSpace(data[len(data)-1]) {
		data = data[:len(data)-1]
	}
	return data
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func countElements(array []byte) int {
	count := 0
	for range elements(array) {
		count++
	}
	return count
}

// valueEnd returns how long the value is that data starts with. It does not recurse.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case '"':
			i += stringEnd(data[i:]) - 1
		case ' ', '\t', '\r', '\n', ',', ':':
			continue
		default:
			i += literalEnd(data[i:]) - 1
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(data)
}

func stringEnd(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func literalEnd(data []byte) int {
	for i, c := range data {
		if isSpace(c) || c == ',' || c == ']' || c == '}' {
			return i
		}
	}
	return len(data)
}

// decodeString returns the text of a JSON string. Half of a surrogate pair becomes U+FFFD.
func decodeString(value []byte) string {
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return ""
	}
	return text
}

// scalar returns the string, the bool or the Decimal that a JSON value is, and nil for any other
// value or a number that is not finite.
func scalar(value []byte) any {
	switch kindOf(value) {
	case jsonString:
		return decodeString(value)
	case jsonTrue, jsonFalse:
		return value[0] == 't'
	case jsonNumber:
		if _, ok := parseDecimal(string(value)); ok {
			return Decimal(value)
		}
	}
	return nil
}

// appendString appends text as a JSON string, escaping no more than JSON demands. Bytes that are not
// UTF-8 become U+FFFD.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i, r := range text {
		if r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		dst = append(dst, text[start:i]...)
		dst = appendEscaped(dst, r)
		start = i + size
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// abbreviate quotes a text of any length for a message, with escapes for what cannot be seen.
func abbreviate(text string) string {
	const most = 40
	cut, whole := truncate(text, most)
	if !whole {
		cut += "…"
	}
	return strconv.Quote(cut)
}

// truncate returns the first characters of a text, and whether they are all of it.
func truncate(text string, characters int) (_ string, whole bool) {
	if len(text) <= characters {
		return text, true
	}
	for i := range text {
		if characters == 0 {
			return text[:i], false
		}
		characters--
	}
	return text, true
}
