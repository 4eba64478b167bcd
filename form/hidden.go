package form

import (
	"fmt"
	"iter"
	"unicode"
	"unicode/utf8"
)

// Run is a stretch of a text: characters that can be seen, or one character that cannot, perhaps
// several times in a row.
type Run struct {
	Text string
	Mark string // what to show for a hidden character, such as "U+200B zero width space"; else ""
}

// Runs divides a text so that a page can put a visible mark where there is a hidden character: one
// that is invisible, turns the direction of what follows, or is a control character. Line feeds,
// tabs, and the joiners and selectors that emoji and some scripts need are not hidden. The texts
// of all runs together are the text.
func Runs(text string) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		start, mark := 0, ""
		var previous rune
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			current := ""
			if isHidden(previous, r, next) {
				current = markOf(r)
			}
			if current != mark && i > start {
				if !yield(Run{Text: text[start:i], Mark: mark}) {
					return
				}
				start = i
			}
			previous, mark = r, current
			i += size
		}
		if start < len(text) {
			yield(Run{Text: text[start:], Mark: mark})
		}
	}
}

// HasHidden reports whether a text has a hidden character, as Runs has it.
func HasHidden(text string) bool {
	for run := range Runs(text) {
		if run.Mark != "" {
			return true
		}
	}
	return false
}

// markOf names a hidden character.
func markOf(r rune) string {
	code := fmt.Sprintf("U+%04X", r)
	if name := hiddenNames[r]; name != "" {
		return code + " " + name
	}
	if unicode.Is(unicode.Cc, r) {
		return code + " control character"
	}
	return code + " invisible character"
}

var hiddenNames = map[rune]string{
	'\u0000': "null",
	'\u0007': "bell",
	'\u0008': "backspace",
	'\u000D': "carriage return",
	'\u001B': "escape",
	'\u007F': "delete",
	'\u00AD': "soft hyphen",
	'\u034F': "combining grapheme joiner",
	'\u061C': "Arabic letter mark",
	'\u115F': "Hangul filler",
	'\u1160': "Hangul filler",
	'\u180E': "Mongolian vowel separator",
	'\u200B': "zero width space",
	'\u200C': "zero width non-joiner",
	'\u200D': "zero width joiner",
	'\u200E': "left-to-right mark",
	'\u200F': "right-to-left mark",
	'\u2028': "line separator",
	'\u2029': "paragraph separator",
	'\u202A': "left-to-right embedding",
	'\u202B': "right-to-left embedding",
	'\u202C': "pop directional formatting",
	'\u202D': "left-to-right override",
	'\u202E': "right-to-left override",
	'\u2060': "word joiner",
	'\u2066': "left-to-right isolate",
	'\u2067': "right-to-left isolate",
	'\u2068': "first strong isolate",
	'\u2069': "pop directional isolate",
	'\u2800': "blank Braille pattern",
	'\u3164': "Hangul filler",
	'\uFEFF': "zero width no-break space",
	'\uFFA0': "Hangul filler",
}

// invisible are the characters that draw nothing, or only change how others are drawn.
var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
	unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// joining are the scripts in which a joiner between letters is ordinary spelling.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari,
	unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar,
	unicode.Khmer,
}

const (
	zeroWidthNonJoiner = '\u200C'
	zeroWidthJoiner    = '\u200D'
	textSelector       = '\uFE0E'
	emojiSelector      = '\uFE0F'
	keycap             = '\u20E3'
	blankBraille       = '\u2800'
)

// isHidden reports whether r, between its neighbours, cannot be seen and is not needed there.
func isHidden(previous, r, next rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\t' && r != '\n' && (r != '\r' || next != '\n') || r == '\u007F'
	case r == blankBraille:
		return true
	case !unicode.In(r, invisible...) || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r == zeroWidthJoiner && isEmoji(previous) && isEmoji(next):
		return false
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return !unicode.In(previous, joining...) || !unicode.In(next, joining...)
	case r == textSelector || r == emojiSelector:
		return !isEmoji(previous) && next != keycap
	case unicode.Is(unicode.Variation_Selector, r):
		return !unicode.In(previous, unicode.Han, unicode.Mongolian)
	}
	return true
}

// isEmoji reports whether a joiner or a selector may follow r as part of an emoji.
func isEmoji(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) && r >= 0xA9 || r == emojiSelector ||
		r == '‼' || r == '⁉' || r == '〰' || r == '〽'
}
