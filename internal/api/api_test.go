package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

const (
	agentID   = "0197a0e2-0000-7000-8000-000000000001"
	taskID    = "0197a0e2-0000-7000-8000-000000000002"
	commandID = "0197a0e2-0000-7000-8000-000000000003"
)

var moment = time.Date(2026, 3, 1, 12, 30, 0, 123_000_000, time.FixedZone("", 3600))

// fakes are services that hold one thing each; err, if set, is what every call
// returns.
type fakes struct {
	live.Hub
	err error

	mu        sync.Mutex
	agent     agent.Agent
	command   command.Command
	task      task.Task
	submitted []submission
	waited    time.Duration
	filter    task.Filter
	principal access.Principal
}

type submission struct {
	AgentID, Key string
	Body         command.Body
}

// agents, commands and tasks are the services of fakes, apart where their
// methods have the same names.
type (
	agents   struct{ *fakes }
	commands struct{ *fakes }
	tasks    struct{ *fakes }
)

func (f *fakes) found(p access.Principal, got, want string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.principal = p
	if f.err != nil {
		return f.err
	}
	if got != want {
		return fault.New(fault.NotFound, "There is no such thing.")
	}
	return nil
}

func (f agents) List(_ context.Context, p access.Principal) ([]agent.Agent, error) {
	return []agent.Agent{f.agent}, f.found(p, "", "")
}

func (f agents) Get(_ context.Context, p access.Principal, id string) (agent.Agent, error) {
	return f.agent, f.found(p, id, agentID)
}

func (f agents) Register(_ context.Context, p access.Principal, cardURL string) (agent.Agent, bool, error) {
	return f.agent, cardURL != f.agent.CardURL, f.found(p, "", "")
}

func (f agents) Discover(_ context.Context, p access.Principal, id string) (agent.Agent, error) {
	return f.agent, f.found(p, id, agentID)
}

func (f commands) Resend(_ context.Context, p access.Principal, id string) (command.Command, error) {
	return f.command, f.found(p, id, commandID)
}

type checks struct{ *fakes }

func (f checks) CheckNow(ctx context.Context, p access.Principal, id string) error {
	_, err := tasks(f).Get(ctx, p, id)
	return err
}

func (f commands) Submit(_ context.Context, p access.Principal, id, key string, body command.Body) (command.Command, error) {
	if err := f.found(p, id, agentID); err != nil {
		return command.Command{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.submitted = append(f.submitted, submission{id, key, body})
	return f.command, nil
}

func (f commands) Get(_ context.Context, p access.Principal, id string) (command.Command, error) {
	return f.command, f.found(p, id, commandID)
}

func (f commands) Wait(_ context.Context, p access.Principal, id string, d time.Duration) (command.Command, error) {
	f.waited = d
	return f.command, f.found(p, id, commandID)
}

func (f tasks) List(_ context.Context, p access.Principal, filter task.Filter) (task.Page, error) {
	f.filter = filter
	return task.Page{Items: []task.Task{f.task}, Next: filter.Cursor}, f.found(p, "", "")
}

func (f tasks) Get(_ context.Context, p access.Principal, id string) (task.Task, error) {
	err := f.found(p, id, taskID)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.task, err
}

func (f tasks) Changes(_ context.Context, p access.Principal, id string, since int64) (task.Delta, error) {
	err := f.found(p, id, taskID)
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := f.task
	changed.Messages = nil
	for _, m := range f.task.Messages {
		if m.Version > since {
			changed.Messages = append(changed.Messages, m)
		}
	}
	return task.Delta{Since: since, Task: changed}, err
}

// setup starts the API on fakes and returns its base URL.
func setup(t *testing.T, f *fakes) string {
	t.Helper()
	return setupLogged(t, f, io.Discard)
}

func setupLogged(t *testing.T, f *fakes, log io.Writer) string {
	t.Helper()
	server := httptest.NewServer(handler(f, log))
	t.Cleanup(server.Close)
	return server.URL
}

// handler is the API over fakes.
func handler(f *fakes, log io.Writer) http.Handler {
	return api.New(api.Config{
		Agents: agents{f}, Commands: commands{f}, Checks: checks{f}, Tasks: tasks{f}, Live: f, Blobs: blobs{f},
		Door: guardtest.Local(),
		Log:  slog.New(slog.NewTextHandler(log, nil)),
	})
}

// call sends one request with a JSON body, if there is one, and the headers
// given as "Name: value", and returns the answer with its body.
func call(t *testing.T, method, url, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	if body != "" && r.Header["Content-Type"] == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return response, answer
}

// wantJSON checks an answer with its status and, as values, its body.
func wantJSON(t *testing.T, response *http.Response, got []byte, status int, want string) {
	t.Helper()
	if response.StatusCode != status {
		t.Fatalf("status = %d, want %d; body %s", response.StatusCode, status, got)
	}
	if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, got)); diff != "" {
		t.Errorf("body mismatch (-want +got):\n%s", diff)
	}
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, raw)
	}
	return v
}
