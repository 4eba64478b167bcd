package form

import (
	"fmt"
	"strconv"
	"strings"
)

// Note is something to tell the author of a definition about one place in it.
type Note struct {
	Path    string `json:"path"`    // JSON Pointer (RFC 6901) into the definition
	Message string `json:"message"` // a sentence to act on
}

// Report is everything that there is to say about a definition.
type Report struct {
	Accepted bool   `json:"accepted"`
	Form     *Form  `json:"form,omitempty"` // as it is drawn; nil if it is rejected
	Reasons  []Note `json:"reasons"`        // why it is rejected; empty, never nil, if it is not
	Advice   []Note `json:"advice"`         // what has no effect or is doubtful; never nil
}

// RejectedError is the error of a definition that is not drawn.
type RejectedError struct {
	Reasons []Note // at least one
}

// Error gives the first reason and how many more there are.
func (e *RejectedError) Error() string {
	first := e.Reasons[0]
	text := "form definition rejected: " + strings.TrimSuffix(first.Message, ".")
	if first.Path != "" {
		text += " (at " + strconv.Quote(first.Path) + ")"
	}
	if more := len(e.Reasons) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Inspect reads a definition as Parse does, and says all that its author may want to know: every
// reason for a rejection, everything that has no effect, and everything that is likely not meant. A
// rejected definition gets advice as well, as far as it can be read.
func Inspect(definition []byte) Report {
	doc, reasons := judge(definition)
	report := Report{Accepted: len(reasons) == 0, Reasons: []Note{}, Advice: []Note{}}
	report.Reasons = append(report.Reasons, reasons...)
	if report.Accepted {
		report.Form = doc.form()
	}
	report.Advice = append(report.Advice, doc.advice()...)
	return report
}
