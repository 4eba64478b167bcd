package access_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// minute is an allowance of processes that share a record, in one minute.
type minute struct {
	mu    sync.Mutex
	taken map[string]int64
	left  time.Duration
	err   error
	calls int
}

func (m *minute) TakeAllowance(who, kind string, n, limit int64) (int64, time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	granted := min(n, limit-m.taken[who+" "+kind])
	m.taken[who+" "+kind] += granted
	return granted, m.left, m.err
}

func (m *minute) update(_ context.Context, f func(access.AllowanceTx) error) error { return f(m) }

// take counts requests until one has to wait.
func take(t *testing.T, l *access.Limiter, p access.Principal, n access.Need) (taken int, wait time.Duration) {
	t.Helper()
	for {
		wait, err := l.Take(t.Context(), p, n)
		if err != nil {
			t.Fatalf("Take: %v", err)
		}
		if wait > 0 {
			return taken, wait
		}
		if taken++; taken > 100_000 {
			t.Fatal("there is no end to it")
		}
	}
}

func TestLimitsOfAProcessThatIsAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC)
	l := &access.Limiter{Now: func() time.Time { return now }}
	ann, bob := access.Principal{PersonID: "ann", TokenID: "t"}, access.Principal{PersonID: "bob"}
	for need, want := range map[access.Need]int{access.NeedRead: 900, access.NeedOperate: 120, access.NeedAdminister: 60, access.NeedSignIn: 240} {
		if got, wait := take(t, l, ann, need); got != want || wait != 40*time.Second {
			t.Errorf("need %s: %d requests and then %v to wait, want %d and 40s", need, got, wait, want)
		}
	}
	for need, want := range map[access.Need]int{access.NeedRead: 900, access.NeedOwn: 60, access.NeedSignIn: 0} {
		if got, _ := take(t, l, bob, need); got != want {
			t.Errorf("need %s of somebody else: %d requests, want %d", need, got, want)
		}
	}
	if got, _ := take(t, l, access.Principal{PersonID: "ann", SessionID: "s"}, access.NeedRead); got != 0 {
		t.Errorf("by a session, %d more requests than by a token; want the same person to have one allowance", got)
	}
	for range 10_000 {
		if wait, err := l.Take(t.Context(), ann, access.NeedNothing); wait != 0 || err != nil {
			t.Fatalf("what needs nothing is counted: %v, %v", wait, err)
		}
	}
	now = now.Add(40 * time.Second)
	if got, wait := take(t, l, ann, access.NeedRead); got != 900 || wait != time.Minute {
		t.Errorf("in the next minute: %d requests and then %v to wait, want 900 and 1m", got, wait)
	}
}

func TestLimitsOfManyProcesses(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC)
	m := &minute{taken: map[string]int64{}, left: 10 * time.Second}
	p := access.Principal{PersonID: "ann"}
	var replicas []*access.Limiter
	for range 3 {
		replicas = append(replicas, &access.Limiter{Update: m.update, Now: func() time.Time { return now }, Limits: access.Limits{Operations: 100}})
	}
	for need, limit := range map[access.Need]int{access.NeedRead: 900, access.NeedOperate: 100} {
		m.calls = 0
		sum := 0
		for range 10 { // a little of each first
			for _, l := range replicas {
				if wait, err := l.Take(t.Context(), p, need); err != nil || wait != 0 {
					t.Fatalf("Take: %v, %v", wait, err)
				}
				sum++
			}
		}
		for _, l := range replicas {
			got, wait := take(t, l, p, need)
			if sum += got; wait != 10*time.Second {
				t.Errorf("need %s: %v to wait, want what is left of the database's minute", need, wait)
			}
		}
		if sum != limit {
			t.Errorf("need %s: %d requests in sum, want %d", need, sum, limit)
		}
		if m.calls > 40 {
			t.Errorf("need %s: %d transactions for %d requests, want blocks", need, m.calls, limit)
		}
	}
	m.taken, now = map[string]int64{}, now.Add(10*time.Second)
	if got, _ := take(t, replicas[0], p, access.NeedRead); got != 900 {
		t.Errorf("in the next minute: %d requests, want 900", got)
	}
}

func TestLimitsWithoutTheRecord(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	m := &minute{taken: map[string]int64{}, left: time.Minute, err: away}
	l := &access.Limiter{Update: m.update}
	if _, err := l.Take(t.Context(), access.Principal{PersonID: "ann"}, access.NeedRead); !errors.Is(err, away) {
		t.Errorf("Take = %v, want that the record is away", err)
	}
	m.err = fault.New(fault.Unavailable, "It takes no writes.")
	if got, _ := take(t, l, access.Principal{PersonID: "ann"}, access.NeedOperate); got != 120 {
		t.Errorf("while it takes no writes: %d requests, want as many as a process that is alone answers", got)
	}
	m.taken, m.err = map[string]int64{}, nil
	if got, _ := take(t, l, access.Principal{PersonID: "ann"}, access.NeedRead); got != 900 {
		t.Errorf("once it is back: %d requests, want 900", got)
	}
}

func TestLimitsAtOnce(t *testing.T) {
	t.Parallel()
	l := &access.Limiter{Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC) }}
	var all sync.WaitGroup
	var mu sync.Mutex
	let := 0
	for range 8 {
		all.Go(func() {
			for range 200 {
				wait, err := l.Take(context.Background(), access.Principal{PersonID: "ann"}, access.NeedRead)
				if err == nil && wait == 0 {
					mu.Lock()
					let++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if let != 900 {
		t.Errorf("%d of 1600 requests at once were let in, want 900", let)
	}
}
