package a2a

import "strings"

// State is a task's state, by its A2A 1.0 name. A state that an agent sends and
// the specification does not know is kept as it came.
type State string

// The states of A2A 1.0, section 4.1.3.
const (
	StateUnspecified   State = "TASK_STATE_UNSPECIFIED"
	StateSubmitted     State = "TASK_STATE_SUBMITTED"
	StateWorking       State = "TASK_STATE_WORKING"
	StateCompleted     State = "TASK_STATE_COMPLETED"
	StateFailed        State = "TASK_STATE_FAILED"
	StateCanceled      State = "TASK_STATE_CANCELED"
	StateInputRequired State = "TASK_STATE_INPUT_REQUIRED"
	StateRejected      State = "TASK_STATE_REJECTED"
	StateAuthRequired  State = "TASK_STATE_AUTH_REQUIRED"
)

var known = map[State]bool{
	StateUnspecified: true, StateSubmitted: true, StateWorking: true, StateCompleted: true, StateFailed: true,
	StateCanceled: true, StateInputRequired: true, StateRejected: true, StateAuthRequired: true,
}

// ParseState reads a state as agents write it: the 1.0 name in any case, the
// short names of 0.3 ("input-required", "completed"), and the British spelling
// of canceled. Anything else is returned as it came.
func ParseState(s string) State {
	name := strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(s), "-", "_"))
	name = "TASK_STATE_" + strings.TrimPrefix(name, "TASK_STATE_")
	if name == "TASK_STATE_CANCELLED" {
		return StateCanceled
	}
	if known[State(name)] {
		return State(name)
	}
	return State(s)
}

// Known reports whether the specification has this state.
func (s State) Known() bool { return known[s] }

// Terminal reports whether a task in this state never changes again.
func (s State) Terminal() bool {
	switch s {
	case StateCompleted, StateFailed, StateCanceled, StateRejected:
		return true
	}
	return false
}

// Waiting reports whether a task in this state waits for a person.
func (s State) Waiting() bool { return s == StateInputRequired || s == StateAuthRequired }
