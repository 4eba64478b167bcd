package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// Teams keeps the teams of the organisation, with errors as those of Members. A name
// that another team has is fault.Conflict.
type Teams interface {
	List(ctx context.Context, p access.Principal) ([]access.Team, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Team, error)
	Add(ctx context.Context, p access.Principal, name string, memberIDs []string) (access.Team, error)
	Change(ctx context.Context, p access.Principal, id string, c access.TeamChange) (access.Team, error)
	// AddMember leaves one who is in the team already; RemoveMember is fault.NotFound for
	// one who is not.
	AddMember(ctx context.Context, p access.Principal, id, memberID string) (access.Team, error)
	RemoveMember(ctx context.Context, p access.Principal, id, memberID string) (access.Team, error)
	// Remove removes a team with what is granted to it, and returns it as it was.
	Remove(ctx context.Context, p access.Principal, id string) (access.Team, error)
}

// TeamInput is a team to make.
type TeamInput struct {
	Name    string   `json:"name" doc:"At most 100 characters; no two teams have the same."`
	Members []string `json:"members,omitempty" nullable:"false" doc:"The IDs of its members, at most 1000."`
}

// TeamChange is what to change of a team.
type TeamChange struct {
	Name    *string  `json:"name,omitempty" doc:"What is left out stays."`
	Members []string `json:"members,omitempty" nullable:"false" doc:"The IDs of all members that it has from now on."`
}

// Team is some members of the organisation, to be granted something together.
type Team struct {
	ID        string    `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	Members   []string  `json:"members" nullable:"false" doc:"The IDs of its members, by their names."`
	CreatedAt time.Time `json:"createdAt"`
}

// TeamList is all teams, by name.
type TeamList struct {
	Items []Team  `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Always null: the list is whole."`
}

type (
	teamsOut struct{ Body TeamList }
	teamOut  struct{ Body Team }
	teamIn   struct{ Body body[TeamInput] }
	madeTeam struct {
		Location string `header:"Location"`
		Body     Team
	}
	teamPath struct {
		ID string `path:"id" doc:"ID of the team."`
	}
	teamChangeIn struct {
		ID   string `path:"id" doc:"ID of the team."`
		Body body[TeamChange]
	}
	teamMemberPath struct {
		ID       string `path:"id" doc:"ID of the team."`
		MemberID string `path:"memberId" doc:"ID of the member."`
	}
)

func (s *server) registerTeams(api huma.API) {
	tags := []string{rightsTag}
	const one, member = "/teams/{id}", "/teams/{id}/members/{memberId}"
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-teams", Method: http.MethodGet, Path: "/teams", Tags: tags,
		Summary: "List the teams", Responses: failures(api),
	}), handle(s, "list-teams", s.listTeams))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "make-team", Method: http.MethodPost, Path: "/teams", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Make a team", Description: "409 for a name that another team has.",
		Responses: failures(api, wrongBody(http.StatusConflict)...),
	})), handle(s, "make-team", s.makeTeam))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "get-team", Method: http.MethodGet, Path: one, Tags: tags,
		Summary: "Read a team", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-team", s.getTeam))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "change-team", Method: http.MethodPut, Path: one, Tags: tags,
		Summary: "Give a team another name or other members", Description: "What is left out stays.",
		Responses: failures(api, wrongBody(http.StatusNotFound, http.StatusConflict)...),
	})), handle(s, "change-team", s.changeTeam))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "remove-team", Method: http.MethodDelete, Path: one, Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Remove a team", Description: "With what is granted to it. Answers with the team as it was.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "remove-team", s.removeTeam))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "add-team-member", Method: http.MethodPut, Path: member, Tags: tags,
		Summary: "Put a member into a team", Description: "Doing it twice is once. 422 for a team that is full.",
		Responses: failures(api, http.StatusNotFound, http.StatusUnprocessableEntity),
	}), handle(s, "add-team-member", s.addTeamMember))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "remove-team-member", Method: http.MethodDelete, Path: member, Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Take a member out of a team", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "remove-team-member", s.removeTeamMember))
}

func (s *server) listTeams(ctx context.Context, p access.Principal, _ *nothing) (*teamsOut, error) {
	all, err := s.Teams.List(ctx, p)
	out := &teamsOut{TeamList{Items: make([]Team, 0, len(all))}}
	for _, t := range all {
		out.Body.Items = append(out.Body.Items, teamShape(t))
	}
	return out, err
}

func (s *server) makeTeam(ctx context.Context, p access.Principal, in *teamIn) (*madeTeam, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	t, err := s.Teams.Add(ctx, p, given.Name, given.Members)
	if err != nil {
		return nil, atPointers(err)
	}
	return &madeTeam{Location: prefix + "/teams/" + t.ID, Body: teamShape(t)}, nil
}

func (s *server) getTeam(ctx context.Context, p access.Principal, in *teamPath) (*teamOut, error) {
	return teamAnswer(s.Teams.Get(ctx, p, in.ID))
}

func (s *server) changeTeam(ctx context.Context, p access.Principal, in *teamChangeIn) (*teamOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if given.Name == nil && given.Members == nil {
		return nil, invalid("", "Give at least one of name and members.")
	}
	return teamAnswer(s.Teams.Change(ctx, p, in.ID, access.TeamChange{Name: given.Name, MemberIDs: given.Members}))
}

func (s *server) removeTeam(ctx context.Context, p access.Principal, in *teamPath) (*teamOut, error) {
	return teamAnswer(s.Teams.Remove(ctx, p, in.ID))
}

func (s *server) addTeamMember(ctx context.Context, p access.Principal, in *teamMemberPath) (*teamOut, error) {
	return teamAnswer(s.Teams.AddMember(ctx, p, in.ID, in.MemberID))
}

func (s *server) removeTeamMember(ctx context.Context, p access.Principal, in *teamMemberPath) (*teamOut, error) {
	return teamAnswer(s.Teams.RemoveMember(ctx, p, in.ID, in.MemberID))
}

func teamAnswer(t access.Team, err error) (*teamOut, error) {
	if err != nil {
		return nil, atPointers(err)
	}
	return &teamOut{teamShape(t)}, nil
}

func teamShape(t access.Team) Team {
	return Team{ID: t.ID, Name: t.Name, Members: append([]string{}, t.MemberIDs...), CreatedAt: t.CreatedAt.UTC()}
}
