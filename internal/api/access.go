package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// Sessions keeps who is signed in with a browser.
type Sessions interface {
	// List returns the principal's sessions, the latest first.
	List(ctx context.Context, p access.Principal) ([]access.Session, error)
	// EndOthers signs the principal out everywhere but in the session that it came by.
	EndOthers(ctx context.Context, p access.Principal) (ended int64, err error)
}

// Tokens makes and revokes API tokens.
type Tokens interface {
	// Create makes a token: one's own, or an administrator one of a service account.
	// fault.Unprocessable with a field for each fault.
	Create(ctx context.Context, p access.Principal, asked access.NewToken) (t access.Token, secret string, err error)
	// List returns the principal's tokens; with all set, those of the organisation, to
	// administrators.
	List(ctx context.Context, p access.Principal, all bool) ([]access.Token, error)
	// Revoke is fault.NotFound for a token that the principal may not revoke.
	Revoke(ctx context.Context, p access.Principal, id string) (access.Token, error)
}

// Session says on whose behalf a request is made.
type Session struct {
	PersonID       string     `json:"personId"`
	Name           string     `json:"name"`
	Kind           string     `json:"kind" enum:"local,person,service"`
	Role           string     `json:"role" enum:"admin,operator,viewer"`
	Scope          string     `json:"scope" enum:"read,operate,administer" doc:"What the token leaves of the role; administer without one."`
	OrganisationID string     `json:"organisationId"`
	Mode           string     `json:"mode" enum:"local,oidc" doc:"Whether people sign in: local if there is the local operator alone."`
	By             string     `json:"by" enum:"none,session,token" doc:"What the request came by."`
	ExpiresAt      *time.Time `json:"expiresAt" doc:"When the session or token stops to work; null if it does not by itself."`
}

// Browser is a browser that somebody is signed in with.
type Browser struct {
	ID        string    `json:"id"`
	Client    string    `json:"client" doc:"As the browser calls itself."`
	Current   bool      `json:"current" doc:"This request came by it."`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// BrowserList is all sessions of one person.
type BrowserList struct {
	Items []Browser `json:"items" nullable:"false"`
	Next  *string   `json:"next" doc:"Always null: the list is whole."`
}

// EndedSessions says how many sessions were ended.
type EndedSessions struct {
	Ended int64 `json:"ended"`
}

// TokenInput is a token to make.
type TokenInput struct {
	Name      string `json:"name" doc:"By which people know it again; at most 100 characters."`
	Scope     string `json:"scope" enum:"read,operate,administer" doc:"At most what the role of the owner allows."`
	ExpiresAt string `json:"expiresAt,omitempty" format:"date-time" doc:"When it stops to work, within 366 days; in 90 days if it is not given."`
	MemberID  string `json:"memberId,omitempty" doc:"The service account that it is for. For oneself if it is not given."`
}

// Token is an API token without its secret.
type Token struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope" enum:"read,operate,administer"`
	MemberID   string     `json:"memberId"`
	MemberName string     `json:"memberName"`
	CreatedBy  string     `json:"createdBy"`
	CreatedAt  time.Time  `json:"createdAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	UsedAt     *time.Time `json:"usedAt" doc:"To the minute; null if it never was."`
}

// MadeToken is a token with its secret, which is shown this once.
type MadeToken struct {
	Token
	Secret string `json:"secret" doc:"What to send as Authorization: Bearer. It is not kept."`
}

// TokenList is tokens that are not revoked, the latest first.
type TokenList struct {
	Items []Token `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Always null: the list is whole."`
}

type (
	sessionOut  struct{ Body Session }
	browsersOut struct{ Body BrowserList }
	endedOut    struct{ Body EndedSessions }
	tokensIn    struct {
		All bool `query:"all" doc:"Those of everybody in the organisation; for administrators."`
	}
	tokensOut struct{ Body TokenList }
	tokenIn   struct{ Body body[TokenInput] }
	madeOut   struct {
		Location string `header:"Location"`
		Body     MadeToken
	}
	tokenPath struct {
		ID string `path:"id" doc:"ID of the token."`
	}
	tokenOut struct{ Body Token }
)

func (s *server) registerAccess(api huma.API) {
	tags := []string{"Access"}
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-session", Method: http.MethodGet, Path: "/session", Tags: tags,
		Summary: "Read who one is, and what one may", Responses: failures(api),
	}), handle(s, "get-session", s.getSession))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: "/sessions", Tags: tags,
		Summary: "List the browsers that one is signed in with", Responses: failures(api),
	}), handle(s, "list-sessions", s.listSessions))
	huma.Register(api, needs(access.NeedOwn, huma.Operation{
		OperationID: "end-other-sessions", Method: http.MethodDelete, Path: "/sessions", Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Sign out everywhere else", Description: "Of every session of one's own but the one that the request came by. What is open by them ends at once.", Responses: failures(api),
	}), handle(s, "end-other-sessions", s.endOtherSessions))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "list-tokens", Method: http.MethodGet, Path: "/tokens", Tags: tags,
		Summary: "List API tokens", Description: "One's own that are not revoked.", Responses: failures(api),
	}), handle(s, "list-tokens", s.listTokens))
	huma.Register(api, needs(access.NeedOwn, withBody(huma.Operation{
		OperationID: "create-token", Method: http.MethodPost, Path: "/tokens", Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Make an API token", Description: "For oneself, or as an administrator for a service account. A token makes tokens only if its scope is administer.",
		Responses: failures(api, wrongBody(http.StatusConflict)...),
	})), handle(s, "create-token", s.createToken))
	huma.Register(api, needs(access.NeedOwn, huma.Operation{
		OperationID: "revoke-token", Method: http.MethodDelete, Path: "/tokens/{id}", Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Revoke an API token", Description: "One's own; any of the organisation's as an administrator. What is open by it ends at once.", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "revoke-token", s.revokeToken))
}

func (s *server) getSession(ctx context.Context, p access.Principal, _ *nothing) (*sessionOut, error) {
	out := Session{
		PersonID: p.PersonID, Name: p.Name, Kind: string(p.Kind), Role: string(p.Role), Scope: string(p.Scope),
		OrganisationID: p.OrganisationID, Mode: "local", By: "none", ExpiresAt: moment(httpguard.Identity(ctx).ExpiresAt),
	}
	if s.Door.Origin != "" {
		out.Mode = "oidc"
	}
	switch {
	case p.TokenID != "":
		out.By = "token"
	case p.SessionID != "":
		out.By = "session"
	}
	return &sessionOut{out}, nil
}

func (s *server) listSessions(ctx context.Context, p access.Principal, _ *nothing) (*browsersOut, error) {
	all, err := s.Sessions.List(ctx, p)
	out := &browsersOut{BrowserList{Items: make([]Browser, 0, len(all))}}
	for _, b := range all {
		out.Body.Items = append(out.Body.Items, Browser{
			ID: b.ID, Client: b.Client, Current: b.ID == p.SessionID, CreatedAt: b.CreatedAt.UTC(), ExpiresAt: b.ExpiresAt.UTC(),
		})
	}
	return out, err
}

func (s *server) endOtherSessions(ctx context.Context, p access.Principal, _ *nothing) (*endedOut, error) {
	ended, err := s.Sessions.EndOthers(ctx, p)
	return &endedOut{EndedSessions{ended}}, err
}

func (s *server) listTokens(ctx context.Context, p access.Principal, in *tokensIn) (*tokensOut, error) {
	all, err := s.Tokens.List(ctx, p, in.All)
	out := &tokensOut{TokenList{Items: make([]Token, 0, len(all))}}
	for _, t := range all {
		out.Body.Items = append(out.Body.Items, tokenShape(t))
	}
	return out, err
}

func (s *server) createToken(ctx context.Context, p access.Principal, in *tokenIn) (*madeOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	asked := access.NewToken{MembershipID: given.MemberID, Name: given.Name, Scope: access.Scope(given.Scope)}
	if given.ExpiresAt != "" {
		if asked.ExpiresAt, err = time.Parse(time.RFC3339, given.ExpiresAt); err != nil || asked.ExpiresAt.IsZero() {
			return nil, invalid("/expiresAt", "Give a time as in RFC 3339.")
		}
	}
	made, secret, err := s.Tokens.Create(ctx, p, asked)
	if err != nil {
		return nil, atPointers(err)
	}
	return &madeOut{Location: prefix + "/tokens/" + made.ID, Body: MadeToken{Token: tokenShape(made), Secret: secret}}, nil
}

func (s *server) revokeToken(ctx context.Context, p access.Principal, in *tokenPath) (*tokenOut, error) {
	revoked, err := s.Tokens.Revoke(ctx, p, in.ID)
	return &tokenOut{tokenShape(revoked)}, err
}

func tokenShape(t access.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, Scope: string(t.Scope), MemberID: t.MembershipID, MemberName: t.MemberName, CreatedBy: t.CreatedByName,
		CreatedAt: t.CreatedAt.UTC(), ExpiresAt: moment(t.ExpiresAt), UsedAt: moment(t.UsedAt),
	}
}
