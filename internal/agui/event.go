package agui

import (
	"bytes"
	"encoding/json"
)

// Event is one event of a run. What is empty is left out when it is written: the
// clients take no null where they allow a member to be absent. JSON of others is
// passed on digit for digit.
type Event interface{ kind() string }

// RunStarted begins a stream.
type RunStarted struct {
	ThreadID        string `json:"threadId"`
	RunID           string `json:"runId"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

// RunFinished ends a stream in order.
type RunFinished struct {
	ThreadID string          `json:"threadId"`
	RunID    string          `json:"runId"`
	Outcome  *Outcome        `json:"outcome,omitempty"` // nil reads as success
	Result   json.RawMessage `json:"result,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // an object
}

// The types of Outcome. Clients before 1.0 do not know OutcomeCancelled.
const (
	OutcomeSuccess   = "success"
	OutcomeInterrupt = "interrupt"
	OutcomeCancelled = "cancelled"
)

// Outcome is how a run ended. Interrupts belong to OutcomeInterrupt alone.
type Outcome struct {
	Type       string      `json:"type"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
}

// Interrupt is what a person is asked before the thread goes on.
type Interrupt struct {
	ID             string          `json:"id"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"` // an object
	Metadata       json.RawMessage `json:"metadata,omitempty"`       // an object
}

// RunError ends a stream because the run failed.
type RunError struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// TextStart opens a text of the agent, or opens it again to append to it.
type TextStart struct {
	MessageID string          `json:"messageId"`
	Role      string          `json:"role"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // an object
}

// TextContent appends to an open text.
type TextContent struct {
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// TextEnd closes a text.
type TextEnd struct {
	MessageID string `json:"messageId"`
}

// StateSnapshot replaces the client's state.
type StateSnapshot struct {
	Snapshot json.RawMessage `json:"snapshot"` // an object
}

// StateDelta changes the client's state.
type StateDelta struct {
	Delta []Patch `json:"delta"`
}

// Patch is one operation of a JSON Patch (RFC 6902): add or replace.
type Patch struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// MessagesSnapshot replaces the client's messages, by their IDs.
type MessagesSnapshot struct {
	Messages []Message `json:"messages"`
}

// Message is one message of a thread.
type Message struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string; of a user, parts as well
}

// The roles of messages that are sent to clients.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
	RoleDeveloper = "developer"
)

// ActivitySnapshot shows something that is no text, or shows it anew.
type ActivitySnapshot struct {
	MessageID    string          `json:"messageId"`
	ActivityType string          `json:"activityType"`
	Content      json.RawMessage `json:"content"` // an object
	Replace      bool            `json:"replace"`
}

// ActivityDelta changes what an ActivitySnapshot has shown.
type ActivityDelta struct {
	MessageID    string  `json:"messageId"`
	ActivityType string  `json:"activityType"`
	Patch        []Patch `json:"patch"`
}

// Custom is for whoever knows its name.
type Custom struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func (RunStarted) kind() string       { return "RUN_STARTED" }
func (RunFinished) kind() string      { return "RUN_FINISHED" }
func (RunError) kind() string         { return "RUN_ERROR" }
func (TextStart) kind() string        { return "TEXT_MESSAGE_START" }
func (TextContent) kind() string      { return "TEXT_MESSAGE_CONTENT" }
func (TextEnd) kind() string          { return "TEXT_MESSAGE_END" }
func (StateSnapshot) kind() string    { return "STATE_SNAPSHOT" }
func (StateDelta) kind() string       { return "STATE_DELTA" }
func (MessagesSnapshot) kind() string { return "MESSAGES_SNAPSHOT" }
func (ActivitySnapshot) kind() string { return "ACTIVITY_SNAPSHOT" }
func (ActivityDelta) kind() string    { return "ACTIVITY_DELTA" }
func (Custom) kind() string           { return "CUSTOM" }

// encode writes an event as one line of JSON.
func encode(e Event) ([]byte, error) {
	members, err := toJSON(e)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":"`), e.kind()...)
	out = append(out, `",`...)
	return append(out, members[1:]...), nil // every event has a member
}

// toJSON is json.Marshal without escapes for HTML.
func toJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// mustJSON is toJSON of values that are always JSON: own types of texts and numbers.
func mustJSON(v any) json.RawMessage {
	out, err := toJSON(v)
	if err != nil {
		panic("agui: a value of ours is not JSON: " + err.Error())
	}
	return out
}
