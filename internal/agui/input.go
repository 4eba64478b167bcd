package agui

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Limits of what a client may send.
const (
	maxName     = 255     // characters of an ID
	maxMessages = 10_000  // of a thread
	maxResume   = 100     // entries
	maxState    = 4 << 20 // bytes of state, which goes back in one event
)

// Input is what a client sends to run an agent (RunAgentInput).
type Input struct {
	ThreadID        string          `json:"threadId"`
	RunID           string          `json:"runId"`
	ProtocolVersion string          `json:"protocolVersion"` // "" from clients before 1.0
	State           json.RawMessage `json:"state"`
	Messages        []InputMessage  `json:"messages"` // the whole thread, with each run
	Tools           json.RawMessage `json:"tools"`
	Context         json.RawMessage `json:"context"`
	ForwardedProps  json.RawMessage `json:"forwardedProps"`
	Resume          []ResumeEntry   `json:"resume"`
}

// InputMessage is one message that the client has.
type InputMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// ResumeEntry answers an interrupt.
type ResumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// The statuses of a ResumeEntry, with the other names that they go by.
const (
	statusResolved  = "resolved"
	statusCancelled = "cancelled"
)

func (r ResumeEntry) status() string {
	switch r.Status {
	case statusResolved, "answered":
		return statusResolved
	case statusCancelled, "abandoned":
		return statusCancelled
	}
	return ""
}

// legacy reports whether the client is of the line before 1.0, which says nothing
// about its version.
func (in Input) legacy() bool { return in.ProtocolVersion == "" }

// readInput reads and checks what a client sent; fault.Invalid for what is no input.
func readInput(body []byte) (Input, error) {
	var in Input
	if err := json.Unmarshal(body, &in); err != nil {
		return in, fault.Wrap(err, fault.Invalid, "The body is no RunAgentInput: a JSON object with threadId, runId and messages.")
	}
	for name, value := range map[string]string{"threadId": in.ThreadID, "runId": in.RunID} {
		if !isName(value) {
			return in, fault.New(fault.Invalid, "%s is 1 to %d characters in one line.", name, maxName)
		}
	}
	switch {
	case len(in.Messages) > maxMessages:
		return in, fault.New(fault.TooLarge, "A thread has at most %d messages.", maxMessages)
	case len(in.Resume) > maxResume:
		return in, fault.New(fault.Invalid, "resume has at most %d entries.", maxResume)
	case len(in.State) > maxState:
		return in, fault.New(fault.TooLarge, "state is at most %d MiB.", maxState>>20)
	}
	for i, m := range in.Messages {
		if m.Role == RoleUser && !isName(m.ID) {
			return in, fault.New(fault.Invalid, "messages/%d: the id of a message is 1 to %d characters in one line.", i, maxName)
		}
	}
	if !isObject(in.State) {
		in.State = json.RawMessage("{}")
	}
	return in, nil
}

func isName(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= maxName && !strings.ContainsFunc(s, unicode.IsControl)
}

// metadata is what of the input goes to the agent beside the message: an object under
// the name ag-ui. Tools are named there and never called.
func (in Input) metadata() json.RawMessage {
	carried := map[string]json.RawMessage{}
	for name, value := range map[string]json.RawMessage{"context": in.Context, "forwardedProps": in.ForwardedProps, "tools": in.Tools} {
		if !isEmpty(value) {
			carried[name] = value
		}
	}
	if len(carried) == 0 {
		return nil
	}
	return mustJSON(map[string]any{"ag-ui": carried})
}

func isEmpty(raw json.RawMessage) bool {
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		for range rawjson.Members(raw) {
			return false
		}
		return true
	case rawjson.Array:
		for range rawjson.Elements(raw) {
			return false
		}
		return true
	}
	return !isValue(raw)
}

// warnUnknown names a kind of content that is not sent on.
func warnUnknown(kind string) string {
	return fmt.Sprintf("Content of the kind %.40q is not sent to agents.", kind)
}
