package task

import (
	"context"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Record is a task as it is stored, without its timeline.
type Record struct {
	Task       Task
	Question   Asked
	AnsweredBy string // the command that answers the question; "" if none
}

// StoredMessage is a message as it is stored.
type StoredMessage struct {
	Message        Message // without the forms
	Answers        string  // messageId of the question that its command answers
	FormDefinition []byte  // the form that it fills in, as it was drawn; nil if none
}

// ReadTx is a transaction of the record as Reader needs it.
type ReadTx interface {
	// TaskRecord follows a merged task to the one that it became.
	// fault.NotFound if the view has none.
	TaskRecord(v access.View, taskID string) (Record, error)
	// ListTasks returns up to limit+1 tasks, newest change first.
	ListTasks(v access.View, f Filter) ([]Task, string, error)
	CountTasks(v access.View) (Counts, error)
	// Messages, Artifacts, Transitions and Cancels return the entries whose
	// version is over since, in the order of the timeline.
	Messages(taskID string, since int64) ([]StoredMessage, error)
	Message(taskID, messageID, digest string) (StoredMessage, error)
	Artifacts(taskID string, since int64) ([]Artifact, error)
	Transitions(taskID string, since int64) ([]Transition, error)
	Cancels(taskID string, since int64) ([]CancelRequest, error)
}

// Agents tells which agents opted in to an extension.
type Agents interface {
	// Advertises reports whether the agent's latest stored card lists the URI.
	Advertises(ctx context.Context, agentID, uri string) (bool, error)
}

// Reader reads tasks for people and programs. Who may not see a task gets
// fault.NotFound.
type Reader struct {
	View   func(context.Context, func(ReadTx) error) error
	Agents Agents

	// Secrets returns what takes the secrets of an agent out of a text. Nil means that
	// there are none.
	Secrets func(ctx context.Context, agentID string) func(string) string
}

// DefaultLimit and MaxLimit bound a page of tasks.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// List returns one page of tasks, newest change first. fault.Invalid for a
// cursor that no page gave.
func (r *Reader) List(ctx context.Context, p access.Principal, f Filter) (Page, error) {
	if f.Limit <= 0 {
		f.Limit = DefaultLimit
	}
	f.Limit = min(f.Limit, MaxLimit)
	var page Page
	err := r.View(ctx, func(tx ReadTx) (err error) {
		page.Items, page.Next, err = tx.ListTasks(p.View(), f)
		return err
	})
	return page, err
}

// Counts returns the figures for the navigation.
func (r *Reader) Counts(ctx context.Context, p access.Principal) (Counts, error) {
	var counts Counts
	err := r.View(ctx, func(tx ReadTx) (err error) {
		counts, err = tx.CountTasks(p.View())
		return err
	})
	return counts, err
}

// Get returns everything about one task.
func (r *Reader) Get(ctx context.Context, p access.Principal, id string) (Task, error) {
	d, err := r.Changes(ctx, p, id, 0)
	return d.Task, err
}

// Find returns the ID of a task, or of the one that it was merged into.
func (r *Reader) Find(ctx context.Context, p access.Principal, id string) (found string, err error) {
	err = r.View(ctx, func(tx ReadTx) error {
		record, err := tx.TaskRecord(p.View(), id)
		found = record.Task.ID
		return err
	})
	return found, err
}

// Changes returns a task with only those entries of its timeline that changed
// after the version since.
func (r *Reader) Changes(ctx context.Context, p access.Principal, id string, since int64) (Delta, error) {
	var record Record
	var messages []StoredMessage
	var asked *StoredMessage
	err := r.View(ctx, func(tx ReadTx) (err error) {
		if record, err = tx.TaskRecord(p.View(), id); err != nil {
			return err
		}
		t := &record.Task
		if messages, err = tx.Messages(t.ID, since); err != nil {
			return err
		}
		if t.Artifacts, err = tx.Artifacts(t.ID, since); err != nil {
			return err
		}
		if t.Transitions, err = tx.Transitions(t.ID, since); err != nil {
			return err
		}
		if t.Cancels, err = tx.Cancels(t.ID, since); err != nil {
			return err
		}
		if record.openQuestion() {
			m, err := tx.Message(t.ID, record.Question.MessageID, record.Question.Digest)
			switch {
			case err == nil:
				asked = &m
			case fault.KindOf(err) != fault.NotFound: // without its message it is a question without a word
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Delta{}, err
	}
	t := record.Task
	r.redact(ctx, t)
	advertises, err := r.Agents.Advertises(ctx, t.AgentID, form.URI)
	if err != nil {
		return Delta{}, err
	}
	for _, m := range messages {
		t.Messages = append(t.Messages, shown(m, record, advertises))
	}
	if asked != nil {
		t.Question = QuestionOf(asked.Message, t.State, advertises)
	}
	return Delta{Since: since, Task: t}, nil
}

// redact takes the secrets of its agent out of the artifacts of a task that came
// piece by piece: one that lies across pieces is in none of those that were stored.
func (r *Reader) redact(ctx context.Context, t Task) {
	if r.Secrets == nil {
		return
	}
	var clean func(string) string
	for _, a := range t.Artifacts {
		if !a.Joined {
			continue
		}
		if clean == nil {
			clean = r.Secrets(ctx, t.AgentID)
		}
		for i, p := range a.Parts {
			if p.Text != nil {
				text := clean(*p.Text)
				a.Parts[i].Text = &text
			}
		}
	}
}

// openQuestion reports whether there is a question that can be answered: not if its
// agent was removed, or no longer knows the task.
func (r Record) openQuestion() bool {
	return r.Question.Open() && r.AnsweredBy == "" && !r.Task.AgentRemoved && r.Task.ForgottenAt.IsZero()
}

// shown completes a stored message with the forms in it.
func shown(s StoredMessage, record Record, advertises bool) Message {
	m := s.Message
	if s.FormDefinition != nil {
		// It was drawn once, so it can be read; the rules only ever get wider.
		drawn, err := form.Parse(s.FormDefinition)
		switch {
		case err != nil:
		case s.Answers != "":
			m.AnswerTo = drawn
		default:
			m.StartForm = drawn
		}
	}
	m.Answers = s.Answers
	if m.Role == a2a.RoleAgent {
		m.Current = record.openQuestion() && m.ID == record.Question.MessageID && m.Digest == record.Question.Digest
		state := a2a.StateInputRequired // of what is past, only what was wrong with the form itself matters
		if m.Current {
			state = record.Task.State
		}
		_, _, m.NotForm = findForm(m.Parts, whyNoForm(state, advertises))
	}
	return m
}
