package signin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	callTimeout = 10 * time.Second
	maxAnswer   = 1 << 20 // of the provider, in bytes
)

// signatures are the algorithms that an ID token may be signed with: those whose key
// to sign is not the key to check.
var signatures = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// provider is the OpenID provider as its discovery document has it.
type provider struct {
	oauth       oauth2.Config
	verifier    *oidc.IDTokenVerifier
	namesItself bool   // in every answer, RFC 9207
	endSession  string // page to sign out there; "" if there is none
}

// metadata is what is read of the discovery document besides what go-oidc reads.
type metadata struct {
	JWKS        string   `json:"jwks_uri"`
	Algorithms  []string `json:"id_token_signing_alg_values_supported"`
	ClientAuth  []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	EndSession  string   `json:"end_session_endpoint"`
}

// discover reads the provider's discovery document.
func (s *Service) discover(ctx context.Context) (*provider, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, s.http), callTimeout)
	defer cancel()
	found, err := oidc.NewProvider(ctx, s.options.Issuer)
	if err != nil {
		return nil, errors.New(shorten(err.Error())) // which may hold a whole page
	}
	var m metadata
	if err := found.Claims(&m); err != nil {
		return nil, fmt.Errorf("read the discovery document: %w", err)
	}
	for name, address := range map[string]string{
		"authorization_endpoint": found.Endpoint().AuthURL, "token_endpoint": found.Endpoint().TokenURL, "jwks_uri": m.JWKS,
	} {
		if !s.usable(address) {
			return nil, fmt.Errorf("the discovery document has no usable %s: an https:// address is needed", name)
		}
	}
	algorithms := m.Algorithms
	if len(algorithms) == 0 {
		algorithms = []string{oidc.RS256} // which every provider has to have
	}
	algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return !slices.Contains(signatures, a) })
	if len(algorithms) == 0 {
		return nil, fmt.Errorf("the provider signs with none of %s", strings.Join(signatures, ", "))
	}
	p := &provider{namesItself: m.NamesItself}
	if s.usable(m.EndSession) {
		p.endSession = m.EndSession
	}
	p.oauth = oauth2.Config{
		ClientID: s.options.ClientID, ClientSecret: s.clientSecret, Endpoint: found.Endpoint(),
		RedirectURL: s.options.Origin + CallbackPath, Scopes: []string{oidc.ScopeOpenID},
	}
	p.oauth.Endpoint.AuthStyle = s.clientAuth(m.ClientAuth)
	p.verifier = found.Verifier(&oidc.Config{
		ClientID: s.options.ClientID, SupportedSigningAlgs: algorithms,
		Now: func() time.Time { return s.now().Add(-leeway) }, // so that a token ends a little later
	})
	return p, nil
}

// clientAuth says how the secret is sent. It is never tried both ways: a code works
// once.
func (s *Service) clientAuth(methods []string) oauth2.AuthStyle {
	basic := len(methods) == 0 || slices.Contains(methods, "client_secret_basic")
	if s.clientSecret == "" || !basic {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// usable reports whether an address of the discovery document can be used: over TLS,
// unless the issuer itself is on this machine without.
func (s *Service) usable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || safeScheme(u) && strings.HasPrefix(s.options.Issuer, "http://")
}

// shorten bounds what others wrote for the log.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// newHTTP returns the client that asks the provider. It follows no redirects: they
// would carry codes and secrets to where nobody said that they may go.
func newHTTP(o Options, dial Dial) (*http.Client, error) {
	authorities, err := o.authorities()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: callTimeout, MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
	}
	return &http.Client{
		Transport: bounded{transport}, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// bounded cuts answers off that are longer than a provider has to say.
type bounded struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.Transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}
