package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"github.com/agent-taskbay/taskbay/form"
)

// question is one field on the screen, and what stands in its control.
type question struct {
	control huh.Field
	entry   func() form.Entry
}

// askOnScreen asks with controls that the arrow keys move in, one question at a
// time; shift+tab goes back.
func askOnScreen(ctx context.Context, f *form.Form, s Streams) (form.Entries, error) {
	initial := f.Initial()
	questions := make([]question, 0, len(f.Fields))
	groups := make([]*huh.Group, 0, len(f.Fields))
	for i := range f.Fields {
		field := &f.Fields[i]
		q := newQuestion(field, initial[field.Key])
		questions = append(questions, q)
		groups = append(groups, huh.NewGroup(q.control).Title(fmt.Sprintf("%d of %d", i+1, len(f.Fields))))
	}
	if err := runOnScreen(ctx, huh.NewForm(groups...).WithTheme(huh.ThemeFunc(huh.ThemeBase16)), s); err != nil {
		return nil, err
	}
	entries := make(form.Entries, len(questions))
	for i, q := range questions {
		entries[f.Fields[i].Key] = q.entry()
	}
	return entries, nil
}

// runOnScreen runs a form to its end. It stands in for huh's own Run, which
// kills the program when the person gives up, and so leaves a reader behind that
// takes what is typed next.
func runOnScreen(ctx context.Context, f *huh.Form, s Streams) error {
	f.SubmitCmd, f.CancelCmd = tea.Quit, tea.Quit
	_, err := tea.NewProgram(onScreen{f}, tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Err)).Run()
	if ctx.Err() != nil || f.State == huh.StateAborted {
		return errGaveUp
	}
	if err != nil {
		return fmt.Errorf("ask in the terminal: %w", err)
	}
	return nil
}

// onScreen is a form as a program of its own.
type onScreen struct{ form *huh.Form }

// Init starts the form.
func (o onScreen) Init() tea.Cmd { return o.form.Init() }

// Update hands a key or another message to the form.
func (o onScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, command := o.form.Update(msg) // which returns the form itself
	return o, command
}

// View draws the form.
func (o onScreen) View() tea.View { return tea.NewView(o.form.View()) }

func newQuestion(field *form.Field, entry form.Entry) question {
	switch {
	case field.Kind == form.Boolean:
		return tick(field, entry)
	case field.Kind == form.Choice:
		return choice(field, entry)
	case field.Multiline || strings.Contains(entry.Text(), "\n"):
		return severalLines(field, entry)
	}
	return line(field, entry)
}

func tick(field *form.Field, entry form.Entry) question {
	on := entry.On()
	return question{
		huh.NewConfirm().Title(oneLine(field.Label)).Description(hint(field)).Affirmative("Yes").Negative("No").Value(&on),
		func() form.Entry { return form.Ticked(on) },
	}
}

// choice lists every option from the start, up to what a small screen holds.
func choice(field *form.Field, entry form.Entry) question {
	const maxShown = 15
	noChoice := "(no choice)"
	if field.Required {
		noChoice = "(choose one: arrow keys, then Enter)"
	}
	options := []huh.Option[int]{huh.NewOption(noChoice, none)}
	for i, text := range optionLabels(field.Options) {
		options = append(options, huh.NewOption(text, i))
	}
	index := optionIndex(field, entry)
	above := 1 // the label
	if text := hint(field); text != "" {
		above += 1 + strings.Count(text, "\n")
	}
	return question{
		huh.NewSelect[int]().Title(oneLine(field.Label)).Description(hint(field)).
			Options(options...).Height(above + min(len(options), maxShown)).Value(&index).
			Validate(func(i int) error {
				return cmp.Or(undecided(field, chosen(field, i)), check(field, chosen(field, i)))
			}),
		func() form.Entry { return chosen(field, index) },
	}
}

func severalLines(field *form.Field, entry form.Entry) question {
	const linesShown = 6
	text := entry.Text()
	return question{
		huh.NewText().Title(oneLine(field.Label)).Description(hint(field)).
			Lines(linesShown).CharLimit(0).ExternalEditor(false).Value(&text).
			Validate(func(t string) error { return check(field, form.Typed(t)) }),
		func() form.Entry { return form.Typed(text) },
	}
}

func line(field *form.Field, entry form.Entry) question {
	text := entry.Text()
	return question{
		huh.NewInput().Title(oneLine(field.Label)).Description(hint(field)).CharLimit(0).Value(&text).
			Validate(func(t string) error { return check(field, form.Typed(t)) }),
		func() form.Entry { return form.Typed(text) },
	}
}
