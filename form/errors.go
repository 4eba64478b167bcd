package form

import "strings"

// FieldError is what is wrong with one field's entry or value.
type FieldError struct {
	Key     string `json:"key"` // "" for what concerns the answer as a whole
	Message string `json:"message"`
}

// Errors are what is wrong with an answer, in the order of the fields, at most one for each. None
// means that nothing is wrong. Its JSON is an object of messages by key.
type Errors []FieldError

// Get returns the message for a key, or "".
func (e Errors) Get(key string) string {
	for _, fault := range e {
		if fault.Key == key {
			return fault.Message
		}
	}
	return ""
}

// Error lists every key with its message.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, fault := range e {
		lines[i] = fault.Message
		if fault.Key != "" {
			lines[i] = abbreviate(fault.Key) + ": " + fault.Message
		}
	}
	return strings.Join(lines, "; ")
}

// MarshalJSON writes an object in the order of the fields.
func (e Errors) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, fault := range e {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, fault.Key), ':')
		out = appendString(out, fault.Message)
	}
	return append(out, '}'), nil
}
