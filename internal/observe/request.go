package observe

import (
	"context"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Requests takes what people ask of the observers, in whichever process these are.
type Requests struct {
	Update func(context.Context, func(Tx) error) error
}

// CheckNow has the agent asked about a task at once. Of a task whose first
// message may or may not have reached the agent, its list of tasks is searched.
// What comes of it is seen on the task.
//
// Errors: fault.NotFound, fault.Forbidden for somebody who may not send to the agent
// what the task is held to, and fault.Conflict for a task about which there is nothing
// to ask.
func (q *Requests) CheckNow(ctx context.Context, p access.Principal, taskID string) error {
	return q.Update(ctx, func(tx Tx) error {
		head, owner, err := tx.TaskHead(taskID)
		if err == nil {
			err = mayAsk(tx, p, head, owner)
		}
		if err != nil {
			return err
		}
		if head.Kind == task.KindMessage {
			return fault.New(fault.Conflict, "The agent answered with a message and runs no task, so there is nothing to ask about.")
		}
		if head.RemoteTaskID == "" {
			uncertain, err := tx.UncertainSends(head.TaskID)
			if err != nil {
				return err
			}
			if len(uncertain) == 0 {
				return fault.New(fault.Conflict, "The agent has not confirmed this task yet: wait for its first answer.")
			}
		}
		tx.Signal(live.ChecksTopic)
		if err := tx.ScheduleCheck(head.TaskID, tx.Now(), 0); err != nil {
			return err
		}
		a, err := tx.AnyAgent(owner.AgentID)
		if err != nil {
			return err
		}
		return tx.Audit(audit.Entry{
			OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.TaskChecked, AgentID: a.ID, AgentName: a.Name, TaskID: head.TaskID,
		})
	})
}

// mayAsk says why the principal may not have the agent asked about a task, or nil.
func mayAsk(tx Tx, p access.Principal, head task.Head, owner task.Owner) error {
	if err := tx.SeesTask(p.View(), head.TaskID); err != nil {
		return err
	}
	reach, err := tx.Reach(p, owner.AgentID)
	if err != nil {
		return err
	}
	return reach.Check(owner.SkillID)
}

// maxCandidates is how many of an agent's tasks are looked at one by one.
const maxCandidates = 10

// look asks how a task stands.
func (o *Observer) look(ctx context.Context, t remote.Target, c Check) (remote.Observation, error) {
	ctx = remote.WithLabels(ctx, remote.Labels{TaskID: c.TaskID})
	if c.RemoteTaskID != "" {
		return o.Remote.Get(ctx, t, c.RemoteTaskID, nil)
	}
	var uncertain []string
	err := o.Update(ctx, func(tx Tx) (err error) {
		uncertain, err = tx.UncertainSends(c.TaskID)
		return err
	})
	if err != nil {
		return remote.Observation{}, err
	}
	return o.find(ctx, t, c.ContextID, uncertain)
}

// find looks for the agent's task that holds one of the messages. Lists may leave
// the history out, so the newest tasks are read one by one.
func (o *Observer) find(ctx context.Context, t remote.Target, contextID string, messageIDs []string) (remote.Observation, error) {
	page, err := o.Remote.List(ctx, t, remote.ListRequest{ContextID: contextID})
	if err != nil {
		return remote.Observation{}, err
	}
	for i, listed := range page.Tasks {
		if task.Holds(listed, messageIDs) {
			return listed, nil
		}
		if i >= maxCandidates {
			continue
		}
		whole, err := o.Remote.Get(ctx, t, task.RemoteID(listed), nil)
		if err != nil {
			return remote.Observation{}, err
		}
		if task.Holds(whole, messageIDs) {
			return whole, nil
		}
	}
	return remote.Observation{}, fault.New(fault.NotFound, "Among its newest tasks the agent shows none with this message. It may never have arrived.")
}
