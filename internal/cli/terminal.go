package cli

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/agent-taskbay/taskbay/form"
)

// isTerminal reports whether v is a stream that a person looks at or types into.
func isTerminal(v any) bool {
	file, ok := v.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// paint colours and wraps text for a terminal; on anything else it leaves it
// alone.
type paint struct {
	on    bool
	width int // columns; 0 if there is no knowing
}

// painter returns the paint for a stream: no colour unless it is a terminal that
// can and a person who wants (NO_COLOR).
func painter(v any) paint {
	if !isTerminal(v) {
		return paint{}
	}
	p := paint{on: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(v.(*os.File).Fd())); err == nil {
		p.width = width
	}
	return p
}

// hang wraps text that begins in a column, so that its other lines begin there
// too. Columns that are too narrow to read are left to the terminal.
func (p paint) hang(text string, column int) string {
	const narrowest = 24
	if p.width-column < narrowest {
		return text
	}
	return strings.ReplaceAll(ansi.Wordwrap(text, p.width-column, ""), "\n", "\n"+strings.Repeat(" ", column))
}

func (p paint) with(code, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string { return p.with("1", text) }
func (p paint) dim(text string) string  { return p.with("2", text) }
func (p paint) good(text string) string { return p.with("1;32", text) }
func (p paint) bad(text string) string  { return p.with("1;31", text) }
func (p paint) warn(text string) string { return p.with("33", text) }

// visible returns a text of an agent's as a terminal may show it: what cannot be
// seen, or would steer the terminal, is named in brackets. Line feeds stay.
func visible(text string) string {
	var out strings.Builder
	for run := range form.Runs(text) {
		switch count := utf8.RuneCountInString(run.Text); {
		case run.Mark == "":
			out.WriteString(strings.ReplaceAll(strings.ReplaceAll(run.Text, "\r\n", "\n"), "\t", "    "))
		case count == 1:
			out.WriteString("[" + run.Mark + "]")
		default:
			fmt.Fprintf(&out, "[%s, %d times]", run.Mark, count)
		}
	}
	return out.String()
}

// oneLine is visible for a text that has one line: line ends become spaces.
func oneLine(text string) string {
	return strings.ReplaceAll(visible(text), "\n", " ")
}
