package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) agentsList(w http.ResponseWriter, r *http.Request) error {
	agents, err := s.Agents.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	frame, err := s.shell(r, "Agents", sectionAgents)
	if err != nil {
		return err
	}
	var lacking map[string]bool
	if frame.Administers {
		bindings, err := s.Credentials.List(r.Context(), s.Principal(r))
		if err != nil {
			return err
		}
		lacking = credential.Lacking(agents, bindings)
	}
	welcome, err := s.welcome(r, agents)
	if err != nil {
		return err
	}
	frame.WithSheets("list.css")
	return page(r.Context(), w, http.StatusOK, views.Agents(views.AgentsPage{
		Shell: frame, Agents: agents, Lacking: lacking, Welcome: welcome,
		Choosing: r.URL.Query().Has("choose"),
	}))
}
