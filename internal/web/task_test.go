package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func TestTaskShow(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	tests := map[string]map[string]string{
		askingTask: {
			"#task-state": "Waiting for you", ".question h2": "The agent asks",
			".question .prose": "Where should the shop go? Staging is free right now.", "label[for=composer-text]": "Or answer in your own words",
		},
		workingTask: {"#task-state": "Working", ".entry-artifact .delivery": "Still arriving", "label[for=composer-text]": "Message"},
		doneTask:    {"#task-state": "Completed", "label[for=composer-text]": "Continue in a new task"},
		failedTask:  {"#task-state": "Not sent", ".note-danger strong": "Not sent."},
		unsureTask:  {"label[for=composer-text]": "Send again as a new task", "#task-state": "Outcome unknown", ".entry .note-warning strong": "This may have arrived."},
		plainTask:   {"#task-notice strong": "The agent sent more about this task than Taskbay keeps.", "#task-state": "Waiting for you", ".why strong": "This is meant to be a form, and is shown as data:", ".why li": "/schemaschema is missing.", "label[for=composer-text]": "Your answer"},
		oddTask:     {"#task-state": "paused for lunch", "#entry-1 .delivery": "Sending"},
		directTask:  {"#task-state": "Replied", "label[for=composer-text]": "Message"},
		authTask:    {"#task-state": "Authorization needed", ".question h2": "The agent needs an authorization"},
	}
	for id, wants := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := c.get(t, "/tasks/"+id).wants(http.StatusOK)
			for selector, want := range wants {
				if got := a.text(selector); got != want {
					t.Errorf("%s = %q, want %q", selector, got, want)
				}
			}
		})
	}
}

// TestTimelineOrder has messages, artifacts and states in the order in which
// they came, without the question that is open.
func TestTimelineOrder(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/tasks/"+askingTask)
	var ids []string
	for _, n := range a.all("#timeline li") {
		if id, ok := attribute(n, "id"); ok {
			ids = append(ids, id)
		}
	}
	if diff := cmp.Diff([]string{"entry-1", "entry-2", "entry-3", "entry-5"}, ids); diff != "" {
		t.Errorf("timeline mismatch (-want +got):\n%s", diff)
	}
}

func TestTaskAnswered(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/tasks/"+doneTask)
	if got, want := a.text("#entry-4 .entry-who"), "Local operator"; got != want {
		t.Errorf("answered by %q, want %q", got, want)
	}
	want := [][2]string{
		{"Environment", "Production production"}, {"Replicas", "3"}, {"Note", "not answered"}, {"Only try it, change nothing", "No"},
	}
	if diff := cmp.Diff(want, a.pairs("#entry-4")); diff != "" {
		t.Errorf("answers mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][2]string{{"Service", "billing"}, {"Priority", "high"}}, a.pairs("#entry-1")); diff != "" {
		t.Errorf("start form mismatch (-want +got):\n%s", diff)
	}
	if !a.has("#entry-3 details pre") {
		t.Error("the form of an answered question is not shown as data, folded")
	}
}

func TestDataKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/tasks/"+doneTask)
	want := "{\n  \"exact\": 100000000000000000001.10,\n  \"text\": \"a\\u0000b\"\n}"
	if got := textOfNode(a.one("#entry-5 pre")); got != want {
		t.Errorf("data = %q, want %q", got, want)
	}
}

func TestLongTextIsFolded(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/tasks/"+oddTask)
	long := strings.Repeat("A long story. ", 500)
	if got := textOfNode(a.one("#entry-3 details.long-text div.prose")); got != long {
		t.Errorf("the folded text has %d bytes, want all %d", len(got), len(long))
	}
	if got := a.text("#entry-3 .fold-label"); got != "Show all 7000 characters" {
		t.Errorf("summary = %q", got)
	}
}

// TestHostileText has what an agent wrote as text wherever it is shown.
func TestHostileText(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, address := range []string{"/tasks?cursor=x", "/tasks/" + oddTask, "/tasks/" + plainTask, "/agents", "/agents/" + oddAgent} {
		a := c.get(t, address).wants(http.StatusOK)
		if !strings.Contains(textOfNode(a.one("body")), "<script>alert(1)</script>") && address != "/tasks/"+plainTask {
			t.Errorf("%s does not show the agent's text", address)
		}
		for n := range a.root.Descendants() {
			if n.Type == html.ElementNode {
				checkElement(t, address, n)
			}
		}
	}
}

// checkElement fails the test for what no page of ours has in it.
func checkElement(t *testing.T, address string, n *html.Node) {
	t.Helper()
	switch n.Data {
	case "img", "iframe", "object", "embed", "style", "base":
		t.Errorf("%s has an element <%s>", address, n.Data)
	case "script":
		if src, _ := attribute(n, "src"); !strings.HasPrefix(src, "/static/") || n.FirstChild != nil {
			t.Errorf("%s has a script of its own", address)
		}
	}
	for _, a := range n.Attr {
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
			t.Errorf("%s has an attribute %s on <%s>", address, a.Key, n.Data)
		}
		isAddress := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if isAddress && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
			t.Errorf("%s has %s=%q on <%s>, an address that leads away", address, a.Key, a.Val, n.Data)
		}
	}
}

func TestHiddenCharactersAreMarked(t *testing.T) {
	t.Parallel()
	a := newConsole(t).get(t, "/tasks/"+oddTask)
	var marks []string
	for _, n := range a.all("#entry-3 .hidden-mark") {
		title, _ := attribute(n, "title")
		marks = append(marks, title)
	}
	if diff := cmp.Diff([]string{"U+202E right-to-left override", "U+200B zero width space"}, marks); diff != "" {
		t.Errorf("marks mismatch (-want +got):\n%s", diff)
	}
}

func TestSendAgain(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	link := c.get(t, "/tasks/"+unsureTask).attr(".entry .note a", "href")
	a := c.get(t, strings.TrimSuffix(link, "#composer")).wants(http.StatusOK)
	if got := strings.TrimPrefix(textOfNode(a.one("#composer-text")), "\n"); got != "Roll the shop back" {
		t.Errorf("the composer holds %q, want the text of the message", got)
	}
	if len(c.sent()) != 0 {
		t.Error("looking at the page sent something")
	}
}

func TestMessageSend(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		task   string
		values url.Values
		body   command.Body
		leads  string
	}{
		"a message":          {workingTask, url.Values{}, command.Body{TaskID: workingTask}, workingTask},
		"an answer":          {plainTask, url.Values{"question": {"theirs-4"}}, command.Body{TaskID: plainTask, Answers: "theirs-4"}, plainTask},
		"beside a form":      {askingTask, url.Values{}, command.Body{TaskID: askingTask}, askingTask},
		"after the task end": {doneTask, url.Values{"anew": {"1"}}, command.Body{ContextID: "context-7"}, "new-task"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			tc.values.Set("text", "Go on")
			tc.values.Set("key", "k")
			a := c.post(t, "/tasks/"+tc.task+"/messages", tc.values).wants(http.StatusSeeOther)
			if got := a.header.Get("Location"); got != "/tasks/"+tc.leads {
				t.Errorf("Location = %q, want the task %s", got, tc.leads)
			}
			tc.body.Text = "Go on"
			sent := c.sent()
			if len(sent) != 1 || sent[0].Key != "k" {
				t.Fatalf("sent %v, want one message with the key of the page", sent)
			}
			if diff := cmp.Diff(tc.body, sent[0].Body); diff != "" {
				t.Errorf("body mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestComposerFields has the page offer what TestMessageSend posts.
func TestComposerFields(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for id, selector := range map[string]string{
		plainTask: "#composer input[name=question][value=theirs-4]",
		doneTask:  "#composer input[name=anew]",
	} {
		if a := c.get(t, "/tasks/"+id); !a.has(selector) {
			t.Errorf("%s: no %s", id, selector)
		}
	}
	if a := c.get(t, "/tasks/"+askingTask); a.has("#composer input[name=question]") {
		t.Error("a message beside a form says that it answers the form")
	}
}

func TestMessageRefused(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	values := url.Values{"text": {"Go on"}}
	for name, refusal := range map[string]error{
		"conflict": fault.New(fault.Conflict, "Ana has answered already."),
		"internal": http.ErrBodyNotAllowed,
	} {
		c.refuse(refusal)
		a := c.fetch(t, "/tasks/"+workingTask+"/messages", values)
		public := fault.Public(refusal)
		if a.status != public.Kind.Status() || !strings.Contains(a.body, public.Message) {
			t.Errorf("%s: %d %s, want %d and %q", name, a.status, a.body, public.Kind.Status(), public.Message)
		}
	}
	c.refuse(fault.New(fault.Conflict, "Ana has answered already."))
	a := c.post(t, "/tasks/"+workingTask+"/messages", values).wants(http.StatusConflict)
	if got := strings.TrimPrefix(textOfNode(a.one("#composer-text")), "\n"); got != "Go on" {
		t.Errorf("the composer holds %q, want the text kept", got)
	}
	if got := a.text("#composer-error"); got != "Ana has answered already." {
		t.Errorf("error = %q, want the reason", got)
	}
}

var deploymentEntered = url.Values{"question": {"theirs-4"}, "key": {"k"}, "f.environment": {"1"}, "f.replicas": {"3"}, "f.note": {"now"}}

func TestAnswer(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.post(t, "/tasks/"+askingTask+"/answer", deploymentEntered).wants(http.StatusSeeOther)
	if got, want := a.header.Get("Location"), "/tasks/"+askingTask; got != want {
		t.Errorf("Location = %q, want %q", got, want)
	}
	want := []submission{{formAgent, "k", command.Body{
		TaskID: askingTask, Answers: "theirs-4",
		Parts: answerParts([]byte(`{"environment":"production","replicas":3,"note":"now","dryRun":false}`)),
	}}}
	if diff := cmp.Diff(want, c.sent()); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
}

// TestAnswerTwice has the same form, once more after it was answered, send the
// same content, so that its key brings the first result again.
func TestAnswerTwice(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	values := url.Values{"question": {"theirs-3"}, "key": {"k"}, "f.environment": {"1"}, "f.replicas": {"3"}}
	c.post(t, "/tasks/"+doneTask+"/answer", values).wants(http.StatusSeeOther)
	want := answerParts([]byte(`{"environment":"production","replicas":3,"dryRun":false}`))
	if diff := cmp.Diff(want, c.sent()[0].Body.Parts); diff != "" {
		t.Errorf("parts mismatch (-want +got):\n%s", diff)
	}
}

func TestAnswerInvalid(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	values := url.Values{"question": {"theirs-4"}, "f.replicas": {"many"}, "f.note": {"now"}}
	a := c.post(t, "/tasks/"+askingTask+"/answer", values).wants(http.StatusUnprocessableEntity)
	for selector, want := range map[string]string{"#f-environment-error": "Required", "#f-replicas-error": "Enter a number"} {
		if got := a.text(selector); got != want {
			t.Errorf("%s = %q, want %q", selector, got, want)
		}
	}
	if got := a.attr("#f-note", "value"); got != "now" {
		t.Errorf("the note holds %q, want it kept", got)
	}
	if len(c.sent()) != 0 {
		t.Error("something was sent")
	}
}

func TestAnswerTooLate(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.change(askingTask, func(x *task.Task) {
		x.Question, x.NeedsYou, x.State = nil, false, "TASK_STATE_WORKING"
		x.Messages[2].Current = false
	})
	c.refuse(fault.New(fault.Conflict, "Ana answered this 2 minutes ago."))
	a := c.post(t, "/tasks/"+askingTask+"/answer", deploymentEntered).wants(http.StatusConflict)
	if got := a.text("structured-form"); !strings.Contains(got, "Ana answered this 2 minutes ago.") {
		t.Errorf("the form says %q, want why it takes no answer", got)
	}
	if got := a.attr("#f-note", "value"); got != "now" {
		t.Errorf("the note holds %q, want it kept", got)
	}
	if !a.has("structured-form[closed]") {
		t.Error("the form is not closed")
	}
	c.fetch(t, "/tasks/"+askingTask+"/answer", deploymentEntered).wants(http.StatusConflict)
}

// TestAnswerThatFailed has what was sent stand in the form that opens again.
func TestAnswerThatFailed(t *testing.T) {
	t.Parallel()
	fail := func(c *console, values string, refused bool) {
		c.change(askingTask, func(x *task.Task) {
			sent := sentMessage(7, "failed", "Nothing listens\u200b there.", 1, answerParts([]byte(values))...)
			sent.Version, sent.Answers, sent.AnswerTo = x.Version, "theirs-4", parsed(deployment)
			sent.Delivery.Refused = refused
			x.Messages = append(x.Messages, sent)
		})
	}
	c := newConsole(t)
	before := c.get(t, "/tasks/"+askingTask).attr("structured-form", "id")
	fail(c, `{"environment":"production","replicas":7,"note":"<b>mine</b>","dryRun":true}`, false)
	a := c.get(t, "/tasks/"+askingTask).wants(http.StatusOK)
	if got := a.text(".form-earlier"); !strings.HasPrefix(got, "Your earlier answer was not sent: Nothing listens") {
		t.Errorf("note = %q, want that it was not sent, and why", got)
	}
	if !a.has(".form-earlier .hidden-mark") {
		t.Error("a hidden character in the reason is not marked")
	}
	for selector, want := range map[string]string{"#f-replicas": "7", "#f-note": "<b>mine</b>"} {
		if got := a.attr(selector, "value"); got != want {
			t.Errorf("%s = %q, want what was sent, %q", selector, got, want)
		}
	}
	if !a.has("input[name=f.environment][value=1][checked]") || !a.has("#f-dryRun[checked]") {
		t.Error("the choice or the box is not as it was sent")
	}
	if a.attr("structured-form", "id") == before {
		t.Error("the form has the ID of the one that was sent, so a live page would keep that one")
	}
	fail(c, `{"environment":"staging","replicas":3,"dryRun":false}`, true)
	a = c.get(t, "/tasks/"+askingTask)
	if got := a.text(".form-earlier"); !strings.HasPrefix(got, "Your earlier answer was refused by the agent: ") {
		t.Errorf("note = %q, want that it was refused", got)
	}
	if a.attr("#f-replicas", "value") != "3" || a.has("#f-note[value]") || a.has("#f-dryRun[checked]") {
		t.Error("the form is not as the last answer was")
	}
}

// TestClosedFormSaysItOnce has the reason not repeat itself.
func TestClosedFormSaysItOnce(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.change(askingTask, func(x *task.Task) { x.Question, x.NeedsYou, x.State = nil, false, "TASK_STATE_WORKING" })
	for _, reason := range []string{"Ana answered this.", "Ana answered this. What you entered was not sent."} {
		c.refuse(fault.New(fault.Conflict, "%s", reason))
		a := c.post(t, "/tasks/"+askingTask+"/answer", deploymentEntered).wants(http.StatusConflict)
		if got, want := a.text("structured-form .form-note"), "Ana answered this. What you entered was not sent."; got != want {
			t.Errorf("note = %q, want %q", got, want)
		}
	}
}

func TestAnswerRefusedWhileOpen(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuse(fault.New(fault.Unavailable, "The database does not answer."))
	a := c.post(t, "/tasks/"+askingTask+"/answer", deploymentEntered).wants(http.StatusServiceUnavailable)
	if got := a.text("[role=alert] .note-danger"); got != "The database does not answer." {
		t.Errorf("note = %q, want the reason", got)
	}
	if got := a.attr("#question #f-note", "value"); got != "now" {
		t.Errorf("the note holds %q, want it kept in the open form", got)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	shown := c.get(t, "/tasks/"+workingTask)
	if !shown.has("button[command=show-modal][commandfor=cancel]") || !shown.has("dialog#cancel form[method=post] input[name=key]") {
		t.Fatal("no way to cancel a task that runs")
	}
	if c.get(t, "/tasks/"+doneTask).has("button[commandfor=cancel][command=show-modal]") {
		t.Error("a task that has ended can be canceled")
	}
	c.post(t, "/tasks/"+workingTask+"/cancel", url.Values{"key": {"k"}}).wants(http.StatusSeeOther)
	want := []submission{{formAgent, "k", command.Body{Action: command.Cancel, TaskID: workingTask}}}
	if diff := cmp.Diff(want, c.sent()); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
	c.refuse(fault.New(fault.Conflict, "The task has ended."))
	a := c.post(t, "/tasks/"+workingTask+"/cancel", nil).wants(http.StatusConflict)
	if got := a.text("[role=alert] .note-danger"); got != "The task has ended." {
		t.Errorf("note = %q, want the reason", got)
	}
}

// TestCancelLeavesATrace has a cancel on the timeline, with what became of it.
func TestCancelLeavesATrace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		delivery task.Delivery
		state    string
		said     string // "" if there is nothing to say
	}{
		"under way": {task.Delivery{Status: "dispatching"}, "Sending", ""},
		"done":      {task.Delivery{Status: "succeeded"}, "Sent", ""},
		"not sent":  {task.Delivery{Status: "failed", Error: "Nothing listens there."}, "Not sent", "Not sent. Nothing listens there."},
		"refused":   {task.Delivery{Status: "failed", Error: "It has ended.", Refused: true}, "Refused by the agent", "Refused by the agent. It has ended."},
		"uncertain": {task.Delivery{CommandID: "k", Status: "uncertain", Error: "Reset."}, "Outcome unknown", "This may have arrived."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			c.change(workingTask, func(x *task.Task) {
				x.Cancels = []task.CancelRequest{{Seq: 9, Version: x.Version, At: at(1), Author: "Ana", Delivery: tc.delivery}}
			})
			a := c.get(t, "/tasks/"+workingTask).wants(http.StatusOK)
			if got := a.text("#entry-9 .entry-who"); got != "Ana asked to cancel" {
				t.Errorf("entry = %q, want who asked for what", got)
			}
			if got := a.text("#entry-9 .delivery"); got != tc.state {
				t.Errorf("state = %q, want %q", got, tc.state)
			}
			said := ""
			if a.has("#entry-9 .note") {
				said = a.text("#entry-9 .note")
			}
			if !strings.HasPrefix(said, tc.said) || (tc.said == "") != (said == "") {
				t.Errorf("said = %q, want %q", said, tc.said)
			}
			if got := a.has("#entry-9 form[action=/commands/k/resend]"); got != (name == "uncertain") {
				t.Errorf("it can be sent again: %v", got)
			}
		})
	}
}

func TestArtifactDownload(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/artifacts/"+sampleDigest).wants(http.StatusOK)
	if a.body != "a,b\n1,2\n" {
		t.Errorf("body = %q", a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("Content-Type = %q: a browser might show it", got)
	}
	got := a.header.Get("Content-Disposition")
	if !strings.HasPrefix(got, "attachment; ") || strings.ContainsAny(got, "\r\n") || !strings.Contains(got, "2026") {
		t.Errorf("Content-Disposition = %q, want an attachment with the agent's name", got)
	}
	if got := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "sandbox;") {
		t.Errorf("Content-Security-Policy = %q, want a sandbox", got)
	}
	if a := c.get(t, "/artifacts/"+lostDigest).wants(http.StatusGone); !strings.Contains(a.body, "missing") {
		t.Errorf("of lost bytes it says %q", a.body)
	}
	for _, name := range []string{strings.Repeat("0", 64), "..%2f..%2fetc%2fpasswd", sampleDigest[:63] + "G"} {
		c.get(t, "/artifacts/"+name).wants(http.StatusNotFound)
	}
	shown := c.get(t, "/tasks/"+workingTask)
	if !shown.has("a.file-link[download][href=/artifacts/" + sampleDigest + "]") {
		t.Error("the task does not offer the file")
	}
	if shown.has("a[href=/artifacts/"+lostDigest+"]") || !strings.Contains(shown.body, "83886080 bytes, above the limit of 67108864, so it was not kept") {
		t.Error("the task does not say why a file was not kept")
	}
}

func TestMergedTask(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.merge("0190bbbb-0000-7000-8000-00000000000a", workingTask)
	a := c.get(t, "/tasks/0190bbbb-0000-7000-8000-00000000000a").wants(http.StatusSeeOther)
	if got, want := a.header.Get("Location"), "/tasks/"+workingTask; got != want {
		t.Errorf("Location = %q, want %q", got, want)
	}
}

func TestAnUnknownOutcomeIsDecidedByAPerson(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/tasks/"+unsureTask).wants(http.StatusOK)
	for _, action := range []string{"/tasks/" + unsureTask + "/refresh", "/commands/c/resend"} {
		if len(a.all(`form[action=`+action+`]`)) != 1 {
			t.Errorf("the page has no form for %s", action)
		}
	}
	c.post(t, "/tasks/"+unsureTask+"/refresh", nil).wants(http.StatusSeeOther)
	c.post(t, "/commands/c/resend", nil).wants(http.StatusSeeOther)
	if !slices.Equal(c.checked, []string{unsureTask}) || !slices.Equal(c.resent, []string{"c"}) {
		t.Errorf("asked about %v and sent %v again, want the one task and its command", c.checked, c.resent)
	}
}
