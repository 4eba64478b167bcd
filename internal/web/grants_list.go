package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// grantsList lists who may do what with which agent.
func (s *server) grantsList(w http.ResponseWriter, r *http.Request) error {
	agents, err := s.Agents.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	grants, err := s.Grants.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	frame, err := s.settingsShell(r, "Access")
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.Grants(views.GrantsPage{Shell: frame, Agents: agents, Grants: grants, SignsIn: s.signsIn()}))
}
