package signin_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

const origin = "https://console.example"

// bench is a service whose members and memory are in the test's hands.
type bench struct {
	*testing.T
	*signin.Service
	log     *logged
	members map[[2]string]signin.Member
	used    map[string]bool
	passed  time.Duration // since the test began
}

func newBench(t *testing.T, o signin.Options) *bench {
	t.Helper()
	ring, err := vault.ParseRing("one:"+strings.Repeat("1", 64), "")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, log: &logged{more: make(chan struct{}, 1)}, members: map[[2]string]signin.Member{}, used: map[string]bool{}}
	if o.Origin == "" {
		o.Origin = origin
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	b.Service, err = signin.New(o, signin.Config{
		Keys: ring, Dial: new(net.Dialer).DialContext,
		Update:  func(_ context.Context, f func(signin.Tx) error) error { return f(b) },
		View:    func(_ context.Context, f func(signin.Tx) error) error { return f(b) },
		Command: func(issuer, subject string) string { return fmt.Sprintf("add %s %s", issuer, subject) },
		Log:     slog.New(slog.NewTextHandler(b.log, nil)),
		Now:     func() time.Time { return time.Now().Add(b.passed) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// MemberByIdentity implements signin.Tx.
func (b *bench) MemberByIdentity(issuer, subject string) (signin.Member, error) {
	m, ok := b.members[[2]string{issuer, subject}]
	if !ok {
		return m, fault.New(fault.NotFound, "There is no such member.")
	}
	return m, nil
}

// UseSignIn implements signin.Tx.
func (b *bench) UseSignIn(digest string, _ time.Time) (bool, error) {
	first := !b.used[digest]
	b.used[digest] = true
	return first, nil
}

// logged is a log that can be read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // gets a signal after each line, if there is room
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// begins begins a sign-in.
func (b *bench) begins(to string) (address string, browser *http.Cookie) {
	b.Helper()
	address, keep, err := b.Begin(b.Context(), to)
	if err != nil {
		b.Fatalf("Begin: %v", err)
	}
	return address, b.Cookie(keep)
}

// returns finishes a sign-in: the browser comes to an address with its cookies.
func (b *bench) returns(address string, browser ...*http.Cookie) (signin.Member, string, error) {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for _, c := range browser {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return b.Finish(r)
}

// refuses fails the test unless nobody was let in, with one and the same answer, and
// the reason in the log alone.
func (b *bench) refuses(why string, m signin.Member, err error) {
	b.Helper()
	if fault.KindOf(err) != fault.SignedOut || m.ID != "" {
		b.Fatalf("let in %q, %v; want %s", m.ID, err, fault.SignedOut)
	}
	if got := fault.Public(err).Message; got != "You could not be signed in." {
		b.Errorf("the person is told %q", got)
	}
	if got := b.log.String(); !strings.Contains(got, why) {
		b.Errorf("the log says\n%s\nwant %q", got, why)
	}
}

// with returns an address with other parameters; "" drops one.
func with(address string, parameters map[string]string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	query := u.Query()
	for name, value := range parameters {
		query.Set(name, value)
		if value == "" {
			query.Del(name)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func parameter(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Query().Get(name)
}
