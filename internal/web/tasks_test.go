package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func TestTasksList(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/tasks").wants(http.StatusOK)

	var rows []string
	for _, n := range a.all("#task-rows a.row-link") {
		rows = append(rows, textOfNode(n))
	}
	want := []string{
		"Write the release notes for November", "Deploy the shop", "Read the mailbox", "Book a room for Thursday",
		"Deploy billing, three replicas", "How is the search service?", "Roll the shop back",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows mismatch (-want +got):\n%s", diff)
	}
	if got, want := a.text("#task-"+askingTask+" .chip-waiting"), "Waiting for you"; got != want {
		t.Errorf("chip = %q, want %q", got, want)
	}
	if got, want := a.attr("#task-"+askingTask+" a", "href"), "/tasks/"+askingTask+"#question"; got != want {
		t.Errorf("a waiting row leads to %q, want %q", got, want)
	}
	if got, want := a.text("title"), "(3) Tasks · Taskbay"; got != want {
		t.Errorf("title = %q, want %q", got, want)
	}
	if got, want := a.text("#nav-tasks .badge"), "3 waiting for you"; got != want {
		t.Errorf("badge = %q, want %q", got, want)
	}
	if got, want := a.attr("a[rel=next]", "href"), "/tasks?cursor=older"; got != want {
		t.Errorf("next page = %q, want %q", got, want)
	}
}

func TestTasksListFilter(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/tasks?needs=you&q=room&state=TASK_STATE_INPUT_REQUIRED&agent="+oddAgent).wants(http.StatusOK)
	if got := len(a.all(".row")); got != 1 {
		t.Errorf("%d rows, want the one that fits", got)
	}
	if got := a.attr("#filter-q", "value"); got != "room" {
		t.Errorf("the text of the filter is %q, want it kept", got)
	}
	for _, selector := range []string{
		"#filter-state option[value=TASK_STATE_INPUT_REQUIRED][selected]",
		"#filter-agent option[value=" + oddAgent + "][selected]",
		".filters input[name=needs][value=you]",
	} {
		if !a.has(selector) {
			t.Errorf("%s is missing: the filter forgets what was chosen", selector)
		}
	}
	live := a.attr("live-region", "src")
	for _, part := range []string{"/events?", "q=room", "needs=you", "agent=" + oddAgent, "view=tasks"} {
		if !strings.Contains(live, part) {
			t.Errorf("live source %q lacks %q", live, part)
		}
	}
}

// TestTasksListTellsWhatWasNotSent has the list, the filter and the title of the
// page use one word for it.
func TestTasksListTellsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/tasks?state=not-sent").wants(http.StatusOK)
	if got := a.text(".row .chip-failed"); got != "Not sent" {
		t.Errorf("the list says %q, want that it was not sent", got)
	}
	if got := a.text("#filter-state option[selected]"); got != "Not sent" {
		t.Errorf("the filter says %q, want what was chosen", got)
	}
	if live := a.attr("live-region", "src"); !strings.Contains(live, "state=not-sent") {
		t.Errorf("live source %q forgets the state", live)
	}
	if got := c.get(t, "/tasks/"+failedTask).text("title"); !strings.Contains(got, "Not sent: ") {
		t.Errorf("title = %q, want it to begin with the state", got)
	}
}

func TestTasksListEmpty(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		address string
		prepare func(*console)
		heading string
		action  string
	}{
		"fresh install":    {"/tasks", func(c *console) { c.agents, c.tasks = nil, nil }, "Add your first agent", "/agents/new"},
		"no task yet":      {"/tasks", func(c *console) { c.tasks = nil }, "No tasks yet", "/agents?choose=1"},
		"nothing waits":    {"/tasks?needs=you", func(c *console) { c.tasks = nil }, "Nothing waits for you", "/tasks"},
		"nothing fits":     {"/tasks?q=nowhere", func(*console) {}, "No task fits", "/tasks"},
		"nothing that old": {"/tasks?cursor=x", func(c *console) { c.tasks = nil }, "No older tasks", "/tasks"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			tc.prepare(c)
			a := c.get(t, tc.address).wants(http.StatusOK)
			if got := a.text(".empty h2"); got != tc.heading {
				t.Errorf("heading = %q, want %q", got, tc.heading)
			}
			if !a.has("#task-list a[href=" + tc.action + "]") {
				t.Errorf("no way on to %s", tc.action)
			}
		})
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/").wants(http.StatusSeeOther)
	if got := a.header.Get("Location"); got != "/tasks" {
		t.Errorf("Location = %q, want /tasks", got)
	}
}

func TestNewTaskLeadsToAgentsToChooseFrom(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	address := c.get(t, "/tasks").attr(".page-head a.primary", "href")
	if got := c.get(t, address).wants(http.StatusOK).text("main .note"); !strings.HasPrefix(got, "Choose the agent") {
		t.Errorf("%s says %q, want what to do there", address, got)
	}
	if c.get(t, "/agents").has("main > .note") {
		t.Error("the list of agents says to choose one to somebody who only looks")
	}
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	if c.get(t, "/tasks").has(".welcome") {
		t.Error("the welcome shows without the demo")
	}
	c.Demo = true
	if c.get(t, "/tasks").has(".welcome") {
		t.Error("the welcome stays although its steps are done")
	}
	c.tasks = slices.DeleteFunc(c.tasks, func(x task.Task) bool { return x.ID == doneTask })
	a := c.get(t, "/tasks")
	if got, want := a.attr(".steps a", "href"), "/agents/"+formAgent; got != want {
		t.Errorf("the first step leads to %q, want the agent that asks with a form, %q", got, want)
	}
	dismissed := c.post(t, "/welcome", nil).wants(http.StatusSeeOther)
	r := formRequest("/tasks", url.Values{})
	r.Method = http.MethodGet
	r.Header.Set("Cookie", dismissed.header.Get("Set-Cookie"))
	if c.request(t, r).has(".welcome") {
		t.Error("the welcome comes back after it was hidden")
	}
}

func TestTasksListFailure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err    error
		status int
		said   string
	}{
		"internal": {http.ErrBodyNotAllowed, http.StatusInternalServerError, "Something went wrong"},
		"invalid":  {fault.New(fault.Invalid, "This is no place in the list."), http.StatusBadRequest, "This is no place in the list."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			c.refusal = tc.err
			a := c.get(t, "/tasks").wants(tc.status)
			if got := a.text("main"); !strings.Contains(got, tc.said) || strings.Contains(got, http.ErrBodyNotAllowed.Error()) {
				t.Errorf("the page says %q, want %q and nothing internal", got, tc.said)
			}
		})
	}
}
