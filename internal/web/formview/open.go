package formview

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
)

// Open is a form that waits for a person.
type Open struct {
	Form     *form.Form
	Action   string      // address that it posts to
	Key      string      // idempotency key of the send, new for each page
	Question string      // ID of the message that asks; "" for a start form
	Scope    string      // local ID of the task, or of the agent for a start form
	Post     *Post       // what was sent and refused, to be kept; nil for the initial values
	Errors   form.Errors // why it was refused
	Earlier  *Earlier    // an answer that failed, to be corrected or sent again; nil if there is none
	Closed   string      // why it can no longer be sent, as a sentence; "" if it can

	preview *preview
}

// Earlier is an answer to the question of an open form that failed after it was
// accepted. It stands in the form again.
type Earlier struct {
	Name string          // tells it from other answers
	Data json.RawMessage // one JSON object
	Why  string          // as a sentence, for people
}

// preview is what a form on the check page needs beyond an open one.
type preview struct {
	definition string // posted again with what is entered
}

// Files of package static that a page with forms needs.
const (
	StyleSheet      = "form/form.css"
	Module          = "form/structured-form.js" // of a page with an open form
	CheckStyleSheet = "form/form-check.css"     // of the check page, beside the other
	CheckModule     = "form/form-check.js"      // of the check page, which loads the other
)

// ID names the form: the same for every drawing of one question, another if the task, the question
// or the definition is another, or if an answer failed since. Drafts are kept by it.
func (o Open) ID() string {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	// What cannot be encoded has no part in the name; the rest still tells forms apart.
	_ = encoder.Encode([]string{o.Scope, o.Question})
	_ = encoder.Encode(o.Form)
	if o.Earlier != nil {
		_ = encoder.Encode(o.Earlier.Name)
	}
	return "form-" + hex.EncodeToString(sum.Sum(nil)[:8])
}

func (o Open) controls() []control {
	initial := o.initial()
	controls := make([]control, len(o.Form.Fields))
	faulty := false
	for i := range o.Form.Fields {
		field := &o.Form.Fields[i]
		entry := initial[field.Key]
		chosen := indexOf(field, entry)
		if o.Post != nil {
			entry = o.Post.entry(field)
			chosen = o.Post.chosen(field)
		}
		fault := o.Errors.Get(field.Key)
		controls[i] = control{
			field: field, text: entry.Text(), on: entry.On(), chosen: chosen,
			fault: fault, focused: fault != "" && !faulty,
			locked: o.Closed != "", exact: o.preview != nil,
		}
		faulty = faulty || fault != ""
	}
	return controls
}

// initial is what stands in the form before anybody types: what the agent suggests, or an answer
// that failed.
func (o Open) initial() form.Entries {
	var values map[string]json.RawMessage
	if o.Earlier == nil || json.Unmarshal(o.Earlier.Data, &values) != nil || values == nil {
		return o.Form.Initial()
	}
	entries := make(form.Entries, len(o.Form.Fields))
	for i := range o.Form.Fields {
		field := &o.Form.Fields[i]
		if value, given := values[field.Key]; given {
			entries[field.Key] = entryOf(field, value)
		}
	}
	return entries
}

// entryOf is how a value that was sent stands in its control; empty if it is of another kind.
func entryOf(field *form.Field, value json.RawMessage) form.Entry {
	var text string
	var on bool
	switch field.Kind {
	case form.Boolean:
		if json.Unmarshal(value, &on) == nil {
			return form.Ticked(on)
		}
	case form.Integer, form.Number:
		var number json.Number
		if json.Unmarshal(value, &number) == nil {
			return form.Typed(number.String())
		}
	case form.Choice:
		if json.Unmarshal(value, &text) == nil {
			return form.Chosen(text)
		}
	case form.Text:
		if json.Unmarshal(value, &text) == nil {
			return form.Typed(text)
		}
	}
	return form.Entry{}
}

// unsent ends what a form says that takes no answer any more.
const unsent = "What you entered was not sent."

// closedNote says why the form takes no answer, and that nothing was sent, once.
func (o Open) closedNote() string {
	if strings.HasSuffix(o.Closed, unsent) {
		return o.Closed
	}
	return o.Closed + " " + unsent
}

// indexOf returns the first option that an entry chooses, or -1.
func indexOf(field *form.Field, entry form.Entry) int {
	if entry.IsNone() {
		return -1
	}
	for i, option := range field.Options {
		if option.Value == entry.Text() {
			return i
		}
	}
	return -1
}

// faults returns the controls that something is wrong with.
func faults(controls []control) []control {
	var found []control
	for _, c := range controls {
		if c.fault != "" {
			found = append(found, c)
		}
	}
	return found
}
