package command

import (
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// ReachTx tells, within a transaction, who sees what and how far they may go.
type ReachTx interface {
	// Reach says how far somebody may go with an agent, by what is granted now;
	// fault.NotFound if they do not see it, fault.SignedOut if they are no member any
	// more.
	Reach(p access.Principal, agentID string) (access.Reach, error)
	// SeesTask returns fault.NotFound if the view has no such task.
	SeesTask(v access.View, taskID string) error
	// SeesRemoteTask is SeesTask for one that the agent calls so in a tenant.
	SeesRemoteTask(v access.View, agentID, tenant, remoteTaskID string) error
}

func errNoCommand() error { return fault.New(fault.NotFound, "There is no such command.") }

// seen returns a command of a task that the principal sees; fault.NotFound if there is
// none of that ID.
func seen(tx Tx, p access.Principal, id string) (Record, error) {
	r, err := tx.CommandByID(id)
	if err == nil {
		err = tx.SeesTask(p.View(), r.Command.TaskID)
	}
	if fault.KindOf(err) == fault.NotFound {
		err = errNoCommand()
	}
	return r, err
}

// sameAgain says why a key cannot stand for the command that it was used for before, or
// nil: that asked for something else, or is not for the principal to see.
func sameAgain(tx Tx, p access.Principal, earlier Record, digest string) error {
	err := tx.SeesTask(p.View(), earlier.Command.TaskID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return errKeyUsed()
	case err == nil && earlier.Digest != digest:
		return keyUsed(earlier)
	}
	return err
}

func errKeyUsed() error {
	return fault.New(fault.Conflict, "This Idempotency-Key was used for another command: use a new one for each command.")
}

// keyUsed says what became of the command that a key was used for before.
func keyUsed(earlier Record) error {
	if earlier.Answers == "" {
		return errKeyUsed()
	}
	became := "was sent"
	switch earlier.Command.Status {
	case Pending, Dispatching:
		became = "is being sent"
	case Uncertain:
		became = "may or may not have reached the agent"
	case Failed:
		became = "could not be sent"
	}
	return fault.New(fault.Conflict, "Another version of this answer, that %s gave at %s UTC, %s. This one was not sent.",
		earlier.Command.Author, plainTime(earlier.Command.CreatedAt), became)
}
