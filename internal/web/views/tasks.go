package views

import (
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TasksPage is the list of tasks.
type TasksPage struct {
	Shell   Shell
	List    TaskList
	Agents  []agent.Agent // for the filter
	Welcome *Welcome      // what to click first; nil if it is not to be shown
}

// TaskList is one page of tasks with the filter that chose them.
type TaskList struct {
	Filter    task.Filter
	Page      task.Page
	AnyAgents bool // there is an agent to start a task with
	MayStart  bool // whoever looks may start tasks at all
	MayAdd    bool // and may add agents
}

// Welcome says what to click first.
type Welcome struct {
	Agent *agent.Agent // the sample agent to begin with
}

// Narrowed reports whether the list leaves tasks out because of a filter.
func (l TaskList) narrowed() bool {
	f := l.Filter
	return chosenState(f) != "" || f.AgentID != "" || f.Query != "" || f.NeedsYou
}

// Address returns the address of the list with this filter, from a cursor on.
func (l TaskList) address(path, cursor string) string {
	query := map[string]string{"state": chosenState(l.Filter), "agent": l.Filter.AgentID, "q": l.Filter.Query, "cursor": cursor}
	if l.Filter.NeedsYou {
		query["needs"] = "you"
	}
	return withQuery(path, query)
}

// Live is the address of the stream that keeps the list up to date. seen names
// what the page shows already.
func (l TaskList) Live(seen string) string {
	address := l.address("/events", l.Filter.Cursor)
	separator := "?"
	if address != "/events" {
		separator = "&"
	}
	return address + separator + "view=tasks&seen=" + seen
}

// rowID names a task's row, for live updates.
func rowID(t task.Task) string { return "task-" + t.ID }

// rowHref leads to the task, and to its question if one is open.
func rowHref(t task.Task) string {
	if t.NeedsYou {
		return "/tasks/" + t.ID + "#question"
	}
	return "/tasks/" + t.ID
}

// stateOption is one choice of the filter by state.
type stateOption struct{ value, label string }

// stateOptions are the choices, in words that the list uses.
func stateOptions() []stateOption {
	var options []stateOption
	for _, s := range []a2a.State{
		a2a.StateInputRequired, a2a.StateAuthRequired, a2a.StateSubmitted, a2a.StateWorking,
		a2a.StateCompleted, a2a.StateFailed, a2a.StateCanceled, a2a.StateRejected,
	} {
		options = append(options, stateOption{string(s), stateLook(s).label})
	}
	return append(options,
		stateOption{string(task.StandingAnswered), "Answered"}, stateOption{string(task.StandingForgotten), "Forgotten by the agent"}, stateOption{string(task.StandingReplied), "Replied"},
		stateOption{string(task.StandingSending), "Sending"}, stateOption{string(task.StandingNotSent), "Not sent"},
		stateOption{string(task.StandingRefused), "Refused by the agent"}, stateOption{string(task.StandingUnknown), "Outcome unknown"})
}

// chosenState is the value of the option that a filter has chosen; "" for none.
func chosenState(f task.Filter) string {
	if f.Standing != "" {
		return string(f.Standing)
	}
	return string(f.State)
}
