package providertest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const loginPath = "/login"

// storage is the provider's memory. It has what the code flow needs; nothing calls the
// rest.
type storage struct {
	op.Storage
	callback string
	mu       sync.Mutex
	requests map[string]*request
	codes    map[string]string // a request's ID each
	key      key
}

var errUnknown = errors.New("there is no such thing here")

func newStorage(t *testing.T, callback string) *storage {
	t.Helper()
	s := &storage{callback: callback, requests: map[string]*request{}, codes: map[string]string{}}
	s.rotate(t)
	return s
}

// rotate makes a key. The one before it is published no longer.
func (s *storage) rotate(t *testing.T) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key{uuid.NewString(), private}
}

// request is a sign-in under way; it implements op.AuthRequest.
type request struct {
	*oidc.AuthRequest
	id, subject string
	at          time.Time
}

func (r request) GetID() string                      { return r.id }
func (r request) GetACR() string                     { return "" }
func (r request) GetAMR() []string                   { return []string{"pwd"} }
func (r request) GetAudience() []string              { return []string{r.ClientID} }
func (r request) GetAuthTime() time.Time             { return r.at }
func (r request) GetClientID() string                { return r.ClientID }
func (r request) GetNonce() string                   { return r.Nonce }
func (r request) GetRedirectURI() string             { return r.RedirectURI }
func (r request) GetResponseType() oidc.ResponseType { return r.ResponseType }
func (r request) GetResponseMode() oidc.ResponseMode { return r.ResponseMode }
func (r request) GetScopes() []string                { return r.Scopes }
func (r request) GetState() string                   { return r.State }
func (r request) GetSubject() string                 { return r.subject }
func (r request) Done() bool                         { return r.subject != "" }
func (r request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.CodeChallenge, Method: r.CodeChallengeMethod}
}

func (s *storage) CreateAuthRequest(_ context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	if asked.CodeChallengeMethod != oidc.CodeChallengeMethodS256 {
		return nil, oidc.ErrInvalidRequest().WithDescription("PKCE with S256 is wanted")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &request{AuthRequest: asked, id: uuid.NewString(), at: time.Now()}
	s.requests[r.id] = r
	return *r, nil
}

func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.requests[id]
	if !ok {
		return nil, errUnknown
	}
	return *r, nil
}

func (s *storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	id := s.codes[code]
	s.mu.Unlock()
	return s.AuthRequestByID(ctx, id)
}

func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = id
	return nil
}

func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
	return nil
}

func (s *storage) signIn(id, subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[id].subject = subject
}

func (s *storage) CreateAccessToken(context.Context, op.TokenRequest) (string, time.Time, error) {
	return uuid.NewString(), time.Now().Add(time.Hour), nil
}

func (s *storage) SigningKey(context.Context) (op.SigningKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key, nil
}

func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

func (s *storage) KeySet(context.Context) ([]op.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []op.Key{publicKey{s.key}}, nil
}

func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != ClientID {
		return nil, errUnknown
	}
	return client{s.callback}, nil
}

func (s *storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != ClientID || secret != ClientSecret {
		return errUnknown
	}
	return nil
}

func (s *storage) SetUserinfoFromScopes(_ context.Context, about *oidc.UserInfo, subject, _ string, _ []string) error {
	about.Subject = subject
	return nil
}

func (s *storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

func (s *storage) Health(context.Context) error { return nil }

type key struct {
	id      string
	private *rsa.PrivateKey
}

func (k key) ID() string                                  { return k.id }
func (k key) Key() any                                    { return k.private }
func (k key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }

type publicKey struct{ key }

func (k publicKey) Key() any                           { return k.private.Public() }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }

// client is what the provider knows of Taskbay; it implements op.Client.
type client struct{ callback string }

func (c client) GetID() string                       { return ClientID }
func (c client) RedirectURIs() []string              { return []string{c.callback} }
func (c client) PostLogoutRedirectURIs() []string    { return nil }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType         { return []oidc.GrantType{oidc.GrantTypeCode} }
func (c client) LoginURL(id string) string            { return loginPath + "?id=" + url.QueryEscape(id) }
func (c client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeBearer }
func (c client) IDTokenLifetime() time.Duration       { return time.Hour }
func (c client) DevMode() bool                        { return true }
func (c client) IsScopeAllowed(string) bool           { return false }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return false }
func (c client) ClockSkew() time.Duration             { return 0 }

func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}

func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
