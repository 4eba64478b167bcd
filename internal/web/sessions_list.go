package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// sessionsList lists where whoever looks is signed in.
func (s *server) sessionsList(w http.ResponseWriter, r *http.Request) error {
	frame, err := s.settingsShell(r, "My sessions")
	if err != nil {
		return err
	}
	p := views.SessionsPage{Shell: frame, SignsIn: s.signsIn(), Current: s.Principal(r).SessionID}
	if p.SignsIn {
		if p.Sessions, err = s.Sessions.List(r.Context(), s.Principal(r)); err != nil {
			return err
		}
	}
	return page(r.Context(), w, http.StatusOK, views.Sessions(p))
}

// sessionsEnd signs whoever asks out everywhere but here.
func (s *server) sessionsEnd(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.Sessions.EndOthers(r.Context(), s.Principal(r)); err != nil {
		return err
	}
	return moved(w, r, "/settings/sessions")
}
