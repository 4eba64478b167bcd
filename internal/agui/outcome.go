package agui

import (
	"cmp"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// ending is how a run ends.
type ending int

const (
	endSuccess ending = iota
	endCanceled
	endAsks // an interrupt
	endFailed
)

// verdict is how a run ended. Code and message are those of one that failed; without
// a message it is for the agent to say why.
type verdict struct {
	ending        ending
	code, message string
	note          string // why what the person decided had no effect; "" if it had one
}

// The codes of runs that failed.
const (
	codeFailed      = "a2a_task_failed"
	codeRejected    = "a2a_task_rejected"
	codeUnreachable = "a2a_unreachable"
	codeRefused     = "a2a_refused"
	codeUncertain   = "a2a_uncertain"
	codeRemoved     = "a2a_agent_removed"
	codeCancelled   = "cancelled" // of a run that was canceled, for clients before 1.0
	codeInternal    = "internal"
)

// maxReason is how much of the agent's words go into a failure.
const maxReason = 1000

// outcome says how a run ends on a task as it is, sent being what became of its own
// command; false while it goes on.
func outcome(t task.Task, sent *task.Delivery) (verdict, bool) {
	underWay := sent != nil && !command.Status(sent.Status).Settled()
	failed := sent != nil && sent.Status == string(command.Failed)
	switch {
	case t.State.Terminal():
		return ended(t), true
	case underWay:
		return verdict{}, false
	case asks(t) && failed:
		return verdict{ending: endAsks, note: sent.Error}, true
	case asks(t):
		return verdict{ending: endAsks}, true
	case failed && sent.Refused:
		return verdict{ending: endFailed, code: codeRefused, message: sent.Error}, true
	case failed && begun(t): // a cancel, or a word, that did not get through: the task works on
		return verdict{}, false
	case failed:
		return verdict{ending: endFailed, code: codeUnreachable, message: sent.Error}, true
	case sent != nil && sent.Status == string(command.Uncertain) && !heardSince(t):
		return verdict{ending: endFailed, code: codeUncertain, message: cmp.Or(sent.Error, "The message may or may not have reached the agent.")}, true
	case t.Kind == task.KindMessage:
		return verdict{ending: endSuccess}, true
	case t.AgentRemoved:
		return verdict{ending: endFailed, code: codeRemoved, message: "The agent was removed from the catalogue."}, true
	}
	return verdict{}, false
}

// ended is the verdict on a task that has ended.
func ended(t task.Task) verdict {
	switch t.State {
	case a2a.StateCompleted:
		return verdict{ending: endSuccess}
	case a2a.StateCanceled:
		return verdict{ending: endCanceled}
	case a2a.StateRejected:
		return verdict{ending: endFailed, code: codeRejected}
	}
	return verdict{ending: endFailed, code: codeFailed}
}

// asks reports whether the task waits for a person. There may be no word of what the
// agent asks.
func asks(t task.Task) bool { return t.NeedsYou && !t.AgentRemoved }

// begun reports whether the agent has told of the task.
func begun(t task.Task) bool { return t.RemoteTaskID != "" }

// heardSince reports whether an uncertain message has an effect that can be seen: the
// task works.
func heardSince(t task.Task) bool {
	return t.State == a2a.StateWorking || t.State == a2a.StateSubmitted
}

// lastWords is the text of the agent's last message.
func lastWords(t task.Task) string {
	for i := len(t.Messages) - 1; i >= 0; i-- {
		m := t.Messages[i]
		if m.Role != a2a.RoleAgent {
			continue
		}
		var texts []string
		for _, p := range m.Parts {
			if p.Text != nil {
				texts = append(texts, *p.Text)
			}
		}
		text := []rune(strings.TrimSpace(strings.Join(texts, " ")))
		return string(text[:min(len(text), maxReason)])
	}
	return ""
}

// delivery is what became of a command; nil if the entries of the task do not tell.
func delivery(t task.Task, commandID string) *task.Delivery {
	for i := range t.Messages {
		if d := t.Messages[i].Delivery; d != nil && d.CommandID == commandID {
			return d
		}
	}
	for i := range t.Cancels {
		if d := &t.Cancels[i].Delivery; d.CommandID == commandID {
			return d
		}
	}
	return nil
}
