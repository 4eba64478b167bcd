// Package fault holds the kinds of error that reach people and programs, each
// with a public message. An error that is not a *fault.Error is internal: it is
// logged and its text is never shown.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Kind says what went wrong in the terms of a caller.
type Kind string

// The kinds. Each has one HTTP status, see Status.
const (
	Invalid       Kind = "invalid"       // the request cannot be read or breaks a rule
	SignedOut     Kind = "signed-out"    // nobody knows who the caller is
	Forbidden     Kind = "forbidden"     // the caller may not do this
	NotFound      Kind = "not-found"     // it does not exist, or the caller may not know that it does
	Conflict      Kind = "conflict"      // it clashes with what has happened meanwhile
	Unprocessable Kind = "unprocessable" // well-formed, but its fields do not pass their checks
	TooLarge      Kind = "too-large"     // over a size limit
	TooMany       Kind = "too-many"      // more requests than the caller may make; trying later helps
	Unavailable   Kind = "unavailable"   // a dependency does not answer; trying later may help
	Gone          Kind = "gone"          // it was there and is lost
	Internal      Kind = "internal"      // everything else
)

// Field is a fault of one input: Location names it (a form field's key, a JSON
// Pointer, a query parameter), Message says what would be right. It never
// repeats the value that was given.
type Field struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error is an error with a public message.
type Error struct {
	Kind    Kind
	Message string  // public: one or two plain sentences
	Fields  []Field // faults of single inputs, if any
	Err     error   // the cause, for the log only
}

// Error returns the public message and the cause, for logs.
func (e *Error) Error() string {
	return WithCause(e.Message, e.Err)
}

// WithCause returns a message and its cause, if there is one, for logs. What one
// says in the words of the other is said once.
func WithCause(message string, cause error) string {
	if cause == nil {
		return message
	}
	said, why := strings.TrimSuffix(message, "."), cause.Error()
	switch {
	case strings.Contains(message, why):
		return message
	case strings.HasPrefix(why, said):
		return why
	}
	return said + ": " + why
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of this kind with a formatted public message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of this kind with a public message and a cause.
func Wrap(err error, kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// WithFields returns an Unprocessable error that carries faults of single inputs.
func WithFields(message string, fields []Field) *Error {
	return &Error{Kind: Unprocessable, Message: message, Fields: fields}
}

// KindOf returns the kind of err; Internal for any error that is not a *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Public returns what may be shown of err: its public part, or a general
// sentence if err is internal.
func Public(err error) *Error {
	var e *Error
	if errors.As(err, &e) && e.Kind != Internal {
		return &Error{Kind: e.Kind, Message: e.Message, Fields: e.Fields}
	}
	return &Error{Kind: Internal, Message: "Something went wrong in Taskbay. The log of the server says what."}
}

var statuses = map[Kind]int{
	Invalid:       http.StatusBadRequest,
	SignedOut:     http.StatusUnauthorized,
	Forbidden:     http.StatusForbidden,
	NotFound:      http.StatusNotFound,
	Conflict:      http.StatusConflict,
	Unprocessable: http.StatusUnprocessableEntity,
	TooLarge:      http.StatusRequestEntityTooLarge,
	TooMany:       http.StatusTooManyRequests,
	Unavailable:   http.StatusServiceUnavailable,
	Gone:          http.StatusGone,
	Internal:      http.StatusInternalServerError,
}

// Status returns the HTTP status of a kind.
func (k Kind) Status() int {
	if s, ok := statuses[k]; ok {
		return s
	}
	return http.StatusInternalServerError
}
