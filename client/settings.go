package client

import (
	"context"
	"net/http"
	"time"
)

// items is a list that comes whole.
type items[T any] struct {
	Items []T `json:"items"`
}

// CredentialInput is what Taskbay is to authenticate to an agent with. Which members
// it takes depends on Kind.
type CredentialInput struct {
	Kind        string   `json:"kind"`             // bearer, api-key, basic, oauth2 or mtls
	Origins     []string `json:"origins"`          // where it may be sent
	Secret      string   `json:"secret"`           // the token, key, password, client secret or private key
	Header      string   `json:"header,omitempty"` // api-key
	Username    string   `json:"username,omitempty"`
	TokenURL    string   `json:"tokenUrl,omitempty"`
	ClientID    string   `json:"clientId,omitempty"`
	ClientAuth  string   `json:"clientAuth,omitempty"` // client_secret_basic or client_secret_post
	Scope       string   `json:"scope,omitempty"`
	Audience    string   `json:"audience,omitempty"`
	Certificate string   `json:"certificate,omitempty"` // PEM
	CA          string   `json:"ca,omitempty"`          // PEM
}

// Credential is a credential without its secret.
type Credential struct {
	ID        string     `json:"id"`
	AgentID   string     `json:"agentId"`
	AgentName string     `json:"agentName"`
	Kind      string     `json:"kind"`
	Origins   []string   `json:"origins"`
	Header    string     `json:"header,omitempty"`
	TokenURL  string     `json:"tokenUrl,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	Key       string     `json:"key"` // the vault key that it is encrypted with
	CreatedBy string     `json:"createdBy"`
	CreatedAt time.Time  `json:"createdAt"`
	UsedAt    *time.Time `json:"usedAt"`
	Revoked   bool       `json:"revoked"`
}

// AgentAccess says what an agent asks of its callers, and what Taskbay has for it.
type AgentAccess struct {
	Required   bool               `json:"required"`
	Accepts    []CredentialScheme `json:"accepts"`
	Credential *Credential        `json:"credential"`        // the latest; nil if there never was one
	Problem    string             `json:"problem,omitempty"` // why the agent is not called
}

// CredentialScheme is one way to authenticate that a card lists.
type CredentialScheme struct {
	Name  string   `json:"name"`
	Words string   `json:"words"`
	Kinds []string `json:"kinds"` // of credentials that meet it
}

// Credentials returns the latest credential of each agent that ever had one.
func (c *Client) Credentials(ctx context.Context) ([]Credential, error) {
	list, err := fetch[items[Credential]](ctx, c, call{method: http.MethodGet, path: "/credentials"})
	return list.Items, err
}

// AgentAccess returns what an agent asks of its callers, and what there is for it.
func (c *Client) AgentAccess(ctx context.Context, agentID string) (AgentAccess, error) {
	return fetch[AgentAccess](ctx, c, call{method: http.MethodGet, path: pathOf("/agents/{}/credential", agentID)})
}

// SetCredential sets an agent's credential, in the place of the one that it has.
func (c *Client) SetCredential(ctx context.Context, agentID string, input CredentialInput) (Credential, error) {
	return fetch[Credential](ctx, c, call{method: http.MethodPut, path: pathOf("/agents/{}/credential", agentID), body: input})
}

// RevokeCredential deletes the secret of an agent's credential. The agent is not
// called until it has another.
func (c *Client) RevokeCredential(ctx context.Context, agentID string) (Credential, error) {
	return fetch[Credential](ctx, c, call{method: http.MethodDelete, path: pathOf("/agents/{}/credential", agentID), once: true})
}

// PinInput is a key to pin.
type PinInput struct {
	Origin    string    `json:"origin"` // of the cards that it signs
	Key       string    `json:"key"`    // PEM, or the text of a JSON Web Key
	KeyID     string    `json:"keyId,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Pin is a public key that cards from an origin are signed with.
type Pin struct {
	ID         string    `json:"id"`
	Origin     string    `json:"origin"`
	KeyID      string    `json:"keyId,omitempty"`
	Algorithm  string    `json:"algorithm"`
	Thumbprint string    `json:"thumbprint"`
	ExpiresAt  time.Time `json:"expiresAt"`
	CreatedBy  string    `json:"createdBy"`
	CreatedAt  time.Time `json:"createdAt"`
}

// Pins returns the keys that cards may be signed with, by origin.
func (c *Client) Pins(ctx context.Context) ([]Pin, error) {
	list, err := fetch[items[Pin]](ctx, c, call{method: http.MethodGet, path: "/pins"})
	return list.Items, err
}

// AddPin pins a key for the cards of an origin.
func (c *Client) AddPin(ctx context.Context, input PinInput) (Pin, error) {
	return fetch[Pin](ctx, c, call{method: http.MethodPost, path: "/pins", body: input, once: true})
}

// RemovePin trusts a key no longer, and returns those that are left.
func (c *Client) RemovePin(ctx context.Context, id string) ([]Pin, error) {
	list, err := fetch[items[Pin]](ctx, c, call{method: http.MethodDelete, path: pathOf("/pins/{}", id), once: true})
	return list.Items, err
}

// RetentionSetting says for how long what agents sent is kept.
type RetentionSetting struct {
	Days  int64      `json:"days"` // since the last change of a task that has ended; 0 is for ever
	SetBy string     `json:"setBy,omitempty"`
	SetAt *time.Time `json:"setAt,omitempty"`
}

// RetentionFound is what would be purged.
type RetentionFound struct {
	Tasks         int64 `json:"tasks"`
	Observations  int64 `json:"observations"`
	Bytes         int64 `json:"bytes"` // of the observations
	Artifacts     int64 `json:"artifacts"`
	ArtifactBytes int64 `json:"artifactBytes"`
}

type retentionInput struct {
	Days int `json:"days"`
}

// Retention returns for how long what agents sent is kept.
func (c *Client) Retention(ctx context.Context) (RetentionSetting, error) {
	return fetch[RetentionSetting](ctx, c, call{method: http.MethodGet, path: "/retention"})
}

// SetRetention sets it, in days; 0 is for ever.
func (c *Client) SetRetention(ctx context.Context, days int) (RetentionSetting, error) {
	return fetch[RetentionSetting](ctx, c, call{method: http.MethodPut, path: "/retention", body: retentionInput{days}})
}

// TryRetention counts what would be purged, and changes nothing.
func (c *Client) TryRetention(ctx context.Context, days int) (RetentionFound, error) {
	return fetch[RetentionFound](ctx, c, call{method: http.MethodPost, path: "/retention/dry-run", body: retentionInput{days}})
}
