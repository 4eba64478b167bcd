package remote

import (
	"strings"
	"unicode"
)

// cleaned returns text from outside as one short line: control, formatting and
// bidirectional characters are left out, spaces collapsed, and what is longer than
// limit characters is cut.
func cleaned(s string, limit int) string {
	var out strings.Builder
	length, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = length > 0
			continue
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			continue
		}
		if length >= limit {
			out.WriteRune('…')
			break
		}
		if space {
			out.WriteByte(' ')
			length, space = length+1, false
		}
		out.WriteRune(r)
		length++
	}
	return out.String()
}

// sentence returns agent text as the end of a sentence that ends with one full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}
