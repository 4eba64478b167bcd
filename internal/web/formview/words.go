package formview

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/form"
)

// blankLabel stands for a label in which nothing can be seen.
const blankLabel = "(empty)"

// notSent stands where the answer would.
const notSent = "Nothing yet: an answer needs another look."

// PlainText returns a text with its hidden characters spelled out, for places that hold nothing but text.
func PlainText(text string) string {
	if !form.HasHidden(text) {
		return text
	}
	var b strings.Builder
	for run := range form.Runs(text) {
		if run.Mark == "" {
			b.WriteString(run.Text)
		} else {
			b.WriteString("[" + shortMark(run) + "]")
		}
	}
	return b.String()
}

// shortMark is the code of a hidden character, and how often it stands there.
func shortMark(run form.Run) string {
	code, _, _ := strings.Cut(run.Mark, " ")
	if n := utf8.RuneCountInString(run.Text); n > 1 {
		return fmt.Sprintf("%s ×%d", code, n)
	}
	return code
}

// spokenMark names a hidden character for those who hear the page.
func spokenMark(run form.Run) string {
	if n := utf8.RuneCountInString(run.Text); n > 1 {
		return fmt.Sprintf("%d hidden characters %s", n, run.Mark)
	}
	return "hidden character " + run.Mark
}

// hostRun is a stretch of a host name that is in Latin letters or is not.
type hostRun struct {
	text    string
	foreign bool
}

func foreignRuns(host string) []hostRun {
	var runs []hostRun
	for _, r := range host {
		foreign := r >= utf8.RuneSelf
		if last := len(runs) - 1; last >= 0 && runs[last].foreign == foreign {
			runs[last].text += string(r)
			continue
		}
		runs = append(runs, hostRun{string(r), foreign})
	}
	return runs
}

// rule says beforehand what the field accepts, or "".
func (c control) rule() string {
	f := c.field
	switch f.Kind {
	case form.Text:
		return lengthRule(f.MinLength, f.MaxLength)
	case form.Integer:
		return "A whole number" + rangeRule(f.Minimum, f.Maximum)
	case form.Number:
		return "A number" + rangeRule(f.Minimum, f.Maximum)
	}
	return ""
}

func lengthRule(least, most *int) string {
	if least != nil && *least == 0 {
		least = nil
	}
	switch {
	case least != nil && most != nil && *least == *most:
		return "Exactly " + characters(*most)
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %s", *least, characters(*most))
	case least != nil:
		return "At least " + characters(*least)
	case most != nil:
		return "At most " + characters(*most)
	}
	return ""
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func rangeRule(least, most form.Decimal) string {
	switch {
	case least != "" && most != "":
		return fmt.Sprintf(", %s to %s", least, most)
	case least != "":
		return fmt.Sprintf(", at least %s", least)
	case most != "":
		return fmt.Sprintf(", at most %s", most)
	}
	return ""
}

func fieldCount(n int) string {
	if n == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", n)
}

func adviceCount(n int) string {
	switch n {
	case 0:
		return "no advice"
	case 1:
		return "1 piece of advice"
	}
	return fmt.Sprintf("%d pieces of advice", n)
}
