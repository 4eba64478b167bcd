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

// lines asks one question after another, a line at a time.
type lines struct {
	typed  <-chan typedLine
	out    io.Writer
	echoes bool // the terminal shows what is typed, and the end of its line
}

type typedLine struct {
	text string
	err  error
}

// readLines hands on the lines of in, and the error that ends them. A read that
// blocks outlasts ctx; the process ends with it.
func readLines(ctx context.Context, in io.Reader) <-chan typedLine {
	lines := make(chan typedLine)
	go func() {
		buffered := bufio.NewReader(in)
		for {
			text, err := buffered.ReadString('\n')
			select {
			case lines <- typedLine{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// askByLine asks without moving the cursor. An empty line leaves a control as it
// is.
func askByLine(ctx context.Context, f *form.Form, s Streams) (form.Entries, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &lines{typed: readLines(ctx, s.In), out: s.Err, echoes: isTerminal(s.In)}
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
		entry, problem, err := l.read(ctx, field, initial)
		if err != nil {
			return form.Entry{}, err
		}
		if problem == nil {
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
func (l *lines) read(ctx context.Context, field *form.Field, initial form.Entry) (entry form.Entry, problem, err error) {
	if err := l.say("> "); err != nil {
		return form.Entry{}, nil, err
	}
	typed, err := l.line(ctx)
	if err == nil && !l.echoes {
		err = l.say("\n")
	}
	if err != nil {
		return form.Entry{}, nil, err
	}
	switch {
	case field.Multiline:
		entry, err = l.rest(ctx, typed, initial)
		return entry, nil, err
	case typed == "":
		return initial, undecided(field, initial), nil
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
func (l *lines) rest(ctx context.Context, first string, initial form.Entry) (form.Entry, error) {
	if first == lastLine {
		return initial, nil
	}
	var all []string
	for line := first; line != lastLine; {
		all = append(all, line)
		var err error
		if line, err = l.line(ctx); err != nil {
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

// typedChoice reads the number of an option, its value or its label. Where an
// option reads like the number of another, the number counts: it is what is
// shown beside each.
func typedChoice(field *form.Field, typed string) (form.Entry, error) {
	typed = singleSpaced(typed)
	lowest := 0
	if field.Required {
		lowest = 1
	}
	if number, err := strconv.Atoi(typed); err == nil && lowest <= number && number <= len(field.Options) {
		return chosen(field, number-1), nil
	}
	found := optionsReading(field, typed, func(a, b string) bool { return a == b })
	if len(found) == 0 {
		found = optionsReading(field, typed, strings.EqualFold)
	}
	switch len(found) {
	case 0:
		return form.Entry{}, fmt.Errorf("Enter a number from %d to %d, or an option as it reads", lowest, len(field.Options))
	case 1:
		return chosen(field, found[0]), nil
	}
	return form.Entry{}, errors.New("More than one option reads like that; enter its number")
}

// optionsReading returns the indexes of the options whose value or label is the
// same as what was typed.
func optionsReading(field *form.Field, typed string, same func(a, b string) bool) []int {
	var found []int
	labels := optionLabels(field.Options)
	for i, option := range field.Options {
		if same(typed, singleSpaced(option.Value)) || same(typed, singleSpaced(labels[i])) {
			found = append(found, i)
		}
	}
	return found
}

func singleSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// line reads a line as typed, without its end.
func (l *lines) line(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
		return "", errGaveUp
	case typed := <-l.typed:
		if errors.Is(typed.err, io.EOF) && typed.text == "" {
			return "", errors.New("the input ended before the form was filled in")
		}
		if typed.err != nil && !errors.Is(typed.err, io.EOF) {
			return "", typed.err
		}
		return strings.TrimSuffix(strings.TrimSuffix(typed.text, "\n"), "\r"), nil
	}
}

func (l *lines) say(text string) error {
	_, err := io.WriteString(l.out, text)
	return err
}

// intro puts a question, with its options, what stands in its control, and how
// to answer.
func intro(field *form.Field, initial form.Entry, index, count int) string {
	text := fmt.Sprintf("%d of %d: %s\n", index+1, count, oneLine(field.Label))
	if lines := hint(field); lines != "" {
		text += indent(lines) + "\n"
	}
	for i, option := range optionLabels(field.Options) {
		text += fmt.Sprintf("%3d %s\n", i+1, option)
	}
	return text + margin + howTo(field, initial) + "\n"
}

func howTo(field *form.Field, initial form.Entry) string {
	switch field.Kind {
	case form.Boolean:
		return fmt.Sprintf("yes or no; Enter for %s", yesNo(initial.On()))
	case form.Choice:
		kept := ""
		if at := optionIndex(field, initial); at != none {
			kept = strconv.Itoa(at + 1)
		}
		return "the number of an option, or the option as it reads" + howToLeave(field, "Enter", kept, "0")
	case form.Integer:
		return "a whole number" + howToLeave(field, "Enter", initial.Text(), clearLine)
	case form.Number:
		return "a number" + howToLeave(field, "Enter", initial.Text(), clearLine)
	}
	kept := ""
	if initial.Text() != "" {
		kept = oneLine(strconv.Quote(initial.Text()))
	}
	if field.Multiline {
		return "lines of text, ended by a line that is a dot" + howToLeave(field, "a dot at once", kept, clearLine)
	}
	return "a line of text" + howToLeave(field, "Enter", kept, clearLine)
}

// howToLeave says how to keep what stands in a control, if anything does, and
// how to have nothing there.
func howToLeave(field *form.Field, keep, kept, clear string) string {
	switch {
	case kept != "" && field.Required:
		return fmt.Sprintf("; %s for %s", keep, kept)
	case kept != "":
		return fmt.Sprintf("; %s for %s, %s for nothing", keep, kept, clear)
	case field.Required:
		return ""
	}
	return fmt.Sprintf("; %s for nothing", keep)
}
