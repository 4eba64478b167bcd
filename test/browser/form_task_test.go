package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func updatesLeaveTypingAlone(t *testing.T) {
	const updates = 12
	s := newStage(t, twoTexts)
	p := s.open(t)
	p.fill("#f-line", "begin end")
	for range " end" {
		p.press(kb.ArrowLeft)
	}
	s.progressEvery(t, 200*time.Millisecond)
	arrived := func() int { return p.count("#timeline > .entry-artifact") }
	want := "begin"
	for char := 0; arrived() < updates; char++ {
		if char == 1_000 {
			t.Fatalf("%d updates arrived while %d characters were typed, want %d", arrived(), char, updates)
		}
		next := string(rune('a' + char%26))
		p.typeText(next)
		want += next
	}
	if got := p.value("#f-line"); got != want+" end" {
		t.Errorf("value = %q, want %q", got, want+" end")
	}
	caret := evaluate[int](p, `document.querySelector("#f-line").selectionStart`)
	if caret != len(want) || p.focused() != "f-line" {
		t.Errorf("caret at %d in %q, want it at %d in f-line", caret, p.focused(), len(want))
	}
}

func updatesLeaveFormAlone(t *testing.T) {
	s := newStage(t, readTestdata(t, "everything.json"))
	p := s.open(t)
	p.expect("net::ERR_INCOMPLETE_CHUNKED_ENCODING")
	p.click(optionOf("environment", 1))
	p.choose("#f-region", "6")
	p.fill("#f-owner", "Grace")
	p.click("#f-notify")
	p.fill("#f-replicas", "99")
	p.press(kb.Tab) // an error is shown
	before, errs := standing(p), shownErrors(p)

	s.progress("first")
	s.change(func(t *task.Task) {
		t.Transitions = append(t.Transitions, task.Transition{Seq: t.Version, Version: t.Version, State: a2a.StateInputRequired})
	})
	p.until(`document.querySelector("#timeline").innerText.includes("first")`)
	s.CloseClientConnections()
	p.until(`!document.querySelector("live-region").isLive`)
	s.progress("second")
	p.until(`document.querySelector("#timeline").innerText.includes("second")`)
	if diff := cmp.Diff(before, standing(p)); diff != "" {
		t.Errorf("after updates and a reconnect mismatch (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(errs, shownErrors(p)); diff != "" || len(errs) == 0 {
		t.Errorf("errors mismatch (-before +after):\n%s", diff)
	}
	p.reload()
	p.until(`document.querySelector(".form-restored")`)
	if diff := cmp.Diff(before, standing(p)); diff != "" {
		t.Errorf("after a reload mismatch (-before +after):\n%s", diff)
	}
}

func otherPanelsLeaveFormAlone(t *testing.T) {
	s := newStage(t, twoTexts)
	p := s.open(t)
	p.fill("#f-lines", "half\ntyped")
	p.click(".task-aside summary")
	p.click("[commandfor=cancel]")
	s.progress("under a dialog")
	p.until(`document.querySelector("#timeline").innerText.includes("under a dialog")`)
	p.press(kb.Escape)
	p.until(`!document.querySelector("#cancel").open`)
	p.fill("#composer-text", "something else")
	s.progress("under the composer")
	p.until(`document.querySelector("#timeline").innerText.includes("under the composer")`)
	if got := p.value("#f-lines"); got != "half\ntyped" {
		t.Errorf("value = %q, want what was typed", got)
	}
}

// deployment is the form of the sample agent, filled in by hand.
func fillDeployment(p *tab) {
	p.Helper()
	p.click(optionOf("environment", 1))
	p.fill("#f-replicas", "3")
	p.fill("#f-note", "after lunch")
}

// openTask opens a task of the sample agent that waits for its form.
func openTask(t *testing.T, options ...tabOption) (s *apptest.Server, p *tab, id string) {
	t.Helper()
	s, p = product(t, options...)
	id = startTask(s, "form", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.until(`document.querySelector("#f-environment")`)
	return s, p, id
}

// answers counts the answers to forms in a task.
func answers(s *apptest.Server, id string) int {
	n := 0
	for _, m := range s.TaskWhere(id, "readable", func(apptest.Task) bool { return true }).Messages {
		if m.Role == "user" && len(m.Parts) == 1 && m.Parts[0].MediaType == "application/json" {
			n++
		}
	}
	return n
}

func answeredFormShowsAnswer(t *testing.T) {
	s, p, id := openTask(t)
	other := openTab(t)
	other.visit(s.URL() + "/tasks/" + id)
	other.until(`document.querySelector("structured-form")?.fields && document.querySelector("live-region").isLive`)
	fillDeployment(p)
	p.click("structured-form [type=submit]")
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	check := func(p *tab, when string) {
		p.Helper()
		p.until(`document.querySelector(".form-answered")`)
		if text := p.text(".form-answered"); !strings.Contains(text, "Production, for customers") || !strings.Contains(text, "after lunch") {
			t.Errorf("%s the answer reads %q", when, text)
		}
		p.until(`!document.querySelector("structured-form")`)
	}
	check(p, "at once")
	check(other, "for another person")
	p.shot("answered")
	p.reload()
	check(p, "after a reload")
}

func timelineTellsAnswer(t *testing.T) {
	s, p, id := openTask(t)
	fillDeployment(p)
	p.click("structured-form [type=submit]")
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	p.until(`document.querySelector(".form-answered")`)
	rows := evaluate[[][]string](p, `Array.from(document.querySelectorAll(".form-answered dl > div"),
		(row) => [row.querySelector("dt").innerText.trim(), row.querySelector("dd").innerText.trim().replace(/\s+/g, " ")])`)
	want := [][]string{
		{"Environment", "Production, for customers production"},
		{"Replicas", "3"},
		{"Note for the log", "after lunch"},
		{"Dry run: change nothing, only say what would happen", "No"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("the answer in the timeline mismatch (-want +got):\n%s", diff)
	}
	if who := p.text("li:has(.form-answered) .entry-head"); !strings.Contains(who, "Local operator") {
		t.Errorf("the entry's head is %q, want who answered", who)
	}
}

func taskReloadRestores(t *testing.T) {
	_, p, _ := openTask(t)
	fillDeployment(p)
	before := standing(p)
	p.reload()
	p.until(`document.querySelector(".form-restored")`)
	if diff := cmp.Diff(before, standing(p)); diff != "" {
		t.Errorf("after a reload mismatch (-before +after):\n%s", diff)
	}
	p.click(".form-restored button")
	p.reload()
	p.until(`document.querySelector("structured-form")?.fields`)
	if p.has(".form-restored") || p.value("#f-note") != "" {
		t.Error("a discarded draft came back")
	}
}

func doubleClickAnswersOnce(t *testing.T) {
	s, p, id := openTask(t)
	fillDeployment(p)
	at := p.find("structured-form [type=submit]")
	p.do(chromedp.MouseClickXY(at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y))
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	p.until(`document.querySelector(".form-answered") && !document.querySelector("structured-form")`)
	if n := answers(s, id); n != 1 {
		t.Errorf("%d answers, want 1", n)
	}
}

func hoursPassInTask(t *testing.T) {
	s, p, id := openTask(t)
	p.isLive()
	fillDeployment(p)
	p.letPass(3*time.Hour, emulation.VirtualTimePolicyAdvance)
	if p.has(".form-note") || p.value("#f-note") != "after lunch" {
		t.Error("hours later the form is no longer what it was")
	}
	p.click("structured-form [type=submit]")
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	if n := answers(s, id); n != 1 {
		t.Errorf("%d answers, want 1", n)
	}
}

func twinSubmitsAreOne(t *testing.T) {
	s, p, id := openTask(t)
	body := url.Values{
		"question": {p.attribute("[name=question]", "value")}, "key": {p.attribute("[name=key]", "value")},
		"f.environment": {"0"}, "f.replicas": {"2"},
	}
	// The same form twice at the same moment, as a browser without scripts does
	// when the button is pressed twice.
	var all sync.WaitGroup
	landed := make([]string, 2)
	for i := range landed {
		all.Go(func() {
			response, err := http.PostForm(s.URL()+"/tasks/"+id+"/answer", body)
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
			landed[i] = fmt.Sprint(response.StatusCode, " ", response.Request.URL.Path)
		})
	}
	all.Wait()
	want := []string{"200 /tasks/" + id, "200 /tasks/" + id}
	if diff := cmp.Diff(want, landed); diff != "" {
		t.Errorf("where the two led mismatch (-want +got):\n%s", diff)
	}
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	if n := answers(s, id); n != 1 {
		t.Errorf("%d answers, want 1", n)
	}
}

func racesAreTold(t *testing.T) {
	t.Run("somebody has answered", func(t *testing.T) {
		t.Parallel()
		s, p, id := openTask(t, withoutScripts)
		p.expect("status of 409")
		other := openTab(t)
		other.visit(s.URL() + "/tasks/" + id)
		other.until(`document.querySelector("structured-form")?.fields`)
		other.click(optionOf("environment", 0))
		other.click("structured-form [type=submit]")
		s.TaskIn(id, "TASK_STATE_COMPLETED")
		submitLate(p)
		if text := p.text("main"); !strings.Contains(text, "Local operator") || !strings.Contains(text, "answered") {
			t.Errorf("the page does not say who answered:\n%s", text)
		}
		if n := answers(s, id); n != 1 {
			t.Errorf("%d answers, want 1", n)
		}
	})
	t.Run("the task was canceled", func(t *testing.T) {
		t.Parallel()
		s, p, id := openTask(t, withoutScripts)
		p.expect("status of 409")
		cancelTask(s, id)
		submitLate(p)
		if text := p.text("main"); !strings.Contains(strings.ToLower(text), "cancel") {
			t.Errorf("the page does not say that the task was canceled:\n%s", text)
		}
	})
	t.Run("there is no such task", func(t *testing.T) {
		t.Parallel()
		s, p, _ := openTask(t)
		p.expect("status of 404")
		fillDeployment(p)
		evaluate[bool](p, `(document.querySelector("structured-form form").action = args[0], true)`, s.URL()+"/tasks/01890000-0000-7000-8000-000000000000/answer")
		p.click("structured-form [type=submit]")
		p.until(`document.querySelector(".form-note")`)
		if p.value("#f-note") != "after lunch" {
			t.Error("what was typed is gone")
		}
	})
}

// submitLate sends a form whose question has gone. What was typed is still there
// afterwards.
func submitLate(p *tab) {
	p.Helper()
	fillDeployment(p)
	p.click("structured-form [type=submit]")
	p.until(`location.pathname.endsWith("/answer") && document.readyState === "complete"`)
	kept := evaluate[bool](p, `document.body.innerText.includes("after lunch") ||
		[...document.querySelectorAll("input, textarea")].some((control) => control.value === "after lunch")`)
	if !kept {
		p.Error("what was typed is gone")
	}
}

func cancelTask(s *apptest.Server, id string) {
	s.Send(s.SampleAgent("form").ID, map[string]string{"action": "cancel", "taskId": id})
	s.TaskIn(id, "TASK_STATE_CANCELED")
}

func endedTaskClosesForm(t *testing.T) {
	s, p, id := openTask(t)
	p.isLive()
	fillDeployment(p)
	body := url.Values{
		"question": {p.attribute("[name=question]", "value")}, "key": {p.attribute("[name=key]", "value")},
		"f.environment": {"0"}, "f.replicas": {"2"},
	}
	cancelTask(s, id)
	p.until(`document.querySelector(".form-note[role=alert]")`)
	p.shot("closed")
	if note := p.text(".form-note"); !strings.Contains(strings.ToLower(note), "cancel") {
		t.Errorf("note = %q, want why the form is closed", note)
	}
	kept := evaluate[bool](p, `document.querySelector("#f-note").value === "after lunch" && document.querySelector("#f-note").readOnly`)
	if !kept || p.attribute("structured-form [type=submit]", "aria-disabled") != "true" {
		t.Error("the form is not closed with its text kept")
	}
	response, err := http.PostForm(s.URL()+"/tasks/"+id+"/answer", body)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusConflict {
		t.Errorf("a late answer got status %d, want 409", response.StatusCode)
	}
	if n := answers(s, id); n != 0 {
		t.Errorf("%d answers, want none", n)
	}
}

func reloadShowsTheSameForm(t *testing.T) {
	_, p, _ := openTask(t)
	drawn := func() string {
		return evaluate[string](p, `(() => {
			const copy = document.querySelector("structured-form").cloneNode(true);
			copy.querySelector("[name=key]").remove();
			return copy.outerHTML;
		})()`)
	}
	before := drawn()
	p.reload()
	p.until(`document.querySelector("structured-form")?.fields`)
	if diff := cmp.Diff(before, drawn()); diff != "" {
		t.Errorf("after a reload mismatch (-before +after):\n%s", diff)
	}
}
