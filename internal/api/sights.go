package api

import (
	"context"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// Sight is how somebody comes to see an agent, or tasks of one of its skills.
type Sight struct {
	MemberID   string `json:"memberId"`
	MemberName string `json:"memberName"`
	Role       string `json:"role" enum:"admin,operator,viewer" doc:"Of the member."`
	AgentID    string `json:"agentId" format:"uuid"`
	AgentName  string `json:"agentName"`
	SkillID    string `json:"skillId,omitempty" doc:"Absent for the whole agent."`
	Permission string `json:"permission" enum:"read,operate" doc:"As the role of the member lets it stand."`
	Grant      *Grant `json:"grant" doc:"By which; null for an administrator, who needs none."`
}

// SightList is who can see an agent; somebody who can by several grants is there for each.
type SightList struct {
	Items []Sight `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Always null: the list is whole."`
}

// MemberAccess is what a member can see.
type MemberAccess struct {
	Member     Member  `json:"member"`
	Everything bool    `json:"everything" doc:"The member is an administrator, sees and operates every agent, and needs no grant: items is empty."`
	Items      []Sight `json:"items" nullable:"false" doc:"Empty for one who is disabled."`
	Next       *string `json:"next" doc:"Always null: the list is whole."`
}

type (
	sightsOut       struct{ Body SightList }
	memberAccessOut struct{ Body MemberAccess }
)

func (s *server) agentSights(ctx context.Context, p access.Principal, in *agentPath) (*sightsOut, error) {
	all, err := s.Grants.OfAgent(ctx, p, in.ID)
	return &sightsOut{SightList{Items: sightShapes(all)}}, err
}

func (s *server) memberSights(ctx context.Context, p access.Principal, in *memberPath) (*memberAccessOut, error) {
	m, all, err := s.Grants.OfMember(ctx, p, in.ID)
	return &memberAccessOut{MemberAccess{
		Member: memberShape(m), Everything: m.Role == access.Admin && m.Enabled(), Items: sightShapes(all),
	}}, err
}

func sightShapes(all []access.Sight) []Sight {
	out := make([]Sight, 0, len(all))
	for _, a := range all {
		sight := Sight{
			MemberID: a.Member.ID, MemberName: a.Member.Name, Role: string(a.Member.Role), AgentID: a.AgentID, AgentName: a.AgentName,
			SkillID: a.SkillID, Permission: string(a.Permission),
		}
		if a.Grant != nil {
			grant := grantShape(*a.Grant)
			sight.Grant = &grant
		}
		out = append(out, sight)
	}
	return out
}
