// Package rawjson finds its way through JSON text without decoding it, so that
// what is taken out of it keeps its exact bytes: member order, digits, escapes.
//
// Every function takes valid JSON text (see json.Valid) and returns parts of it
// that share its memory. Text that is not valid never makes one panic or run on;
// what it then returns means nothing. Each costs one pass over its input.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Kind is the kind of a JSON value.
type Kind byte

// The kinds. Absent is that of empty text.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// KindOf returns the kind of a value.
func KindOf(v []byte) Kind {
	v = trimLeft(v)
	if len(v) == 0 {
		return Absent
	}
	switch v[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Members yields the members of an object in order, names unescaped, the same
// name as often as it is there. It yields nothing for any other kind.
func Members(v []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if KindOf(v) != Object {
			return
		}
		rest := trimLeft(v)[1:]
		for {
			rest = trimLeft(rest)
			if len(rest) == 0 || rest[0] != '"' {
				return
			}
			end := stringEnd(rest)
			name, _ := Text(rest[:end])
			rest = trimLeft(rest[end:])
			if len(rest) == 0 || rest[0] != ':' {
				return
			}
			rest = trimLeft(rest[1:])
			end = valueEnd(rest)
			if end == 0 || !yield(name, rest[:end:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

// Elements yields the elements of an array in order, and nothing for any other kind.
func Elements(v []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if KindOf(v) != Array {
			return
		}
		rest := trimLeft(v)[1:]
		for {
			rest = trimLeft(rest)
			end := valueEnd(rest)
			if end == 0 || !yield(rest[:end:end]) {
				return
			}
			rest = afterComma(rest[end:])
		}
	}
}

// Member returns the value of an object's member, nil if there is none; the last
// one if there are several, as most readers do.
func Member(v []byte, name string) []byte {
	var found []byte
	for n, value := range Members(v) {
		if n == name {
			found = value
		}
	}
	return found
}

// Replace returns an object with other values for some of its members, everything
// else as it was. Members that it does not have are not added.
func Replace(v []byte, values map[string][]byte) []byte {
	out := []byte{'{'}
	for name, value := range Members(v) {
		if replacement, ok := values[name]; ok {
			value = replacement
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, _ := json.Marshal(name) // a string always encodes
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}')
}

// Remove returns an object without the members of a name, everything else as it was.
func Remove(v []byte, name string) []byte {
	out := []byte{'{'}
	for n, value := range Members(v) {
		if n == name {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, _ := json.Marshal(n) // a string always encodes
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}')
}

// Text returns the text of a string value, and whether it is one. Escapes that
// are no text, such as a half of a surrogate pair, become U+FFFD.
func Text(v []byte) (string, bool) {
	v = bytes.TrimSpace(v)
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	if inner := v[1 : len(v)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(bytes.ToValidUTF8(inner, []byte("\uFFFD"))), true
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		return "", false
	}
	return s, true
}

// Depth returns how deeply arrays and objects are nested: 0 for a plain value, 1
// for a flat object.
func Depth(v []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += stringEnd(v[i:]) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

func trimLeft(v []byte) []byte {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\n' || v[0] == '\t' || v[0] == '\r') {
		v = v[1:]
	}
	return v
}

// afterComma steps over the comma behind a value; without one it returns nothing,
// which ends the walk.
func afterComma(v []byte) []byte {
	if v = trimLeft(v); len(v) > 0 && v[0] == ',' {
		return v[1:]
	}
	return nil
}

// valueEnd returns the length of the value that v begins with, 0 if there is none.
func valueEnd(v []byte) int {
	if len(v) == 0 {
		return 0
	}
	switch v[0] {
	case '"':
		return stringEnd(v)
	case '{', '[':
		return containerEnd(v)
	}
	if i := bytes.IndexAny(v, ",]} \n\t\r"); i >= 0 {
		return i
	}
	return len(v)
}

func containerEnd(v []byte) int {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += stringEnd(v[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(v)
}

// stringEnd returns the length of the string that v begins with.
func stringEnd(v []byte) int {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(v)
}
