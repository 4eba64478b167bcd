// Package guardtest has doors for tests, and for what else needs no record of people.
package guardtest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// Local returns a door that lets the local operator in, without limits.
func Local() *httpguard.Door {
	return &httpguard.Door{Tokens: &Identities{}, Limiter: &Limiter{}, Live: &live.Hub{}, Log: slog.New(slog.DiscardHandler)}
}

// Identities are secrets and whom they are of. Nobody has one at first.
type Identities struct {
	mu  sync.Mutex
	of  map[string]access.Identity
	err error
}

// Set has a secret be of somebody from now on; of nobody, if that is the zero Identity.
func (i *Identities) Set(secret string, who access.Identity) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of = map[string]access.Identity{}
	}
	i.of[secret] = who
	if who == (access.Identity{}) {
		delete(i.of, secret)
	}
}

// Fail has every question answered with err; nil ends that.
func (i *Identities) Fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

// Identify implements httpguard.Identities.
func (i *Identities) Identify(_ context.Context, secret string) (access.Identity, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	who, ok := i.of[secret]
	if !ok && i.err == nil {
		return who, fault.New(fault.SignedOut, "You are not signed in.")
	}
	return who, i.err
}

// Standing implements httpguard.Identities.
func (i *Identities) Standing(_ context.Context, secrets []string) (map[string]access.Identity, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	found := map[string]access.Identity{}
	for _, secret := range secrets {
		if who, ok := i.of[secret]; ok {
			found[secret] = who
		}
	}
	return found, i.err
}

// Limiter makes everybody wait for a time, and remembers whom it counted; the zero one
// makes nobody wait.
type Limiter struct {
	mu      sync.Mutex
	wait    time.Duration
	err     error
	counted []access.Need
}

// Answer is what the limiter says from now on.
func (l *Limiter) Answer(wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wait, l.err = wait, err
}

// Counted returns the needs of what was counted since the last time that it was asked.
func (l *Limiter) Counted() []access.Need {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted := l.counted
	l.counted = nil
	return counted
}

// Take implements httpguard.Limiter.
func (l *Limiter) Take(_ context.Context, _ access.Principal, need access.Need) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counted = append(l.counted, need)
	return l.wait, l.err
}
