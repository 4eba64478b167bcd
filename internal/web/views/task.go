package views

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

// TaskPage is one task with all that can be done about it.
type TaskPage struct {
	Shell    Shell
	Task     task.Task
	Question *formview.Open // the open question's form; nil if it has none
	Composer Composer
	Problem  string         // why an action failed, such as an answer that came too late; "" if none did
	Closed   *formview.Open // a form that was posted and takes no answer any more; nil if there is none
	CancelID string         // idempotency key of a cancel
	ReadOnly bool           // whoever looks may not write to the agent here
	Trail    trail.Page     // who did what, the latest
}

// Composer is the place for a message in free text.
type Composer struct {
	Action  string        // address that it posts to
	Key     string        // idempotency key, new for each page
	Text    string        // what stands in it
	Error   string        // why the last message was not accepted; "" if none failed
	Button  string        // what the button says
	Unmet   string        // extension that the agent requires and the console does not understand; "" if none
	Skills  []agent.Skill // that a new task can be held to by whoever writes
	Skill   string        // the one that was chosen; "" for none
	General bool          // a task can be started without one

	Draft string // name under which the browser keeps what is typed
}

// composerMode is what a message in the composer of a task would be.
type composerMode struct {
	label    string
	hint     string
	question string // ID of the question that it answers; "" if none
	anew     bool   // it starts a new task in the same context
}

func modeOf(t task.Task) composerMode {
	switch {
	case t.State.Terminal():
		return composerMode{
			label: "Continue in a new task", anew: true,
			hint: "This task has ended. Your message starts a new one in the same conversation.",
		}
	case lost(t):
		return composerMode{
			label: "Send again as a new task", anew: true,
			hint: "Nobody knows whether the agent got the first message of this task.",
		}
	case !t.ForgottenAt.IsZero():
		return composerMode{
			label: "Continue in a new task", anew: true,
			hint: "The agent no longer knows this task. Your message starts a new one in the same conversation.",
		}
	case t.Question != nil && t.Question.Form == nil:
		return composerMode{label: "Your answer", question: t.Question.MessageID}
	case t.Question != nil:
		return composerMode{label: "Or answer in your own words"}
	}
	return composerMode{label: "Message"}
}

// questionTitle is the heading of the open question.
func questionTitle(t task.Task) string {
	if t.State == a2a.StateAuthRequired {
		return "The agent needs an authorization"
	}
	return "The agent asks"
}

func taskTitle(t task.Task) string {
	if t.Title == "" {
		return "Untitled task"
	}
	return t.Title
}

// StateAndTitle tells how the task stands, then what it is: a tab shows little
// more than the start of a title. A module keeps the state in it up to date.
func StateAndTitle(t task.Task) string { return lookOf(t).label + ": " + taskTitle(t) }

// Fragments are the parts of the page that a change of the task touches, for a
// task with only those entries that changed.
func (p TaskPage) Fragments() []templ.Component {
	var list []templ.Component
	for _, e := range timeline(p) {
		list = append(list, timelineEntry(p.Task, e))
	}
	if len(p.Task.Transitions) > 0 {
		list = append(list, taskSince(p.Task))
	}
	list = append(list, taskState(p.Task))
	if !p.ReadOnly {
		list = append(list, composerHead(p.Task))
	}
	if p.Task.Question == nil || asksAnew(p.Task) {
		list = append(list, questionSlot(p))
	}
	return append(list, taskActions(p), taskNotice(p), taskDetails(p.Task))
}

// asksAnew reports whether the open question is among the changed entries.
func asksAnew(t task.Task) bool {
	return slices.ContainsFunc(t.Messages, func(m task.Message) bool { return m.Current })
}
