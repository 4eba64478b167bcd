package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) agentNew(w http.ResponseWriter, r *http.Request) error {
	return s.agentNewPage(w, r, http.StatusOK, "", "")
}

func (s *server) agentNewPage(w http.ResponseWriter, r *http.Request, status int, entered, problem string) error {
	frame, err := s.shell(r, "Add an agent", sectionAgents)
	if err != nil {
		return err
	}
	return page(r.Context(), w, status, views.NewAgent(views.NewAgentPage{Shell: frame, URL: entered, Error: problem}))
}
