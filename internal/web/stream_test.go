package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// watcher reads a live stream as a browser does.
type watcher struct {
	*testing.T
	lines *bufio.Reader
	id    string // of the last event that had one
}

// watch opens a stream. lastSeen is what the browser has, "" for nothing.
func (c *console) watch(t *testing.T, address, lastSeen string) *watcher {
	t.Helper()
	server := httptest.NewServer(c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastSeen != "" {
		r.Header.Set("Last-Event-ID", lastSeen)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
		server.Close()
	})
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("stream = %s %q", response.Status, response.Header.Get("Content-Type"))
	}
	return &watcher{T: t, lines: bufio.NewReader(response.Body)}
}

// next returns the next event's name and data. Comments are passed over.
func (w *watcher) next() (name, data string) {
	w.Helper()
	var lines []string
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil {
			w.Fatalf("the stream ended: %v", err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			w.id = value
		case "data", "data:":
			lines = append(lines, value)
		case "":
			if len(lines) > 0 {
				return name, strings.Join(lines, "\n")
			}
		}
	}
}

// until returns the fragments up to the one that has this ID.
func (w *watcher) until(id string) []string {
	w.Helper()
	return w.untilText(`id="` + id + `"`)
}

// untilText returns the fragments up to the one that has this text in it.
func (w *watcher) untilText(text string) []string {
	w.Helper()
	var list []string
	for {
		_, data := w.next()
		list = append(list, data)
		if strings.Contains(data, text) {
			return list
		}
	}
}

func TestTaskStream(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := c.watch(t, "/tasks/"+workingTask+"/events?seen=9", "")
	if first := w.until("nav-tasks"); len(first) != 1 || w.id != "9" {
		t.Errorf("a browser that has everything got %d fragments and the ID %q, want the navigation and 9", len(first), w.id)
	}
	c.change(workingTask, func(x *task.Task) {
		m := agentMessage(5, 0, text("Half of it is done.")...)
		m.Version = x.Version
		x.Messages = append(x.Messages, m)
	})
	got := w.untilText(`id="task-details"`)
	if !strings.Contains(strings.Join(got, ""), "Half of it is done.") {
		t.Errorf("fragments = %s, want the new message", got)
	}
	w.until("nav-tasks")
	if strings.Contains(strings.Join(got, ""), `id="entry-1"`) {
		t.Error("an entry that did not change was sent again")
	}
	if w.id != "10" {
		t.Errorf("ID = %q, want the version 10", w.id)
	}
}

// TestTaskStreamCancel has a cancel, and what becomes of it, reach the page.
func TestTaskStreamCancel(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := c.watch(t, "/tasks/"+workingTask+"/events?seen=9", "")
	w.until("nav-tasks")
	for _, tc := range []struct{ status, label string }{{"pending", "Sending"}, {"failed", "Not sent"}} {
		c.change(workingTask, func(x *task.Task) {
			x.Cancels = []task.CancelRequest{{Seq: 9, Version: x.Version, Author: "Ana", Delivery: task.Delivery{Status: tc.status}}}
		})
		if got := strings.Join(w.until("entry-9"), ""); !strings.Contains(got, "asked to cancel") || !strings.Contains(got, tc.label) {
			t.Errorf("fragments = %s, want the cancel and %q", got, tc.label)
		}
		w.until("nav-tasks")
	}
}

// TestTaskStreamResumes has a browser that comes back get what it missed.
func TestTaskStreamResumes(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := c.watch(t, "/tasks/"+askingTask+"/events?seen=9", "2")
	var ids []string
	for _, data := range w.until("nav-tasks") {
		_, rest, _ := strings.Cut(data, `id="`)
		id, _, _ := strings.Cut(rest, `"`)
		ids = append(ids, id)
	}
	want := []string{"entry-3", "entry-5", "task-since", "task-state", "composer-mode", "question", "task-actions", "task-notice", "task-details", "nav-tasks"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("fragments mismatch (-want +got):\n%s", diff)
	}
}

// TestFragmentsAreOneElement has every fragment be one element with an ID: that
// is what the page's module takes.
func TestFragmentsAreOneElement(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, x := range c.tasks {
		w := c.watch(t, "/tasks/"+x.ID+"/events?seen=0", "")
		for _, data := range w.until("nav-tasks") {
			assertOneElement(t, data)
		}
	}
	w := c.watch(t, "/events?view=tasks&seen=x", "")
	for _, data := range w.until("nav-tasks") {
		assertOneElement(t, data)
	}
}

func TestTaskStreamQuestion(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := c.watch(t, "/tasks/"+askingTask+"/events?seen=9", "")
	w.until("nav-tasks")
	c.change(askingTask, func(x *task.Task) {
		x.Title = "Changed beside the question"
	})
	for _, data := range w.untilText(`id="task-details"`) {
		if strings.Contains(data, `id="question"`) {
			t.Error("a question that did not change was sent again")
		}
	}
	c.change(askingTask, func(x *task.Task) {
		answer := sentMessage(6, "pending", "", 0, data(`{"environment":"staging"}`, "application/json"))
		answer.Version, answer.Answers, answer.Author, answer.AnswerTo = x.Version, x.Question.MessageID, "Ana", x.Question.Form
		x.Messages[2].Current, x.Messages[2].Version = false, x.Version
		x.Messages = append(x.Messages, answer)
		x.Question, x.NeedsYou = nil, false
	})
	all := strings.Join(w.untilText(`data-count="2"`), "\n")
	for _, want := range []string{`<div id="question" data-reason="Answered by Ana."></div>`, `id="entry-4"`, `id="entry-6"`, `data-count="2"`} {
		if !strings.Contains(all, want) {
			t.Errorf("after the answer %q is missing in\n%s", want, all)
		}
	}
}

func TestTaskStreamMoved(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.merge("0190bbbb-0000-7000-8000-00000000000a", workingTask)
	w := c.watch(t, "/tasks/0190bbbb-0000-7000-8000-00000000000a/events?seen=1", "")
	if name, data := w.next(); name != "moved" || data != "/tasks/"+workingTask {
		t.Errorf("event %q %q, want that the task moved", name, data)
	}
}

func TestTaskStreamRefused(t *testing.T) {
	t.Parallel()
	newConsole(t).get(t, "/tasks/nothing/events").wants(http.StatusNotFound)
}

func TestListStream(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	source := c.get(t, "/tasks?needs=you").attr("live-region", "src")
	w := c.watch(t, source, "")
	c.change(workingTask, func(x *task.Task) {
		x.State, x.NeedsYou, x.UpdatedAt = a2a.StateInputRequired, true, at(0)
	})
	// The page has all there was before, so the first thing to come is the change.
	got := w.until("nav-tasks")
	if len(got) != 2 || !strings.Contains(got[0], `id="task-list"`) || strings.Index(got[0], workingTask) > strings.Index(got[0], askingTask) {
		t.Errorf("fragments = %q, want the list with the changed task on top", got)
	}
	if !strings.Contains(got[1], `data-count="4"`) {
		t.Errorf("navigation = %s, want four that wait", got[1])
	}
	again := c.watch(t, source, w.id)
	c.change(workingTask, func(x *task.Task) { x.Title = "After the reconnection" })
	if got := again.until("nav-tasks"); !strings.Contains(got[0], "After the reconnection") {
		t.Errorf("a browser that came back got %q first, want only what it missed", got[0])
	}
}

func TestNavigationStream(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := c.watch(t, c.get(t, "/agents").attr("live-region", "src"), "")
	if got := w.until("nav-tasks"); len(got) != 1 || !strings.Contains(got[0], `data-count="3"`) {
		t.Errorf("fragments = %q, want the navigation", got)
	}
}

// TestStreamEndsWithItsRequest has a server that shuts down not wait for
// browsers.
func TestStreamEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	r := httptest.NewRequest(http.MethodGet, "/events", nil).WithContext(ctx)
	go func() {
		defer close(done)
		c.serve(c.events).ServeHTTP(httptest.NewRecorder(), r)
	}()
	cancel()
	<-done
}

// TestHeadOfStream has no stream stay for events that HEAD cannot get.
func TestHeadOfStream(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	w := httptest.NewRecorder()
	c.serve(c.events).ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/events", nil))
	if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("HEAD is answered %d %q", w.Code, got)
	}
}

// TestStreamSaysThatItIsThere has a silent stream send comments.
func TestStreamSaysThatItIsThere(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.silence = time.Millisecond
	w := c.watch(t, "/events", "")
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == ": quiet\n" {
			return
		}
	}
}

func TestSignalsOfOthersDoNotWake(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	signals, stop := c.hub.Watch(live.OrganisationTopic(access.LocalOrganisation))
	defer stop()
	c.hub.Publish(live.OrganisationTopic("another"))
	select {
	case <-signals:
		t.Error("a signal of another organisation came")
	default:
	}
}

// FuzzAppendEvent has no text that an agent writes end an event, forge a field
// or get lost.
func FuzzAppendEvent(f *testing.F) {
	for _, seed := range []string{"", "plain", hostile, "a\rid: 7\r\r", "\n\n", "data: x\nevent: moved", "\r\n\r\n: y", "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stream := appendEvent(nil, event{id: "1", data: []byte(text)})
		stream = appendEvent(stream, event{name: "moved", data: []byte("/end")})
		got := parseStream(string(stream))
		unix := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		want := []string{fmt.Sprintf("message 1 %q", unix), fmt.Sprintf("moved 1 %q", "/end")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events mismatch (-want +got):\n%s", diff)
		}
	})
}

// parseStream reads a stream by the rules of the HTML standard, in which CR, LF
// and CRLF all end a line.
func parseStream(s string) []string {
	var events, lines []string
	name, id := "message", ""
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(s, "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if lines != nil {
				events = append(events, fmt.Sprintf("%s %s %q", name, id, strings.Join(lines, "\n")))
			}
			lines, name = nil, "message"
		case field == "data":
			lines = append(lines, value)
		case field == "event":
			name = value
		case field == "id":
			id = value
		}
	}
	return events
}
