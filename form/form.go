package form

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What a card and a message say to use structured forms.
const (
	// URI names the extension in an Agent Card's capabilities.extensions.
	URI = "https://extensions.allsrc.dev/agent-taskbay/structured-form/v1"
	// MediaType is the media type of the data part that holds a definition.
	MediaType = "application/vnd.agent-taskbay.form+json"
	// AnswerMediaType is the media type of the data part that holds an answer.
	AnswerMediaType = "application/json"
)

// Limits of a definition and of an answer. Lengths of texts count Unicode code points.
const (
	MaxDefinitionBytes = 1 << 20 // of JSON
	MaxFields          = 30
	MaxOptions         = 50     // of one choice
	MaxTitle           = 120    // the form's title and a field's label; longer ones are cut
	MaxDescription     = 2_000  // longer ones are cut
	MaxSubmitLabel     = 40     // longer ones are cut
	MaxText            = 10_000 // what a person may enter in a text, whatever maxLength says
	MaxNumber          = 64     // what a person may enter as a number
)

// What stands where a definition says nothing.
const (
	DefaultTitle       = "Agent request"
	DefaultSubmitLabel = "Submit"
)

// maxKey is how many characters a field's key may have.
const maxKey = 64

// multilineOver is the maxLength above which a text gets several lines without asking.
const multilineOver = 200

// Kind is one of the closed set of field kinds.
type Kind string

// The field kinds.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Choice  Kind = "choice"
)

// Form is a form as it is drawn: every fallback applied, every text within its limit, fields in
// the order of drawing. Its JSON is the Form shape of the HTTP API. Parse makes one from an agent's
// definition; Definition makes a definition from one.
type Form struct {
	Title       string  `json:"title"`
	Description string  `json:"description,omitempty"`
	SubmitLabel string  `json:"submitLabel"`
	Fields      []Field `json:"fields"`
}

// Field is one question of a form. Bounds, lengths and Default are there only where the agent gave
// them.
type Field struct {
	Key         string
	Kind        Kind
	Label       string
	Description string
	Required    bool // never for a Boolean

	// Default is a string for a Text or a Choice, a Decimal for a Number or an Integer, a bool for
	// a Boolean, and nil where there is none. In a Form that Definition is called on, any Go
	// integer or float and a json.Number may stand for a Decimal.
	Default any

	MinLength *int // of a Text
	MaxLength *int // of a Text; at most MaxText
	Multiline bool // of a Text

	Minimum Decimal // of a Number or an Integer, inclusive; "" for none
	Maximum Decimal // of a Number or an Integer, inclusive; "" for none

	Options []Option // of a Choice, 1 to MaxOptions
}

// Option is one answer that a choice offers. Values of one choice may repeat, and may be empty.
type Option struct {
	Value string `json:"value"` // what is sent
	Label string `json:"label"` // what is read
}

// Field returns the field with a key, or nil.
func (f *Form) Field(key string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Key == key {
			return &f.Fields[i]
		}
	}
	return nil
}

// OptionLabel returns the label of the first option with that value, and whether there is one.
func (f *Field) OptionLabel(value string) (label string, ok bool) {
	for _, option := range f.Options {
		if option.Value == value {
			return option.Label, true
		}
	}
	return "", false
}

// fieldJSON is Field as the HTTP API writes it.
type fieldJSON struct {
	Key         string          `json:"key"`
	Kind        Kind            `json:"kind"`
	Label       string          `json:"label"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	Multiline   *bool           `json:"multiline,omitempty"`
	Minimum     Decimal         `json:"minimum,omitempty"`
	Maximum     Decimal         `json:"maximum,omitempty"`
	Options     []Option        `json:"options,omitempty"`
}

// MarshalJSON writes numbers with every digit, a default that is false, 0 or "", and multiline for
// every text.
func (f Field) MarshalJSON() ([]byte, error) {
	wire := fieldJSON{
		Key: f.Key, Kind: f.Kind, Label: f.Label, Description: f.Description, Required: f.Required,
		MinLength: f.MinLength, MaxLength: f.MaxLength,
		Minimum: f.Minimum, Maximum: f.Maximum, Options: f.Options,
	}
	if f.Kind == Text {
		wire.Multiline = &f.Multiline
	}
	if f.Default != nil {
		value, err := json.Marshal(f.Default)
		if err != nil {
			return nil, fmt.Errorf("default of field %q: %w", f.Key, err)
		}
		wire.Default = value
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads what MarshalJSON writes, numbers without going through floating point.
func (f *Field) UnmarshalJSON(data []byte) error {
	var wire fieldJSON
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*f = Field{
		Key: wire.Key, Kind: wire.Kind, Label: wire.Label, Description: wire.Description,
		Required: wire.Required, MinLength: wire.MinLength, MaxLength: wire.MaxLength,
		Multiline: wire.Multiline != nil && *wire.Multiline,
		Minimum:   wire.Minimum, Maximum: wire.Maximum, Options: wire.Options,
	}
	if len(wire.Default) > 0 {
		f.Default = scalar(wire.Default)
	}
	return nil
}

// IsMediaType reports whether s is MediaType, its parameters and letter case aside.
func IsMediaType(s string) bool {
	name, _, _ := strings.Cut(s, ";")
	return strings.EqualFold(strings.TrimSpace(name), MediaType)
}
