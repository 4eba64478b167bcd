package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Definition returns the definition that this form is drawn from, for an agent to send as the data of
// a part with MediaType. An empty Title, SubmitLabel, Label of a field or of an option stands for its
// fallback. The definition keeps the order of the fields even where a transport sorts object members.
//
// The error is a *RejectedError if the definition would be rejected, and also if anything in the form
// would be lost: a text over its limit, a bound on a text, a default of the wrong kind. Inspect says
// what else is doubtful about the definition.
func (f *Form) Definition() (json.RawMessage, error) {
	if notes := f.unwritable(); len(notes) > 0 {
		return nil, &RejectedError{Reasons: notes}
	}
	definition := f.encode()
	drawn, err := Parse(definition)
	if err != nil {
		return nil, err
	}
	if notes := f.lostIn(drawn); len(notes) > 0 {
		return nil, &RejectedError{Reasons: notes}
	}
	return definition, nil
}

// unwritable says what a definition cannot even hold.
func (f *Form) unwritable() []Note {
	var notes []Note
	seen := map[string]bool{}
	for i := range f.Fields {
		field := &f.Fields[i]
		if seen[field.Key] {
			notes = append(notes, field.note("", "The key names more than one field."))
		}
		seen[field.Key] = true
		notes = append(notes, field.boundNotes()...)
		if field.Default != nil && field.defaultJSON() == nil {
			notes = append(notes, field.note("default", "The default is no string, boolean or finite number."))
		}
	}
	return notes
}

func (f *Field) boundNotes() []Note {
	var notes []Note
	for _, bound := range []struct {
		name   string
		number Decimal
	}{{"minimum", f.Minimum}, {"maximum", f.Maximum}} {
		if bound.number != "" && !isJSONNumber(string(bound.number)) {
			notes = append(notes, f.note(bound.name, abbreviate(string(bound.number))+" is not a JSON number."))
		}
	}
	return notes
}

func (f *Field) note(member, message string) Note {
	path := "/schema/properties/" + escapePointer(f.Key)
	if member != "" {
		path += "/" + member
	}
	return Note{Path: path, Message: message}
}

// defaultJSON returns the default as JSON, or nil if it is nothing that a definition can hold.
func (f *Field) defaultJSON() []byte {
	switch value := f.Default.(type) {
	case string:
		return appendString(nil, value)
	case bool:
		return strconv.AppendBool(nil, value)
	}
	number, ok := decimalOf(f.Default)
	if !ok {
		return nil
	}
	return []byte(number)
}

// encode writes the definition, whether or not it is valid.
func (f *Form) encode() []byte {
	keys := make([]string, len(f.Fields))
	var required []string
	properties := objectWriter{}
	for i := range f.Fields {
		keys[i] = f.Fields[i].Key
		properties.add(keys[i], f.Fields[i].schema())
		if f.Fields[i].Required {
			required = append(required, keys[i])
		}
	}
	schema := objectWriter{}
	schema.addText("type", "object")
	schema.addList("required", required)
	schema.add("properties", properties.bytes())

	definition := objectWriter{}
	definition.addText("title", f.Title)
	definition.addText("description", f.Description)
	definition.addText("submitLabel", f.SubmitLabel)
	definition.addList("order", keys)
	definition.add("schema", schema.bytes())
	return definition.bytes()
}

// schema writes all that is set, whether or not it fits the kind.
func (f *Field) schema() []byte {
	var w objectWriter
	w.addText("type", f.typeName())
	w.addText("title", f.Label)
	w.addText("description", f.Description)
	w.addOptions(f.Options)
	if f.Multiline {
		w.addText("format", "multiline")
	}
	if f.MinLength != nil {
		w.add("minLength", strconv.AppendInt(nil, int64(*f.MinLength), 10))
	}
	if f.MaxLength != nil {
		w.add("maxLength", strconv.AppendInt(nil, int64(*f.MaxLength), 10))
	}
	if f.Minimum != "" {
		w.add("minimum", []byte(f.Minimum))
	}
	if f.Maximum != "" {
		w.add("maximum", []byte(f.Maximum))
	}
	if f.Default != nil {
		w.add("default", f.defaultJSON())
	}
	return w.bytes()
}

func (f *Field) typeName() string {
	if f.Kind == Text || f.Kind == Choice {
		return "string"
	}
	return string(f.Kind)
}

// lostIn notes what the form has and the drawn one has not.
func (f *Form) lostIn(drawn *Form) []Note {
	var notes []Note
	texts := []struct{ name, want, got string }{
		{"title", cmp.Or(f.Title, DefaultTitle), drawn.Title},
		{"description", f.Description, drawn.Description},
		{"submitLabel", cmp.Or(f.SubmitLabel, DefaultSubmitLabel), drawn.SubmitLabel},
	}
	for _, text := range texts {
		if text.want != text.got {
			notes = append(notes, Note{"/" + text.name, "The text is over its limit or not valid UTF-8."})
		}
	}
	for i := range f.Fields {
		notes = append(notes, f.Fields[i].lossNotes(&drawn.Fields[i])...)
	}
	return notes
}

func (f *Field) lossNotes(drawn *Field) []Note {
	if f.Kind != drawn.Kind {
		return []Note{f.note("type", fmt.Sprintf("The field would be %s; a choice, and only a choice, has options.", nouns[drawn.Kind]))}
	}
	var notes []Note
	for _, name := range f.lostIn(drawn) {
		notes = append(notes, f.note(name, fmt.Sprintf("The %s has no effect on %s, or is out of its limits.", name, nouns[f.Kind])))
	}
	return notes
}

// lostIn returns the definition's names of what the field has and the drawn one has not.
func (f *Field) lostIn(drawn *Field) []string {
	var lost []string
	check := func(name string, same bool) {
		if !same {
			lost = append(lost, name)
		}
	}
	check("title", cmp.Or(f.Label, f.Key) == drawn.Label)
	check("description", f.Description == drawn.Description)
	check("required", f.Required == drawn.Required)
	check("default", f.Default == nil || string(f.defaultJSON()) == string(drawn.defaultJSON()))
	check("minLength", equalLength(f.MinLength, drawn.MinLength))
	check("maxLength", equalLength(f.MaxLength, drawn.MaxLength))
	check("format", !f.Multiline || drawn.Multiline)
	check("minimum", f.Minimum == drawn.Minimum)
	check("maximum", f.Maximum == drawn.Maximum)
	check("enum", slices.EqualFunc(f.Options, drawn.Options, func(a, b Option) bool {
		return a.Value == b.Value && cmp.Or(a.Label, a.Value) == b.Label
	}))
	return lost
}

func equalLength(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// objectWriter writes a JSON object member by member.
type objectWriter struct{ out []byte }

// add writes a member whose value is JSON.
func (w *objectWriter) add(name string, value []byte) {
	w.out = append(w.out, ',')
	w.out = append(appendString(w.out, name), ':')
	w.out = append(w.out, value...)
}

// addText writes a text, if there is one.
func (w *objectWriter) addText(name, text string) {
	if text != "" {
		w.add(name, appendString(nil, text))
	}
}

// addList writes an array of texts, if there are any.
func (w *objectWriter) addList(name string, texts []string) {
	var list []byte
	for _, text := range texts {
		list = appendString(append(list, ','), text)
	}
	if len(list) > 0 {
		list[0] = '['
		w.add(name, append(list, ']'))
	}
}

// addOptions writes the values of a choice, and its labels where any differs.
func (w *objectWriter) addOptions(options []Option) {
	values, labels := make([]string, len(options)), make([]string, len(options))
	for i, option := range options {
		values[i], labels[i] = option.Value, cmp.Or(option.Label, option.Value)
	}
	w.addList("enum", values)
	if !slices.Equal(values, labels) {
		w.addList("enumNames", labels)
	}
}

// bytes returns the object.
func (w *objectWriter) bytes() []byte {
	if len(w.out) == 0 {
		return []byte("{}")
	}
	w.out[0] = '{'
	return append(w.out, '}')
}
