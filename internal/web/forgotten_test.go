package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestAForgottenTask says so in the place of its question, asks nothing, and offers to
// begin anew.
func TestAForgottenTask(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.change(askingTask, func(x *task.Task) {
		x.Question, x.NeedsYou, x.ForgottenAt, x.CheckError = nil, false, time.Now(), "The agent does not know this task."
		for i := range x.Messages {
			x.Messages[i].Current = false
		}
	})
	a := c.get(t, "/tasks/"+askingTask).wants(http.StatusOK)
	if got := a.text("#task-state"); got != "Forgotten by the agent" {
		t.Errorf("the state is %q", got)
	}
	if got := a.text("#task-notice"); !strings.Contains(got, "The agent no longer knows this task.") || strings.Contains(got, "could not find out") {
		t.Errorf("the notice is %q", got)
	}
	if got := a.attr("#question", "data-reason"); got != "The agent no longer knows this task." {
		t.Errorf("a live page says %q of what was being entered", got)
	}
	if a.has("#question form") || a.has("#task-actions button") || !a.has("#composer-anew") {
		t.Error("it asks, can be canceled, or does not offer to begin anew")
	}
	if got := c.get(t, "/tasks").text("main"); !strings.Contains(got, "Forgotten by the agent") {
		t.Error("the list does not say so")
	}
}
