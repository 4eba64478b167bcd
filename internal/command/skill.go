package command

import (
	"encoding/json"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func errNoTask() error { return fault.New(fault.NotFound, "This agent has no such task.") }

// mayStart says why the principal may not start a task as the body asks, or nil. Who
// operates single skills of the agent starts new contexts alone, and refers to what
// they see: an agent may show in one task what it knows of others in its context.
func mayStart(tx Tx, p access.Principal, reach access.Reach, a agent.Agent, body Body) error {
	if body.SkillID != "" && !a.RoutesTo(body.SkillID) {
		return noRoute(a)
	}
	if err := reach.Check(body.SkillID); err != nil {
		return err
	}
	if reach.Operates("") {
		return nil
	}
	if body.ContextID != "" {
		return errContext()
	}
	return mayRefer(tx, p, a, body.Tenant, body)
}

func errContext() error {
	return fault.New(fault.Forbidden, "You may send to this agent by single skills only, which starts a new context each time: leave contextId out.")
}

// mayRefer says why the principal may not refer to other tasks of the agent in a
// tenant, or nil.
func mayRefer(tx Tx, p access.Principal, a agent.Agent, tenant string, body Body) error {
	for _, id := range body.Config.ReferenceTaskIDs {
		err := tx.SeesRemoteTask(p.View(), a.ID, tenant, id)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.Forbidden, "You may refer to no other tasks than those that you see (referenceTaskIds).")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func noRoute(a agent.Agent) error {
	message := "The agent lists no such skill."
	if !a.Advertises(agent.SkillRoutingURI) {
		message = "The agent does not hold messages to a skill: leave skillId out."
	}
	return &fault.Error{Kind: fault.Unprocessable, Message: "This skill cannot be chosen.", Fields: []fault.Field{{Location: "/skillId", Message: message}}}
}

// mayFollow says why the principal may not send or cancel on a task, or nil. What
// follows keeps the skill that the task is held to; if the agent no longer takes that,
// only those go on who may send to it without one. A task that has not begun has no context
// yet, and takes none from whoever sends by a skill alone.
func mayFollow(tx Tx, p access.Principal, reach access.Reach, a agent.Agent, head task.Head, owner task.Owner, body Body) error {
	if err := reach.Check(owner.SkillID); err != nil {
		return err
	}
	if body.SkillID != "" && body.SkillID != owner.SkillID {
		return &fault.Error{
			Kind: fault.Unprocessable, Message: "This skill cannot be chosen.",
			Fields: []fault.Field{{Location: "/skillId", Message: "What follows on a task keeps the skill of the task: leave it out."}},
		}
	}
	if reach.Operates("") || body.Action == Cancel {
		return nil
	}
	if !a.RoutesTo(owner.SkillID) {
		return fault.New(fault.Conflict, "The agent no longer holds messages to this skill, so nothing more can be sent on this task by it alone.")
	}
	if body.ContextID != "" && body.ContextID != head.ContextID {
		return errContext()
	}
	return mayRefer(tx, p, a, owner.Tenant, body)
}

// routing is the metadata of a message that is held to a skill; nil for none. Nobody
// but Taskbay writes it.
func routing(skillID string) json.RawMessage {
	if skillID == "" {
		return nil
	}
	written, err := json.Marshal(map[string]map[string]string{agent.SkillRoutingURI: {"skillId": skillID}})
	if err != nil {
		panic("command: text cannot be written as JSON: " + err.Error())
	}
	return written
}

// withoutRouting is a body without what a caller wrote in the place of routing, in the
// metadata of the request and of its parts.
func withoutRouting(b Body) Body {
	b.Config.Metadata = unrouted(b.Config.Metadata)
	b.Parts = slices.Clone(b.Parts)
	for i := range b.Parts {
		b.Parts[i].Metadata = unrouted(b.Parts[i].Metadata)
	}
	return b
}

func unrouted(metadata json.RawMessage) json.RawMessage {
	if rawjson.Member(metadata, agent.SkillRoutingURI) == nil {
		return metadata
	}
	return rawjson.Remove(metadata, agent.SkillRoutingURI)
}
