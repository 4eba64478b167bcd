package agent_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// fakeCards hands out one card, or an error.
type fakeCards struct {
	mu  sync.Mutex
	raw string
	err error
}

func (f *fakeCards) set(raw string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw, f.err = raw, err
}

func (f *fakeCards) FetchCard(_ context.Context, _, url string) (remote.CardFetch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	attempt := remote.Attempt{URL: url}
	if f.err != nil {
		attempt.Problem = "no"
	}
	return remote.CardFetch{Raw: []byte(f.raw), URL: url, Attempts: []remote.Attempt{attempt}}, f.err
}

func newCatalogue(t *testing.T) (*agent.Catalogue, *fakeCards) {
	t.Helper()
	db, err := store.OpenSQLite(context.Background(), t.TempDir(), &live.Hub{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	cards := &fakeCards{raw: `{"name":"Ada"}`}
	return &agent.Catalogue{
		Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), Remote: cards,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() }, Log: slog.New(slog.DiscardHandler),
	}, cards
}

const address = "http://127.0.0.1/card.json"

func TestRegisterTwiceIsOnce(t *testing.T) {
	t.Parallel()
	c, _ := newCatalogue(t)
	ctx, p := context.Background(), access.LocalOperator()
	first, created, err := c.Register(ctx, p, address)
	if err != nil || !created || first.Name != "Ada" {
		t.Fatalf("Register: %+v, %v, %v; want Ada, created", first, created, err)
	}
	again, created, err := c.Register(ctx, p, " "+address+" ")
	if err != nil || created || again.ID != first.ID {
		t.Errorf("Register again: %s, %v, %v; want %s, not created", again.ID, created, err, first.ID)
	}
}

func TestRegisterWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	c, cards := newCatalogue(t)
	ctx, p := context.Background(), access.LocalOperator()
	cards.set("", &remote.Error{Delivery: remote.NotSent, Message: "Nobody is there."})
	a, created, err := c.Register(ctx, p, address)
	if err != nil || !created || a.Health.Status != agent.HealthUnreachable || a.Health.Error != "Nobody is there." || a.Name != "127.0.0.1" {
		t.Fatalf("Register: %+v, %v, %v; want it kept as unreachable", a, created, err)
	}
	cards.set(`{"name":"Ada"}`, nil)
	if a, err = c.Discover(ctx, p, a.ID); err != nil || a.Health.Status != agent.HealthReachable || a.Name != "Ada" {
		t.Errorf("Discover: %+v, %v; want Ada, reachable", a, err)
	}
	cards.set(`[]`, nil)
	if a, err = c.Discover(ctx, p, a.ID); err != nil || a.Health.Status != agent.HealthUnreachable || a.Name != "Ada" {
		t.Errorf("Discover of no card: %+v, %v; want the last card and the fault", a, err)
	}
	cards.set("", errors.New("internals"))
	if a, err = c.Discover(ctx, p, a.ID); err != nil || a.Health.Error == "internals" {
		t.Errorf("Discover: %q, %v; want no internals shown", a.Health.Error, err)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := newCatalogue(t)
	for _, bad := range []string{"", "ftp://x", "http://a:b@x/", "http://x/?q", "http://x/#f", "x"} {
		if _, _, err := c.Register(context.Background(), access.LocalOperator(), bad); fault.KindOf(err) != fault.Unprocessable {
			t.Errorf("Register(%q): %v, want unprocessable", bad, err)
		}
	}
}

func TestPreviewKeepsNothing(t *testing.T) {
	t.Parallel()
	c, _ := newCatalogue(t)
	ctx, p := context.Background(), access.LocalOperator()
	a, err := c.Preview(ctx, p, address)
	if err != nil || a.Name != "Ada" || a.ID != "" || len(a.Findings) == 0 {
		t.Errorf("Preview: %+v, %v; want Ada with findings and no ID", a, err)
	}
	if all, err := c.List(ctx, p); len(all) != 0 || err != nil {
		t.Errorf("List after a preview: %v, %v; want nothing", all, err)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	find := func(severities ...agent.Severity) []agent.Finding {
		var findings []agent.Finding
		for _, s := range severities {
			findings = append(findings, agent.Finding{Severity: s})
		}
		return findings
	}
	for want, findings := range map[int][]agent.Finding{
		100: find(agent.Info), 75: find(agent.Error, agent.Warning),
		0: find(agent.Error, agent.Error, agent.Error, agent.Error, agent.Error, agent.Error),
	} {
		if got := agent.Score(findings); got != want {
			t.Errorf("Score(%v) = %d, want %d", findings, got, want)
		}
	}
}

// TestPinsThatEnded: waiting for the end of a pin is of no use to somebody who
// takes the signature off a card, nor is a key whose pin has ended.
func TestPinsThatEnded(t *testing.T) {
	t.Parallel()
	c, cards := newCatalogue(t)
	ctx, p := context.Background(), access.LocalOperator()
	now := time.Now()
	current, ended := pinned(t, c, now.Add(time.Hour)), pinned(t, c, now.Add(-time.Hour))
	unsigned := `{"name":"Ada"}`
	a, _, err := c.Register(ctx, p, address)
	if err != nil || a.Distrust == "" {
		t.Fatalf("Register: %q, %v; want it not called without a signature", a.Distrust, err)
	}
	for _, step := range []struct {
		card   string
		trust  agent.Trust
		health agent.HealthStatus
		stays  bool
	}{
		{signedBy(t, ended), agent.TrustInvalid, agent.HealthReachable, false},
		{unsigned, agent.TrustInvalid, agent.HealthMismatch, true},
		{signedBy(t, current), agent.TrustVerified, agent.HealthReachable, false},
		{signedBy(t, ended), agent.TrustVerified, agent.HealthMismatch, true},
		{unsigned, agent.TrustVerified, agent.HealthMismatch, true},
		{"[]", agent.TrustVerified, agent.HealthUnreachable, true},
		{signedBy(t, current), agent.TrustVerified, agent.HealthReachable, false},
	} {
		cards.set(step.card, nil)
		a, err := c.Discover(ctx, p, a.ID)
		if err != nil || a.Trust != step.trust || a.Health.Status != step.health || (string(a.CardRaw) != step.card) != step.stays || (a.Health.Error == "") != (step.health == agent.HealthReachable) {
			t.Errorf("Discover(%.80s) = %s, %s %q, card %.80s, %v; want %+v", step.card, a.Trust, a.Health.Status, a.Health.Error, a.CardRaw, err, step)
		}
	}
}

// pinned pins a new key for the origin of address until a time that may be past.
func pinned(t *testing.T, c *agent.Catalogue, until time.Time) ed25519.PrivateKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Update(context.Background(), func(tx agent.Tx) error {
		return tx.InsertPin(agent.Pin{
			ID: c.NewID(), OrganisationID: access.LocalOperator().OrganisationID, Origin: "http://127.0.0.1",
			Key: signature.Key{Public: public}, ExpiresAt: until, CreatedAt: tx.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return private
}

// signedBy returns a card that is signed with a key.
func signedBy(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(`{"name":"Ada"}`))
	if err != nil {
		t.Fatal(err)
	}
	return `{"name":"Ada","signatures":[` + strings.Replace(signed.FullSerialize(), `"payload"`, `"x"`, 1) + `]}`
}
