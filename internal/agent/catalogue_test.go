package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
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
