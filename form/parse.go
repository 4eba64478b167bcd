package form

import "math"

// Parse reads a definition. The error is a *RejectedError with every reason; one of them is enough
// to reject the whole form. Where a definition repeats a member the last one counts, as in a
// browser. Time and memory are in proportion to the definition.
func Parse(definition []byte) (*Form, error) {
	doc, reasons := judge(definition)
	if len(reasons) > 0 {
		return nil, &RejectedError{Reasons: reasons}
	}
	return doc.form(), nil
}

// judge takes a definition apart and gives every reason to reject it.
func judge(definition []byte) (document, []Note) {
	doc, fault := readDocument(definition)
	if fault != "" {
		return doc, []Note{{Path: "", Message: fault}}
	}
	return doc, doc.reasons()
}

// form returns the form that is drawn. There must be no reason to reject it.
func (d *document) form() *Form {
	required := d.requiredKeys()
	form := &Form{
		Title:       textOr(d.title, MaxTitle, DefaultTitle),
		Description: textOr(d.description, MaxDescription, ""),
		SubmitLabel: textOr(d.submitLabel, MaxSubmitLabel, DefaultSubmitLabel),
		Fields:      make([]Field, 0, len(d.fields)),
	}
	for _, i := range d.drawingOrder() {
		p := &d.fields[i]
		form.Fields = append(form.Fields, p.field(required[p.key]))
	}
	return form
}

// requiredKeys returns the fields that schema.required names.
func (d *document) requiredKeys() map[string]bool {
	keys := map[string]bool{}
	for _, value := range elements(d.required) {
		if p := d.property(text(value)); p != nil {
			keys[p.key] = true
		}
	}
	return keys
}

// drawingOrder returns the indexes of the fields as they are drawn: those that order names first,
// the rest in document order.
func (d *document) drawingOrder() []int {
	index := make(map[string]int, len(d.fields))
	for i := range d.fields {
		index[d.fields[i].key] = i
	}
	order := make([]int, 0, len(d.fields))
	place := func(key string) {
		if i, ok := index[key]; ok {
			order = append(order, i)
			delete(index, key)
		}
	}
	for _, value := range elements(d.order) {
		if kindOf(value) == jsonString {
			place(decodeString(value))
		}
	}
	for i := range d.fields {
		place(d.fields[i].key)
	}
	return order
}

// kind returns the field kind, or "" if the property has none.
func (p *property) kind() Kind {
	if kindOf(p.enum) == jsonArray {
		return Choice
	}
	if kindOf(p.typeName) != jsonString {
		return ""
	}
	switch decodeString(p.typeName) {
	case "string":
		return Text
	case "number":
		return Number
	case "integer":
		return Integer
	case "boolean":
		return Boolean
	}
	return ""
}

func (p *property) field(required bool) Field {
	kind := p.kind()
	field := Field{
		Key:         p.key,
		Kind:        kind,
		Label:       textOr(p.title, MaxTitle, p.key),
		Description: textOr(p.description, MaxDescription, ""),
		Required:    required && kind != Boolean,
	}
	switch kind {
	case Text:
		field.MinLength = length(p.minLength, math.MaxInt32)
		field.MaxLength = length(p.maxLength, MaxText)
		field.Multiline = text(p.format) == "multiline" ||
			field.MaxLength != nil && *field.MaxLength > multilineOver
	case Number, Integer:
		field.Minimum = bound(p.minimum)
		field.Maximum = bound(p.maximum)
	case Choice:
		field.Options = p.options()
	}
	field.Default = field.acceptDefault(scalar(p.defaultValue))
	return field
}

// acceptDefault returns the value if a field of this kind may stand with it untouched, and nil if
// not. Bounds do not matter: a person is to see a default that breaks them, and to correct it.
func (f *Field) acceptDefault(value any) any {
	ok := false
	switch v := value.(type) {
	case string:
		_, isOption := f.OptionLabel(v)
		ok = f.Kind == Text || f.Kind == Choice && isOption
	case bool:
		ok = f.Kind == Boolean
	case Decimal:
		ok = f.Kind == Number || f.Kind == Integer
	}
	if !ok {
		return nil
	}
	return value
}

func (p *property) options() []Option {
	var options []Option
	for _, value := range elements(p.enum) {
		value := text(value)
		options = append(options, Option{Value: value, Label: value})
	}
	if countElements(p.enumNames) != len(options) {
		return options
	}
	for i, name := range elements(p.enumNames) {
		options[i].Label = textOr(name, math.MaxInt, options[i].Value)
	}
	return options
}

// text returns the text of a JSON string, and "" for any other value or none.
func text(value []byte) string {
	if kindOf(value) != jsonString {
		return ""
	}
	return decodeString(value)
}

// textOr returns a text within its limit, or the fallback if it is empty or no string.
func textOr(value []byte, limit int, fallback string) string {
	cut, _ := truncate(text(value), limit)
	if cut == "" {
		return fallback
	}
	return cut
}

// length returns a number of characters: floored, at most limit, and nil for what is no number, not
// finite, or negative.
func length(value []byte, limit int) *int {
	if kindOf(value) != jsonNumber {
		return nil
	}
	v, ok := parseDecimal(string(value))
	if !ok || v.negative {
		return nil
	}
	n := v.floor(limit)
	return &n
}

// bound returns a finite number, or "" for any other value or none.
func bound(value []byte) Decimal {
	number, _ := scalar(value).(Decimal)
	return number
}
