package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Grants keeps who may read and operate which agents, with errors as those of Members.
// What is granted already is fault.Conflict.
type Grants interface {
	List(ctx context.Context, p access.Principal) ([]access.Grant, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Grant, error)
	Add(ctx context.Context, p access.Principal, g access.Grant) (access.Grant, error)
	Change(ctx context.Context, p access.Principal, id string, permission *access.Permission, enabled *bool) (access.Grant, error)
	// Remove returns the grant as it was.
	Remove(ctx context.Context, p access.Principal, id string) (access.Grant, error)
	// OfAgent says who can see an agent, and OfMember what a member can see, and how they
	// come to. An administrator sees everything, and has no list.
	OfAgent(ctx context.Context, p access.Principal, agentID string) ([]access.Sight, error)
	OfMember(ctx context.Context, p access.Principal, memberID string) (access.Member, []access.Sight, error)
}

// GrantInput is something to grant: to a member, a team or everybody.
type GrantInput struct {
	AgentID    string `json:"agentId" format:"uuid"`
	SkillID    string `json:"skillId,omitempty" doc:"One skill of an agent that holds messages to skills; the whole agent if it is left out."`
	MemberID   string `json:"memberId,omitempty" doc:"To a member."`
	TeamID     string `json:"teamId,omitempty" doc:"To a team."`
	Everybody  bool   `json:"everybody,omitempty" doc:"To everybody in the organisation. Give one of the three."`
	Permission string `json:"permission" enum:"read,operate" doc:"operate includes to read. What is granted to a viewer is to read, whatever it says."`
	Enabled    *bool  `json:"enabled,omitempty" doc:"false to have it not count yet; true if it is left out."`
}

// GrantChange is what to change of a grant.
type GrantChange struct {
	Permission *string `json:"permission,omitempty" enum:"read,operate" doc:"What is left out stays."`
	Enabled    *bool   `json:"enabled,omitempty" doc:"Whether it counts."`
}

// Grant lets somebody read or operate an agent, or one of its skills.
type Grant struct {
	ID         string    `json:"id" format:"uuid"`
	AgentID    string    `json:"agentId" format:"uuid"`
	AgentName  string    `json:"agentName"`
	SkillID    string    `json:"skillId,omitempty" doc:"Absent for the whole agent."`
	MemberID   string    `json:"memberId,omitempty" doc:"To a member."`
	TeamID     string    `json:"teamId,omitempty" doc:"To a team."`
	Everybody  bool      `json:"everybody" doc:"To everybody in the organisation."`
	Name       string    `json:"name,omitempty" doc:"Of the member or the team."`
	Permission string    `json:"permission" enum:"read,operate"`
	Enabled    bool      `json:"enabled" doc:"Whether it counts."`
	CreatedAt  time.Time `json:"createdAt"`
}

// GrantList is grants, by agent and whom they are to.
type GrantList struct {
	Items []Grant `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Always null: the list is whole."`
}

type (
	grantsIn struct {
		AgentID  string `query:"agentId" doc:"Only those on this agent."`
		MemberID string `query:"memberId" doc:"Only those to this member; what their teams are granted is not among them."`
		TeamID   string `query:"teamId" doc:"Only those to this team."`
	}
	grantsOut struct{ Body GrantList }
	grantOut  struct{ Body Grant }
	grantIn   struct{ Body body[GrantInput] }
	madeGrant struct {
		Location string `header:"Location"`
		Body     Grant
	}
	grantPath struct {
		ID string `path:"id" doc:"ID of the grant."`
	}
	grantChangeIn struct {
		ID   string `path:"id" doc:"ID of the grant."`
		Body body[GrantChange]
	}
)

func (s *server) registerGrants(api huma.API) {
	tags := []string{rightsTag}
	const one = "/grants/{id}"
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-grants", Method: http.MethodGet, Path: "/grants", Tags: tags,
		Summary: "List the grants", Responses: failures(api),
	}), handle(s, "list-grants", s.listGrants))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "add-grant", Method: http.MethodPost, Path: "/grants", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Grant to read or operate an agent", Description: "409 for what is granted already.",
		Responses: failures(api, wrongBody(http.StatusConflict)...),
	})), handle(s, "add-grant", s.addGrant))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "get-grant", Method: http.MethodGet, Path: one, Tags: tags,
		Summary: "Read a grant", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-grant", s.getGrant))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "change-grant", Method: http.MethodPut, Path: one, Tags: tags,
		Summary: "Change what a grant permits, or whether it counts", Description: "What is left out stays. It acts at once.",
		Responses: failures(api, wrongBody(http.StatusNotFound, http.StatusConflict)...),
	})), handle(s, "change-grant", s.changeGrant))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "remove-grant", Method: http.MethodDelete, Path: one, Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Take a grant back", Description: "Answers with the grant as it was.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "remove-grant", s.removeGrant))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "agent-sights", Method: http.MethodGet, Path: "/agents/{id}/access", Tags: tags,
		Summary: "Read who can see an agent", Description: "And by which grants: administrators first, then by name.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "agent-sights", s.agentSights))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "member-sights", Method: http.MethodGet, Path: "/members/{id}/access", Tags: tags,
		Summary: "Read what a member can see", Description: "And by which grants, those of their teams and of everybody too.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "member-sights", s.memberSights))
}

func (s *server) listGrants(ctx context.Context, p access.Principal, in *grantsIn) (*grantsOut, error) {
	all, err := s.Grants.List(ctx, p)
	if err != nil {
		return nil, err
	}
	out := &grantsOut{GrantList{Items: make([]Grant, 0, len(all))}}
	for _, g := range all {
		if narrows(in.AgentID, g.AgentID) || narrows(in.MemberID, g.Subject.MemberID) || narrows(in.TeamID, g.Subject.TeamID) {
			continue
		}
		out.Body.Items = append(out.Body.Items, grantShape(g))
	}
	return out, nil
}

// narrows reports whether a filter leaves out what has this ID.
func narrows(filter, id string) bool { return filter != "" && filter != id }

func (s *server) addGrant(ctx context.Context, p access.Principal, in *grantIn) (*madeGrant, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if to := []bool{given.MemberID != "", given.TeamID != "", given.Everybody}; len(slices.DeleteFunc(to, func(there bool) bool { return !there })) != 1 {
		return nil, fault.WithFields("This cannot be granted.", []fault.Field{{Location: "/memberId", Message: "Say to whom: one of memberId, teamId, and everybody as true."}})
	}
	made, err := s.Grants.Add(ctx, p, access.Grant{
		Subject: access.Subject{MemberID: given.MemberID, TeamID: given.TeamID}, AgentID: given.AgentID, SkillID: given.SkillID,
		Permission: access.Permission(given.Permission), Enabled: given.Enabled == nil || *given.Enabled,
	})
	if err != nil {
		return nil, atPointers(err)
	}
	return &madeGrant{Location: prefix + "/grants/" + made.ID, Body: grantShape(made)}, nil
}

func (s *server) getGrant(ctx context.Context, p access.Principal, in *grantPath) (*grantOut, error) {
	g, err := s.Grants.Get(ctx, p, in.ID)
	return &grantOut{grantShape(g)}, err
}

func (s *server) changeGrant(ctx context.Context, p access.Principal, in *grantChangeIn) (*grantOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if given == (GrantChange{}) {
		return nil, invalid("", "Give at least one of permission and enabled.")
	}
	g, err := s.Grants.Change(ctx, p, in.ID, (*access.Permission)(given.Permission), given.Enabled)
	if err != nil {
		return nil, atPointers(err)
	}
	return &grantOut{grantShape(g)}, nil
}

func (s *server) removeGrant(ctx context.Context, p access.Principal, in *grantPath) (*grantOut, error) {
	g, err := s.Grants.Remove(ctx, p, in.ID)
	return &grantOut{grantShape(g)}, err
}

func grantShape(g access.Grant) Grant {
	return Grant{
		ID: g.ID, AgentID: g.AgentID, AgentName: g.AgentName, SkillID: g.SkillID, MemberID: g.Subject.MemberID, TeamID: g.Subject.TeamID,
		Everybody: g.Subject.MemberID == "" && g.Subject.TeamID == "", Name: g.Subject.Name,
		Permission: string(g.Permission), Enabled: g.Enabled, CreatedAt: g.CreatedAt.UTC(),
	}
}
