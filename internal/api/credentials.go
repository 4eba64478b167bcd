package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Credentials keeps what Taskbay authenticates to agents with. What the principal
// may not see is fault.NotFound; no secret comes back from it.
type Credentials interface {
	// Set binds a credential to an agent, in the place of the one that it has. One
	// that cannot be used is fault.Unprocessable, with a field for each fault.
	Set(ctx context.Context, p access.Principal, agentID string, c scheme.Credential) (credential.Binding, error)
	// Revoke ends the agent's credential; fault.NotFound if it has none.
	Revoke(ctx context.Context, p access.Principal, agentID string) error
	List(ctx context.Context, p access.Principal) ([]credential.Binding, error)
	// History returns all that an agent ever had, newest first.
	History(ctx context.Context, p access.Principal, agentID string) ([]credential.Binding, error)
	// Ready says why the agent is not called for want of a credential; nil if it is.
	Ready(ctx context.Context, a agent.Agent) error
}

// CredentialInput is a credential to set. Which members it takes depends on kind.
type CredentialInput struct {
	Kind        string   `json:"kind" enum:"bearer,api-key,basic,oauth2,mtls"`
	Origins     []string `json:"origins" nullable:"false" doc:"Where it may be sent: 1 to 20 origins, each a scheme, a host and a port if it is not the usual one."`
	Secret      string   `json:"secret" doc:"The token, key, password, client secret, or private key as PEM. It is never given out again."`
	Header      string   `json:"header,omitempty" doc:"api-key: the header that it goes in."`
	Username    string   `json:"username,omitempty" doc:"basic."`
	TokenURL    string   `json:"tokenUrl,omitempty" doc:"oauth2: the token endpoint."`
	ClientID    string   `json:"clientId,omitempty" doc:"oauth2."`
	ClientAuth  string   `json:"clientAuth,omitempty" enum:"client_secret_basic,client_secret_post" doc:"oauth2: how the client authenticates to the token endpoint; client_secret_basic if it is left out."`
	Scope       string   `json:"scope,omitempty" doc:"oauth2."`
	Audience    string   `json:"audience,omitempty" doc:"oauth2."`
	Certificate string   `json:"certificate,omitempty" doc:"mtls: the client certificate as PEM, and those above it."`
	CA          string   `json:"ca,omitempty" doc:"mtls: the authorities that vouch for the agent as PEM; those of the system if it is left out."`
}

// Credential is a credential as it is shown: without its secret.
type Credential struct {
	ID        string     `json:"id" format:"uuid"`
	AgentID   string     `json:"agentId" format:"uuid"`
	AgentName string     `json:"agentName"`
	Kind      string     `json:"kind" enum:"bearer,api-key,basic,oauth2,mtls"`
	Origins   []string   `json:"origins" nullable:"false"`
	Header    string     `json:"header,omitempty"`
	TokenURL  string     `json:"tokenUrl,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When a client certificate expires."`
	Key       string     `json:"key" doc:"The vault key that it is encrypted with."`
	CreatedBy string     `json:"createdBy"`
	CreatedAt time.Time  `json:"createdAt"`
	UsedAt    *time.Time `json:"usedAt" doc:"To the minute; null if never."`
	Revoked   bool       `json:"revoked" doc:"The agent is not called until another is set."`
}

// CredentialList is all credentials.
type CredentialList struct {
	Items []Credential `json:"items" nullable:"false"`
}

// AgentAccess says what an agent asks of its callers, and what Taskbay has for it.
type AgentAccess struct {
	Required   bool               `json:"required" doc:"The card lets nobody call without a credential."`
	Accepts    []CredentialScheme `json:"accepts" nullable:"false" doc:"The ways that the card lists."`
	Credential *Credential        `json:"credential" doc:"The latest one; null if there never was one."`
	Problem    string             `json:"problem,omitempty" doc:"Why the agent is not called, in words; absent if it is."`
}

// CredentialScheme is one way to authenticate that a card lists.
type CredentialScheme struct {
	Name  string   `json:"name" doc:"The card's name for it."`
	Words string   `json:"words" doc:"What it is, in words."`
	Kinds []string `json:"kinds" nullable:"false" doc:"The kinds of credential that meet it, the most fitting first; none if Taskbay has no such kind."`
}

type (
	setCredential struct {
		ID   string `path:"id" doc:"Local ID of the agent."`
		Body body[CredentialInput]
	}
	credentialOut struct {
		Body Credential
	}
	credentialsOut struct {
		Body CredentialList
	}
	agentAccessOut struct {
		Body AgentAccess
	}
)

func (s *server) registerCredentials(api huma.API) {
	tags := []string{"Credentials"}
	const path = "/agents/{id}/credential"
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-credentials", Method: http.MethodGet, Path: "/credentials", Tags: tags,
		Summary: "List the credentials", Description: "The latest one of each agent that ever had one.", Responses: failures(api),
	}), handle(s, "list-credentials", s.listCredentials))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-credential", Method: http.MethodGet, Path: path, Tags: tags,
		Summary: "Read what an agent asks of its callers", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-credential", s.getCredential))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "set-credential", Method: http.MethodPut, Path: path, Tags: tags,
		Summary:     "Set an agent's credential",
		Description: "In the place of the one that it has. No request gives a secret out again.",
		Responses:   failures(api, wrongBody(http.StatusNotFound)...),
	})), handle(s, "set-credential", s.setCredential))
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "revoke-credential", Method: http.MethodDelete, Path: path, Tags: tags,
		Summary:       "Revoke an agent's credential",
		Description:   "Its secret is deleted, and the agent is not called until another is set.",
		DefaultStatus: http.StatusOK, Responses: failures(api, http.StatusNotFound),
	}), handle(s, "revoke-credential", s.revokeCredential))
}

func (s *server) listCredentials(ctx context.Context, p access.Principal, _ *nothing) (*credentialsOut, error) {
	all, err := s.Credentials.List(ctx, p)
	out := &credentialsOut{Body: CredentialList{Items: make([]Credential, 0, len(all))}}
	for _, b := range all {
		out.Body.Items = append(out.Body.Items, credentialShape(b))
	}
	return out, err
}

func (s *server) getCredential(ctx context.Context, p access.Principal, in *agentPath) (*agentAccessOut, error) {
	a, err := s.Agents.Get(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	history, err := s.Credentials.History(ctx, p, a.ID)
	if err != nil {
		return nil, err
	}
	out := &agentAccessOut{Body: AgentAccess{Required: a.Card.SecurityRequired, Accepts: []CredentialScheme{}}}
	for _, o := range credential.Offers(a.Card) {
		kinds := []string{}
		for _, k := range o.Kinds {
			kinds = append(kinds, string(k))
		}
		out.Body.Accepts = append(out.Body.Accepts, CredentialScheme{Name: o.Scheme.Name, Words: o.Words, Kinds: kinds})
	}
	if len(history) > 0 {
		latest := credentialShape(history[0])
		out.Body.Credential = &latest
	}
	if err := s.Credentials.Ready(ctx, a); err != nil {
		if fault.KindOf(err) == fault.Internal {
			return nil, err
		}
		out.Body.Problem = fault.Public(err).Message
	}
	return out, nil
}

func (s *server) setCredential(ctx context.Context, p access.Principal, in *setCredential) (*credentialOut, error) {
	given, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	binding, err := s.Credentials.Set(ctx, p, in.ID, scheme.Credential{
		Kind: scheme.Kind(given.Kind), Origins: given.Origins, Secret: scheme.Secret(given.Secret),
		Header: given.Header, Username: scheme.Secret(given.Username),
		TokenURL: given.TokenURL, ClientID: given.ClientID, ClientAuth: given.ClientAuth, Scope: given.Scope, Audience: given.Audience,
		Certificate: given.Certificate, CA: given.CA,
	})
	if err != nil {
		return nil, atPointers(err)
	}
	return &credentialOut{Body: credentialShape(binding)}, nil
}

func (s *server) revokeCredential(ctx context.Context, p access.Principal, in *agentPath) (*credentialOut, error) {
	if err := s.Credentials.Revoke(ctx, p, in.ID); err != nil {
		return nil, err
	}
	history, err := s.Credentials.History(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &credentialOut{Body: credentialShape(history[0])}, nil
}

func credentialShape(b credential.Binding) Credential {
	return Credential{
		ID: b.ID, AgentID: b.AgentID, AgentName: b.AgentName, Kind: string(b.Kind), Origins: b.Origins,
		Header: b.Header, TokenURL: b.TokenURL, ExpiresAt: moment(b.Expires),
		Key: b.Key, CreatedBy: b.CreatedBy.Name, CreatedAt: b.CreatedAt.UTC(), UsedAt: moment(b.UsedAt),
		Revoked: b.Ended == credential.Revoked,
	}
}
