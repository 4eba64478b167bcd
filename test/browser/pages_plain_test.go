package browser

import (
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// TestWithoutScripts starts a task, answers its form, and cancels another, in a
// browser that runs no scripts.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	withoutScripts(p)
	p.visit(s.URL() + "/agents/" + s.SampleAgent("form").ID)
	p.click("#composer-text")
	p.typeText("Deploy the shop")
	p.click("#composer [type=submit]")
	p.until(`location.pathname.startsWith("/tasks/")`)
	id := strings.TrimPrefix(evaluate[string](p, `location.pathname`), "/tasks/")
	s.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	p.reload()
	p.shot("asked")

	p.fill("#f-replicas", "many")
	p.fill("#f-note", "kept")
	p.expect("status of 422")
	p.click("structured-form [type=submit]")
	p.until(`document.querySelector("#f-environment-error")`)
	if got := p.text("#f-environment-error"); got != "Required" {
		t.Errorf("error = %q, want Required", got)
	}
	if got := p.value("#f-note"); got != "kept" {
		t.Errorf("the note holds %q, want what was typed", got)
	}
	p.click("#f-environment")
	p.fill("#f-replicas", "3")
	p.click("structured-form [type=submit]")
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	p.until(`!document.querySelector("structured-form")`)
	p.reload()
	if got := p.text("#timeline"); !strings.Contains(got, "Deploying 3 replica(s) to staging.") {
		t.Errorf("the timeline lacks the outcome:\n%s", got)
	}
	p.shot("completed")
}

func TestCancelWithoutScripts(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	withoutScripts(p)
	p.visit(s.URL() + "/tasks/" + id)
	p.click("button[commandfor=cancel]")
	p.shot("asks")
	p.click("dialog [command=close]")
	p.until(`!document.querySelector("dialog[open]")`)
	p.click("button[commandfor=cancel]")
	p.click("dialog [type=submit]")
	s.TaskIn(id, "TASK_STATE_CANCELED")
	p.until(`!document.querySelector("dialog[open]")`)
	p.reload()
	if got := p.text("#task-state"); !strings.Contains(got, "Canceled") {
		t.Errorf("state = %q, want Canceled", got)
	}
}

// TestTooLateWithoutScripts answers a question that was answered meanwhile: what
// was entered stays, with the reason.
func TestTooLateWithoutScripts(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "form", "Deploy the shop")
	withoutScripts(p)
	p.visit(s.URL() + "/tasks/" + id)
	p.click("#f-environment")
	p.fill("#f-note", "too late")
	question := s.TaskWhere(id, "asking", func(t apptest.Task) bool { return t.Question != nil }).Question
	s.Send(s.SampleAgent("form").ID, map[string]any{
		"taskId": id, "answers": question.MessageID,
		"parts": []any{map[string]any{"mediaType": "application/json", "data": map[string]any{"environment": "staging", "replicas": 1, "dryRun": true}}},
	})
	p.expect("status of 409")
	p.click("structured-form [type=submit]")
	p.until(`document.querySelector("structured-form[closed]")`)
	if got := p.value("#f-note"); got != "too late" {
		t.Errorf("the note holds %q, want what was typed", got)
	}
	if got := p.text("structured-form"); !strings.Contains(got, "What you entered was not sent.") {
		t.Errorf("the form says %q, want that nothing was sent", got)
	}
	p.shot("too late")
}

func TestWelcomeIsHidden(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	s.SampleAgent("form")
	withoutScripts(p)
	p.visit(s.URL())
	p.click(".welcome [type=submit]")
	p.until(`!document.querySelector(".welcome")`)
	p.visit(s.URL() + "/agents")
	if p.has(".welcome") {
		t.Error("the welcome comes back on another page")
	}
}

// TestAddAgent adds an agent by its address, after a mistake.
func TestAddAgent(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	s.SampleAgent("plain")
	p.visit(s.URL() + "/agents")
	p.click("a[href='/agents/new']")
	p.until(`document.activeElement.id === "card-url"`)
	p.typeText("ftp://nowhere.example")
	p.expect("status of 422")
	p.click("form [type=submit]")
	p.until(`document.querySelector("#card-url-error")?.innerText`)
	if got := p.value("#card-url"); got != "ftp://nowhere.example" {
		t.Errorf("the field holds %q, want what was entered", got)
	}
	p.shot("mistake")
	p.fill("#card-url", s.SampleCardURL("plain"))
	p.click("form [type=submit]")
	p.until(`document.querySelector("h1")?.innerText === "Plain deploy bot"`)
	if got := p.text(".note-info"); !strings.Contains(got, "already here") {
		t.Errorf("note = %q, want that the agent was here", got)
	}
}

// TestExamples puts a skill's example into the composer, behind what is typed.
func TestExamples(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.visit(s.URL() + "/agents/" + s.SampleAgent("form").ID)
	p.until(`customElements.get("message-composer")`)
	example := p.text(".example")
	p.click("#composer-text")
	p.typeText("Mine")
	p.click(".example")
	if got, want := p.value("#composer-text"), "Mine\n\n"+example; got != want {
		t.Errorf("the composer holds %q, want %q", got, want)
	}
	if got := p.focused(); got != "composer-text" {
		t.Errorf("the focus is on %q, want the composer", got)
	}
}

// TestStartForm starts a task with the form that the agent's card offers.
func TestStartForm(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.visit(s.URL() + "/agents/" + s.SampleAgent("form").ID)
	p.click(".segmented a[href*='start=form']")
	p.until(`document.querySelector("#start structured-form")?.fields`)
	p.shot("form")
	p.fill("#f-service", "billing")
	p.click("structured-form [type=submit]")
	p.until(`location.pathname.startsWith("/tasks/") && document.querySelector("#timeline")?.innerText.includes("billing")`)
}
