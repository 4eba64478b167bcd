package httpguard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// people is a door where people sign in: the secrets admin, operator and viewer are
// sessions and tokens of those roles.
type people struct {
	*httpguard.Door
	sessions, tokens *guardtest.Identities
	limiter          *guardtest.Limiter
	hub              *live.Hub
}

func signedIn(origin string) *people {
	p := &people{sessions: &guardtest.Identities{}, tokens: &guardtest.Identities{}, limiter: &guardtest.Limiter{}, hub: &live.Hub{}}
	p.Door = &httpguard.Door{Origin: origin, Sessions: p.sessions, Tokens: p.tokens, Limiter: p.limiter, Live: p.hub, Log: slog.New(slog.DiscardHandler), Recheck: time.Hour}
	for _, role := range []access.Role{access.Admin, access.Operator, access.Viewer} {
		p.sessions.Set(string(role), member(role, access.ScopeAdminister))
		p.tokens.Set(string(role), member(role, access.ScopeAdminister))
	}
	return p
}

func member(role access.Role, scope access.Scope) access.Identity {
	return access.Identity{Principal: access.Principal{
		OrganisationID: "org", PersonID: "the " + string(role), Kind: access.KindPerson, Role: role, Scope: scope, SessionID: "s",
	}}
}

// ask sends one request and returns the answer, and on whose behalf the handler was.
func ask(d *httpguard.Door, need access.Need, r *http.Request) (answer *http.Response, seen *access.Principal) {
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p := httpguard.Principal(r.Context())
		seen = &p
	})
	w := httptest.NewRecorder()
	d.Admit(need, next, refused).ServeHTTP(w, r)
	return w.Result(), seen
}

func with(header, value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "https://console.example/", nil)
	if header != "" {
		r.Header.Set(header, value)
	}
	return r
}

func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	const challenge, invalid = `Bearer realm="Agent Taskbay"`, `Bearer realm="Agent Taskbay", error="invalid_token"`
	tests := map[string]struct {
		header, value string
		as            string // whom the handler sees
		challenge     string // with 401
	}{
		"nobody":              {challenge: challenge},
		"session":             {"Cookie", "__Host-taskbay=operator", "the operator", ""},
		"unknown session":     {"Cookie", "__Host-taskbay=other", "", challenge},
		"without the prefix":  {"Cookie", "taskbay=operator", "", challenge},
		"two sessions":        {"Cookie", "__Host-taskbay=operator; __Host-taskbay=admin", "", challenge},
		"token":               {"Authorization", "Bearer viewer", "the viewer", ""},
		"token, other case":   {"Authorization", "bearer  viewer", "the viewer", ""},
		"unknown token":       {"Authorization", "Bearer other", "", invalid},
		"no token":            {"Authorization", "Bearer", "", invalid},
		"another way":         {"Authorization", "Basic dmlld2Vy", "", challenge},
		"a cookie as a token": {"Authorization", "Bearer __Host-taskbay=viewer", "", invalid},
	}
	for name, tc := range tests {
		answer, seen := ask(d.Door, access.NeedRead, with(tc.header, tc.value))
		switch {
		case tc.as == "" && (answer.StatusCode != http.StatusUnauthorized || seen != nil || answer.Header.Get("WWW-Authenticate") != tc.challenge):
			t.Errorf("%s: status = %d, challenge %q, want 401 with %q", name, answer.StatusCode, answer.Header.Get("WWW-Authenticate"), tc.challenge)
		case tc.as != "" && (seen == nil || seen.PersonID != tc.as):
			t.Errorf("%s: status = %d as %+v, want %s", name, answer.StatusCode, seen, tc.as)
		}
	}
	r := with("Cookie", "__Host-taskbay=admin")
	r.Header.Set("Authorization", "Bearer viewer")
	if _, seen := ask(d.Door, access.NeedRead, r); seen == nil || seen.PersonID != "the viewer" {
		t.Errorf("with both: as %+v, want whom the token is of", seen)
	}
	r.Header.Add("Authorization", "Bearer admin")
	if answer, _ := ask(d.Door, access.NeedRead, r); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("with two tokens: status = %d, want 401", answer.StatusCode)
	}
}

func TestTheLocalOperator(t *testing.T) {
	t.Parallel()
	local := guardtest.Local()
	if _, seen := ask(local, access.NeedAdminister, with("Cookie", "taskbay=anything")); seen == nil || *seen != access.LocalOperator() {
		t.Errorf("without a token: as %+v, want the local operator", seen)
	}
	if answer, _ := ask(local, access.NeedRead, with("Authorization", "Bearer anything")); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a token that is none: status = %d, want 401", answer.StatusCode)
	}
}

// TestOrder has requests for which several reasons to refuse hold.
func TestOrder(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	crossSite := func(session string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "https://console.example/", nil)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.AddCookie(&http.Cookie{Name: "__Host-taskbay", Value: session})
		return r
	}
	for i, tc := range []struct {
		session string
		wait    time.Duration
		want    int
		counted []access.Need
	}{
		{"nobody", time.Second, http.StatusUnauthorized, nil},
		{"viewer", time.Second, http.StatusForbidden, nil},
		{"operator", 1500 * time.Millisecond, http.StatusTooManyRequests, []access.Need{access.NeedOperate}},
		{"operator", 0, http.StatusForbidden, []access.Need{access.NeedOperate}},
	} {
		d.limiter.Answer(tc.wait, nil)
		answer, seen := ask(d.Door, access.NeedOperate, crossSite(tc.session))
		if answer.StatusCode != tc.want || seen != nil {
			t.Errorf("%d: status = %d, want %d", i, answer.StatusCode, tc.want)
		}
		if diff := cmp.Diff(tc.counted, d.limiter.Counted()); diff != "" {
			t.Errorf("%d: counted mismatch (-want +got):\n%s", i, diff)
		}
		if got := answer.Header.Get("Retry-After"); (got == "2") != (tc.want == http.StatusTooManyRequests) {
			t.Errorf("%d: Retry-After = %q", i, got)
		}
	}
}

func TestNeedsOfAnyone(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	for header, as := range map[string]string{"": "", "__Host-taskbay=other": "", "__Host-taskbay=viewer": "the viewer"} {
		if _, seen := ask(d.Door, access.NeedSignIn, with("Cookie", header)); seen == nil || seen.PersonID != as {
			t.Errorf("the pages to sign in, with %q: as %+v, want %q", header, seen, as)
		}
	}
	if got := d.limiter.Counted(); len(got) != 3 || got[0] != access.NeedSignIn {
		t.Errorf("counted %q, want each request of signing in", got)
	}
	if answer, _ := ask(d.Door, access.NeedSignIn, with("Authorization", "Bearer other")); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a bad token at the pages to sign in: status = %d, want 401", answer.StatusCode)
	}
	if _, seen := ask(d.Door, access.NeedNothing, with("Authorization", "Bearer other")); seen == nil || *seen != (access.Principal{}) {
		t.Errorf("what needs nothing: as %+v, want nobody", seen)
	}
	for _, need := range []access.Need{"", "anything"} {
		if answer, seen := ask(d.Door, need, with("Authorization", "Bearer admin")); answer.StatusCode != http.StatusForbidden || seen != nil {
			t.Errorf("need %q: status = %d, want that nobody meets it", need, answer.StatusCode)
		}
	}
}

func TestTheRecordIsAway(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	for err, want := range map[error]int{fault.New(fault.Unavailable, "Away."): http.StatusServiceUnavailable, errors.New("a secret of the database"): http.StatusInternalServerError} {
		d.sessions.Fail(err)
		for _, need := range []access.Need{access.NeedRead, access.NeedSignIn} {
			answer, _ := ask(d.Door, need, with("Cookie", "__Host-taskbay=admin"))
			if text, _ := io.ReadAll(answer.Body); answer.StatusCode != want || string(text) == "a secret of the database\n" {
				t.Errorf("%v: status = %d %s, want %d", err, answer.StatusCode, text, want)
			}
		}
		d.sessions.Fail(nil)
		d.limiter.Answer(0, err)
		if answer, _ := ask(d.Door, access.NeedRead, with("Cookie", "__Host-taskbay=admin")); answer.StatusCode != want {
			t.Errorf("%v of the limiter: status = %d, want %d", err, answer.StatusCode, want)
		}
		d.limiter.Answer(0, nil)
	}
}

// stay has a request stay open, and returns a channel that is closed once its context
// has ended.
func stay(t *testing.T, d *httpguard.Door, r *http.Request) (ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	entered, left := make(chan struct{}), make(chan struct{})
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(left)
	})
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.Admit(access.NeedRead, next, refused).ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	}()
	<-entered
	t.Cleanup(func() { cancel(); <-served })
	return left
}

func wantOpen(t *testing.T, what string, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
		t.Errorf("%s: the request has ended", what)
	default:
	}
}

// TestWhatIsOpenEnds has every way in end for those who may no longer, and stay for
// others.
func TestWhatIsOpenEnds(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	session, token := with("Cookie", "__Host-taskbay=operator"), with("Authorization", "Bearer operator")
	others := []<-chan struct{}{stay(t, d.Door, with("Cookie", "__Host-taskbay=admin")), stay(t, d.Door, with("Authorization", "Bearer viewer"))}
	for _, tc := range []struct {
		what   string
		r      *http.Request
		change func()
	}{
		{"signed out", session, func() { d.sessions.Set("operator", access.Identity{}) }},
		{"another role", session, func() { d.sessions.Set("operator", member(access.Viewer, access.ScopeAdminister)) }},
		{"revoked", token, func() { d.tokens.Set("operator", access.Identity{}) }},
		{"another scope", token, func() { d.tokens.Set("operator", member(access.Operator, access.ScopeRead)) }},
	} {
		d.sessions.Set("operator", member(access.Operator, access.ScopeAdminister))
		d.tokens.Set("operator", member(access.Operator, access.ScopeAdminister))
		one, two := stay(t, d.Door, tc.r), stay(t, d.Door, tc.r)
		d.hub.Publish(live.AccessTopic("org")) // nothing has changed
		wantOpen(t, tc.what, one)
		tc.change()
		d.hub.Publish(live.AccessTopic("org"))
		<-one
		<-two
	}
	for _, other := range others {
		wantOpen(t, "somebody else", other)
	}
}

func TestWhatIsOpenEndsWithoutASignal(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	d.Recheck = time.Millisecond
	one := stay(t, d.Door, with("Cookie", "__Host-taskbay=operator"))
	d.sessions.Fail(errors.New("away"))
	d.sessions.Set("operator", access.Identity{})
	wantOpen(t, "while the record is away", one)
	d.sessions.Fail(nil)
	<-one
}

func TestWhatIsOpenExpires(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	who := member(access.Viewer, access.ScopeAdminister)
	who.ExpiresAt = time.Now().Add(50 * time.Millisecond)
	d.sessions.Set("viewer", who)
	<-stay(t, d.Door, with("Cookie", "__Host-taskbay=viewer"))
}

// TestNobodyWatchesForNothing has the door forget an organisation of which nothing is
// open.
func TestNobodyWatchesForNothing(t *testing.T) {
	t.Parallel()
	d := signedIn("https://console.example")
	watching := &counting{Hub: d.hub, forgot: make(chan struct{})}
	d.Live = watching
	for range 3 {
		ask(d.Door, access.NeedRead, with("Cookie", "__Host-taskbay=viewer"))
		<-watching.forgot
	}
}

type counting struct {
	*live.Hub
	forgot chan struct{}
}

func (c *counting) Watch(topics ...string) (<-chan struct{}, func()) {
	signals, stop := c.Hub.Watch(topics...)
	return signals, func() { stop(); c.forgot <- struct{}{} }
}
