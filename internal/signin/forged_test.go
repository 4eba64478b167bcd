package signin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/signin"
)

const (
	forgedClient = "taskbay"
	forgedSecret = "a-client-secret-of-at-least-32-bytes"
	accessToken  = "access-token-of-the-test"
)

// forger is a provider whose tokens are what the test says.
type forger struct {
	*httptest.Server
	key       *rsa.PrivateKey
	caFile    string
	discovery map[string]any
	answer    map[string]any // of the token endpoint
}

func newForger(t *testing.T) *forger {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{key: key}
	mux := http.NewServeMux()
	answer := func(of func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(of())
		}
	}
	mux.Handle("/.well-known/openid-configuration", answer(func() any { return f.discovery }))
	mux.Handle("/token", answer(func() any { return f.answer }))
	mux.Handle("/keys", answer(func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{KeyID: "real", Algorithm: "RS256", Use: "sig", Key: key.Public()},
			{KeyID: "symmetric", Key: []byte(forgedSecret)},
		}}
	}))
	f.Server = httptest.NewTLSServer(mux)
	t.Cleanup(f.Close)
	f.discovery = map[string]any{
		"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize", "token_endpoint": f.URL + "/token", "jwks_uri": f.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"none", "HS256", "RS256"}, "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
	}
	f.caFile = filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	if err := os.WriteFile(f.caFile, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *forger) bench(t *testing.T) *bench {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(forgedSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, signin.Options{Issuer: f.URL, ClientID: forgedClient, ClientSecretFile: secret, CAFile: f.caFile})
	b.members[[2]string{f.URL, "Ada"}] = signin.Member{ID: "member-ada"}
	return b
}

// claims are those of a token that is as it should be.
func (f *forger) claims(nonce string) map[string]any {
	now := time.Now().Unix()
	return map[string]any{"iss": f.URL, "sub": "Ada", "aud": forgedClient, "nonce": nonce, "iat": now, "exp": now + 300, "at_hash": hashOf(accessToken)}
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// signed returns a token of any claims, signed in any way.
func signed(t *testing.T, alg jose.SignatureAlgorithm, key any, kid string, payload []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", kid).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (f *forger) signed(t *testing.T, claims map[string]any) string {
	t.Helper()
	return signed(t, jose.RS256, f.key, "real", encoded(t, claims))
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// signsIn begins a sign-in and has it come back with the token that the test makes for
// its nonce.
func (f *forger) signsIn(b *bench, token func(nonce string) string) (signin.Member, error) {
	b.Helper()
	address, browser := b.begins("/")
	f.answer = map[string]any{"access_token": accessToken, "token_type": "Bearer", "id_token": token(parameter(address, "nonce"))}
	member, _, err := b.returns(with(origin+"/auth/callback?code=c", map[string]string{"state": parameter(address, "state")}), browser)
	return member, err
}

func TestClaims(t *testing.T) {
	t.Parallel()
	f, now := newForger(t), time.Now().Unix()
	for name, tc := range map[string]struct {
		claims map[string]any // instead of those of a good token; nil drops one
		why    string         // "" lets in
	}{
		"as they should be":                  {nil, ""},
		"no at_hash":                         {map[string]any{"at_hash": nil}, ""},
		"one audience in a list":             {map[string]any{"aud": []string{forgedClient}}, ""},
		"several audiences, for this client": {map[string]any{"aud": []string{"other", forgedClient}, "azp": forgedClient}, ""},
		"just expired":                       {map[string]any{"exp": now - 30}, ""},
		"a clock a little ahead":             {map[string]any{"iat": now + 30}, ""},
		"groups and an address":              {map[string]any{"email": "root@example.com", "groups": []string{"admin"}}, ""},

		"another issuer":                {map[string]any{"iss": "https://other.example"}, "issued by a different provider"},
		"an issuer with a slash":        {map[string]any{"iss": "SLASH"}, "issued by a different provider"},
		"no issuer":                     {map[string]any{"iss": nil}, "issued by a different provider"},
		"another audience":              {map[string]any{"aud": "other"}, "expected audience"},
		"an audience in capitals":       {map[string]any{"aud": "TASKBAY"}, "expected audience"},
		"no audience":                   {map[string]any{"aud": nil}, "expected audience"},
		"several audiences, for nobody": {map[string]any{"aud": []string{forgedClient, "other"}}, "for several audiences"},
		"several, for another client":   {map[string]any{"aud": []string{forgedClient, "other"}, "azp": "other"}, "for another client"},
		"one, for another client":       {map[string]any{"azp": "other"}, "for another client"},
		"another nonce":                 {map[string]any{"nonce": "guessed"}, "of another sign-in"},
		"no nonce":                      {map[string]any{"nonce": nil}, "of another sign-in"},
		"expired":                       {map[string]any{"exp": now - 90}, "token is expired"},
		"no end":                        {map[string]any{"exp": nil}, "token is expired"},
		"an end that is no time":        {map[string]any{"exp": 1e300}, "ID token"},
		"of the future":                 {map[string]any{"iat": now + 90}, "of the future"},
		"not yet":                       {map[string]any{"nbf": now + 600}, "not before"},
		"older than the sign-in":        {map[string]any{"iat": now - 90}, "older than the sign-in"},
		"no beginning":                  {map[string]any{"iat": nil}, "older than the sign-in"},
		"another access token":          {map[string]any{"at_hash": hashOf("another")}, "of another access token"},
		"no subject":                    {map[string]any{"sub": nil}, "the subject of the ID token is none"},
		"a subject in another case":     {map[string]any{"sub": "ada"}, "nobody made this person a member"},
		"a subject as a number":         {map[string]any{"sub": 1}, "ID token"},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.bench(t)
			member, err := f.signsIn(b, func(nonce string) string {
				claims := f.claims(nonce)
				for claim, value := range tc.claims {
					claims[claim] = value
					if value == nil {
						delete(claims, claim)
					}
					if value == "SLASH" {
						claims[claim] = f.URL + "/"
					}
				}
				return f.signed(t, claims)
			})
			if tc.why != "" {
				b.refuses(tc.why, member, err)
			} else if err != nil || member.ID != "member-ada" {
				t.Errorf("let in %q, %v; the log says\n%s", member.ID, err, b.log)
			}
		})
	}
}

// TestAmbiguousClaims has claims refused that one reader takes for another's.
func TestAmbiguousClaims(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, more := range []string{`"SUB":"Ada"`, `"sub":"Ada"`, `"\u017fub":"Ada"`, `"AUD":"taskbay"`, `"Azp":"taskbay"`, `"Nonce":"n"`, `"EXP":9999999999`} {
		b := f.bench(t)
		member, err := f.signsIn(b, func(nonce string) string {
			claims := f.claims(nonce)
			claims["sub"], claims["azp"] = "Eve", "taskbay"
			payload := string(encoded(t, claims))
			return signed(t, jose.RS256, f.key, "real", []byte(payload[:len(payload)-1]+","+more+"}"))
		})
		if err == nil || member.ID != "" || strings.Contains(b.log.String(), "subject=Ada") {
			t.Errorf("with %s besides, %q is let in: %v", more, member.ID, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(f.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	segment := base64.RawURLEncoding.EncodeToString
	for name, token := range map[string]func(payload []byte) string{
		"of nobody": func(payload []byte) string {
			return segment([]byte(`{"alg":"none","kid":"real"}`)) + "." + segment(payload) + "."
		},
		"of nobody, in capitals": func(payload []byte) string {
			return segment([]byte(`{"alg":"None","kid":"real"}`)) + "." + segment(payload) + "."
		},
		"taken away": func(payload []byte) string {
			token := signed(t, jose.RS256, f.key, "real", payload)
			return token[:strings.LastIndexByte(token, '.')+1]
		},
		"of another content": func(payload []byte) string {
			parts := strings.Split(signed(t, jose.RS256, f.key, "real", []byte(`{"sub":"Eve"}`)), ".")
			return parts[0] + "." + segment(payload) + "." + parts[2]
		},
		"with the public key as a secret":    func(payload []byte) string { return signed(t, jose.HS256, public, "real", payload) },
		"with the public key's bytes":        func(payload []byte) string { return signed(t, jose.HS256, der, "real", payload) },
		"with the secret of the client":      func(payload []byte) string { return signed(t, jose.HS256, []byte(forgedSecret), "", payload) },
		"with a symmetric key that is there": func(payload []byte) string { return signed(t, jose.HS256, []byte(forgedSecret), "symmetric", payload) },
		"with a key of a stranger":           func(payload []byte) string { return signed(t, jose.RS256, stranger, "real", payload) },
		"with a key that is not published":   func(payload []byte) string { return signed(t, jose.RS256, stranger, "new", payload) },
		"with a key without a name":          func(payload []byte) string { return signed(t, jose.RS256, stranger, "", payload) },
		"in a way that was not announced":    func(payload []byte) string { return signed(t, jose.PS256, f.key, "real", payload) },
		"with a key of another kind":         func(payload []byte) string { return signed(t, jose.ES256, curve, "real", payload) },
		"with the key that it brings":        func(payload []byte) string { return bringing(t, stranger, payload) },
		"as a whole object": func(payload []byte) string {
			parts := strings.Split(signed(t, jose.RS256, stranger, "real", payload), ".")
			return string(encoded(t, map[string]any{"payload": parts[1], "signatures": []any{
				map[string]any{"protected": parts[0], "signature": parts[2]}, map[string]any{"protected": parts[0], "signature": parts[2]},
			}}))
		},
		"of no token": func([]byte) string { return "no.token.at all" },
		"of nothing":  func([]byte) string { return "" },
	} {
		b := f.bench(t)
		member, err := f.signsIn(b, func(nonce string) string { return token(encoded(t, f.claims(nonce))) })
		if err == nil {
			t.Errorf("a signature %s is believed", name)
			continue
		}
		b.refuses("ID token", member, err)
	}
	if member, err := f.signsIn(f.bench(t), func(nonce string) string { return f.signed(t, f.claims(nonce)) }); err != nil || member.ID == "" {
		t.Errorf("a right signature is not believed: %v", err)
	}
}

// bringing is a token that carries the key to check it with.
func bringing(t *testing.T, key *rsa.PrivateKey, payload []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestDiscovery has a provider whose discovery document cannot be trusted let nobody
// in.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{
		"of another issuer":                {"issuer": "https://other.example"},
		"without keys":                     {"jwks_uri": ""},
		"with tokens in the clear":         {"token_endpoint": "http://127.0.0.1/token"},
		"with keys in the clear":           {"jwks_uri": "http://login.example/keys"},
		"with a page that is a script":     {"authorization_endpoint": "javascript:alert(1)"},
		"with a page under a user's name":  {"authorization_endpoint": "https://user@login.example/"},
		"without an end":                   {"more": strings.Repeat("x", 2<<20)},
		"with secrets for signatures only": {"id_token_signing_alg_values_supported": []string{"HS256", "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForger(t)
			for member, value := range change {
				f.discovery[member] = value
			}
			if _, _, err := f.bench(t).Begin(t.Context(), "/"); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Begin: %v, want %s", err, fault.Unavailable)
			}
		})
	}
}

// TestNamesItself has a provider that promises to name itself in every answer held to it.
func TestNamesItself(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	f.discovery["authorization_response_iss_parameter_supported"] = true
	b := f.bench(t)
	member, err := f.signsIn(b, func(nonce string) string { return f.signed(t, f.claims(nonce)) })
	b.refuses("does not say that it is of this provider", member, err)
}

// TestFollowsNoRedirect has neither codes nor secrets carried on to elsewhere.
func TestFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer elsewhere.Close()
	away := httptest.NewTLSServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	f.discovery["token_endpoint"] = away.URL // with the same certificate
	b := f.bench(t)
	member, err := f.signsIn(b, func(string) string { return "" })
	b.refuses("takes the code for no tokens", member, err)
	if asked {
		t.Error("the token request was sent on")
	}
}
