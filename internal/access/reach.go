package access

import (
	"maps"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Reach is how far somebody may go with one agent that they see. It is read in the
// transaction that it is for: a grant that was revoked a moment ago counts no more.
type Reach struct {
	writes bool                  // the role and the way in allow to operate at all
	given  map[string]Permission // by skill; "" is the whole agent
}

// Allowance is what a grant gives on an agent.
type Allowance struct {
	SkillID    string // "" is the whole agent
	Permission Permission
}

// NewReach is the reach of a principal who has been given this. An administrator needs
// nothing.
func NewReach(p Principal, given []Allowance) Reach {
	r := Reach{writes: Allow(p, NeedOperate) == nil, given: map[string]Permission{}}
	if p.View().All {
		r.given[""] = Operate
	}
	for _, g := range given {
		if r.given[g.SkillID] != Operate {
			r.given[g.SkillID] = g.Permission
		}
	}
	return r
}

// Sees reports whether the agent exists for the principal.
func (r Reach) Sees() bool { return len(r.given) > 0 }

// ReadsWhole reports whether the principal may read everything of the agent, beyond
// single skills.
func (r Reach) ReadsWhole() bool { return r.given[""] != "" }

// Reads reports whether the principal may read tasks that are held to a skill; "" is
// that of tasks which are held to none.
func (r Reach) Reads(skillID string) bool { return r.given[""] != "" || r.given[skillID] != "" }

// Operates reports whether the principal may send to the agent by a skill; "" is
// without one.
func (r Reach) Operates(skillID string) bool {
	return r.writes && (r.given[""] == Operate || r.given[skillID] == Operate)
}

// OperatesSome reports whether the principal may send to the agent in some way.
func (r Reach) OperatesSome() bool {
	return r.writes && slices.Contains(slices.Collect(maps.Values(r.given)), Operate)
}

// Check returns nil if the principal may send to the agent by a skill ("" is without
// one), and else fault.Forbidden with what they may do instead.
func (r Reach) Check(skillID string) error {
	switch {
	case r.Operates(skillID):
		return nil
	case !r.OperatesSome():
		return fault.New(fault.Forbidden, "You may read this agent, but not send to it. An administrator can grant you to operate it.")
	case skillID == "":
		return fault.New(fault.Forbidden, "You may send to this agent by single skills only: choose one of those that you may operate (skillId).")
	}
	return fault.New(fault.Forbidden, "You may not send to this agent by this skill: choose one of those that you may operate (skillId).")
}

// CheckSome is Check for what is of the agent as a whole and harms nobody, such as
// fetching its card: being able to send in some way is enough.
func (r Reach) CheckSome() error {
	if r.OperatesSome() {
		return nil
	}
	return r.Check("")
}
