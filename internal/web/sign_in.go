package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/telemetry"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// SignIn finds out who somebody is, from a provider.
type SignIn interface {
	// Provider is the provider's host, and SignOutURL its page to sign out there as
	// well; "" if it has none.
	Provider() string
	SignOutURL() string
	// Issuer is what the provider calls itself, by which people are known.
	Issuer() string
	// Secure reports whether the pages are opened over TLS.
	Secure() bool
	// Begin returns the address at the provider to go to, and what Cookie has the
	// browser keep meanwhile; fault.Unavailable if the provider does not answer.
	Begin(ctx context.Context, to string) (address, keep string, err error)
	// Finish ends the sign-in that the browser has under way. It returns whom to let in
	// and the page that they were going to; fault.SignedOut, whatever is wrong, for
	// somebody who is not to be let in.
	Finish(r *http.Request) (m signin.Member, to string, err error)
	// Cookie has the browser keep a sign-in under way, and Forget drop it.
	Cookie(keep string) *http.Cookie
	Forget() *http.Cookie
}

// Sessions keeps who is signed in.
type Sessions interface {
	// Begin returns the secret that the browser keeps, and when it stops to work;
	// fault.Forbidden if the member may not sign in.
	Begin(ctx context.Context, membershipID, client string) (secret string, expires time.Time, err error)
	// End ends the session that the principal came by, EndOthers all of theirs but that
	// one, and List returns those that are in use.
	End(ctx context.Context, p access.Principal) error
	EndOthers(ctx context.Context, p access.Principal) (ended int64, err error)
	List(ctx context.Context, p access.Principal) ([]access.Session, error)
	// Presences says, to administrators, how the people of the organisation are signed
	// in; one of them alone unless memberID is "".
	Presences(ctx context.Context, p access.Principal, memberID string) (map[string]access.Presence, error)
}

// signInRoutes are the pages of signing in, which are there if people do.
func (s *server) signInRoutes() []route {
	if !s.signsIn() {
		return nil
	}
	return []route{
		{"GET /signin", access.NeedSignIn, s.signInShow},
		{"GET /auth/login", access.NeedSignIn, s.signInBegin},
		{"GET " + signin.CallbackPath, access.NeedSignIn, s.signInFinish},
		{"POST /auth/signout", access.NeedSignIn, s.signOut},
	}
}

// signInPath is the page to sign in, for somebody who was going to a page.
func signInPath(to string) string {
	if to = signin.Path(to); to == "/" {
		return "/signin"
	}
	return "/signin?" + url.Values{"to": {to}}.Encode()
}

// signedIn reports whether somebody makes this request.
func (s *server) signedIn(r *http.Request) bool { return s.Principal(r).PersonID != "" }

// signInShow asks somebody to sign in. Who is signed in goes on to where they were
// going.
func (s *server) signInShow(w http.ResponseWriter, r *http.Request) error {
	to := signin.Path(r.URL.Query().Get("to"))
	if s.signedIn(r) {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	_, out := r.URL.Query()["out"]
	title := "Sign in"
	if out {
		title = "Signed out"
	}
	return page(r.Context(), w, http.StatusOK, views.SignIn(views.SignInPage{
		Shell: s.outsideShell(title), Provider: s.SignIn.Provider(), To: to, SignedOut: out, SignOutURL: s.SignIn.SignOutURL(),
	}))
}

// signInBegin sends the browser to the provider.
func (s *server) signInBegin(w http.ResponseWriter, r *http.Request) error {
	address, keep, err := s.SignIn.Begin(r.Context(), r.URL.Query().Get("to"))
	if err != nil {
		return err
	}
	http.SetCookie(w, s.SignIn.Cookie(keep))
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// signInFinish lets somebody in who comes back from the provider.
func (s *server) signInFinish(w http.ResponseWriter, r *http.Request) error {
	http.SetCookie(w, s.SignIn.Forget())
	member, to, err := s.SignIn.Finish(r)
	if err != nil {
		return s.signInRefused(w, r, err)
	}
	secret, expires, err := s.Sessions.Begin(r.Context(), member.ID, r.UserAgent())
	if err != nil {
		return s.signInRefused(w, r, err)
	}
	if p := s.Principal(r); p.SessionID != "" { // somebody signs in over a session, which nothing holds any more
		if err := s.Sessions.End(r.Context(), p); err != nil {
			return err
		}
	}
	http.SetCookie(w, httpguard.SessionCookie(s.SignIn.Secure(), secret, expires))
	s.Log.InfoContext(r.Context(), "somebody signed in", "member", member.ID)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// signInRefused answers everybody who is not let in alike. What else went wrong is an
// error as everywhere.
func (s *server) signInRefused(w http.ResponseWriter, r *http.Request, err error) error {
	switch fault.KindOf(err) {
	case fault.SignedOut, fault.Forbidden:
		return page(r.Context(), w, http.StatusUnauthorized, views.SignInRefused(views.SignInRefusedPage{
			Shell: s.outsideShell("Not signed in"), Request: w.Header().Get(telemetry.RequestIDHeader),
		}))
	}
	return err
}

// signOut ends the session of this browser. The provider is not told: see
// docs/sign-in.md.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) error {
	p := s.Principal(r)
	if err := s.Sessions.End(r.Context(), p); err != nil {
		return err
	}
	http.SetCookie(w, httpguard.ForgetSession(s.SignIn.Secure()))
	if p.SessionID != "" {
		s.Log.InfoContext(r.Context(), "somebody signed out", "member", p.PersonID)
	}
	http.Redirect(w, r, "/signin?out", http.StatusSeeOther)
	return nil
}

// outsideShell is the frame of a page for somebody who is not signed in.
func (s *server) outsideShell(title string) views.Shell {
	frame := s.bareShell(title, "")
	frame.Outside = true
	return frame
}

// sendToSignIn sends a browser that asks for a page, and is not signed in, to the page
// to sign in, and reports whether it did. What is posted is not: it would be lost.
func (s *server) sendToSignIn(w http.ResponseWriter, r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	switch {
	case !s.signsIn(), wantsJSON(r), r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	case mode != "" && mode != "navigate": // a live stream, or a picture
		return false
	}
	http.Redirect(w, r, signInPath(r.URL.RequestURI()), http.StatusSeeOther)
	return true
}
