package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/form"
)

type formAnswer struct {
	JSON       bool   `name:"json" help:"Print on one line."`
	Definition string `arg:"" help:"File with the definition; - for standard input."`
	Entered    string `arg:"" help:"File with a JSON object of what stands in each control, by field key: a text as typed, true or false, the value of the option chosen, or null for none. It is taken on top of the initial values. - for standard input."`
}

// Help returns what stands below the summary in the command's help.
func (formAnswer) Help() string {
	return "Prints {\"submission\":{...}} and ends with 0, or {\"errors\":{key: message}} and ends with 1. " +
		"Ends with 2 if a file cannot be read or the definition is rejected. A key that names no field has no effect; a warning on standard error says so."
}

// answered is what the command prints.
type answered struct {
	Submission json.RawMessage `json:"submission,omitempty"`
	Errors     form.Errors     `json:"errors,omitempty"`
}

// Run prints the submission or the errors.
func (c formAnswer) Run(s Streams) error {
	if c.Definition == "-" && c.Entered == "-" {
		return &failure{exitUsage, errors.New("only one of DEFINITION and ENTERED can be standard input")}
	}
	drawn, err := readForm(c.Definition, exitUsage, s)
	if err != nil {
		return err
	}
	raw, err := readInput(c.Entered, s)
	if err != nil {
		return err
	}
	var entered form.Entries
	if err := json.Unmarshal(raw, &entered); err != nil {
		return &failure{exitUsage, fmt.Errorf("%s: %w", inputName(c.Entered), err)}
	}
	for _, note := range drawn.Undeclared(entered) {
		if _, err := fmt.Fprintf(s.Err, "warning: %s: %s\n", inputName(c.Entered), note.Message); err != nil {
			return err
		}
	}
	submission, faults := drawn.Check(drawn.Initial().With(entered))
	if err := printJSON(s.Out, answered{submission, faults}, !c.JSON); err != nil {
		return err
	}
	if len(faults) > 0 {
		return &failure{code: exitFailed}
	}
	return nil
}
