package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// product is the running product with its sample agents, and a tab to use it in.
func product(t *testing.T, options ...tabOption) (*apptest.Server, *tab) {
	t.Helper()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	return s, openTab(t, options...)
}

// startTask starts a task and returns its ID once the agent waits for an answer.
func startTask(s *apptest.Server, variant, text string) string {
	sent := s.Send(s.SampleAgent(variant).ID, map[string]string{"text": text})
	s.TaskIn(sent.TaskID, "TASK_STATE_INPUT_REQUIRED")
	return sent.TaskID
}

// reply writes to a task as another program does. The agent asks again.
func reply(s *apptest.Server, variant, taskID, text string) {
	s.Send(s.SampleAgent(variant).ID, map[string]string{"taskId": taskID, "text": text})
	s.TaskWhere(taskID, "asking again", func(t apptest.Task) bool { return t.Question != nil })
}

// isLive waits until the page is connected to the server.
func (p *tab) isLive() {
	p.Helper()
	p.until(`document.querySelector("live-region")?.isLive`)
}

// TestFirstSteps is what the demo tells people to do first.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	agent := s.SampleAgent("form")
	p.visit(s.URL())
	p.shot("welcome")
	p.click(`.steps a[href="/agents/` + agent.ID + `"]`)
	p.until(`document.querySelector("#composer-text")`)
	p.click("#composer-text")
	p.typeText("Deploy the shop")
	p.press(kb.Enter, chromedp.ModifierCtrl)

	p.until(`location.pathname.startsWith("/tasks/") && document.querySelector("#question structured-form")?.fields`)
	p.until(`document.querySelector("#task-state").innerText.trim() === "Waiting for you"`)
	p.until(`document.title === "(1) Waiting for you: Deploy the shop · Taskbay"`)
	p.shot("asked")
	p.click("#f-environment")
	p.fill("#f-replicas", "3")
	p.click("structured-form [type=submit]")

	p.until(`document.querySelector("#task-state").innerText.trim() === "Completed"`)
	p.until(`!document.querySelector("structured-form")`)
	p.until(`document.title === "Completed: Deploy the shop · Taskbay"`)
	p.shot("completed")
	timeline := p.text("#timeline")
	for _, want := range []string{"Environment", "Staging", "Replicas", "3", "Local operator", "Deploying 3 replica(s) to staging."} {
		if !strings.Contains(timeline, want) {
			t.Errorf("the timeline lacks %q:\n%s", want, timeline)
		}
	}
	if got := p.text("label[for=composer-text]"); got != "Continue in a new task" {
		t.Errorf("the composer says %q, want that the task has ended", got)
	}
}

// TestTypingSurvivesUpdates types into the composer while the task changes.
func TestTypingSurvivesUpdates(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click("#composer-text")
	p.typeText("one two three")
	p.press(kb.ArrowLeft)
	p.press(kb.ArrowLeft)
	for _, text := range []string{"First", "Second", "Third"} {
		reply(s, "plain", id, text)
		p.typeText("x")
	}
	p.until(`document.querySelector("#timeline").innerText.includes("Third")`)
	if got, want := p.value("#composer-text"), "one two thrxxxee"; got != want {
		t.Errorf("the composer holds %q, want %q", got, want)
	}
	if got := p.focused(); got != "composer-text" {
		t.Errorf("the focus is on %q, want the composer", got)
	}
	if got := evaluate[int](p, `document.querySelector("#composer-text").selectionStart`); got != 14 {
		t.Errorf("the caret is at %d, want 14", got)
	}
}

// TestFoldsSurviveUpdates opens a fold and selects text while the task changes.
func TestFoldsSurviveUpdates(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click(".task-aside summary") // closes the details
	evaluate[bool](p, `(getSelection().selectAllChildren(document.querySelector("#entry-1 .prose")), true)`)
	reply(s, "plain", id, "Another")
	p.until(`document.querySelector("#timeline").innerText.includes("Another")`)
	if p.has(".task-aside details[open]") {
		t.Error("what was folded is open again")
	}
	if got := evaluate[string](p, `getSelection().toString()`); got != "Deploy the shop" {
		t.Errorf("selected is %q, want the selection kept", got)
	}
}

// TestAnsweredElsewhere has another program answer while a person fills in the
// form: it is closed at once, and what was typed stays.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "form", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.fill("#f-note", "after the break")
	question := s.TaskWhere(id, "asking", func(t apptest.Task) bool { return t.Question != nil }).Question
	s.Send(s.SampleAgent("form").ID, map[string]any{
		"taskId": id, "answers": question.MessageID,
		"parts": []any{map[string]any{"mediaType": "application/json", "data": map[string]any{"environment": "staging", "replicas": 1, "dryRun": true}}},
	})
	p.until(`document.querySelector("structured-form")?.innerText.includes("Answered by Local operator.")`)
	p.shot("closed")
	if got := p.value("#f-note"); got != "after the break" {
		t.Errorf("the note holds %q, want what was typed", got)
	}
	if !p.has("#question > section[data-gone]") {
		t.Error("the card still looks as if it were open")
	}
	p.until(`document.querySelector("#task-state").innerText.trim() === "Completed"`)
	if got := p.value("#f-note"); got != "after the break" {
		t.Errorf("after more updates the note holds %q, want what was typed", got)
	}
	p.reload()
	if p.has("structured-form") {
		t.Error("after a reload the form is still there")
	}
}

// TestListFollows has a task move to the top of the list, under a focus that
// stays where it is.
func TestListFollows(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	first := startTask(s, "plain", "The first task")
	second := startTask(s, "plain", "The second task")
	p.visit(s.URL() + "/tasks")
	p.isLive()
	top := `document.querySelector("#task-rows .row")?.id === args[0]`
	p.until(top, "task-"+second)
	evaluate[bool](p, `(document.querySelector(args[0]).focus(), true)`, "#task-"+first+" a")
	reply(s, "plain", first, "Once more")
	p.until(top, "task-"+first)
	if got := evaluate[string](p, `document.activeElement.closest(".row")?.id ?? ""`); got != "task-"+first {
		t.Errorf("the focus is on %q, want it kept on the row that moved", got)
	}
	p.shot("list")
	third := startTask(s, "plain", "The third task")
	p.until(top, "task-"+third)
	p.until(`document.title === "(3) Tasks · Taskbay"`)
}

// TestHiddenTabCatchesUp has a page that was hidden show what it missed.
func TestHiddenTabCatchesUp(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	setVisibility := func(state string) {
		evaluate[bool](p, `(Object.defineProperty(document, "visibilityState", { configurable: true, value: args[0] }),
			document.dispatchEvent(new Event("visibilitychange")))`, state)
	}
	setVisibility("hidden")
	p.until(`!document.querySelector("live-region").isLive`)
	reply(s, "plain", id, "While you were away")
	if strings.Contains(p.text("#timeline"), "While you were away") {
		t.Error("a hidden page is connected")
	}
	setVisibility("visible")
	p.until(`document.querySelector("#timeline").innerText.includes("While you were away")`)
	if got := p.count("#timeline > li"); got != evaluate[int](p, `new Set(Array.from(document.querySelectorAll("#timeline > li"), (entry) => entry.id)).size`) {
		t.Error("an entry is there twice")
	}
}

// TestDraftOfMessage has a text survive a reload until it is sent.
func TestDraftOfMessage(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click("#composer-text")
	p.typeText("To staging")
	p.press(kb.Enter)
	p.typeText("please")
	p.reload()
	p.until(`document.querySelector("#composer-text").value === "To staging\nplease"`)
	p.click("#composer [type=submit]")
	p.until(`document.querySelector("#timeline").innerText.includes("please")`)
	p.until(`document.querySelector("#composer-text").value === ""`)
	p.reload()
	p.isLive()
	if got := p.value("#composer-text"); got != "" {
		t.Errorf("after it was sent and a reload the composer holds %q", got)
	}
	if got := strings.Count(p.text("#timeline"), "please"); got != 1 {
		t.Errorf("the message is there %d times, want once", got)
	}
}

// TestSendFails keeps the text where the server does not answer, and sends it
// under the same key when it does.
func TestSendFails(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click("#composer-text")
	p.typeText("To staging")
	evaluate[bool](p, `(window.keys = [], window.working = fetch, window.fetch = (address, sent) => {
		keys.push(sent.body.get("key"));
		return Promise.reject(new TypeError("offline"));
	}, true)`)
	p.click("#composer [type=submit]")
	p.until(`document.querySelector("#composer-error").innerText.includes("Your text is kept")`)
	p.shot("failed")
	if got := p.value("#composer-text"); got != "To staging" {
		t.Errorf("the composer holds %q, want the text kept", got)
	}
	evaluate[bool](p, `(window.fetch = (address, sent) => {
		keys.push(sent.body.get("key"));
		return working(address, sent);
	}, true)`)
	p.press(kb.Enter, chromedp.ModifierCtrl)
	p.until(`document.querySelector("#timeline").innerText.includes("To staging")`)
	// The timeline may tell it before the answer to the post is there.
	p.until(`document.querySelector("#composer-text").value === ""`)
	if !evaluate[bool](p, `keys.length === 2 && keys[0] === keys[1] && keys[0].length > 0`) {
		t.Error("the retry of the same text has another key: it could be sent twice")
	}
	if !evaluate[bool](p, `document.querySelector("#composer [name=key]").value !== keys[0]`) {
		t.Error("the next message has the key of the one that was sent")
	}
}

// TestInputMethodSendsNothing presses Enter while an input method converts.
func TestInputMethodSendsNothing(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click("#composer-text")
	p.typeText("本番")
	sent := evaluate[bool](p, `new Promise((resolve) => {
		const text = document.querySelector("#composer-text");
		document.addEventListener("submit", () => resolve(true), { once: true, capture: true });
		for (const extra of [{ isComposing: true, ctrlKey: true }, { keyCode: 229, ctrlKey: true }, {}]) {
			text.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...extra }));
		}
		queueMicrotask(() => resolve(false));
	})`)
	if sent {
		t.Error("Enter sent the message")
	}
}
