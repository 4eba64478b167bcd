package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Form is a form as it is drawn.
type Form struct {
	Title       string  `json:"title"`
	Description string  `json:"description,omitempty"`
	SubmitLabel string  `json:"submitLabel"`
	Fields      []Field `json:"fields"`
}

// Field is one field of a form.
type Field struct {
	Key         string          `json:"key"`
	Kind        string          `json:"kind"` // text, number, integer, boolean or choice
	Label       string          `json:"label"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	Multiline   bool            `json:"multiline,omitempty"`
	Minimum     json.Number     `json:"minimum,omitempty"` // with every digit of the agent's; "" for none
	Maximum     json.Number     `json:"maximum,omitempty"`
	Options     []Option        `json:"options,omitempty"`
}

// Option is one option of a choice.
type Option struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Note is one remark about a definition.
type Note struct {
	Path    string `json:"path"` // JSON Pointer into the definition
	Message string `json:"message"`
}

// FormReport is what there is to say about a definition.
type FormReport struct {
	Accepted bool   `json:"accepted"`
	Form     *Form  `json:"form,omitempty"`
	Reasons  []Note `json:"reasons"` // why it is rejected
	Advice   []Note `json:"advice"`  // what has no effect or is doubtful
}

// FormVerdict is what would be sent, or what is wrong by field key.
type FormVerdict struct {
	Submission json.RawMessage   `json:"submission,omitempty"`
	Errors     map[string]string `json:"errors,omitempty"`
}

type formDefinition struct {
	Definition json.RawMessage `json:"definition"`
}

type formEntries struct {
	Definition json.RawMessage `json:"definition"`
	Entered    json.RawMessage `json:"entered,omitempty"`
}

// CheckForm says of a form definition whether it is drawn, and why not.
func (c *Client) CheckForm(ctx context.Context, definition json.RawMessage) (FormReport, error) {
	return fetch[FormReport](ctx, c, call{method: http.MethodPost, path: "/forms/check", body: formDefinition{definition}})
}

// AnswerForm says what would be sent for what is entered in a form: an object by field
// key, on top of the initial values.
func (c *Client) AnswerForm(ctx context.Context, definition, entered json.RawMessage) (FormVerdict, error) {
	return fetch[FormVerdict](ctx, c, call{method: http.MethodPost, path: "/forms/answer", body: formEntries{definition, entered}})
}
