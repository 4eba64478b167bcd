package form

import (
	"fmt"
	"iter"
	"strings"
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

// Appearance is what two texts have in common that look the same: it leaves out what cannot be seen,
// and makes all white space one space. Of options with one appearance a page should show the value
// with escapes, as strconv.QuoteToASCII writes it.
func Appearance(content string) string {
	seen := strings.Map(func(r rune) rune {
		if isInvisible(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, content)
	return strings.Join(strings.Fields(seen), " ")
}

// markOf names a hidden character.
func markOf(r rune) string {
	switch name := hiddenNames[r]; {
	case name != "":
		return name
	case unicode.Is(unicode.Cc, r):
		return fmt.Sprintf("U+%04X control character", r)
	default:
		return fmt.Sprintf("U+%04X invisible character", r)
	}
}

var hiddenNames = map[rune]string{
	'\u0000': "U+0000 null",
	'\u0007': "U+0007 bell",
	'\u0008': "U+0008 backspace",
	'\u000D': "U+000D carriage return",
	'\u001B': "U+001B escape",
	'\u007F': "U+007F delete",
	'\u00AD': "U+00AD soft hyphen",
	'\u034F': "U+034F combining grapheme joiner",
	'\u061C': "U+061C Arabic letter mark",
	'\u115F': "U+115F Hangul filler",
	'\u1160': "U+1160 Hangul filler",
	'\u180E': "U+180E Mongolian vowel separator",
	'\u200B': "U+200B zero width space",
	'\u200C': "U+200C zero width non-joiner",
	'\u200D': "U+200D zero width joiner",
	'\u200E': "U+200E left-to-right mark",
	'\u200F': "U+200F right-to-left mark",
	'\u2028': "U+2028 line separator",
	'\u2029': "U+2029 paragraph separator",
	'\u202A': "U+202A left-to-right embedding",
	'\u202B': "U+202B right-to-left embedding",
	'\u202C': "U+202C pop directional formatting",
	'\u202D': "U+202D left-to-right override",
	'\u202E': "U+202E right-to-left override",
	'\u2060': "U+2060 word joiner",
	'\u2066': "U+2066 left-to-right isolate",
	'\u2067': "U+2067 right-to-left isolate",
	'\u2068': "U+2068 first strong isolate",
	'\u2069': "U+2069 pop directional isolate",
	'\u2800': "U+2800 blank Braille pattern",
	'\u3164': "U+3164 Hangul filler",
	'\uFEFF': "U+FEFF zero width no-break space",
	'\uFFA0': "U+FFA0 Hangul filler",
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

// isInvisible reports whether nothing is drawn for r itself.
func isInvisible(r rune) bool {
	return r == blankBraille ||
		unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isHidden reports whether r, between its neighbours, cannot be seen and is not needed there.
func isHidden(previous, r, next rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\t' && r != '\n' && (r != '\r' || next != '\n') || r == '\u007F'
	case !isInvisible(r):
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
