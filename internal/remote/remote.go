// Package remote is the only place that speaks A2A to the outside: every
// binding, through the official SDK, behind a transport of its own that records
// what really went over the wire and repairs what the SDK is too strict for.
// What an agent sent is handed on as its exact JSON; what became of a call is
// told by the error (see Error).
package remote

import (
	"encoding/json"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Bindings of A2A 1.0, section 5.
const (
	JSONRPC  = "JSONRPC"
	HTTPJSON = "HTTP+JSON"
	GRPC     = "GRPC"
)

// Interface is one way to reach an agent, from its card.
type Interface struct {
	URL             string `json:"url"`
	Binding         string `json:"protocolBinding"` // JSONRPC, HTTP+JSON, GRPC
	ProtocolVersion string `json:"protocolVersion"` // such as "1.0"
	Tenant          string `json:"tenant,omitempty"`
}

// Target is an agent as a call needs it.
type Target struct {
	AgentID   string    // local UUID, for logs and recordings
	Interface Interface // the one chosen from the card
	Streaming bool      // the card offers streams
}

// SendRequest asks an agent to take a message (A2A 1.0, 3.1.1 and 3.1.2). The
// agent is always asked to return immediately.
type SendRequest struct {
	Message             a2a.Message // MessageID set; Extensions are those to activate, also sent as A2A-Extensions
	HistoryLength       *int
	AcceptedOutputModes []string
	Metadata            json.RawMessage // of the request, a JSON object or nil
}

// Observation is one thing that an agent said, as it came.
type Observation struct {
	Raw      []byte          // the bytes received: a response body, or one event's data
	Payload  json.RawMessage // the A2A 1.0 StreamResponse in it: {"task":…}, {"message":…}, {"statusUpdate":…}, {"artifactUpdate":…}; digits and member order as in Raw
	Received time.Time
}

// Delivery says what is known about a call that went wrong.
type Delivery string

// A call that was NotSent may be made again; one that was Answered has a known
// outcome; one that is Uncertain may have arrived and must never be made again
// by itself.
const (
	NotSent   Delivery = "not-sent"
	Answered  Delivery = "answered"
	Uncertain Delivery = "uncertain"
)

// Error is the outcome of a call that brought no observation.
type Error struct {
	Delivery   Delivery
	Code       string // A2A error name such as "TaskNotFoundError", "HTTP 503", or "" if there was no answer
	Message    string // public: what happened, in words for the person who made the call; agent text in it is bounded
	RetryAfter time.Duration
	Err        error // the cause, for the log
}

// Error returns the public message and the cause.
func (e *Error) Error() string { return fault.WithCause(e.Message, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
