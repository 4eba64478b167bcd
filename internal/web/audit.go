package web

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// Trail is who did what. List, People and Export are for administrators, and
// fault.Forbidden for others.
type Trail interface {
	List(ctx context.Context, p access.Principal, f trail.Filter) (trail.Page, error)
	// OfTask returns the entries of a task for everybody who may read it, without those
	// about sign-in and access; fault.NotFound for everybody else.
	OfTask(ctx context.Context, p access.Principal, taskID string, f trail.Filter) (trail.Page, error)
	// People returns who is on the trail.
	People(ctx context.Context, p access.Principal) ([]trail.Person, error)
	// Export puts on the trail that entries are exported, and returns them to be written.
	Export(ctx context.Context, p access.Principal, f trail.Filter, format trail.Format) (trail.Export, error)
}

// auditShow shows the trail of the organisation.
func (s *server) auditShow(w http.ResponseWriter, r *http.Request) error {
	shown, err := auditFilter(r)
	if err != nil {
		return err
	}
	if shown.Page, err = s.Trail.List(r.Context(), s.Principal(r), shown.Filter); err != nil {
		return err
	}
	if shown.People, err = s.Trail.People(r.Context(), s.Principal(r)); err != nil {
		return err
	}
	if shown.Shell, err = s.shell(r, "Audit", sectionAudit); err != nil {
		return err
	}
	shown.Shell.WithSheets("list.css", "audit.css")
	return page(r.Context(), w, http.StatusOK, views.Audit(shown))
}

// auditExport hands out the trail, or what a filter leaves of it, as a file to be saved.
func (s *server) auditExport(w http.ResponseWriter, r *http.Request) error {
	wanted, err := auditFilter(r)
	if err != nil {
		return err
	}
	export, err := s.Trail.Export(r.Context(), s.Principal(r), wanted.Filter, trail.Format(r.URL.Query().Get("format")))
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), export.Header())
	if err := export.Write(r.Context(), w); err != nil {
		if r.Context().Err() == nil {
			s.Log.ErrorContext(r.Context(), "an export of the trail broke off", slog.Any("error", err))
		}
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
	return nil
}

// taskTrail shows the trail of a task.
func (s *server) taskTrail(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	if t.ID != r.PathValue("id") {
		return moved(w, r, "/tasks/"+t.ID+"/trail")
	}
	shown := views.AuditPage{Filter: trail.Filter{Cursor: r.URL.Query().Get("cursor")}, Task: &t}
	if shown.Page, err = s.Trail.OfTask(r.Context(), s.Principal(r), t.ID, shown.Filter); err != nil {
		return err
	}
	if shown.Shell, err = s.shell(r, "Who did what", sectionTasks); err != nil {
		return err
	}
	shown.Shell.WithSheets("list.css", "audit.css")
	return page(r.Context(), w, http.StatusOK, views.Audit(shown))
}

// latestDeeds is what the page of a task shows of its trail.
func (s *server) latestDeeds(ctx context.Context, p access.Principal, taskID string) (trail.Page, error) {
	return s.Trail.OfTask(ctx, p, taskID, trail.Filter{Limit: views.LatestDeeds})
}

// newDeeds shows the trail anew if somebody did something with the task meanwhile.
func (s *server) newDeeds(ctx context.Context, p access.Principal, d task.Delta) ([]templ.Component, error) {
	said := slices.ContainsFunc(d.Task.Messages, func(m task.Message) bool { return m.Delivery != nil })
	if !said && len(d.Task.Cancels) == 0 {
		return nil, nil
	}
	latest, err := s.latestDeeds(ctx, p, d.Task.ID)
	return []templ.Component{views.TaskTrail(d.Task.ID, latest)}, err
}

var uuidIn = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// auditFilter reads the filter of the trail's address. Days are those of UTC, and the
// last one is in it; a task may be given by the address of its page.
func auditFilter(r *http.Request) (views.AuditPage, error) {
	q := r.URL.Query()
	p := views.AuditPage{
		Filter: trail.Filter{Kind: audit.Kind(q.Get("kind")), PersonID: q.Get("person"), Cursor: q.Get("cursor")},
		From:   q.Get("from"), To: q.Get("to"),
	}
	if given := strings.TrimSpace(q.Get("task")); given != "" {
		p.Filter.TaskID = given
		if id := uuidIn.FindString(given); id != "" {
			p.Filter.TaskID = strings.ToLower(id)
		}
	}
	for _, day := range []struct {
		given string
		to    *time.Time
		later int
	}{{p.From, &p.Filter.From, 0}, {p.To, &p.Filter.To, 1}} {
		if day.given == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, day.given)
		if err != nil {
			return p, fault.Wrap(err, fault.Invalid, "A day is written as 2026-12-31.")
		}
		*day.to = at.AddDate(0, 0, day.later)
	}
	return p, nil
}
