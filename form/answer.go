package form

import (
	"encoding/json"
	"strings"
)

// What CheckAnswer says beyond what Check says.
const (
	messageNotAnObject = "The answer must be a JSON object"
	messageUnknown     = "Not a field of this form"
	messageRepeated    = "Given more than once"
	messageEmpty       = "An empty text is left out"
	messageLineEnds    = "Line ends are line feeds"
)

// CheckAnswer says what is wrong with an answer, and nothing if it is exactly what Check could have
// given: a JSON object with declared keys only, each once and of its kind, within its bounds, every
// required field there, and every Boolean there. The notation of a number does not matter.
func (f *Form) CheckAnswer(answer []byte) Errors {
	_, errs := f.ReadAnswer(answer)
	return errs
}

// ReadAnswer checks an answer as CheckAnswer does, and returns what stood in the controls. Every
// field has an entry; one that was left out has the zero Entry.
func (f *Form) ReadAnswer(answer []byte) (Entries, Errors) {
	answer = trimJSON(answer)
	if syntaxFault(answer) != "" || kindOf(answer) != jsonObject {
		return nil, Errors{{Message: messageNotAnObject}}
	}
	values, unknown, repeated := f.sortAnswer(answer)
	entries := make(Entries, len(f.Fields))
	var errs Errors
	for i := range f.Fields {
		field := &f.Fields[i]
		entry, message := field.read(values[field.Key])
		if repeated[field.Key] {
			message = messageRepeated
		}
		if message != "" {
			errs = append(errs, FieldError{Key: field.Key, Message: message})
		}
		entries[field.Key] = entry
	}
	for _, key := range unknown {
		errs = append(errs, FieldError{Key: key, Message: messageUnknown})
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return entries, nil
}

// DecodeAnswer checks an answer and stores it in what v points to, as json.Unmarshal does. Numbers
// arrive as plain decimals, so that 1e3 fits an int. The error is an Errors if the answer is not
// valid.
func (f *Form) DecodeAnswer(answer []byte, v any) error {
	entries, errs := f.ReadAnswer(answer)
	if len(errs) > 0 {
		return errs
	}
	plain, errs := f.Check(entries)
	if len(errs) > 0 {
		return errs
	}
	return json.Unmarshal(plain, v)
}

// sortAnswer separates the values of declared fields from the first few other keys.
func (f *Form) sortAnswer(answer []byte) (values map[string][]byte, unknown []string, repeated map[string]bool) {
	values = make(map[string][]byte, len(f.Fields))
	repeated = map[string]bool{}
	for key, value := range members(answer) {
		_, seen := values[key]
		switch {
		case seen:
			repeated[key] = true
		case f.Field(key) != nil:
			values[key] = value
		case len(unknown) < MaxFields:
			unknown = append(unknown, key)
		}
	}
	return values, unknown, repeated
}

// read returns what stood in the control for a value of an answer, or what is wrong with it.
func (f *Field) read(value []byte) (entry Entry, message string) {
	entry, message = f.entryOf(value)
	if message != "" {
		return Entry{}, message
	}
	sent, message := f.check(entry)
	switch {
	case sent != nil || message != "" || entry.IsNone():
		return entry, message
	case f.Kind == Choice:
		return entry, messageChoice
	default:
		return entry, messageEmpty
	}
}

func (f *Field) entryOf(value []byte) (entry Entry, message string) {
	kind := kindOf(value)
	switch {
	case kind == jsonMissing && f.Kind == Boolean:
		return Entry{}, messageRequired
	case kind == jsonMissing:
		return Entry{}, ""
	}
	switch f.Kind {
	case Boolean:
		if kind != jsonTrue && kind != jsonFalse {
			return Entry{}, messageBoolean
		}
		return Ticked(kind == jsonTrue), ""
	case Number, Integer:
		if kind != jsonNumber {
			return Entry{}, messageNumber
		}
		return Typed(Decimal(value).typed()), ""
	}
	return f.textEntryOf(value)
}

func (f *Field) textEntryOf(value []byte) (entry Entry, message string) {
	if kindOf(value) != jsonString {
		if f.Kind == Choice {
			return Entry{}, messageChoice
		}
		return Entry{}, messageText
	}
	text := decodeString(value)
	if f.Kind == Text && strings.Contains(text, "\r") {
		return Entry{}, messageLineEnds
	}
	return Typed(text), ""
}
