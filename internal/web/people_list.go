package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// peopleList lists the members of the organisation.
func (s *server) peopleList(w http.ResponseWriter, r *http.Request) error {
	members, err := s.Members.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	presences, err := s.Sessions.Presences(r.Context(), s.Principal(r), "")
	if err != nil {
		return err
	}
	frame, err := s.settingsShell(r, "People")
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.People(views.PeoplePage{
		Shell: frame, Members: members, Presences: presences, SignsIn: s.signsIn(),
	}))
}
