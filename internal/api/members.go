package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Members keeps who is in the organisation, for its administrators. What there is none
// of is fault.NotFound, and so is a member of another organisation. What cannot be is
// fault.Unprocessable with its fields. Somebody who is a member already, and what would
// leave nobody to administer, is fault.Conflict.
type Members interface {
	List(ctx context.Context, p access.Principal) ([]access.Member, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Member, error)
	Add(ctx context.Context, p access.Principal, n access.NewMember) (access.Member, error)
	// Change acts at once: disabling ends the sessions and revokes the tokens.
	Change(ctx context.Context, p access.Principal, id string, c access.MemberChange) (access.Member, error)
}

// MemberInput is somebody to add.
type MemberInput struct {
	Kind    string `json:"kind,omitempty" enum:"person,service" doc:"A person if it is left out. A service account comes by API tokens, and has neither issuer nor subject."`
	Issuer  string `json:"issuer,omitempty" doc:"The person's OpenID provider, exactly as it calls itself."`
	Subject string `json:"subject,omitempty" doc:"What the provider calls the person (sub), exactly."`
	Name    string `json:"name" doc:"As shown to other people; at most 100 characters."`
	Role    string `json:"role" enum:"admin,operator,viewer"`
}

// MemberChange is what to change of a member.
type MemberChange struct {
	Name     *string `json:"name,omitempty" doc:"What is left out stays."`
	Role     *string `json:"role,omitempty" enum:"admin,operator,viewer"`
	Disabled *bool   `json:"disabled,omitempty" doc:"true ends their sessions and revokes their tokens; false lets them sign in again, and brings neither back."`
}

// Member is a person or a service account in the organisation.
type Member struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind" enum:"local,person,service" doc:"local is whoever uses the machine, where nobody signs in."`
	Issuer     string     `json:"issuer,omitempty" doc:"Of a person."`
	Subject    string     `json:"subject,omitempty" doc:"Of a person."`
	Name       string     `json:"name"`
	Role       string     `json:"role" enum:"admin,operator,viewer"`
	CreatedAt  time.Time  `json:"createdAt"`
	DisabledAt *time.Time `json:"disabledAt" doc:"null for one who may come in."`
}

// MemberList is everybody in the organisation, by name.
type MemberList struct {
	Items []Member `json:"items" nullable:"false" doc:"Disabled ones too."`
	Next  *string  `json:"next" doc:"Always null: the list is whole."`
}

type (
	membersOut  struct{ Body MemberList }
	memberOut   struct{ Body Member }
	memberIn    struct{ Body body[MemberInput] }
	addedMember struct {
		Location string `header:"Location"`
		Body     Member
	}
	memberPath struct {
		ID string `path:"id" doc:"ID of the member."`
	}
	memberChangeIn struct {
		ID   string `path:"id" doc:"ID of the member."`
		Body body[MemberChange]
	}
)

// rightsTag groups what is about members, teams and grants.
const rightsTag = "Rights"

func (s *server) registerMembers(api huma.API) {
	tags := []string{rightsTag}
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-members", Method: http.MethodGet, Path: "/members", Tags: tags,
		Summary: "List the members", Responses: failures(api),
	}), handle(s, "list-members", s.listMembers))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "add-member", Method: http.MethodPost, Path: "/members", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Add a person or a service account", Description: "409 for a person who is a member already.",
		Responses: failures(api, wrongBody(http.StatusConflict)...),
	})), handle(s, "add-member", s.addMember))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "get-member", Method: http.MethodGet, Path: "/members/{id}", Tags: tags,
		Summary: "Read a member", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-member", s.getMember))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "change-member", Method: http.MethodPut, Path: "/members/{id}", Tags: tags,
		Summary:     "Change, disable or enable a member",
		Description: "What is left out stays. It acts at once, on what the member has open too. 409 for what would leave the organisation without an administrator who can sign in, and for the local operator.",
		Responses:   failures(api, wrongBody(http.StatusNotFound, http.StatusConflict)...),
	})), handle(s, "change-member", s.changeMember))
}

func (s *server) listMembers(ctx context.Context, p access.Principal, _ *nothing) (*membersOut, error) {
	all, err := s.Members.List(ctx, p)
	out := &membersOut{MemberList{Items: make([]Member, 0, len(all))}}
	for _, m := range all {
		out.Body.Items = append(out.Body.Items, memberShape(m))
	}
	return out, err
}

func (s *server) addMember(ctx context.Context, p access.Principal, in *memberIn) (*addedMember, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	switch access.Kind(given.Kind) {
	case "", access.KindPerson, access.KindService:
	default:
		return nil, fault.WithFields("This member cannot be added.", []fault.Field{{Location: "/kind", Message: "person or service."}})
	}
	added, err := s.Members.Add(ctx, p, access.NewMember{
		Service: access.Kind(given.Kind) == access.KindService, Issuer: given.Issuer, Subject: given.Subject, Name: given.Name, Role: access.Role(given.Role),
	})
	if err != nil {
		return nil, atPointers(err)
	}
	return &addedMember{Location: prefix + "/members/" + added.ID, Body: memberShape(added)}, nil
}

func (s *server) getMember(ctx context.Context, p access.Principal, in *memberPath) (*memberOut, error) {
	m, err := s.Members.Get(ctx, p, in.ID)
	return &memberOut{memberShape(m)}, err
}

func (s *server) changeMember(ctx context.Context, p access.Principal, in *memberChangeIn) (*memberOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if given == (MemberChange{}) {
		return nil, invalid("", "Give at least one of name, role and disabled.")
	}
	c := access.MemberChange{Name: given.Name, Role: (*access.Role)(given.Role)}
	if given.Disabled != nil {
		enabled := !*given.Disabled
		c.Enabled = &enabled
	}
	m, err := s.Members.Change(ctx, p, in.ID, c)
	if err != nil {
		return nil, atPointers(err)
	}
	return &memberOut{memberShape(m)}, nil
}

func memberShape(m access.Member) Member {
	return Member{
		ID: m.ID, Kind: string(m.Kind), Issuer: m.Issuer, Subject: m.Subject, Name: m.Name, Role: string(m.Role),
		CreatedAt: m.CreatedAt.UTC(), DisabledAt: moment(m.DisabledAt),
	}
}
