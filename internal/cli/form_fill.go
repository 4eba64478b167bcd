package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
)

type formFill struct {
	Plain      bool   `help:"Ask line by line, without moving the cursor; for screen readers and pipes."`
	Definition string `arg:"" help:"File with the definition."`
}

// Help returns what stands below the summary in the command's help.
func (formFill) Help() string {
	return "The questions go to standard error and the answer, as JSON, to standard output. Ends with 0 when it was given, " +
		"1 if the definition is rejected or the input ends too early, 2 if the file cannot be read, 130 after Ctrl-C."
}

var errGaveUp = &failure{exitGaveUp, errors.New("given up, and nothing is printed")}

// Run asks every question and prints the answer.
func (c formFill) Run(ctx context.Context, s Streams) error {
	if c.Definition == "-" {
		return &failure{exitUsage, errors.New("the answers come from standard input, so the definition must be a file")}
	}
	drawn, err := readForm(c.Definition, exitFailed, s)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(s.Err, heading(drawn, painter(s.Err))); err != nil {
		return err
	}
	ask := askOnScreen
	if c.Plain || !isTerminal(s.In) || !isTerminal(s.Err) || os.Getenv("TERM") == "dumb" {
		ask = askByLine
	}
	entries, err := ask(ctx, drawn, s)
	if err != nil {
		return err
	}
	answer, faults := drawn.Check(entries)
	if len(faults) > 0 {
		return faults
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", answer)
	return err
}

func heading(f *form.Form, p paint) string {
	text := p.bold(oneLine(f.Title)) + "\n"
	if f.Description != "" {
		text += visible(f.Description) + "\n"
	}
	return text + "\n"
}

// hint is a field's description and what it takes; options aside, which are listed.
func hint(field *form.Field) string {
	shown := *field
	shown.Options = nil
	lines := []string{strings.Join(rules(&shown), "; ")}
	if field.Description != "" {
		lines = []string{visible(field.Description), lines[0]}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// check returns what is wrong with the entry of one field, or nil.
func check(field *form.Field, entry form.Entry) error {
	alone := form.Form{Fields: []form.Field{*field}}
	if _, faults := alone.Check(form.Entries{field.Key: entry}); len(faults) > 0 {
		return errors.New(faults[0].Message)
	}
	return nil
}

// undecided says what to do about a choice that must be made, if none is.
func undecided(field *form.Field, entry form.Entry) error {
	if field.Kind == form.Choice && field.Required && optionIndex(field, entry) == none {
		return errors.New("Required: choose one of the options")
	}
	return nil
}

// none is the index of no option at all.
const none = -1

// optionIndex returns the index of the option that stands in a choice, or none.
func optionIndex(field *form.Field, entry form.Entry) int {
	if entry.IsNone() {
		return none
	}
	for i, option := range field.Options {
		if option.Value == entry.Text() {
			return i
		}
	}
	return none
}

// chosen returns the entry for an option's index.
func chosen(field *form.Field, index int) form.Entry {
	if index == none {
		return form.Entry{}
	}
	return form.Chosen(field.Options[index].Value)
}
