package formview

import (
	"encoding/json"

	"github.com/agent-taskbay/taskbay/form"
)

// Answered is a form that was filled in and sent.
type Answered struct {
	Form *form.Form
	Data json.RawMessage // the answer as it was sent: one JSON object
	By   string          // who sent it; "" where the page says so elsewhere
}

// answer is the answer to one field, in words.
type answer struct {
	label string
	text  string // "" if there is none, or if it is an empty text
	exact string // the value that was sent for an option whose label is another text
	given bool
}

// answers returns the fields with what was sent for each, and false if the data is no answer to the
// form at all.
func (a Answered) answers() ([]answer, bool) {
	var values map[string]json.RawMessage
	if json.Unmarshal(a.Data, &values) != nil || values == nil {
		return nil, false
	}
	rows := make([]answer, len(a.Form.Fields))
	for i := range a.Form.Fields {
		field := &a.Form.Fields[i]
		value, given := values[field.Key]
		rows[i] = answer{label: field.Label, given: given}
		if given {
			rows[i].text, rows[i].exact = inWords(field, value)
		}
	}
	return rows, true
}

// inWords says what a value means. What no field of this kind sends is shown as it is.
func inWords(field *form.Field, value json.RawMessage) (text, exact string) {
	var parsed any
	if json.Unmarshal(value, &parsed) != nil {
		return string(value), ""
	}
	switch v := parsed.(type) {
	case bool:
		if v {
			return "Yes", ""
		}
		return "No", ""
	case string:
		name, isOption := field.OptionLabel(v)
		if !isOption || name == v {
			return v, ""
		}
		return name, v
	default:
		return string(value), ""
	}
}
