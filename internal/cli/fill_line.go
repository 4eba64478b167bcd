package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
)

// What a line may be besides an answer. Where a control starts with something
// in it, clearLine empties it; a lone dot ends a text of several lines.
const (
	clearLine = `""`
	lastLine  = "."
)

// lines asks one question after another, a line at a time. The first error of
// its streams stays, and nothing is asked after it.
type lines struct {
	in  *bufio.Reader
	out io.Writer
}

// askByLine asks without moving the cursor. An empty line leaves a control as it
// is.
func askByLine(ctx context.Context, f *form.Form, s Streams) (form.Entries, error) {
	l := &lines{in: bufio.NewReader(s.In), out: s.Err}
	entries := f.Initial()
	for i := range f.Fields {
		field := &f.Fields[i]
		if err := l.say(intro(field, entries[field.Key], i, len(f.Fields))); err != nil {
			return nil, err
		}
		entry, err := l.ask(ctx, field, entries[field.Key])
		if err != nil {
			return nil, err
		}
		entries[field.Key] = entry
	}
	return entries, nil
}

// ask repeats a question until its entry passes.
func (l *lines) ask(ctx context.Context, field *form.Field, initial form.Entry) (form.Entry, error) {
	for {
		entry, problem, err := l.read(field, initial)
		switch {
		case ctx.Err() != nil:
			return form.Entry{}, errGaveUp
		case err != nil:
			return form.Entry{}, err
		case problem == nil:
			problem = check(field, entry)
		}
		if problem == nil {
			return entry, l.say("\n")
		}
		if err := l.say(problem.Error() + "\n"); err != nil {
			return form.Entry{}, err
		}
	}
}

// read reads one entry, or what is wrong with what was typed.
func (l *lines) read(field *form.Field, initial form.Entry) (entry form.Entry, problem, err error) {
	if err := l.say("> "); err != nil {
		return form.Entry{}, nil, err
	}
	typed, err := l.line()
	if err != nil {
		return form.Entry{}, nil, err
	}
	switch {
	case field.Multiline:
		entry, err = l.rest(typed, initial)
		return entry, nil, err
	case typed == "":
		return initial, nil, nil
	case field.Kind == form.Boolean:
		entry, problem = typedTick(typed)
	case field.Kind == form.Choice:
		entry, problem = typedChoice(field, typed)
	case typed == clearLine && initial.Text() != "":
		entry = form.Typed("")
	default:
		entry = form.Typed(typed)
	}
	return entry, problem, nil
}

// rest reads the lines of a text that begins with first.
func (l *lines) rest(first string, initial form.Entry) (form.Entry, error) {
	if first == lastLine {
		return initial, nil
	}
	var all []string
	for line := first; line != lastLine; {
		all = append(all, line)
		var err error
		if line, err = l.line(); err != nil {
			return form.Entry{}, err
		}
	}
	if text := strings.Join(all, "\n"); text != clearLine {
		return form.Typed(text), nil
	}
	return form.Typed(""), nil
}

func typedTick(typed string) (form.Entry, error) {
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes", "true":
		return form.Ticked(true), nil
	case "n", "no", "false":
		return form.Ticked(false), nil
	}
	return form.Entry{}, errors.New("Enter yes or no")
}

func typedChoice(field *form.Field, typed string) (form.Entry, error) {
	number, err := strconv.Atoi(strings.TrimSpace(typed))
	if err != nil || number < 0 || number > len(field.Options) {
		return form.Entry{}, fmt.Errorf("Enter a number from 0 to %d", len(field.Options))
	}
	return chosen(field, number-1), nil
}

// line reads a line as typed, without its end.
func (l *lines) line() (string, error) {
	text, err := l.in.ReadString('\n')
	if err == io.EOF && text != "" {
		return text, nil
	}
	if err == io.EOF {
		return "", errors.New("the input ended before the form was filled in")
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
}

func (l *lines) say(text string) error {
	_, err := io.WriteString(l.out, text)
	return err
}

// intro puts a question, with its options, what stands in its control, and how
// to answer.
func intro(field *form.Field, initial form.Entry, index, count int) string {
	text := fmt.Sprintf("%d of %d: %s\n", index+1, count, label(field))
	if lines := hint(field); lines != "" {
		text += indent(lines) + "\n"
	}
	for i, option := range optionLabels(field.Options) {
		text += fmt.Sprintf("%3d %s\n", i+1, option)
	}
	return text + margin + howTo(field, initial) + "\n"
}

func howTo(field *form.Field, initial form.Entry) string {
	switch {
	case field.Kind == form.Boolean:
		return fmt.Sprintf("yes or no; Enter for %s", yesNo(initial.On()))
	case field.Kind == form.Choice:
		if at := optionIndex(field, initial); at != none {
			return fmt.Sprintf("number; Enter for %d, 0 for none", at+1)
		}
		return "number; Enter for none"
	case field.Multiline:
		return startsAs(initial, "end with a line that is a dot", lastLine)
	}
	return startsAs(initial, "", "Enter")
}

// startsAs says what stands in a control, and how to keep and how to clear it.
func startsAs(initial form.Entry, how, keep string) string {
	if initial.Text() != "" {
		return strings.TrimPrefix(fmt.Sprintf("%s; %s for %s, %s for nothing", how, keep, oneLine(strconv.Quote(initial.Text())), clearLine), "; ")
	}
	if how == "" {
		return "Enter for nothing"
	}
	return how + "; a dot alone for nothing"
}
