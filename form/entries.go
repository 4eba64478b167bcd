package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Entry is what stands in one control of a form: a text as typed, the value of the option chosen,
// or a box on or off. The zero Entry is a control that nothing stands in: an empty text, no choice
// made, a box that is off. Its JSON is a string, a boolean, or null.
type Entry struct {
	kind entryKind
	text string
	on   bool
}

type entryKind uint8

const (
	entryNone entryKind = iota
	entryText
	entryTick
)

// Typed is a text that stands in a text or number control, exactly as typed.
func Typed(text string) Entry { return Entry{kind: entryText, text: text} }

// Chosen is the option of a choice that has this value. Chosen("") is the option whose value is
// empty; no choice is the zero Entry.
func Chosen(value string) Entry { return Entry{kind: entryText, text: value} }

// Ticked is a box that is on or off.
func Ticked(on bool) Entry { return Entry{kind: entryTick, on: on} }

// Text returns the text that was typed or the value that was chosen, and "" for all else.
func (e Entry) Text() string { return e.text }

// On reports whether this is a box that is on.
func (e Entry) On() bool { return e.on }

// IsNone reports whether nothing stands in the control. A text that was emptied and an option whose
// value is empty are something.
func (e Entry) IsNone() bool { return e.kind == entryNone }

// Equal reports whether both are the same text, the same tick, or nothing.
func (e Entry) Equal(other Entry) bool { return e == other }

// MarshalJSON writes a string, a boolean, or null.
func (e Entry) MarshalJSON() ([]byte, error) {
	switch e.kind {
	case entryText:
		return appendString(nil, e.text), nil
	case entryTick:
		return strconv.AppendBool(nil, e.on), nil
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON reads a string, a boolean, or null.
func (e *Entry) UnmarshalJSON(data []byte) error {
	if fault := syntaxFault(data); fault != "" {
		return fmt.Errorf("an entry is not JSON: %s", fault)
	}
	switch data = trimJSON(data); kindOf(data) {
	case jsonNull:
		*e = Entry{}
	case jsonTrue, jsonFalse:
		*e = Ticked(data[0] == 't')
	case jsonString:
		*e = Typed(decodeString(data))
	default:
		return fmt.Errorf("an entry is a text, true, false or null, not %s%s", describe(data), hintOfEntry(data))
	}
	return nil
}

// hintOfEntry says how to write what is given in place of an entry.
func hintOfEntry(data []byte) string {
	const most = 24
	if kindOf(data) == jsonNumber && len(data) <= most {
		return `; write it as it is typed: "` + string(data) + `"`
	}
	return ""
}

// Entries is what stands in the controls of a form, by field key. A key that is missing has nothing
// in its control; a key that the form does not declare has no effect.
type Entries map[string]Entry

// With returns e with the changes made on top. Neither is modified.
func (e Entries) With(changes Entries) Entries {
	merged := maps.Clone(e)
	if merged == nil {
		merged = Entries{}
	}
	maps.Copy(merged, changes)
	return merged
}

// Undeclared says which entries have no effect because the form has no field of their key, and which
// field may have been meant. The notes are in the order of the keys, each with a path to its entry.
func (f *Form) Undeclared(entries Entries) []Note {
	var keys []string
	for i := range f.Fields {
		keys = append(keys, f.Fields[i].Key)
	}
	var notes []Note
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if !slices.Contains(keys, key) {
			message := fmt.Sprintf("There is no field %s, so its entry has no effect.%s", abbreviate(key), didYouMean(key, keys))
			notes = append(notes, Note{pointer("", key), message})
		}
	}
	return notes
}

// UnmarshalJSON reads an object of entries, or null for none. An error says what there is instead, or
// names the key.
func (e *Entries) UnmarshalJSON(data []byte) error {
	if fault := syntaxFault(data); fault != "" {
		return fmt.Errorf("the entries are not JSON: %s", fault)
	}
	if whole := trimJSON(data); kindOf(whole) != jsonObject && kindOf(whole) != jsonNull {
		return fmt.Errorf("the entries are %s; they must be an object of texts, true, false and null, by field key", describe(whole))
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	entries := make(Entries, len(values))
	for key, value := range values {
		var entry Entry
		if err := entry.UnmarshalJSON(value); err != nil {
			return fmt.Errorf("%s: %w", abbreviate(key), err)
		}
		entries[key] = entry
	}
	*e = entries
	return nil
}

// Initial returns what stands in the controls before anyone has touched them: defaults as text, as
// ticks, and as chosen options. Every field has an entry. A number's default has the digits that the
// agent gave it, as a plain decimal where that is short enough to be entered.
func (f *Form) Initial() Entries {
	entries := make(Entries, len(f.Fields))
	for i := range f.Fields {
		entries[f.Fields[i].Key] = f.Fields[i].initial()
	}
	return entries
}

func (f *Field) initial() Entry {
	switch value := f.Default.(type) {
	case string:
		return Typed(value)
	case bool:
		return Ticked(value)
	}
	if number, ok := decimalOf(f.Default); ok {
		return Typed(number.typed())
	}
	switch f.Kind {
	case Boolean:
		return Ticked(false)
	case Choice:
		return Entry{}
	default:
		return Typed("")
	}
}
