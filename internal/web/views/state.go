package views

import (
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// look is how a state is shown: its words, and a colour and symbol that repeat
// what the words say.
type look struct {
	class  string // of the chip
	symbol string
	label  string
}

var looks = map[a2a.State]look{
	a2a.StateSubmitted:     {"working", "working", "Submitted"},
	a2a.StateWorking:       {"working", "working", "Working"},
	a2a.StateCompleted:     {"done", "done", "Completed"},
	a2a.StateFailed:        {"failed", "failed", "Failed"},
	a2a.StateCanceled:      {"unknown", "cancel", "Canceled"},
	a2a.StateRejected:      {"failed", "failed", "Rejected"},
	a2a.StateInputRequired: {"waiting", "waiting", "Waiting for you"},
	a2a.StateAuthRequired:  {"waiting", "waiting", "Authorization needed"},
}

// lookOf returns how a task's state is shown to the person who looks.
func lookOf(t task.Task) look {
	switch {
	case t.AgentRemoved && !t.State.Terminal() && t.Kind != task.KindMessage:
		return look{"unknown", "unknown", "Agent removed"}
	case !t.ForgottenAt.IsZero():
		return look{"unknown", "unknown", "Forgotten by the agent"}
	case t.NeedsYou:
		return looks[t.State]
	case t.State.Waiting():
		return look{"working", "working", "Answered"}
	case t.Kind == task.KindMessage:
		return look{"done", "done", "Replied"}
	case t.State == a2a.StateUnspecified || t.State == "":
		return unstated(t)
	}
	return stateLook(t.State)
}

// unstated is the look of a task whose agent has not told a state: what became
// of what was sent last says how things stand.
func unstated(t task.Task) look {
	switch {
	case t.RemoteTaskID != "":
		return look{"unknown", "unknown", "State unknown"}
	case t.Sent == nil:
		return look{"unknown", "unknown", "No reply yet"}
	}
	return deliveryLook(*t.Sent)
}

// stateLook returns how a state by itself is shown, one that no specification
// knows included.
func stateLook(s a2a.State) look {
	if known, ok := looks[s]; ok {
		return known
	}
	if s == a2a.StateUnspecified || s == "" {
		return look{"unknown", "unknown", "State unknown"}
	}
	name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s), "TASK_STATE_"), "_", " "))
	return look{"unknown", "unknown", clip(name, 40)}
}

// since returns when the task got into its present state.
func since(t task.Task) time.Time {
	if n := len(t.Transitions); n > 0 {
		return t.Transitions[n-1].At
	}
	return t.UpdatedAt
}

// cancelable reports whether asking the agent to stop can have an effect.
func cancelable(t task.Task) bool {
	return t.Kind != task.KindMessage && !t.AgentRemoved && t.ForgottenAt.IsZero() && !t.State.Terminal() && t.RemoteTaskID != ""
}

// lost reports whether nobody knows if the agent ever got the first message of
// the task, so that it can take no second one.
func lost(t task.Task) bool {
	return t.Sent != nil && command.Status(t.Sent.Status) == command.Uncertain
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	runes := 0
	for i := range s {
		if runes == n {
			return s[:i] + "…"
		}
		runes++
	}
	return s
}

// deliveryLook returns how the sending of a message or a cancel is shown.
func deliveryLook(d task.Delivery) look {
	switch command.Status(d.Status) {
	case command.Pending, command.Dispatching:
		return look{"working", "send", "Sending"}
	case command.Succeeded:
		return look{"done", "done", "Sent"}
	case command.Failed:
		if d.Refused {
			return look{"failed", "failed", "Refused by the agent"}
		}
		return look{"failed", "failed", "Not sent"}
	case command.Uncertain:
		return look{"unknown", "unknown", "Outcome unknown"}
	}
	return look{"unknown", "unknown", clip(d.Status, 40)}
}
