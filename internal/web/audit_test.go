package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// fakeTrail has what is put into it.
type fakeTrail struct {
	mu       sync.Mutex
	items    []audit.Sealed
	next     string
	filter   trail.Filter // of the last call
	format   trail.Format
	exported int
}

func (f *fakeTrail) page(wanted trail.Filter) trail.Page {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filter = wanted
	return trail.Page{Items: f.items, Next: f.next}
}

func (f *fakeTrail) List(_ context.Context, p access.Principal, wanted trail.Filter) (trail.Page, error) {
	return f.page(wanted), access.Allow(p, access.NeedAdminister)
}

func (f *fakeTrail) OfTask(_ context.Context, _ access.Principal, _ string, wanted trail.Filter) (trail.Page, error) {
	return f.page(wanted), nil
}

func (f *fakeTrail) People(context.Context, access.Principal) ([]trail.Person, error) {
	return []trail.Person{{ID: "ada", Name: "Ada"}}, nil
}

func (f *fakeTrail) Export(_ context.Context, p access.Principal, wanted trail.Filter, format trail.Format) (trail.Export, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return trail.Export{}, err
	}
	f.page(wanted)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exported++
	f.format = format
	return trail.Export{}, fault.New(fault.Conflict, "counted")
}

func answered(taskID string) audit.Sealed {
	return audit.Sealed{
		Entry: audit.Entry{
			ID: "entry", DeedID: "entry", OrganisationID: "local", At: time.Now(), Action: audit.QuestionAnswered, Kind: audit.KindCommand,
			Actor: audit.Actor{Kind: "person", ID: "ada", Name: "<b>Ada", SessionID: "session-1"}, AgentID: "agent-1", AgentName: "Deploy\u202e bot", TaskID: taskID,
			ContentSHA256: strings.Repeat("a", 64), Detail: map[string]string{"question": "<i>q"},
		},
		Link: audit.Link{Seq: 12, Hash: strings.Repeat("b", 64)},
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	p := c.get(t, "/audit")
	p.wants(http.StatusOK)
	p.says("main", "Nothing yet")
	p.one("nav a[href=/audit]")

	id := c.tasks[0].ID
	c.trail.items, c.trail.next = []audit.Sealed{answered(id)}, "more"
	p = c.get(t, "/audit?kind=command&person=ada&from=2026-12-01&to=2026-12-01&task=http://x/tasks/"+id)
	p.wants(http.StatusOK)
	p.says(".deed summary", "<b>Ada answered a question of Deploy")
	p.says(".deed-facts", "signed in with a browser")
	p.says(".deed-facts", "#12 in the chain")
	p.says(".deed-facts", "<i>q")
	p.lacks(".deed b")
	p.lacks(".deed i")
	p.one(`option[value=ada][selected]`)
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	want := trail.Filter{TaskID: id, Kind: audit.KindCommand, PersonID: "ada", From: day, To: day.AddDate(0, 0, 1)}
	if c.trail.filter != want {
		t.Errorf("the filter is %+v, want %+v", c.trail.filter, want)
	}
	if got := p.attr(`a[rel=next]`, "href"); !strings.Contains(got, "cursor=more") || !strings.Contains(got, "person=ada") || !strings.Contains(got, id) {
		t.Errorf("older entries are at %s", got)
	}
	links := p.all("a[download]")
	if len(links) != 2 {
		t.Fatalf("there are %d exports, want 2", len(links))
	}
	export, _ := attribute(links[0], "href")
	c.get(t, export).wants(http.StatusConflict)
	if c.trail.filter != want || c.trail.exported != 1 || c.trail.format != trail.CSV {
		t.Errorf("%s exports %+v as %s", export, c.trail.filter, c.trail.format)
	}
	c.get(t, "/audit?from=yesterday").wants(http.StatusBadRequest)
	c.trail.items = nil
	c.get(t, "/audit?kind=access").says("main", "No entry fits")
}

// TestTheTrailIsForAdministrators: others see that of a task that they may read alone.
func TestTheTrailIsForAdministrators(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	operator := access.LocalOperator()
	operator.Role = access.Operator
	c.actAs(operator)
	c.get(t, "/audit").wants(http.StatusForbidden)
	c.get(t, "/audit/export?format=csv").wants(http.StatusForbidden)
	c.get(t, "/tasks").lacks("nav a[href=/audit]")
	id := c.tasks[0].ID
	c.trail.items = []audit.Sealed{answered(id)}
	p := c.get(t, "/tasks/"+id+"/trail")
	p.wants(http.StatusOK)
	p.says(".deed summary", "answered a question of Deploy")
	p.lacks("a[href=/audit]")
	c.get(t, "/tasks/none/trail").wants(http.StatusNotFound)
}

// TestATaskShowsItsTrail: folded away on its page, and anew when somebody does something.
func TestATaskShowsItsTrail(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.tasks[0].ID
	c.trail.items = []audit.Sealed{answered(id)}
	p := c.get(t, "/tasks/"+id)
	p.says("#task-trail", "answered a question of Deploy")
	p.one(`#task-trail a[href="/tasks/` + id + `/trail"]`)
	p.lacks("details[open] #task-trail")
	for said, want := range map[bool]bool{true: true, false: false} {
		d := task.Delta{Task: task.Task{ID: id}}
		if said {
			d.Task.Messages = []task.Message{{Delivery: &task.Delivery{}}}
		}
		shown, err := c.newDeeds(t.Context(), access.LocalOperator(), d)
		if err != nil || (len(shown) > 0) != want {
			t.Errorf("with a message of a person: %v, the trail is shown %d times, %v", said, len(shown), err)
		}
	}
}
