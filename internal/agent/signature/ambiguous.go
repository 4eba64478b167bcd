package signature

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxAmbiguities is how many of a card are looked for.
const MaxAmbiguities = 10

// Ambiguity is two members of one object that readers of JSON may take for one: of
// the same name, or of names that differ in case, "_" and "-" alone, which readers
// such as Go's and those of protocol buffers take for the same. What one reader
// verifies is not what another one uses then.
type Ambiguity struct {
	Path   string // JSON Pointer of the later one
	First  string // the earlier one's name
	Second string // the later one's
}

// freeNames are the members whose value is an object with names of the author's
// choice, which every reader tells apart by case.
var freeNames = map[string]bool{"params": true, "securitySchemes": true, "schemes": true, "scopes": true, "security": true}

// Ambiguities returns those of a card, at most MaxAmbiguities of them, up to where
// it stops being JSON. What is inside the parameters of extensions counts only if
// its names are the very same.
func Ambiguities(card []byte) []Ambiguity {
	decoder := jsontext.NewDecoder(bytes.NewReader(card), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var found []Ambiguity
	var open []level
	for len(found) < MaxAmbiguities {
		token, err := decoder.ReadToken()
		if err != nil {
			break
		}
		kind := token.Kind()
		switch {
		case kind == '{' || kind == '[':
			open = append(open, inside(open, kind))
		case kind == '}' || kind == ']':
			if open = open[:len(open)-1]; len(open) == 0 {
				return found
			}
		case len(open) == 0:
			return found
		case open[len(open)-1].isName(decoder):
			if earlier, twice := open[len(open)-1].add(token.String()); twice {
				found = append(found, Ambiguity{string(decoder.StackPointer()), earlier, token.String()})
			}
		}
	}
	return found
}

// level is an object or array that a reader is inside of.
type level struct {
	names map[string]string // by what readers may take them for; nil for an array
	last  string            // the name that was read last
	free  bool              // its names are of the author's choice
	deep  bool              // so are all below it
}

// inside returns the level that begins at the member that was read last.
func inside(open []level, kind jsontext.Kind) level {
	next := level{}
	if kind == '{' {
		next.names = map[string]string{}
	}
	if len(open) > 0 {
		outer := open[len(open)-1]
		next.deep = outer.deep || outer.last == "params"
		next.free = next.deep || kind == '{' && freeNames[outer.last] && !outer.free
		if kind == '[' {
			next.last = outer.last
		}
	}
	return next
}

// isName reports whether what was read last is the name of a member.
func (l level) isName(decoder *jsontext.Decoder) bool {
	kind, length := decoder.StackIndex(decoder.StackDepth())
	return kind == '{' && length%2 == 1
}

// add notes a name, and returns the earlier one that it may be taken for.
func (l *level) add(name string) (earlier string, twice bool) {
	l.last = name
	key := name
	if !l.free {
		key = taken(name)
	}
	if earlier, twice = l.names[key]; !twice {
		l.names[key] = name
	}
	return earlier, twice
}

// taken is the same for names that a reader may take for one.
func taken(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		for { // the least of those that differ in case alone
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
