package formview

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/form"
)

const (
	// radiosUpTo is how many options are visible at once.
	radiosUpTo = 7
	// longLabel is how many characters a closed list shows for sure. A choice with a longer label
	// is drawn open, where labels wrap.
	longLabel = 48
)

// control is a field as it stands on the page.
type control struct {
	field   *form.Field
	text    string // of a text or a number
	on      bool   // of a box
	chosen  int    // index of the option chosen; -1 for none
	fault   string // what is wrong with it; "" if nothing is known
	focused bool   // the first one that something is wrong with
	locked  bool   // to be read and copied only
	exact   bool   // the page needs the value of each option
}

func (c control) id() string   { return "f-" + c.field.Key }
func (c control) name() string { return controlName(c.field) }

// A key holds no hyphen, so none of these is another control's id.
func (c control) hintID() string  { return c.id() + "-hint" }
func (c control) ruleID() string  { return c.id() + "-rule" }
func (c control) noteID() string  { return c.id() + "-note" }
func (c control) errorID() string { return c.id() + "-error" }

// describedBy names the elements that belong to the control, in reading order.
func (c control) describedBy() string {
	var ids []string
	if c.field.Description != "" {
		ids = append(ids, c.hintID())
	}
	if c.rule() != "" {
		ids = append(ids, c.ruleID())
	}
	if c.isSuspicious() {
		ids = append(ids, c.noteID())
	}
	if c.fault != "" {
		ids = append(ids, c.errorID())
	}
	return strings.Join(ids, " ")
}

func (c control) isOptional() bool { return !c.field.Required && c.field.Kind != form.Boolean }

// isRadio reports whether all options are to be seen at once.
func (c control) isRadio() bool {
	if len(c.field.Options) <= radiosUpTo {
		return true
	}
	for i := range c.field.Options {
		if utf8.RuneCountInString(c.optionText(i)) > longLabel {
			return true
		}
	}
	return false
}

// isMultiline reports whether the text gets several lines. A line end in what stands in it would be
// lost in a single line.
func (c control) isMultiline() bool {
	return c.field.Kind == form.Text && (c.field.Multiline || strings.ContainsAny(c.text, "\r\n"))
}

// inputMode chooses the keyboard of a touch screen. Keyboards for digits have no minus sign on some
// of them, so a number that may be negative gets the full one.
func (c control) inputMode() string {
	positive := c.field.Minimum != "" && c.field.Minimum.Compare("0") >= 0
	switch {
	case c.field.Kind == form.Integer && positive:
		return "numeric"
	case c.field.Kind == form.Number && positive:
		return "decimal"
	default:
		return "text"
	}
}

// least and most are the bounds that the page's module checks, as text so that no digit is lost.
func (c control) least() string {
	if c.field.MinLength != nil {
		return strconv.Itoa(*c.field.MinLength)
	}
	return string(c.field.Minimum)
}

func (c control) most() string {
	if c.field.MaxLength != nil {
		return strconv.Itoa(*c.field.MaxLength)
	}
	return string(c.field.Maximum)
}

// mayTurn reports whether the direction of an option has to be found out. That of ASCII is known.
func (c control) mayTurn(at int) bool {
	return strings.ContainsFunc(c.optionText(at), func(r rune) bool { return r >= utf8.RuneSelf })
}

// exactValue is the value of an option as JSON, which survives an attribute unchanged.
func (c control) exactValue(at int) string {
	value, err := json.Marshal(c.field.Options[at].Value)
	if err != nil {
		return `""`
	}
	return string(value)
}

// shownValue is the value of an option where its label does not tell it from another, or hides
// characters in it; "" elsewhere.
func (c control) shownValue(at int) string {
	option := c.field.Options[at]
	if option.Value == option.Label {
		return ""
	}
	if form.HasHidden(option.Value) {
		return option.Value
	}
	for i, other := range c.field.Options {
		if i != at && other.Label == option.Label && other.Value != option.Value {
			return option.Value
		}
	}
	return ""
}

// optionText is an option where nothing but text can stand.
func (c control) optionText(at int) string {
	text := PlainText(c.field.Options[at].Label)
	if strings.TrimSpace(text) == "" {
		text = blankLabel
	}
	if value := c.shownValue(at); value != "" {
		text += " — " + PlainText(value)
	}
	return text
}

// isSuspicious reports whether the suggested text may not be what it looks like.
func (c control) isSuspicious() bool {
	return form.HasHidden(c.text) || len(form.DeceptiveHosts(c.text)) > 0
}
