package command

import (
	"context"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Resend has an uncertain command sent again, as a person's own decision: the
// agent may get it twice. It goes out under the same A2A messageId, by which an
// agent can tell.
//
// Errors: fault.NotFound, fault.Forbidden for somebody who may not send on the task,
// and fault.Conflict if the outcome is known by now, the task has ended, or the question that it answers is no longer open.
func (s *Service) Resend(ctx context.Context, p access.Principal, id string) (Command, error) {
	sent, err := s.Get(ctx, p, id)
	if err != nil {
		return Command{}, err
	}
	a, err := s.Agents.Get(ctx, p, sent.AgentID)
	if err != nil {
		return Command{}, err
	}
	var again Record
	err = s.Update(ctx, func(tx Tx) error {
		r, err := seen(tx, p, id)
		if err != nil {
			return err
		}
		head, owner, err := tx.TaskHead(r.Command.TaskID)
		if err != nil {
			return err
		}
		reach, err := tx.Reach(p, owner.AgentID)
		if err == nil {
			err = mayFollow(tx, p, reach, a, head, owner, Body{Action: r.Command.Action})
		}
		if err != nil {
			return err
		}
		if err := resendable(head, r); err != nil {
			return err
		}
		if again, err = tx.ResendCommand(id, p.PersonID, p.Name); err != nil {
			return err
		}
		return auditResend(tx, p, again)
	})
	return again.Command, err
}

// resendable says why a command cannot be sent again on a task as it is, or nil.
func resendable(head task.Head, r Record) error {
	switch {
	case head.State.Terminal():
		return fault.New(fault.Conflict, "This task has ended (%s), so nothing more can be sent on it: start a new task.", plainState(head.State))
	case r.Answers != "" && (head.Question.Number != r.QuestionNumber || !head.Question.Open()):
		return fault.New(fault.Conflict, "The task has moved on, so the question that this answers is closed.")
	}
	return nil
}
