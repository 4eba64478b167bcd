package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Session says on whose behalf the client calls.
type Session struct {
	PersonID       string     `json:"personId"`
	Name           string     `json:"name"`
	Kind           string     `json:"kind"`  // local, person or service
	Role           string     `json:"role"`  // admin, operator or viewer
	Scope          string     `json:"scope"` // read, operate or administer
	OrganisationID string     `json:"organisationId"`
	Mode           string     `json:"mode"`      // local or oidc
	By             string     `json:"by"`        // none, session or token
	ExpiresAt      *time.Time `json:"expiresAt"` // nil if it does not by itself
}

// Browser is a browser that somebody is signed in with.
type Browser struct {
	ID        string    `json:"id"`
	Client    string    `json:"client"` // as it calls itself
	Current   bool      `json:"current"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// TokenInput is a token to make.
type TokenInput struct {
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`               // read, operate or administer
	ExpiresAt *time.Time `json:"expiresAt,omitempty"` // nil for 90 days
	MemberID  string     `json:"memberId,omitempty"`  // "" for oneself
}

// Token is an API token without its secret.
type Token struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope"`
	MemberID   string     `json:"memberId"`
	MemberName string     `json:"memberName"`
	CreatedBy  string     `json:"createdBy"`
	CreatedAt  time.Time  `json:"createdAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	UsedAt     *time.Time `json:"usedAt"` // nil if it never was
}

// MadeToken is a token with its secret, which is shown this once.
type MadeToken struct {
	Token
	Secret string `json:"secret"`
}

type endedSessions struct {
	Ended int64 `json:"ended"`
}

// Session says who one is, and what one may.
func (c *Client) Session(ctx context.Context) (Session, error) {
	return fetch[Session](ctx, c, call{method: http.MethodGet, path: "/session"})
}

// Sessions returns the browsers that one is signed in with.
func (c *Client) Sessions(ctx context.Context) ([]Browser, error) {
	list, err := fetch[items[Browser]](ctx, c, call{method: http.MethodGet, path: "/sessions"})
	return list.Items, err
}

// EndOtherSessions signs out everywhere but in the session that the client came by, and
// returns of how many.
func (c *Client) EndOtherSessions(ctx context.Context) (int64, error) {
	done, err := fetch[endedSessions](ctx, c, call{method: http.MethodDelete, path: "/sessions", once: true})
	return done.Ended, err
}

// Tokens returns one's own tokens, or those of everybody, for administrators.
func (c *Client) Tokens(ctx context.Context, all bool) ([]Token, error) {
	query := url.Values{}
	if all {
		query.Set("all", "true")
	}
	list, err := fetch[items[Token]](ctx, c, call{method: http.MethodGet, path: "/tokens", query: query})
	return list.Items, err
}

// CreateToken makes a token.
func (c *Client) CreateToken(ctx context.Context, input TokenInput) (MadeToken, error) {
	return fetch[MadeToken](ctx, c, call{method: http.MethodPost, path: "/tokens", body: input, once: true})
}

// RevokeToken has a token work no longer.
func (c *Client) RevokeToken(ctx context.Context, id string) (Token, error) {
	return fetch[Token](ctx, c, call{method: http.MethodDelete, path: pathOf("/tokens/{}", id), once: true})
}
