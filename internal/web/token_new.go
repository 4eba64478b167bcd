package web

import (
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// tokenNew is where an API token is made: one's own, or one of a service account.
func (s *server) tokenNew(w http.ResponseWriter, r *http.Request) error {
	ends := time.Now().UTC().Add(access.TokenLife).Format(time.DateOnly)
	return s.newTokenPage(w, r, http.StatusOK, views.NewTokenPage{
		For: r.URL.Query().Get("for"), Entered: views.EnteredToken{Scope: access.ScopeRead, Expires: ends},
	})
}

// newTokenPage completes a page with whose token it is to be, and shows it.
func (s *server) newTokenPage(w http.ResponseWriter, r *http.Request, status int, p views.NewTokenPage) error {
	by := s.Principal(r)
	p.Role = by.Role
	if p.For == by.PersonID {
		p.For = ""
	}
	if p.For != "" {
		m, err := s.Members.Get(r.Context(), by, p.For)
		if err != nil {
			return err
		}
		if m.Kind != access.KindService {
			return fault.New(fault.NotFound, "There is no such service account; people make their own tokens.")
		}
		p.Owner, p.Role = m.Name, m.Role
	}
	var err error
	if p.Shell, err = s.settingsShell(r, "Make an API token"); err != nil {
		return err
	}
	return page(r.Context(), w, status, views.NewToken(p))
}

// tokenMake makes a token and shows its secret, this once: in the answer itself, so that
// it is in no address and nowhere kept.
func (s *server) tokenMake(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	get := r.PostForm.Get
	entered := views.EnteredToken{Name: get("name"), Scope: access.Scope(get("scope")), Expires: get("expires")}
	asked := access.NewToken{MembershipID: get("for"), Name: entered.Name, Scope: entered.Scope, ExpiresAt: endOfDay(entered.Expires)}
	made, secret, err := s.Tokens.Create(r.Context(), s.Principal(r), asked)
	if err != nil {
		status, faults, ok := toCorrect(err, map[string]string{"expiresAt": "expires"})
		if !ok {
			return err
		}
		return s.newTokenPage(w, r, status, views.NewTokenPage{For: asked.MembershipID, Entered: entered, Faults: faults})
	}
	frame, err := s.settingsShell(r, "API token made")
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.MadeToken(views.MadeTokenPage{
		Shell: frame, Token: made, Secret: secret, Origin: s.origin(r), Own: made.MembershipID == s.Principal(r).PersonID,
	}))
}

// endOfDay is the last moment of a day; for a text that is no day a time long past,
// which is refused with the reason.
func endOfDay(day string) time.Time {
	start, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Unix(0, 0)
	}
	return start.AddDate(0, 0, 1).Add(-time.Microsecond)
}

// origin is where programs find the API, for an example.
func (s *server) origin(r *http.Request) string {
	if s.Door.Origin != "" {
		return s.Door.Origin
	}
	return "http://" + r.Host // which the door let in: a loopback one
}
