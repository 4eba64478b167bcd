package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

func (s *server) tasksList(w http.ResponseWriter, r *http.Request) error {
	agents, err := s.Agents.List(r.Context(), s.Principal(r))
	if err != nil {
		return err
	}
	list, err := s.taskRows(r.Context(), s.Principal(r), filterOf(r))
	if err != nil {
		return err
	}
	frame, err := s.shell(r, "Tasks", sectionTasks)
	if err != nil {
		return err
	}
	frame.WithSheets("list.css")
	shown, err := fragments(r.Context(), "", listComponents(list, task.Counts{NeedsYou: frame.NeedsYou})...)
	if err != nil {
		return err
	}
	welcome, err := s.welcome(r, agents)
	if err != nil {
		return err
	}
	frame.Live = list.Live(digest(shown))
	return page(r.Context(), w, http.StatusOK, views.Tasks(views.TasksPage{
		Shell: frame, List: list, Agents: agents, Welcome: welcome,
	}))
}

// taskRows returns one page of tasks. Whether there are agents matters to it
// only if it is empty.
func (s *server) taskRows(ctx context.Context, p access.Principal, f task.Filter) (views.TaskList, error) {
	found, err := s.Tasks.List(ctx, p, f)
	if err != nil {
		return views.TaskList{}, err
	}
	list := views.TaskList{
		Filter: f, Page: found, AnyAgents: true,
		MayStart: access.Allow(p, access.NeedOperate) == nil, MayAdd: access.Allow(p, access.NeedAdminister) == nil,
	}
	if len(found.Items) == 0 {
		agents, err := s.Agents.List(ctx, p)
		if err != nil {
			return views.TaskList{}, err
		}
		list.AnyAgents = len(agents) > 0
	}
	return list, nil
}

// filterOf reads the filter of a list's address.
func filterOf(r *http.Request) task.Filter {
	q := r.URL.Query()
	f := task.Filter{
		AgentID:  q.Get("agent"),
		NeedsYou: q.Get("needs") == "you",
		Query:    q.Get("q"),
		Cursor:   q.Get("cursor"),
	}
	// The console's own words for how a task stands are in small letters.
	if state := q.Get("state"); strings.HasPrefix(state, "TASK_STATE_") {
		f.State = a2a.State(state)
	} else {
		f.Standing = task.Standing(state)
	}
	return f
}
