package credential_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

const canary = "canary-7f3a91c2"

const guardedCard = `{"name":"Ada","supportedInterfaces":[{"url":"https://agent.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}},"token":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},
	"securityRequirements":[{"schemes":{"key":{"list":[]}}},{"schemes":{"token":{"list":[]}}}]}`

var operator = access.LocalOperator()

// bench is a service over a database of its own, with one agent.
type bench struct {
	*credential.Service
	db      *store.DB
	dir     string
	agentID string
}

func newBench(t *testing.T, card string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), agentID: newID()}
	db, err := store.OpenSQLite(t.Context(), b.dir, &live.Hub{})
	if err != nil {
		t.Fatal(err)
	}
	b.db = db
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		a := agent.Agent{ID: b.agentID, OrganisationID: operator.OrganisationID, CardURL: "https://agent.example/card.json", Name: "Ada",
			Health: agent.Health{Status: agent.HealthUnknown}, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.InsertAgent(a); err != nil {
			return err
		}
		return tx.StoreDiscovery(b.agentID, agent.Discovery{
			CardID: newID(), Raw: []byte(card), URL: a.CardURL, Name: "Ada", Health: agent.Health{Status: agent.HealthReachable}, NextTurn: tx.Now().Add(time.Hour),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Service = b.process(t, "one:"+strings.Repeat("1", 64))
	return b
}

// process returns another service over the same database, as another process has it.
func (b *bench) process(t *testing.T, keys string) *credential.Service {
	t.Helper()
	ring, err := vault.ParseRing(keys, "")
	if err != nil {
		t.Fatal(err)
	}
	return &credential.Service{
		Update: store.For[credential.Tx](b.db.Update), View: store.For[credential.Tx](b.db.View),
		Vault: ring, NewID: newID, Log: slog.New(slog.DiscardHandler),
	}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func bearer(secret scheme.Secret) scheme.Credential {
	return scheme.Credential{Kind: scheme.Bearer, Secret: secret, Origins: []string{"https://agent.example"}}
}

// header returns what goes with a call of the agent, as the header Authorization.
func header(t *testing.T, s *credential.Service, agentID string) (string, error) {
	t.Helper()
	applied, err := s.For(t.Context(), agentID, &url.URL{Scheme: "https", Host: "agent.example", Path: "/rpc"})
	return applied.Header.Get("Authorization"), err
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	_, err := header(t, b.Service, b.agentID)
	if !errors.Is(err, credential.ErrNeeded) {
		t.Fatalf("For() = %v, want ErrNeeded", err)
	}
	for _, want := range []string{"needs a credential", "an API key in the header X-Key; a bearer token"} {
		if got := fault.Public(err).Message; !strings.Contains(got, want) {
			t.Errorf("message is %q, want %q in it", got, want)
		}
	}
	if a, err := b.ForCard(t.Context(), b.agentID, &url.URL{Scheme: "https", Host: "agent.example"}); err != nil || len(a.Header) > 0 {
		t.Errorf("ForCard() = %v, %v; want nothing, since cards are public", a.Header, err)
	}
}

func TestNotNeeded(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{"name":"Ada","supportedInterfaces":[{"url":"https://agent.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
	if got, err := header(t, b.Service, b.agentID); got != "" || err != nil {
		t.Errorf("For() = %q, %v; want nothing", got, err)
	}
}

func TestSetReplaceRevoke(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	ctx := t.Context()
	other := b.process(t, "one:"+strings.Repeat("1", 64)) // another process sees every change at once
	set := func(secret scheme.Secret) credential.Binding {
		t.Helper()
		binding, err := b.Set(ctx, operator, b.agentID, bearer(secret))
		if err != nil {
			t.Fatalf("Set() = %v", err)
		}
		return binding
	}
	first := set(canary)
	if got, err := header(t, other, b.agentID); got != "Bearer "+canary || err != nil {
		t.Errorf("For() = %q, %v; want the token", got, err)
	}
	second := set(canary + "-b")
	if got, err := header(t, other, b.agentID); got != "Bearer "+canary+"-b" || err != nil {
		t.Errorf("For() after it was replaced = %q, %v; want the new token", got, err)
	}
	if err := b.Revoke(ctx, operator, b.agentID); err != nil {
		t.Fatalf("Revoke() = %v", err)
	}
	if got, err := header(t, other, b.agentID); !errors.Is(err, credential.ErrNeeded) || !strings.Contains(err.Error(), "revoked by Local operator") {
		t.Errorf("For() after it was revoked = %q, %v; want an error and no anonymous call", got, err)
	}
	if err := b.Revoke(ctx, operator, b.agentID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Revoke() again = %v, want not found", err)
	}
	history, err := b.History(ctx, operator, b.agentID)
	if err != nil || len(history) != 2 || history[0].ID != second.ID || history[0].Ended != credential.Revoked || history[1].ID != first.ID || history[1].Ended != credential.Replaced {
		t.Errorf("History() = %+v, %v; want the revoked one, then the replaced one", history, err)
	}
	list, err := b.List(ctx, operator)
	if err != nil || len(list) != 1 || list[0].ID != second.ID || list[0].Key != "one" || list[0].AgentName != "Ada" {
		t.Errorf("List() = %+v, %v; want the latest one, with its key", list, err)
	}
	set(canary)
	if got, err := header(t, other, b.agentID); got == "" || err != nil {
		t.Errorf("For() after another was set = %q, %v", got, err)
	}
}

func TestOriginsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	if _, err := b.Set(t.Context(), operator, b.agentID, bearer(canary)); err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []url.URL{
		{Scheme: "https", Host: "agent.example.evil"}, {Scheme: "https", Host: "agent.example:8443"}, {Scheme: "http", Host: "agent.example"},
	} {
		if a, err := b.For(t.Context(), b.agentID, &elsewhere); err == nil || strings.Contains(err.Error(), canary) || len(a.Header) > 0 {
			t.Errorf("For(%s) = %v, %v; want it refused", &elsewhere, a.Header, err)
		}
		if a, err := b.ForCard(t.Context(), b.agentID, &elsewhere); err != nil || len(a.Header) > 0 {
			t.Errorf("ForCard(%s) = %v, %v; want nothing", &elsewhere, a.Header, err)
		}
	}
	if a, err := b.ForCard(t.Context(), b.agentID, &url.URL{Scheme: "https", Host: "agent.example"}); err != nil || a.Header.Get("Authorization") == "" {
		t.Errorf("ForCard() at the origin = %v, %v; want the token", a.Header, err)
	}
}

func TestOthersSeeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	stranger := access.Command("root").In("other")
	_, err := b.Set(t.Context(), stranger, b.agentID, bearer(canary))
	_, history := b.History(t.Context(), stranger, b.agentID)
	for what, err := range map[string]error{"Set": err, "Revoke": b.Revoke(t.Context(), stranger, b.agentID), "History": history} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s by somebody else = %v, want not found", what, err)
		}
	}
	if list, err := b.List(t.Context(), stranger); len(list) != 0 || err != nil {
		t.Errorf("List by somebody else = %v, %v", list, err)
	}
}

func TestUnusableCredential(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	c := bearer(canary + " two")
	c.Origins = []string{"http://agent.example"}
	_, err := b.Set(t.Context(), operator, b.agentID, c)
	if fault.KindOf(err) != fault.Unprocessable || strings.Contains(err.Error(), canary) {
		t.Fatalf("Set() = %v, want unprocessable and no secret", err)
	}
	var locations []string
	for _, f := range fault.Public(err).Fields {
		locations = append(locations, f.Location)
		if strings.Contains(f.Message, canary) {
			t.Errorf("the fault of %s repeats the secret", f.Location)
		}
	}
	if got := strings.Join(locations, " "); got != "origins secret" {
		t.Errorf("faults are at %s, want origins and secret", got)
	}
}

// TestRotate gives a ring of two keys, as while one is replaced, and then only the new one.
func TestRotate(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	if _, err := b.Set(t.Context(), operator, b.agentID, bearer(canary)); err != nil {
		t.Fatal(err)
	}
	one, two := "one:"+strings.Repeat("1", 64), "two:"+strings.Repeat("2", 64)
	if _, err := header(t, b.process(t, two), b.agentID); err == nil || !strings.Contains(err.Error(), `the vault key "one"`) {
		t.Errorf("For() without the key = %v, want it named", err)
	}
	both := b.process(t, two+","+one)
	for i, want := range []credential.Rotation{{Key: "two", Changed: 1}, {Key: "two", Same: 1}} {
		if got, err := both.Rotate(t.Context(), operator); got != want || err != nil {
			t.Errorf("Rotate() %d = %+v, %v; want %+v", i, got, err, want)
		}
	}
	for name, s := range map[string]*credential.Service{"new key only": b.process(t, two), "both": both} {
		if got, err := header(t, s, b.agentID); got != "Bearer "+canary || err != nil {
			t.Errorf("For() with %s = %q, %v", name, got, err)
		}
	}
	if _, err := b.process(t, "three:"+strings.Repeat("3", 64)).Rotate(t.Context(), operator); err == nil || !strings.Contains(err.Error(), "Ada") {
		t.Errorf("Rotate() without the key = %v, want the agent named", err)
	}
}

// TestMovedCiphertextDoesNotOpen puts one agent's ciphertext in another's place.
func TestMovedCiphertextDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	if _, err := b.Set(t.Context(), operator, b.agentID, bearer(canary)); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Exec(t.Context(), "DROP TRIGGER credential_same"); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Exec(t.Context(), `UPDATE credential SET origins = '["https://evil.example"]'`); err != nil {
		t.Fatal(err)
	}
	_, err := b.process(t, "one:"+strings.Repeat("1", 64)).For(t.Context(), b.agentID, &url.URL{Scheme: "https", Host: "evil.example"})
	if err == nil || !strings.Contains(err.Error(), "changed outside Taskbay") {
		t.Errorf("For() with changed origins = %v, want it refused", err)
	}
}

// TestFormerSecretsAreKeptOut replaces and revokes credentials: every process keeps
// the old secrets out of what the agent repeats, also one that never used them.
func TestFormerSecretsAreKeptOut(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	ctx, key := t.Context(), "one:"+strings.Repeat("1", 64)
	other, reader := b.process(t, key), b.process(t, key) // reader only records
	set := func(secret scheme.Secret) {
		t.Helper()
		if _, err := b.Set(ctx, operator, b.agentID, bearer(secret)); err != nil {
			t.Fatal(err)
		}
	}
	mustKeepOut := func(what string, s *credential.Service, secrets ...string) {
		t.Helper()
		r, err := s.Secrets(ctx, b.agentID)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if got := r.Text("<" + secret + ">"); got != "<[redacted]>" {
				t.Errorf("%s: %s became %s", what, secret, got)
			}
		}
	}
	set("former-secret-1")
	mustKeepOut("the first", other, "former-secret-1")
	set("former-secret-2")
	mustKeepOut("replaced in another process", other, "former-secret-1", "former-secret-2")
	mustKeepOut("that never used it", reader, "former-secret-1", "former-secret-2")
	if err := b.Revoke(ctx, operator, b.agentID); err != nil {
		t.Fatal(err)
	}
	mustKeepOut("revoked, after a restart", b.process(t, key), "former-secret-1", "former-secret-2")
	if a, err := b.process(t, key).ForCard(ctx, b.agentID, &url.URL{Scheme: "https", Host: "agent.example"}); err != nil || a.Redactor.Text("former-secret-2") != "[redacted]" {
		t.Errorf("ForCard() after a restart does not keep a revoked secret out (%v)", err)
	}
	set("live-secret-3")
	both := b.process(t, "two:"+strings.Repeat("2", 64)+","+key)
	if _, err := both.Rotate(ctx, operator); err != nil {
		t.Fatal(err)
	}
	mustKeepOut("with another key", b.process(t, "two:"+strings.Repeat("2", 64)), "former-secret-1", "former-secret-2", "live-secret-3")
	for i := range credential.MaxFormer {
		if _, err := both.Set(ctx, operator, b.agentID, bearer(scheme.Secret("later-secret-"+strings.Repeat("x", i)))); err != nil {
			t.Fatal(err)
		}
	}
	last := b.process(t, "two:"+strings.Repeat("2", 64)+","+key)
	mustKeepOut("many later", last, "live-secret-3", "later-secret-", "later-secret-xx")
	if r, err := last.Secrets(ctx, b.agentID); err != nil || r.Text("former-secret-2") != "former-secret-2" {
		t.Errorf("more than %d former secrets are kept (%v)", credential.MaxFormer, err)
	}
}

// TestFormerSecretIsNoCredential puts the secrets of a credential that ended in the
// place of a live one.
func TestFormerSecretIsNoCredential(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	for _, secret := range []scheme.Secret{canary, canary + "-b"} {
		if _, err := b.Set(t.Context(), operator, b.agentID, bearer(secret)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.db.Exec(t.Context(), "UPDATE credential SET sealed = (SELECT sealed FROM former_secret) WHERE ended IS NULL"); err != nil {
		t.Fatal(err)
	}
	if got, err := header(t, b.process(t, "one:"+strings.Repeat("1", 64)), b.agentID); err == nil || got != "" {
		t.Errorf("For() = %q, %v; want it refused", got, err)
	}
}

func TestNothingLiesReadable(t *testing.T) {
	t.Parallel()
	b := newBench(t, guardedCard)
	c := scheme.Credential{Kind: scheme.Basic, Username: canary + "-user", Secret: canary + "-pass", Origins: []string{"https://agent.example"}}
	for range 2 { // the first one is replaced
		if _, err := b.Set(context.Background(), operator, b.agentID, c); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(b.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{canary, hex.EncodeToString([]byte(canary)), "Y2FuYXJ5LTdmM2E5MWMy"} {
			if bytes.Contains(content, []byte(form)) {
				t.Errorf("%s has the secret in it, as %s", file, form)
			}
		}
	}
}
