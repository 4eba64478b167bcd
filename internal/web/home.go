package web

import (
	"net/http"
	"slices"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// home leads to the list of tasks, which also says what to do on a fresh install.
func (s *server) home(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/tasks", http.StatusSeeOther)
	return nil
}

const welcomeCookie = "taskbay-welcome"

// welcomeDismiss hides the demo's panel in this browser.
func (s *server) welcomeDismiss(w http.ResponseWriter, r *http.Request) error {
	http.SetCookie(w, &http.Cookie{
		Name: welcomeCookie, Value: "hidden", Path: "/", MaxAge: 30 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return moved(w, r, "/tasks")
}

// welcome returns what the demo's panel shows, or nil if there is none to show:
// it was hidden, or its steps are done.
func (s *server) welcome(r *http.Request, agents []agent.Agent) (*views.Welcome, error) {
	if _, err := r.Cookie(welcomeCookie); !s.Demo || err == nil || access.Allow(s.Principal(r), access.NeedOperate) != nil {
		return nil, nil // no panel is no fault
	}
	var w views.Welcome
	asks := func(a agent.Agent) bool { return a.Advertises(form.URI) && a.Health.Status == agent.HealthReachable }
	i := slices.IndexFunc(agents, asks)
	if i < 0 && access.Allow(s.Principal(r), access.NeedAdminister) != nil {
		return nil, nil // likewise: there is nothing for them to try
	}
	if i < 0 {
		return &w, nil
	}
	w.Agent = &agents[i]
	done, err := s.Tasks.List(r.Context(), s.Principal(r), task.Filter{AgentID: w.Agent.ID, State: a2a.StateCompleted, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(done.Items) > 0 {
		return nil, nil // likewise
	}
	return &w, nil
}
