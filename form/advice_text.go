package form

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// shown is how a text of a definition is shown.
type shown struct {
	limit    int
	fallback string // what stands for an empty text
	oneLine  bool
}

// shownText looks at a text that people read.
func (a *adviser) shownText(path string, value []byte, as shown) {
	instead := "Nothing is shown."
	if as.fallback != "" {
		instead = fmt.Sprintf("%s is shown instead.", abbreviate(as.fallback))
	}
	content := text(value)
	cut, whole := truncate(content, as.limit)
	switch {
	case kindOf(value) == jsonMissing:
		return
	case kindOf(value) != jsonString:
		a.note(path, "It is %s and has no effect; it must be a string. %s", describe(value), instead)
		return
	case content == "":
		a.note(path, "The text is empty. %s", instead)
		return
	case Appearance(content) == "":
		a.note(path, "The text reads as nothing.")
	case !whole:
		a.note(path, "The text is cut after %d characters.", as.limit)
	}
	a.characters(path, cut, !as.oneLine)
	if hasMarkup(cut) {
		a.note(path, "Markup is shown as it is written, not drawn.")
	}
}

// characters looks for what deceives a reader or was lost on the way.
func (a *adviser) characters(path, content string, lines bool) {
	if marks := hiddenMarks(content); len(marks) > 0 {
		a.note(path, "The text has characters that cannot be seen, and is shown with a mark for each: %s.", strings.Join(marks, ", "))
	}
	if !lines && strings.ContainsAny(content, "\n\t") {
		a.note(path, "The text has line breaks or tabs, but is shown in one line.")
	}
	if strings.ContainsRune(content, unicode.ReplacementChar) {
		a.note(path, "The text has U+FFFD, which stands for a character that was lost, such as half of a surrogate pair.")
	}
	for _, host := range DeceptiveHosts(content) {
		a.note(path, "The host name %s mixes scripts, or looks like another in Latin letters.", abbreviate(host))
	}
}

// hiddenMarks returns the first few different marks of a text.
func hiddenMarks(content string) []string {
	const most = 3
	var marks []string
	for run := range Runs(content) {
		if run.Mark == "" || slices.Contains(marks, run.Mark) {
			continue
		}
		if len(marks) == most {
			return append(marks, "and more")
		}
		marks = append(marks, run.Mark)
	}
	return marks
}

// hasMarkup reports whether a text has something like an HTML tag.
func hasMarkup(content string) bool {
	for {
		_, after, found := strings.Cut(content, "<")
		if !found {
			return false
		}
		tag := strings.TrimPrefix(after, "/")
		if tag != "" && (tag[0]|0x20 >= 'a' && tag[0]|0x20 <= 'z') && strings.Contains(tag, ">") {
			return true
		}
		content = after
	}
}
