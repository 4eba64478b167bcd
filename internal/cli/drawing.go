package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agent-taskbay/taskbay/form"
)

const (
	margin     = "  "
	maxPointer = 48 // columns; longer pointers get a line of their own
	maxCell    = 40 // columns of a table's cell, but for the last
)

// notes returns a titled list of notes, pointers and sentences in two columns,
// or "" if there are none.
func notes(title string, list []form.Note, p paint) string {
	if len(list) == 0 {
		return ""
	}
	width := 0
	for _, n := range list {
		if w := ansi.StringWidth(pointer(n)); w <= maxPointer {
			width = max(width, w)
		}
	}
	var out strings.Builder
	fmt.Fprintln(&out, p.bold(title))
	for _, n := range list {
		at := pointer(n)
		if ansi.StringWidth(at) > width {
			fmt.Fprintln(&out, margin+p.warn(at))
			at = ""
		}
		fmt.Fprintln(&out, margin+p.warn(pad(at, width))+margin+p.hang(oneLine(n.Message), width+2*len(margin)))
	}
	return out.String() + "\n"
}

func pointer(n form.Note) string {
	if n.Path == "" {
		return "(all of it)"
	}
	return oneLine(n.Path)
}

// drawing returns a form as people will see it, in words, and what it sends.
func drawing(f *form.Form, p paint) string {
	var out strings.Builder
	fmt.Fprintln(&out, p.bold("As people will see it"))
	fmt.Fprintln(&out, margin+p.bold(oneLine(f.Title)))
	if f.Description != "" {
		fmt.Fprintln(&out, indent(visible(f.Description)))
	}
	out.WriteString("\n" + fieldTable(f, p))
	fmt.Fprintf(&out, "\n%s[ %s ]\n\n", margin, oneLine(f.SubmitLabel))
	answer, faults := f.Check(f.Initial())
	if faults == nil {
		fmt.Fprintln(&out, p.bold("Sent if nothing is changed"))
		fmt.Fprintln(&out, margin+oneLine(string(answer)))
		return out.String()
	}
	fmt.Fprintln(&out, p.bold("Not sent before these are filled in"))
	for _, fault := range faults {
		fmt.Fprintln(&out, margin+oneLine(f.Field(fault.Key).Label)+": "+fault.Message)
	}
	return out.String()
}

func indent(text string) string {
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin)
}

func fieldTable(f *form.Form, p paint) string {
	rows := [][]string{{"FIELD", "KEY", "KIND", "STARTS AS", "RULES"}}
	for i := range f.Fields {
		field := &f.Fields[i]
		rows = append(rows, []string{
			clip(oneLine(field.Label)), clip(field.Key), string(field.Kind), clip(initial(field)), strings.Join(rules(field), "; "),
		})
	}
	return table(rows, p)
}

func clip(text string) string { return ansi.Truncate(text, maxCell, "…") }

// initial says what stands in a field's control at first.
func initial(field *form.Field) string {
	switch value := field.Default.(type) {
	case string:
		if field.Kind == form.Choice {
			label, _ := field.OptionLabel(value)
			return oneLine(label)
		}
		return oneLine(strconv.Quote(value))
	case bool:
		return yesNo(value)
	case form.Decimal:
		return value.String()
	}
	if field.Kind == form.Boolean {
		return yesNo(false)
	}
	return "-"
}

func yesNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// rules says in words what a field takes.
func rules(field *form.Field) []string {
	var out []string
	if field.Required {
		out = append(out, "required")
	}
	if field.Multiline {
		out = append(out, "several lines")
	}
	if n := field.MinLength; n != nil {
		out = append(out, "at least "+characters(*n))
	}
	if n := field.MaxLength; n != nil {
		out = append(out, "at most "+characters(*n))
	}
	if field.Minimum != "" {
		out = append(out, "at least "+field.Minimum.String())
	}
	if field.Maximum != "" {
		out = append(out, "at most "+field.Maximum.String())
	}
	if len(field.Options) > 0 {
		out = append(out, "one of: "+strings.Join(optionLabels(field.Options), ", "))
	}
	return out
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return strconv.Itoa(n) + " characters"
}

// optionLabels returns the labels of options. Where two look the same, each has
// its value behind it, with everything that cannot be seen in it escaped.
func optionLabels(options []form.Option) []string {
	seen := make(map[string]int)
	for _, option := range options {
		seen[form.Appearance(option.Label)]++
	}
	labels := make([]string, 0, len(options))
	for _, option := range options {
		label := oneLine(option.Label)
		if look := form.Appearance(option.Label); look == "" || seen[look] > 1 {
			label = strings.TrimSpace(label + " " + strconv.QuoteToASCII(option.Value))
		}
		labels = append(labels, label)
	}
	return labels
}

// table aligns rows by the columns that a terminal gives each text, and wraps
// their last cell. The first row is the head.
func table(rows [][]string, p paint) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	var out strings.Builder
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row[:len(row)-1] {
			line.WriteString(margin + pad(cell, widths[j]))
		}
		column := ansi.StringWidth(line.String()) + len(margin)
		text := strings.TrimRight(line.String()+margin+p.hang(row[len(row)-1], column), " ")
		if i == 0 {
			text = p.dim(text)
		}
		fmt.Fprintln(&out, text)
	}
	return out.String()
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
