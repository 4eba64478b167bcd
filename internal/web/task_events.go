package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// taskEvents keeps the page of a task up to date. What a browser has is named by
// the task's version.
func (s *server) taskEvents(w http.ResponseWriter, r *http.Request) error {
	p := s.Principal(r)
	id := r.PathValue("id")
	seen, err := strconv.ParseInt(lastSeen(r), 10, 64)
	if err != nil {
		seen = 0
	}
	pass := func(ctx context.Context) ([]event, error) {
		delta, err := s.Tasks.Changes(ctx, p, id, seen)
		if err != nil {
			return nil, err
		}
		if delta.Task.Version < seen { // as after a restore
			if delta, err = s.Tasks.Changes(ctx, p, id, 0); err != nil {
				return nil, err
			}
		}
		if delta.Task.ID != id {
			return []event{{name: "moved", data: []byte("/tasks/" + delta.Task.ID)}}, nil
		}
		counts, err := s.Tasks.Counts(ctx, p)
		if err != nil {
			return nil, err
		}
		deeds, err := s.newDeeds(ctx, p, delta)
		if err != nil {
			return nil, err
		}
		shown := views.TaskPage{Task: delta.Task, Question: openForm(delta.Task)}
		if delta.Task.Version > delta.Since {
			reach, err := s.Agents.Reach(ctx, p, delta.Task.AgentID)
			if err != nil {
				return nil, err
			}
			shown.ReadOnly = !reach.Operates(delta.Task.SkillID)
		}
		events, err := taskFragments(ctx, delta, shown, counts, deeds...)
		seen = delta.Task.Version
		return events, err
	}
	return s.follow(w, r, pass, live.TaskTopic(id), live.OrganisationTopic(p.OrganisationID), live.AccessTopic(p.OrganisationID))
}

func taskFragments(ctx context.Context, delta task.Delta, page views.TaskPage, counts task.Counts, more ...templ.Component) ([]event, error) {
	var shown []templ.Component
	if delta.Task.Version > delta.Since {
		shown = page.Fragments()
	}
	shown = append(shown, views.NavTasks(counts.NeedsYou, true))
	shown = append(shown, more...)
	return fragments(ctx, strconv.FormatInt(delta.Task.Version, 10), shown...)
}
