package form

import "fmt"

// maxNotes is how much advice one definition gets.
const maxNotes = 200

// adviser collects advice on one definition. Its methods each look at one part.
type adviser struct {
	doc          *document
	requiredKeys map[string]bool
	notes        []Note
	skipped      int
}

// advice gives everything in a definition that has no effect or is doubtful, in the order of reading.
// A field whose name rejects the definition gets none.
func (d *document) advice() []Note {
	a := &adviser{doc: d, requiredKeys: d.requiredKeys()}
	a.root()
	a.order()
	a.schema()
	a.required()
	for i := range d.fields {
		if isKey(d.fields[i].key) {
			a.field(&d.fields[i])
		}
	}
	a.sameLabels()
	if a.skipped > 0 {
		a.notes = append(a.notes, Note{"", fmt.Sprintf("There are %d more remarks like these.", a.skipped)})
	}
	return a.notes
}

// note adds a sentence about a place, unless there are too many already.
func (a *adviser) note(path, format string, args ...any) {
	if a.isFull() {
		return
	}
	a.notes = append(a.notes, Note{path, fmt.Sprintf(format, args...)})
}

// isFull reports whether there is no room for another note, and counts it if so. Asked before a note
// is composed, it keeps endless faults cheap.
func (a *adviser) isFull() bool {
	if len(a.notes) < maxNotes {
		return false
	}
	a.skipped++
	return true
}

func (a *adviser) root() {
	a.members("", a.doc.whole, &rootKeywords)
	a.shownText("/title", a.doc.title, shown{limit: MaxTitle, fallback: DefaultTitle, oneLine: true})
	a.shownText("/description", a.doc.description, shown{limit: MaxDescription})
	a.shownText("/submitLabel", a.doc.submitLabel,
		shown{limit: MaxSubmitLabel, fallback: DefaultSubmitLabel, oneLine: true})
}

func (a *adviser) schema() {
	a.members("/schema", a.doc.schema, &schemaKeywords)
	seen := make(map[string]bool, len(a.doc.fields))
	for key := range members(a.doc.properties) {
		if seen[key] && isKey(key) {
			a.note(pointer("/schema/properties", key), "The field is declared more than once; the last one counts.")
		}
		if len(seen) <= MaxFields {
			seen[key] = true
		}
	}
}

// order looks at the names that are to come first.
func (a *adviser) order() {
	a.names("/order", a.doc.order, "The fields come in the order of properties.")
}

// required looks at the names that must be answered.
func (a *adviser) required() {
	a.names("/schema/required", a.doc.required, "No field is required.")
	for i, value := range elements(a.doc.required) {
		if p := a.doc.property(text(value)); p != nil && p.kind() == Boolean {
			a.note(fmt.Sprintf("/schema/required/%d", i),
				"A boolean is never required: it is always sent, and false when untouched. To demand a decision, ask with an enum.")
		}
	}
}

// names looks at an array of field names; instead says what holds without it.
func (a *adviser) names(path string, list []byte, instead string) {
	switch kindOf(list) {
	case jsonMissing:
		return
	case jsonArray:
	default:
		a.note(path, "It is %s and has no effect; it must be an array of field names. %s", describe(list), instead)
		return
	}
	seen := map[string]bool{}
	for i, value := range elements(list) {
		name := text(value)
		if a.doc.property(name) != nil && !seen[name] {
			seen[name] = true
			continue
		}
		if a.isFull() {
			continue
		}
		at := fmt.Sprintf("%s/%d", path, i)
		switch {
		case kindOf(value) != jsonString:
			a.note(at, "It is %s and has no effect; a field is named by a string.", describe(value))
		case seen[name]:
			a.note(at, "%s is named a second time, which has no effect.", abbreviate(name))
		default:
			a.note(at, "There is no field %s, so the name has no effect.%s", abbreviate(name), didYouMean(name, a.doc.keys()))
		}
	}
}

// members looks for members of an object that mean nothing or are repeated.
func (a *adviser) members(path string, object []byte, known *keywords) {
	seen := map[string]bool{}
	for name := range members(object) {
		isKnown := known.has(name)
		switch {
		case isKnown && !seen[name]:
			seen[name] = true
		case a.isFull():
		case isKnown:
			a.note(pointer(path, name), "%s is given more than once; the last one counts.", abbreviate(name))
		default:
			a.note(pointer(path, name), "%s", known.explain(name))
		}
	}
}

// sameLabels finds fields that people cannot tell apart.
func (a *adviser) sameLabels() {
	first := map[string]string{}
	for i := range a.doc.fields {
		p := &a.doc.fields[i]
		if !isKey(p.key) {
			continue
		}
		look := Appearance(textOr(p.title, MaxTitle, p.key))
		if other, ok := first[look]; ok {
			a.note(p.path("title"), "The label reads like that of %s; people cannot tell the two fields apart.", abbreviate(other))
			continue
		}
		first[look] = p.key
	}
}
