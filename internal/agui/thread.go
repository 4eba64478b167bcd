package agui

import (
	"time"

	"github.com/agent-taskbay/taskbay/internal/task"
)

// Thread is a client's conversation with an agent. Its key is the client's threadId,
// which means something for one person and one agent alone: the same ID of somebody
// else, or for another agent, is another thread.
type Thread struct {
	ID             string // UUIDv7
	OrganisationID string
	PersonID       string // of the membership, also of a token's owner
	AgentID        string
	Key            string
	CreatedAt      time.Time
}

// Run is one command of a thread. A client may use the ID of an interrupted run again
// for the one that resumes it, so that a key names several runs.
type Run struct {
	ID        string // UUIDv7
	ThreadID  string
	Number    int64  // its place in the thread, from 1
	Key       string // the client's runId
	TaskID    string
	CommandID string
	Resume    string // digest of the resume that it came with; "" if it resumes nothing
	CreatedAt time.Time
}

// Said is a message of the client that a thread has got.
type Said struct {
	ThreadID  string
	MessageID string // the client's; once in a thread
	Number    int64  // its place in the thread, from 1
	RunID     string // that it came with
	Sent      bool   // it went to the agent
	Digest    string // of what was said
	Plain     bool   // it is a text, not parts
	Content   []Content
}

// Asked is an interrupt as it was first shown. Its ID stays the same however often it
// is shown.
type Asked struct {
	ThreadID  string
	RunID     string // that it ended first
	TaskID    string
	Subject   string // what is asked, within the task
	Interrupt Interrupt
	Decision  string // digest of the answer; "" until there is one
	CommandID string // that carries the answer out
	CreatedAt time.Time
	DecidedAt time.Time
}

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	Now() time.Time
	// TaskHead follows a merged task to the one that it became.
	TaskHead(taskID string) (task.Head, task.Owner, error)
	// Thread returns a thread; fault.NotFound if there is none.
	Thread(organisationID, personID, agentID, key string) (Thread, error)
	// HoldThread returns the thread, which it makes unless it is there. Until the
	// transaction ends no other one holds it.
	HoldThread(Thread) (Thread, error)
	// RunByKey returns the person's last run of that key with an agent, and its thread;
	// fault.NotFound if there is none.
	RunByKey(organisationID, personID, agentID, key string) (Run, Thread, error)
	// Runs, Said and Interrupts return what a thread has, oldest first.
	Runs(threadID string) ([]Run, error)
	Said(threadID string) ([]Said, error)
	Interrupts(threadID string) ([]Asked, error)
	InsertRun(Run) error
	InsertSaid(Said) error
	// KeepInterrupt stores an interrupt, unless there is one of its task and subject,
	// and returns the one that is stored.
	KeepInterrupt(Asked) (Asked, error)
	// DecideInterrupt notes how an interrupt was answered, and by which command.
	DecideInterrupt(id, decision, commandID string) error
}

// history is what the record has of a thread.
type history struct {
	thread     Thread // zero if there is none yet
	runs       []Run
	said       []Said
	interrupts []Asked
	now        *task.Task // of the last run, as it is; nil if there is none
}

// last is the run that the thread has got to; nil if there is none.
func (h *history) last() *Run {
	if len(h.runs) == 0 {
		return nil
	}
	return &h.runs[len(h.runs)-1]
}

// endedBy is the interrupt that ended a run; nil if none has.
func (h *history) endedBy(runID string) *Asked {
	for i := range h.interrupts {
		if h.interrupts[i].RunID == runID {
			return &h.interrupts[i]
		}
	}
	return nil
}

func (h *history) interrupt(id string) *Asked {
	for i := range h.interrupts {
		if h.interrupts[i].Interrupt.ID == id {
			return &h.interrupts[i]
		}
	}
	return nil
}

func (h *history) message(id string) *Said {
	for i := range h.said {
		if h.said[i].MessageID == id {
			return &h.said[i]
		}
	}
	return nil
}
