package agui

import (
	"cmp"
	"encoding/json"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// The reasons of interrupts.
const (
	reasonInput = "input_required"
	reasonAuth  = "a2a:auth_required"
)

// ValidationError is what is wrong with an answer. Path is the key of a field; "" for
// the answer as a whole.
type ValidationError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// interruptOf is what a waiting task asks, as an interrupt without an ID.
func interruptOf(t task.Task) Interrupt {
	q := questionOf(t)
	about := map[string]any{"a2a": map[string]any{"taskId": t.ID, "state": string(t.State)}}
	i := Interrupt{Reason: reasonInput, Message: q.Prompt, ResponseSchema: textSchema()}
	switch {
	case t.State == a2a.StateAuthRequired:
		i.Reason, i.ResponseSchema = reasonAuth, doneSchema()
		i.Message = cmp.Or(i.Message, "The agent asks you to sign in.")
		if links := linksIn(q.Parts); len(links) > 0 {
			about["a2a"].(map[string]any)["links"] = links
		}
	case q.Form != nil:
		i.ResponseSchema = formSchema(q.Form)
		i.Message = cmp.Or(i.Message, q.Form.Title)
		about["form"] = formMetadata(q.Form)
	}
	i.Message = cmp.Or(i.Message, "The agent asks for input.")
	i.Metadata = mustJSON(about)
	return i
}

// questionOf is what a waiting task asks, which may be without a word.
func questionOf(t task.Task) task.Question {
	if t.Question == nil {
		return task.Question{FormPart: -1}
	}
	return *t.Question
}

func linksIn(parts []a2a.Part) []string {
	var links []string
	for _, p := range parts {
		if p.URL != "" {
			links = append(links, p.URL)
		}
	}
	return links
}

// textSchema describes the answer to a question in words.
func textSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
}

// doneSchema describes how somebody says that they have signed in.
func doneSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"done":{"type":"boolean"}},"required":["done"]}`)
}

// fieldSchema is a field in JSON Schema, with the keywords that are checked and no
// others: what an agent writes besides is not passed on.
type fieldSchema struct {
	Type        string          `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	Default     any             `json:"default,omitempty"`
}

// formSchema is the JSON Schema of the answers that a form accepts.
func formSchema(f *form.Form) json.RawMessage {
	properties := orderedObject{}
	var required []string
	for i := range f.Fields {
		field := &f.Fields[i]
		s := fieldSchema{
			Type: string(field.Kind), Title: field.Label, Description: field.Description, MinLength: field.MinLength,
			MaxLength: field.MaxLength, Minimum: json.RawMessage(field.Minimum), Maximum: json.RawMessage(field.Maximum), Default: field.Default,
		}
		if field.Kind == form.Text || field.Kind == form.Choice {
			s.Type = "string"
		}
		seen := map[string]bool{}
		for _, o := range field.Options {
			if !seen[o.Value] { // a schema has each value once
				s.Enum = append(s.Enum, o.Value)
			}
			seen[o.Value] = true
		}
		properties.add(field.Key, mustJSON(s))
		if field.Required {
			required = append(required, field.Key)
		}
	}
	return mustJSON(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required,omitempty"`
	}{"object", properties.json(), required})
}

// formMetadata is what a schema cannot say of a form.
func formMetadata(f *form.Form) map[string]any {
	var order []string
	labels, options := map[string]string{}, map[string][]form.Option{}
	for _, field := range f.Fields {
		order = append(order, field.Key)
		labels[field.Key] = field.Label
		if field.Kind == form.Choice {
			options[field.Key] = field.Options
		}
	}
	out := map[string]any{"extension": form.URI, "title": f.Title, "submitLabel": f.SubmitLabel, "order": order, "labels": labels}
	if f.Description != "" {
		out["description"] = f.Description
	}
	if len(options) > 0 {
		out["options"] = options
	}
	return out
}

// answer is what answers a question, ready to be sent, or what is wrong with it. That
// of a form goes alone; others may have a text beside them.
func answer(t task.Task, payload json.RawMessage) ([]a2a.Part, []ValidationError) {
	q := questionOf(t)
	if t.State != a2a.StateAuthRequired && q.Form != nil {
		data, errs := formAnswer(q.Form, payload)
		if len(errs) > 0 {
			return nil, errs
		}
		return []a2a.Part{{Data: data, MediaType: form.AnswerMediaType}}, nil
	}
	if text, ok := rawjson.Text(payload); ok {
		return textAnswer(text)
	}
	if !isObject(payload) {
		return nil, []ValidationError{{Message: "The answer is a text, or an object as responseSchema has it."}}
	}
	if t.State == a2a.StateAuthRequired {
		if string(rawjson.Member(payload, "done")) != "true" {
			return nil, []ValidationError{{Path: "done", Message: "Sign in first, and then say true."}}
		}
		return []a2a.Part{{Data: payload, MediaType: form.AnswerMediaType}}, nil
	}
	text, ok := rawjson.Text(rawjson.Member(payload, "text"))
	if !ok {
		return nil, []ValidationError{{Path: "text", Message: "Required"}}
	}
	if members(payload) == 1 {
		return textAnswer(text)
	}
	return []a2a.Part{{Data: payload, MediaType: form.AnswerMediaType}}, nil
}

func textAnswer(text string) ([]a2a.Part, []ValidationError) {
	if text == "" {
		return nil, []ValidationError{{Path: "text", Message: "Required"}}
	}
	return []a2a.Part{a2a.TextPart(text)}, nil
}

// formAnswer checks an answer as if it had been entered into the form: a number may
// come as a text, what is not declared is left out, and a yes or no that is missing
// is a no.
func formAnswer(f *form.Form, payload json.RawMessage) (json.RawMessage, []ValidationError) {
	if !isObject(payload) {
		return nil, []ValidationError{{Message: "The answer is an object with the fields of the form."}}
	}
	entries := form.Entries{}
	var errs []ValidationError
	for key, value := range rawjson.Members(payload) {
		field := f.Field(key)
		if field == nil {
			continue
		}
		entry, ok := entered(field, value)
		if !ok {
			errs = append(errs, ValidationError{Path: key, Message: "A value of another kind is expected."})
		}
		entries[key] = entry
	}
	if len(errs) > 0 {
		return nil, errs
	}
	data, faults := f.Check(entries)
	for _, e := range faults {
		errs = append(errs, ValidationError{Path: e.Key, Message: e.Message})
	}
	return data, errs
}

// entered is a JSON value as it would have been entered.
func entered(field *form.Field, value json.RawMessage) (form.Entry, bool) {
	number := field.Kind == form.Number || field.Kind == form.Integer
	switch rawjson.KindOf(value) {
	case rawjson.Null:
		return form.Entry{}, true
	case rawjson.String:
		text, ok := rawjson.Text(value)
		return form.Typed(text), ok
	case rawjson.Number:
		return form.Typed(string(value)), number
	case rawjson.Bool:
		return form.Ticked(string(value) == "true"), true
	}
	return form.Entry{}, false
}

func members(object json.RawMessage) int {
	n := 0
	for range rawjson.Members(object) {
		n++
	}
	return n
}

// orderedObject is a JSON object whose members stay in their order.
type orderedObject struct{ out []byte }

func (o *orderedObject) add(name string, value json.RawMessage) {
	o.out = append(o.out, ',')
	o.out = append(append(o.out, mustJSON(name)...), ':')
	o.out = append(o.out, value...)
}

func (o *orderedObject) json() json.RawMessage {
	if len(o.out) == 0 {
		return json.RawMessage("{}")
	}
	return append(append([]byte{'{'}, o.out[1:]...), '}')
}
