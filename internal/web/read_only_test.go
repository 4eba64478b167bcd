package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestWhoMayOnlyReadIsOfferedNothing has people who may read a task see what it asks
// and how it stands, and no control that would be refused, on the page and live.
func TestWhoMayOnlyReadIsOfferedNothing(t *testing.T) {
	t.Parallel()
	controls := []string{"<message-composer", "<structured-form", "/answer", "/resend", "/refresh", `id="cancel"`, "Cancel task…", `id="composer-mode"`, "#composer"}
	for who, p := range map[string]access.Principal{
		"a viewer":                      {OrganisationID: "o", PersonID: "p", Role: access.Viewer, Scope: access.ScopeAdminister},
		"an operator with a read grant": {OrganisationID: "o", PersonID: "p", Role: access.Operator, Scope: access.ScopeAdminister},
	} {
		c := newConsole(t)
		c.given = []access.Allowance{{Permission: access.Read}}
		c.actAs(p)
		for id, has := range map[string][]string{
			askingTask:  {"asks for:", "Environment", "Somebody who may operate the agent answers it."},
			workingTask: {"You may read this task"},
			unsureTask:  {"This may have arrived."},
		} {
			w := httptest.NewRecorder()
			c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/tasks/"+id, nil))
			offers(t, who+" on the page of "+id, w.Body.String(), has, controls)
		}

		live := c.watch(t, "/tasks/"+askingTask+"/events?seen=0", "")
		offers(t, who+" live", strings.Join(live.until("nav-tasks"), ""), []string{"asks for:"}, controls)
		live = c.watch(t, "/tasks/"+workingTask+"/events?seen=9", "")
		live.until("nav-tasks")
		c.change(workingTask, func(x *task.Task) {
			x.Cancels = []task.CancelRequest{{Seq: 9, Version: x.Version, Author: "Ana", Delivery: task.Delivery{Status: "uncertain"}}}
		})
		offers(t, who+" after a change", strings.Join(live.untilText(`id="task-details"`), ""), []string{"asked to cancel"}, controls)
	}
}

func offers(t *testing.T, what, page string, has, lacks []string) {
	t.Helper()
	for _, want := range has {
		if !strings.Contains(page, want) {
			t.Errorf("%s: lacks %q", what, want)
		}
	}
	for _, never := range lacks {
		if strings.Contains(page, never) {
			t.Errorf("%s: has %q", what, never)
		}
	}
}
