package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) teamsList(w http.ResponseWriter, r *http.Request) error {
	teams, err := s.Teams.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	frame, err := s.settingsShell(r, "Teams")
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.Teams(views.TeamsPage{Shell: frame, Teams: teams, SignsIn: s.signsIn()}))
}
