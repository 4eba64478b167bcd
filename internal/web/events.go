package web

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// events keeps the navigation of any page up to date and, with view=tasks, a
// list of tasks. What a browser has is named by a digest of what it shows.
func (s *server) events(w http.ResponseWriter, r *http.Request) error {
	p := s.Principal(r)
	have := lastSeen(r)
	withList := r.URL.Query().Get("view") == "tasks"
	filter := filterOf(r)
	pass := func(ctx context.Context) ([]event, error) {
		counts, err := s.Tasks.Counts(ctx, p)
		if err != nil {
			return nil, err
		}
		shown := []templ.Component{views.NavTasks(counts.NeedsYou, withList)}
		if withList {
			list, err := s.taskRows(ctx, p, filter)
			if err != nil {
				return nil, err
			}
			shown = listComponents(list, counts)
		}
		events, err := fragments(ctx, "", shown...)
		if err != nil || digest(events) == have {
			return nil, err
		}
		have = digest(events)
		events[len(events)-1].id = have
		return events, nil
	}
	return s.follow(w, r, pass, live.OrganisationTopic(p.OrganisationID), live.AccessTopic(p.OrganisationID))
}

// listComponents are the parts of the list's page that change by themselves.
func listComponents(list views.TaskList, counts task.Counts) []templ.Component {
	return []templ.Component{views.TaskRows(list), views.NavTasks(counts.NeedsYou, true)}
}

// lastSeen returns what the browser has seen: by its last event, or by the page
// that it started from.
func lastSeen(r *http.Request) string {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return r.URL.Query().Get("seen")
}
