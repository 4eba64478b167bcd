package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// cardServer is an agent whose card a test changes, and that greets whoever calls it.
type cardServer struct {
	*httptest.Server
	mu    sync.Mutex
	card  string
	calls int
	lets  func(*http.Request) bool // who may call
}

func newCardServer(t *testing.T) *cardServer {
	t.Helper()
	s := &cardServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, s.card)
			return
		}
		if s.lets != nil && !s.lets(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.calls++
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}}`)
	}))
	t.Cleanup(s.Close)
	s.set(`{"name":"Ada","description":"d","supportedInterfaces":[{"url":"` + s.URL + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
	return s
}

func (s *cardServer) set(card string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.card = card
}

// require lets nobody call but those.
func (s *cardServer) require(lets func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lets = lets
}

func (s *cardServer) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// sign puts a signature on the card.
func (s *cardServer) sign(t *testing.T, key *ecdsa.PrivateKey) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	canonical := jsontext.Value(s.card)
	if err := canonical.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(canonical)
	if err != nil {
		t.Fatal(err)
	}
	var flat struct {
		Protected string `json:"protected"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal([]byte(signed.FullSerialize()), &flat); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	s.card = strings.TrimSuffix(s.card, "}") + `,"signatures":[` + string(raw) + `]}`
}

// TestCardTrust takes an agent through every trust that its card can have.
func TestCardTrust(t *testing.T) {
	t.Parallel()
	agent := newCardServer(t)
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(agent.URL + "/card.json").ID
	key, public := newCardKey(t)
	// wants fetches the card again and sends a message, which is called or not.
	wants := func(trust, problem, shown string) {
		t.Helper()
		var got struct{ Trust string }
		s.Call("POST", "/api/v1/agents/"+id+"/discover", nil, &got)
		before := agent.called()
		c := s.Send(id, map[string]any{"text": "hello"})
		called := agent.called() > before
		if got.Trust != trust || !strings.Contains(c.Error, problem) || called != (problem == "") {
			t.Errorf("trust %s, message %s %q, called %v; want %s and %q", got.Trust, c.Status, c.Error, called, trust, problem)
		}
		if page := s.Page("/agents/" + id); !strings.Contains(page, shown) {
			t.Errorf("the page of the %s agent does not say %q", trust, shown)
		}
	}
	wants("unsigned", "", "Not signed")
	agent.sign(t, key)
	wants("untrusted", "there is no key to check that with", "Signed, not trusted")

	var pin struct{ ID, Thumbprint, Algorithm string }
	if status := s.Call("POST", "/api/v1/pins", map[string]any{"origin": agent.URL, "key": public, "expiresAt": time.Now().Add(time.Hour)}, &pin); status != 201 || pin.Algorithm != "ES256" {
		t.Fatalf("the key was pinned with %d: %+v", status, pin)
	}
	wants("verified", "", pin.Thumbprint)
	var problem json.RawMessage
	if status := s.Call("POST", "/api/v1/pins", map[string]any{"origin": agent.URL, "key": public, "expiresAt": time.Now().Add(-time.Hour)}, &problem); status != 422 || !strings.Contains(string(problem), `"/expiresAt"`) {
		t.Errorf("a pin that has ended is answered with %d %s", status, problem)
	}
	signed := agent.card
	agent.set(strings.Replace(signed, `"Ada"`, `"Eve"`, 1))
	wants("verified", "", "new card was not accepted.")
	agent.set(signed)
	wants("verified", "", "Verified")
	if status := s.Call("DELETE", "/api/v1/pins/"+pin.ID, nil, nil); status != 200 {
		t.Errorf("the pin was removed with %d", status)
	}
	wants("untrusted", "there is no key", "Signed, not trusted")

	// The same by the page.
	form := url.Values{"key": {public}, "expires": {time.Now().AddDate(0, 1, 0).Format(time.DateOnly)}}
	if status, _ := s.Post("/agents/"+id+"/trust", form); status != http.StatusSeeOther {
		t.Errorf("the page pinned with %d", status)
	}
	wants("verified", "", "Verified")
	if status, page := s.Post("/agents/"+id+"/trust", url.Values{"key": {"no key"}, "expires": {"yesterday"}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, "no line with BEGIN PUBLIC KEY") || !strings.Contains(page, "within the next five years") {
		t.Errorf("a key that is none was answered with %d", status)
	}
}

// TestCardThatLosesItsSignature: whoever can change a card cannot lead calls
// elsewhere by taking its signature off, or by signing it with another key.
func TestCardThatLosesItsSignature(t *testing.T) {
	t.Parallel()
	agent, thief := newCardServer(t), newCardServer(t)
	s := apptest.Start(t, apptest.Options{})
	key, public := newCardKey(t)
	another, _ := newCardKey(t)
	unsigned := agent.card
	stolen := strings.ReplaceAll(unsigned, agent.URL, thief.URL)
	agent.sign(t, key)
	signed := agent.card
	var pin struct{ ID string }
	s.Call("POST", "/api/v1/pins", map[string]any{"origin": agent.URL, "key": public, "expiresAt": time.Now().Add(time.Hour)}, &pin)
	id := s.Register(agent.URL + "/card.json").ID

	var got struct {
		Trust  string
		Health struct{ Status, Error string }
		Card   json.RawMessage
	}
	// fetched fetches the card and sends a message, which reaches the agent that is
	// named by the card that counts.
	fetched := func(card string, sign *ecdsa.PrivateKey, health, why string) {
		t.Helper()
		if agent.set(card); sign != nil {
			agent.sign(t, sign)
		}
		s.Call("POST", "/api/v1/agents/"+id+"/discover", nil, &got)
		if got.Health.Status != health || !strings.Contains(got.Health.Error, why) {
			t.Errorf("the agent is %s: %q, want %s: %q", got.Health.Status, got.Health.Error, health, why)
		}
		if health == "mismatch" && (got.Trust != "verified" || string(got.Card) != signed) {
			t.Errorf("the card that counts is %s: %s", got.Trust, got.Card)
		}
		before := agent.called()
		if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "succeeded" || agent.called() == before {
			t.Errorf("the message is %s: %s", c.Status, c.Error)
		}
	}
	fetched(signed, nil, "reachable", "")
	fetched(stolen, nil, "mismatch", "is not signed any more")
	fetched(strings.TrimSuffix(stolen, "}")+`,"Signatures":[]}`, nil, "mismatch", "is not signed any more")
	fetched(stolen, another, "mismatch", "none of its 1 signatures is by a key that is pinned")
	if page := s.Page("/agents/" + id); !strings.Contains(page, "New card not accepted") || !strings.Contains(page, "remove the pinned key") {
		t.Error("the page does not say that the new card was not accepted, and what to do")
	}
	if page := s.Page("/agents/" + id + "/trust"); !strings.Contains(page, "new card was not accepted") {
		t.Error("the page of the keys does not say that the new card was not accepted")
	}
	fetched(signed, nil, "reachable", "")
	if n := thief.called(); n != 0 {
		t.Errorf("the address of the card that was not accepted was called %d times", n)
	}

	// A person who removes the pin lets the card in without a signature.
	fetched(unsigned, nil, "mismatch", "remove the pinned key")
	s.Call("DELETE", "/api/v1/pins/"+pin.ID, nil, nil)
	fetched(unsigned, nil, "reachable", "")
	if got.Trust != "unsigned" {
		t.Errorf("without a pin the card is %s", got.Trust)
	}
	// And one who pins again wants it signed.
	s.Call("POST", "/api/v1/pins", map[string]any{"origin": agent.URL, "key": public, "expiresAt": time.Now().Add(time.Hour)}, &pin)
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "failed" || !strings.Contains(c.Error, "is not signed, and a key is pinned for "+agent.URL) {
		t.Errorf("to a card that is not signed the message is %s: %s", c.Status, c.Error)
	}
}

func newCardKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := json.Marshal(jose.JSONWebKey{Key: key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	return key, string(public)
}

// TestSignaturesRequired refuses an agent whose card is not signed.
func TestSignaturesRequired(t *testing.T) {
	t.Parallel()
	agent := newCardServer(t)
	s := apptest.Start(t, apptest.Options{Change: func(c *config.Config) { c.RequireSignatures = true }})
	id := s.Register(agent.URL + "/card.json").ID
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "failed" || !strings.Contains(c.Error, "the setting require-signatures") || agent.called() != 0 {
		t.Errorf("the message is %s %q, and the agent was called %d times", c.Status, c.Error, agent.called())
	}
}

// TestPreview looks at agents and adds none.
func TestPreview(t *testing.T) {
	t.Parallel()
	agent := newCardServer(t)
	agent.set(`{"name":"Ada <b>","description":"d","skills":[{"id":"s","name":"Knit"}],"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},
		"securityRequirements":[{"schemes":{"k":{}}}],"supportedInterfaces":[{"url":"` + agent.URL + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
	s := apptest.Start(t, apptest.Options{})
	var got struct {
		Agent     struct{ Name, ID string }
		Attempts  []struct{ URL, Problem string }
		Interface *struct{ URL, Binding string }
		Problem   string
		Score     int
		Findings  []struct{ Path string }
	}
	if status := s.Call("POST", "/api/v1/agents/preview", map[string]string{"cardUrl": agent.URL}, &got); status != 200 {
		t.Fatalf("the preview was answered with %d", status)
	}
	if got.Agent.Name != "Ada <b>" || got.Agent.ID != "" || len(got.Attempts) != 1 || got.Interface == nil || got.Interface.URL != agent.URL+"/rpc" || got.Score > 100 || len(got.Findings) == 0 {
		t.Errorf("preview = %+v", got)
	}
	status, page := s.Post("/agents/preview", url.Values{"cardUrl": {agent.URL}})
	for _, want := range []string{"Ada &lt;b&gt;", "Knit", "an API key in the header X-Key", "not added yet", "Where Taskbay looked", "What the card does not keep to", `name="cardUrl" value="` + agent.URL + `"`} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("the page (%d) does not say %q", status, want)
		}
	}
	if _, page := s.Post("/agents/preview", url.Values{"cardUrl": {"http://127.0.0.1:1/agent"}}); !strings.Contains(page, "connection refused") || !strings.Contains(page, "What was tried") {
		t.Error("the preview of nothing does not say what was tried and why not")
	}
	if status, page := s.Post("/agents/preview", url.Values{"cardUrl": {"ftp://x"}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, "http:// and https:// addresses only") {
		t.Errorf("the preview of no address was answered with %d", status)
	}
	var list struct{ Items []any }
	if s.Call("GET", "/api/v1/agents", nil, &list); len(list.Items) != 0 {
		t.Errorf("previews left %d agents", len(list.Items))
	}
}

// TestChosenInterface calls an agent whose card names a wrong address.
func TestChosenInterface(t *testing.T) {
	t.Parallel()
	agent := newCardServer(t)
	agent.set(strings.Replace(agent.card, agent.URL, "http://127.0.0.1:1", 1))
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(agent.URL + "/card.json").ID
	path := "/api/v1/agents/" + id + "/interface"
	if status := s.Call("PUT", path, map[string]string{"binding": "JSONRPC", "protocolVersion": "1.0", "url": "unix:///x"}, nil); status != 422 {
		t.Errorf("an address that is none was answered with %d", status)
	}
	if status := s.Call("PUT", path, map[string]string{"binding": "JSONRPC", "protocolVersion": "2.0", "url": agent.URL}, nil); status != 422 {
		t.Errorf("a version that nobody speaks was answered with %d", status)
	}
	for address, want := range map[string]int{
		"127.0.0.1:1": 200, "agent.example.com:443": 200, "grpcs://agent.example.com": 200, "https://agent.example.com": 200,
		"unix:///x": 422, "dns:///agent.example.com:443": 422, "nowhere": 422, "http://u:p@agent.example.com": 422, "https://agent.example.com#x": 422,
	} {
		if status := s.Call("PUT", path, map[string]string{"binding": "GRPC", "protocolVersion": "1.0", "url": address}, nil); status != want {
			t.Errorf("the address %s of gRPC was answered with %d, want %d", address, status, want)
		}
	}
	var chosen struct {
		Interface struct{ URL string }
		Pinned    bool
	}
	if status := s.Call("PUT", path, map[string]string{"binding": "JSONRPC", "protocolVersion": "1.0", "url": agent.URL + "/rpc"}, &chosen); status != 200 || !chosen.Pinned {
		t.Fatalf("the interface was chosen with %d: %+v", status, chosen)
	}
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "succeeded" {
		t.Errorf("the message is %s: %s", c.Status, c.Error)
	}
	if page := s.Page("/agents/" + id); !strings.Contains(page, "Chosen here, not by the card") {
		t.Error("the page does not say that the interface was chosen here")
	}
	if status, _ := s.Post("/agents/"+id+"/interface", url.Values{"reset": {"1"}}); status != http.StatusSeeOther {
		t.Errorf("the page left it to the card with %d", status)
	}
	if s.Call("GET", path, nil, &chosen); chosen.Pinned || chosen.Interface.URL != "http://127.0.0.1:1/rpc" {
		t.Errorf("the interface is %+v, want the card's", chosen)
	}
	if status, page := s.Post("/agents/"+id+"/interface", url.Values{"binding": {"GRPC 1.0"}, "url": {"nowhere"}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, `value="nowhere"`) {
		t.Errorf("an address that is none was answered with %d by the page", status)
	}
}
