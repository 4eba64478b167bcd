package form

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What Check says about an entry. "At least N" and the like complete the set.
const (
	messageRequired = "Required"
	messageNumber   = "Enter a number"
	messageWhole    = "Enter a whole number"
	messageText     = "Enter a text"
	messageChoice   = "Choose one of the options"
	messageBoolean  = "Choose yes or no"
)

// Check turns what stands in the controls into the answer that is sent: an object with the declared
// keys in the order of the fields, numbers as plain decimals with exactly the value typed, texts with
// line feeds for line ends. Optional fields with nothing in them are left out; a Boolean is always
// there. If anything is wrong there is no answer, and an error for each field that it concerns.
// Defaults are not applied: start from Initial.
func (f *Form) Check(entries Entries) (answer json.RawMessage, errs Errors) {
	out := []byte{'{'}
	for i := range f.Fields {
		field := &f.Fields[i]
		value, message := field.check(entries[field.Key])
		if message != "" {
			errs = append(errs, FieldError{Key: field.Key, Message: message})
			continue
		}
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, field.Key), ':')
		out = append(out, value...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return append(out, '}'), nil
}

// check returns the JSON value to send, nil to leave the key out, or what is wrong.
func (f *Field) check(entry Entry) (value []byte, message string) {
	if f.Kind == Boolean {
		return f.checkBoolean(entry)
	}
	if f.isEmpty(entry) {
		if f.Required {
			return nil, messageRequired
		}
		return nil, ""
	}
	switch f.Kind {
	case Text:
		return f.checkText(entry)
	case Choice:
		return f.checkChoice(entry)
	default:
		return f.checkNumber(entry)
	}
}

func (f *Field) checkBoolean(entry Entry) (value []byte, message string) {
	if entry.kind == entryText {
		return nil, messageBoolean
	}
	return strconv.AppendBool(nil, entry.on), ""
}

// isEmpty reports whether nothing was entered. White space alone answers no question, but it is a
// text that an optional field may hold.
func (f *Field) isEmpty(entry Entry) bool {
	switch {
	case entry.kind == entryNone:
		return true
	case entry.kind == entryTick:
		return false
	case f.Kind == Choice:
		_, isOption := f.OptionLabel("")
		return entry.text == "" && !isOption
	case f.Kind == Text && !f.Required:
		return entry.text == ""
	default:
		return trimSpace(entry.text) == ""
	}
}

func (f *Field) checkChoice(entry Entry) (value []byte, message string) {
	if _, ok := f.OptionLabel(entry.text); !ok || entry.kind != entryText {
		return nil, messageChoice
	}
	return appendString(nil, entry.text), ""
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (f *Field) checkText(entry Entry) (value []byte, message string) {
	if entry.kind != entryText {
		return nil, messageText
	}
	text := lineEnds.Replace(entry.text)
	if message := f.lengthFault(text); message != "" {
		return nil, message
	}
	return appendString(nil, text), ""
}

func (f *Field) lengthFault(text string) string {
	most := MaxText
	if f.MaxLength != nil {
		most = min(most, *f.MaxLength)
	}
	count := utf8.RuneCountInString(text)
	switch {
	case f.MinLength != nil && count < *f.MinLength:
		return fmt.Sprintf("At least %d characters", *f.MinLength)
	case count > most:
		return fmt.Sprintf("At most %d characters", most)
	}
	return ""
}

func (f *Field) checkNumber(entry Entry) (value []byte, message string) {
	typed := trimSpace(entry.text)
	number, ok := parseDecimal(typed)
	if !ok || len(typed) > MaxNumber || entry.kind != entryText {
		return nil, messageNumber
	}
	if message := f.boundFault(number); message != "" {
		return nil, message
	}
	return []byte(number.text(maxPlain)), ""
}

// boundFault says what is wrong with a number, its notation aside.
func (f *Field) boundFault(number decimal) string {
	if f.Kind == Integer && !number.isWhole() {
		return messageWhole
	}
	if least, ok := parseDecimal(string(f.Minimum)); ok && number.compare(least) < 0 {
		return "At least " + least.text(maxPlain)
	}
	if most, ok := parseDecimal(string(f.Maximum)); ok && number.compare(most) > 0 {
		return "At most " + most.text(maxPlain)
	}
	return ""
}

// trimSpace trims what a browser's String.prototype.trim trims.
func trimSpace(text string) string {
	return strings.TrimFunc(text, func(r rune) bool {
		return r == '\uFEFF' || unicode.IsSpace(r) && r != '\u0085'
	})
}
