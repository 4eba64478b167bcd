package views

import (
	"slices"
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
)

// Everybody is the choice of everybody in the organisation.
const Everybody = "everybody"

// GrantsPage is who may do what with which agent.
type GrantsPage struct {
	Shell   Shell
	Agents  []agent.Agent
	Grants  []access.Grant // by agent
	SignsIn bool
}

// granted is an agent with what is granted on it.
type granted struct {
	agentID, name string
	grants        []access.Grant
}

// byAgent returns every agent with its grants: those of the catalogue, and removed ones
// on which something is granted still.
func (p GrantsPage) byAgent() []granted {
	var all []granted
	at := map[string]int{}
	put := func(id, name string) *granted {
		i, known := at[id]
		if !known {
			i = len(all)
			at[id] = i
			all = append(all, granted{agentID: id, name: name})
		}
		return &all[i]
	}
	for _, a := range p.Agents {
		put(a.ID, a.Name)
	}
	for _, g := range p.Grants {
		of := put(g.AgentID, g.AgentName)
		of.grants = append(of.grants, g)
	}
	return all
}

// EnteredGrant is what stands in the controls that grant something.
type EnteredGrant struct {
	Subject    string
	SkillID    string
	Permission access.Permission
}

// SightPage is who can see one agent.
type SightPage struct {
	Shell   Shell
	Agent   agent.Agent
	Sights  []access.Sight
	Grants  []access.Grant // on the agent
	Teams   []access.Team
	Members []access.Member
	SignsIn bool
	Entered EnteredGrant
	Faults  Faults
}

// seer is somebody who can see an agent, with every way that they come to.
type seer struct {
	member access.Member
	sights []access.Sight
}

// seers are those who can see the agent, each once. The local operator is nobody where
// people sign in.
func (p SightPage) seers() []seer {
	var all []seer
	for _, s := range p.Sights {
		if s.Member.Kind == access.KindLocal && p.SignsIn {
			continue
		}
		if i := slices.IndexFunc(all, func(o seer) bool { return o.member.ID == s.Member.ID }); i >= 0 {
			all[i].sights = append(all[i].sights, s)
			continue
		}
		all = append(all, seer{s.Member, []access.Sight{s}})
	}
	return all
}

// grantable are the people, or the service accounts, to whom something can be granted
// that they do not have anyway.
func (p SightPage) grantable(k access.Kind) []access.Member {
	return slices.DeleteFunc(slices.Clone(p.Members), func(m access.Member) bool {
		return m.Kind != k || m.Role == access.Admin || !m.Enabled()
	})
}

// seersTitle counts those who can see an agent.
func seersTitle(n int) string {
	switch n {
	case 0:
		return "Nobody can see it"
	case 1:
		return "One can see it"
	}
	return strconv.Itoa(n) + " can see it"
}

func (p SightPage) path() string { return "/agents/" + p.Agent.ID + "/access" }

// skillName is what an agent calls a skill.
func skillName(a agent.Agent, id string) string {
	for _, s := range a.Card.Skills {
		if s.ID == id {
			return or(s.Name, id)
		}
	}
	return id
}
