package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/signin"
)

// fakeSignIn is a provider and the sessions in memory.
type fakeSignIn struct {
	away      error
	finished  error
	begun     error
	to        string // that Begin was asked for
	member    string // that has a session
	ended     string // session
	signOutAt string
}

func (f *fakeSignIn) Provider() string   { return "login.example" }
func (f *fakeSignIn) SignOutURL() string { return f.signOutAt }
func (f *fakeSignIn) Secure() bool       { return true }
func (f *fakeSignIn) Issuer() string     { return "https://login.example/" }

func (f *fakeSignIn) Begin(_ context.Context, to string) (string, string, error) {
	f.to = to
	return "https://login.example/authorize?state=s", "kept", f.away
}

func (f *fakeSignIn) Finish(*http.Request) (signin.Member, string, error) {
	return signin.Member{ID: "member-ada"}, "/tasks?state=done", f.finished
}

func (f *fakeSignIn) Cookie(keep string) *http.Cookie {
	return &http.Cookie{Name: "under-way", Value: keep, Path: "/"}
}

func (f *fakeSignIn) Forget() *http.Cookie {
	return &http.Cookie{Name: "under-way", Path: "/", MaxAge: -1}
}

// fakeSessions are the sessions of a fakeSignIn.
type fakeSessions struct {
	*fakeSignIn
	presentPeople
}

func (f fakeSessions) Begin(_ context.Context, membershipID, _ string) (string, time.Time, error) {
	f.member = membershipID
	return "secret", time.Now().Add(time.Hour), f.begun
}

func (f fakeSessions) End(_ context.Context, p access.Principal) error {
	f.ended = p.SessionID
	return nil
}

func ada() access.Principal {
	return access.Principal{
		OrganisationID: access.LocalOrganisation, PersonID: "member-ada", Name: "Ada <b>Lovelace</b>", Kind: access.KindPerson,
		Role: access.Operator, Scope: access.ScopeAdminister, SessionID: "session-ada",
	}
}

// signingIn returns a console that people sign in to, and that this one has come to.
func signingIn(t *testing.T, who access.Principal) (*console, *fakeSignIn) {
	t.Helper()
	c, f := newConsole(t), &fakeSignIn{}
	config := c.Config
	config.SignIn, config.Sessions = f, fakeSessions{fakeSignIn: f}
	sessions := &guardtest.Identities{}
	sessions.Set("theirs", access.Identity{Principal: who})
	config.Door.Origin, config.Door.Sessions = "http://127.0.0.1:3002", sessions
	c.server = newServer(config)
	pages := c.guarded()
	c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "taskbay", Value: "theirs"})
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		pages.ServeHTTP(w, r)
	})
	return c, f
}

func cookieOf(a answer, name string) *http.Cookie {
	a.Helper()
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	a.Fatalf("no cookie %s is set: %v", name, a.header)
	return nil
}

func (a answer) goes(to string) {
	a.Helper()
	a.wants(http.StatusSeeOther)
	if got := a.header.Get("Location"); got != to {
		a.Errorf("the browser is sent to %q, want %q", got, to)
	}
}

func TestSignInPage(t *testing.T) {
	t.Parallel()
	c, f := signingIn(t, access.Principal{})
	a := c.get(t, "/signin?to=/tasks%3Fq%3Da%26b%3Dc").wants(http.StatusOK)
	if got := a.text("#sign-in"); got != "Sign in with login.example" {
		t.Errorf("the button says %q", got)
	}
	if got := a.attr("#sign-in", "href"); got != "/auth/login?to=%2Ftasks%3Fq%3Da%26b%3Dc" {
		t.Errorf("the button leads to %q", got)
	}
	if a.has("nav") || a.has("live-region") {
		t.Error("somebody who is not signed in has something to navigate to")
	}
	for _, evil := range []string{"//evil.example", `/%5Cevil.example`, "https://evil.example/", "/signin", "javascript:alert(1)"} {
		if got := c.get(t, "/signin?to="+evil).attr("#sign-in", "href"); got != "/auth/login?to=%2F" {
			t.Errorf("to %s: the button leads to %q", evil, got)
		}
	}
	a = c.get(t, "/signin?out").wants(http.StatusOK)
	if got := a.text("h1"); got != "You are signed out" || a.has(".signin-note a") {
		t.Errorf("after signing out the page says %q", got)
	}
	f.signOutAt = "https://login.example/end"
	if got := c.get(t, "/signin?out").attr(".signin-note a", "href"); got != f.signOutAt {
		t.Errorf("the provider's page to sign out is %q", got)
	}

	c, _ = signingIn(t, ada())
	c.get(t, "/signin?to=/agents").goes("/agents")
	c.get(t, "/signin?to=//evil.example").goes("/")
}

func TestSignInBegins(t *testing.T) {
	t.Parallel()
	c, f := signingIn(t, access.Principal{})
	a := c.get(t, "/auth/login?to=/agents")
	a.goes("https://login.example/authorize?state=s")
	if cookieOf(a, "under-way").Value != "kept" || f.to != "/agents" {
		t.Errorf("a sign-in to %q is begun", f.to)
	}
	f.away = fault.New(fault.Unavailable, "login.example does not answer.")
	a = c.get(t, "/auth/login").wants(http.StatusServiceUnavailable)
	if got := a.text("main"); !strings.Contains(got, "login.example does not answer.") || !a.has("main a[href=/signin]") || a.has("nav") {
		t.Errorf("with the provider away the page says %q", got)
	}
	if a.header.Get("Retry-After") == "" {
		t.Error("the page does not say when to try again")
	}
}

func TestSignInFinishes(t *testing.T) {
	t.Parallel()
	c, f := signingIn(t, access.Principal{})
	a := c.get(t, "/auth/callback?code=c&state=s")
	a.goes("/tasks?state=done")
	session := cookieOf(a, "__Host-taskbay")
	if session.Value != "secret" || !session.Secure || !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Expires.IsZero() {
		t.Errorf("the session's cookie is %v", session)
	}
	if cookieOf(a, "under-way").MaxAge >= 0 || f.member != "member-ada" || f.ended != "" {
		t.Errorf("%q has a session, and %q ended", f.member, f.ended)
	}
	c, f = signingIn(t, ada())
	c.get(t, "/auth/callback?code=c&state=s").goes("/tasks?state=done")
	if f.ended != "session-ada" {
		t.Errorf("signing in over a session ends %q, want the session", f.ended)
	}
}

// TestSignInRefusesAlike has everybody who is not let in see the same.
func TestSignInRefusesAlike(t *testing.T) {
	t.Parallel()
	var first string
	for name, spoil := range map[string]func(*fakeSignIn){
		"unknown":            func(f *fakeSignIn) { f.finished = fault.New(fault.SignedOut, "Nobody by that name.") },
		"disabled meanwhile": func(f *fakeSignIn) { f.begun = fault.New(fault.Forbidden, "You are disabled.") },
	} {
		c, f := signingIn(t, access.Principal{})
		spoil(f)
		a := c.get(t, "/auth/callback?code=c&state=s").wants(http.StatusUnauthorized)
		if cookieOf(a, "under-way").MaxAge >= 0 || strings.Contains(a.header.Get("Set-Cookie"), "__Host-taskbay=") {
			t.Errorf("%s: the cookies are %v", name, a.header.Values("Set-Cookie"))
		}
		if first == "" {
			first = a.body
		}
		if a.body != first || a.text("h1") != "You could not be signed in" || !a.has("main a[href=/signin]") {
			t.Errorf("%s: the page is another one:\n%s", name, a.body)
		}
	}
	c, f := signingIn(t, access.Principal{})
	f.finished = fault.New(fault.Unavailable, "login.example does not answer.")
	c.get(t, "/auth/callback?code=c&state=s").wants(http.StatusServiceUnavailable)
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	c, f := signingIn(t, ada())
	a := c.get(t, "/tasks").wants(http.StatusOK)
	if got := a.text(".who summary"); got != "Ada <b>Lovelace</b>" {
		t.Errorf("who is signed in is %q", got)
	}
	if got := a.text(".who-role"); got != "Ada <b>Lovelace</b> Operator" {
		t.Errorf("their role is %q", got)
	}
	if a.attr(".who form", "action") != "/auth/signout" || a.attr(".who form", "method") != "post" {
		t.Error("the menu has no form to sign out")
	}
	a = c.post(t, "/auth/signout", nil)
	a.goes("/signin?out")
	if session := cookieOf(a, "__Host-taskbay"); session.MaxAge >= 0 || session.Value != "" || f.ended != "session-ada" {
		t.Errorf("the cookie is %v, and %q ended", session, f.ended)
	}
	c.get(t, "/auth/signout").wants(http.StatusMethodNotAllowed)
}

// TestLocalModeSignsNobodyIn has no pages of signing in where nobody does.
func TestLocalModeSignsNobodyIn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, address := range []string{"/signin", "/auth/login", "/auth/callback"} {
		c.get(t, address).wants(http.StatusNotFound)
	}
	c.post(t, "/auth/signout", nil).wants(http.StatusNotFound)
	if c.get(t, "/tasks").wants(http.StatusOK).has(".who") {
		t.Error("the local operator has a menu to sign out")
	}
}

// TestSignedOut sends a browser that asks for a page to the page to sign in, and tells
// everything else what it has to know.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	c, _ := signingIn(t, access.Principal{})
	c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.answerFault(w, r, fault.New(fault.SignedOut, "Sign in to go on."))
	})
	c.get(t, "/tasks?state=done").goes("/signin?to=%2Ftasks%3Fstate%3Ddone")
	c.get(t, "/").goes("/signin")
	c.get(t, "//evil.example/tasks").goes("/signin")
	a := c.request(t, jsonRequest(http.MethodGet, "/tasks")).wants(http.StatusUnauthorized)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a module gets %q, want a problem document", got)
	}
	stream := httptest.NewRequest(http.MethodGet, "/events", nil)
	stream.Header.Set("Sec-Fetch-Mode", "cors")
	c.request(t, stream).wants(http.StatusUnauthorized)
	a = c.post(t, "/agents", nil).wants(http.StatusUnauthorized)
	if got := a.text("main"); !strings.Contains(got, "You are not signed in") || !strings.Contains(got, "Go back to keep what you had entered") || a.has("nav") {
		t.Errorf("who posts is told %q", got)
	}
}

// TestSignInIsSecure has the pages of signing in with the headers of all others.
func TestSignInIsSecure(t *testing.T) {
	t.Parallel()
	c, _ := signingIn(t, access.Principal{})
	for _, r := range c.signInRoutes() {
		method, address, _ := strings.Cut(r.pattern, " ")
		a := c.request(t, httptest.NewRequest(method, address, nil))
		if a.header.Get("Content-Security-Policy") == "" || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s has the headers %v", r.pattern, a.header)
		}
	}
}
