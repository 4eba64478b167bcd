package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// agentPreview shows the agent at the address that was entered, and adds nothing.
func (s *server) agentPreview(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	entered := r.PostForm.Get("cardUrl")
	a, err := s.AgentSettings.Preview(r.Context(), s.Principal(r), entered)
	if kind := fault.KindOf(err); err != nil && (kind == fault.Invalid || kind == fault.Unprocessable) {
		return s.agentNewPage(w, r, kind.Status(), entered, fault.Public(err).Message)
	}
	if err != nil {
		return err
	}
	p := views.PreviewPage{Agent: a, Score: agent.Score(a.Findings)}
	if p.Shell, err = s.shell(r, "Preview of "+a.Name, sectionAgents); err != nil {
		return err
	}
	p.Shell.WithSheets("task.css", "agent.css")
	return page(r.Context(), w, http.StatusOK, views.Preview(p))
}
