package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// watched is a task that a test changes while a stream reads it.
type watched struct {
	Tasks // List is not called
	live.Hub
	mu      sync.Mutex
	version int64
	err     error
}

func (w *watched) Get(context.Context, access.Principal, string) (task.Task, error) {
	return w.since(0)
}

func (w *watched) Changes(_ context.Context, _ access.Principal, _ string, since int64) (task.Delta, error) {
	t, err := w.since(since)
	return task.Delta{Since: since, Task: t}, err
}

// since has one message for each version, with an evil line end in its text.
func (w *watched) since(since int64) (task.Task, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := task.Task{ID: "t", Version: w.version}
	for v := since + 1; v <= w.version; v++ {
		t.Messages = append(t.Messages, task.Message{Parts: []a2a.Part{a2a.TextPart("a\r\nid: 99\n\n")}})
	}
	return t, w.err
}

func (w *watched) set(version int64, err error) {
	w.mu.Lock()
	w.version, w.err = version, err
	w.mu.Unlock()
	w.Publish(live.TaskTopic("t"))
}

// stream is a reader of server-sent events.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

// next returns the next block of lines, up to a blank one.
func (s *stream) next() []string {
	s.t.Helper()
	var block []string
	for s.lines.Scan() {
		if s.lines.Text() == "" {
			return block
		}
		block = append(block, s.lines.Text())
	}
	s.t.Fatalf("the stream ended after %q: %v", block, s.lines.Err())
	return nil
}

// wantEvent checks the next event: its name, its id, and how many messages it has.
func (s *stream) wantEvent(name, id string, messages int) {
	s.t.Helper()
	got := s.next()
	if len(got) != 3 || got[0] != "event: "+name || got[1] != "id: "+id || !strings.HasPrefix(got[2], "data: {") {
		s.t.Fatalf("event = %q, want %s with id %s and one line of data", got, name, id)
	}
	var data Task
	if err := json.Unmarshal([]byte(strings.TrimPrefix(got[2], "data: ")), &data); err != nil {
		s.t.Fatalf("data is no task: %v", err)
	}
	if len(data.Messages) != messages {
		s.t.Errorf("event %s has %d messages, want %d", id, len(data.Messages), messages)
	}
}

func (s *stream) wantComment(want string) {
	s.t.Helper()
	if diff := cmp.Diff([]string{want}, s.next()); diff != "" {
		s.t.Errorf("comment mismatch (-want +got):\n%s", diff)
	}
}

// serve starts the API on w, and returns its address.
func serve(t *testing.T, w *watched, ticks <-chan time.Time) string {
	t.Helper()
	s := &server{
		Config: Config{
			Tasks: w, Live: w, Log: slog.New(slog.DiscardHandler), Door: guardtest.Local(),
		},
		tick: func() (<-chan time.Time, func()) { return ticks, func() {} },
	}
	listener := httptest.NewServer(s.handler())
	t.Cleanup(listener.Close)
	return listener.URL
}

// open starts the API on w and opens a stream of its task.
func open(t *testing.T, w *watched, ticks <-chan time.Time, lastEventID string) *stream {
	t.Helper()
	address := serve(t, w, ticks)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/v1/tasks/t/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", lastEventID)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("status = %d, Content-Type %q; want an event stream", response.StatusCode, got)
	}
	stream := &stream{t, bufio.NewScanner(response.Body)}
	stream.wantComment(": open")
	return stream
}

func TestWatchTask(t *testing.T) {
	t.Parallel()
	w := &watched{version: 3}
	ticks := make(chan time.Time)
	s := open(t, w, ticks, "")
	s.wantEvent("snapshot", "3", 3)
	ticks <- time.Time{}
	s.wantComment(": still here")
	w.set(5, nil)
	s.wantEvent("change", "5", 2)
	w.set(5, nil) // a signal without a change
	ticks <- time.Time{}
	s.wantComment(": still here")
	w.set(6, nil)
	s.wantEvent("change", "6", 1)
}

func TestResumedWatch(t *testing.T) {
	t.Parallel()
	w := &watched{version: 5}
	s := open(t, w, nil, "2")
	s.wantEvent("change", "5", 3)

	current := open(t, w, nil, "5")
	w.set(6, nil)
	current.wantEvent("change", "6", 1)
	s.wantEvent("change", "6", 1)

	for _, bad := range []string{"x", "-1", "1.5", "7", "1000000"} {
		open(t, w, nil, bad).wantEvent("snapshot", "6", 6)
	}
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	w := &watched{version: 1}
	s := open(t, w, nil, "")
	s.wantEvent("snapshot", "1", 1)
	w.set(2, errors.New("the database is gone"))
	if s.lines.Scan() {
		t.Errorf("got %q, want the stream to end when the task cannot be read", s.lines.Text())
	}
}

// TestHeadOfWatch asks twice over one connection: the second would wait for ever behind
// a first that stays for events.
func TestHeadOfWatch(t *testing.T) {
	t.Parallel()
	address := serve(t, &watched{version: 1}, nil) + "/api/v1/tasks/t/events"
	one := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(one.CloseIdleConnections)
	for range 2 {
		response, err := one.Head(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
			t.Errorf("HEAD is answered %s %q", response.Status, got)
		}
	}
}
