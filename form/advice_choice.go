package form

import "fmt"

// choice looks at what makes a choice: the type beside it, its values, and its labels.
func (a *adviser) choice(p *property, options []Option) {
	if kindOf(p.typeName) != jsonMissing && text(p.typeName) != "string" {
		a.note(p.path("type"), `The type has no effect beside enum: the answer is one of its strings. Write "string", or leave it out.`)
	}
	a.values(p, options)
	if a.hasLabels(p, len(options)) {
		a.labels(p, options)
	}
	for i, option := range options {
		if Appearance(option.Label) == "" {
			a.note(p.item("enum", i), "The option reads as nothing; give it a label in enumNames.")
		}
	}
}

// values looks at what is sent.
func (a *adviser) values(p *property, options []Option) {
	looks := make(map[string]int, len(options))
	for i, option := range options {
		path, look := p.item("enum", i), Appearance(option.Value)
		other, seen := looks[look]
		switch {
		case !seen:
			looks[look] = i
		case options[other].Value == option.Value:
			a.note(path, "The value repeats that of option %d; both send the same.", other+1)
		default:
			a.note(path, "The value looks like that of option %d but differs in characters that cannot be seen.", other+1)
		}
		a.characters(path, option.Value, false)
	}
}

// hasLabels reports whether enumNames takes effect, and says so if it does not.
func (a *adviser) hasLabels(p *property, options int) bool {
	names := countElements(p.enumNames)
	switch {
	case kindOf(p.enumNames) == jsonMissing:
		return false
	case kindOf(p.enumNames) != jsonArray:
		a.note(p.path("enumNames"), "enumNames is %s and has no effect; it must be an array of strings.", describe(p.enumNames))
		return false
	case names != options:
		a.note(p.path("enumNames"), "enumNames has no effect: the number of labels is %d, that of options %d.", names, options)
		return false
	}
	return true
}

// labels looks at what is read instead of the values.
func (a *adviser) labels(p *property, options []Option) {
	for i, name := range elements(p.enumNames) {
		switch {
		case kindOf(name) != jsonString:
			a.note(p.item("enumNames", i), "The label is %s and has no effect; the value is shown.", describe(name))
		case text(name) == "":
			a.note(p.item("enumNames", i), "The label is empty; the value is shown.")
		default:
			a.characters(p.item("enumNames", i), text(name), false)
		}
	}
	looks := make(map[string]int, len(options))
	for i, option := range options {
		look := Appearance(option.Label)
		other, seen := looks[look]
		switch {
		case !seen:
			looks[look] = i
		case Appearance(options[other].Value) != Appearance(option.Value):
			a.note(p.item("enumNames", i), "The label reads like that of option %d; people cannot tell them apart.", other+1)
		}
	}
}

// item returns the JSON Pointer to an element of an array in the property.
func (p *property) item(name string, i int) string {
	return fmt.Sprintf("%s/%d", p.path(name), i)
}
