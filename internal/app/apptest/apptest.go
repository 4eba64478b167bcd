// Package apptest runs the whole product for tests, on free ports and in a
// directory of its own, and speaks to it as a program does.
package apptest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Server is a running product.
type Server struct {
	*app.App
	t    testing.TB
	stop context.CancelFunc
	done chan error

	dataDir, databaseURL string // where the record is
}

// Options are what a test may choose.
type Options struct {
	DataDir      string // "" is a directory that ends with the test
	DatabaseURL  string // "" is SQLite in DataDir
	SampleAgents bool   // run and register them
	ServeOnly    bool   // leave the work to other processes
	WorkOnly     bool   // serve nothing
	Network      netpolicy.Options
	Limits       remote.Limits
	Version      string        // "" is "test"
	SweepEvery   time.Duration // between lists of an agent's tasks; 0 is a minute

	Log    *slog.Logger         // nil writes warnings to the test
	Change func(*config.Config) // what else is different; nil for nothing
}

// Start runs the product until the test ends, or until Stop.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	options := app.Options{
		Log:     slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Version: cmp.Or(o.Version, "test"), WorkerOnly: o.WorkOnly,
		Pause: func(context.Context) error { return nil }, Limits: o.Limits, SweepEvery: o.SweepEvery,
	}
	if o.Log != nil {
		options.Log = o.Log
	}
	if o.SampleAgents {
		options.SampleAgents = "127.0.0.1:0"
	}
	ctx, stop := context.WithCancel(context.Background())
	workers := !o.ServeOnly
	c := config.Config{
		Listen: "127.0.0.1:0", DataDir: o.DataDir, Network: o.Network,
		DatabaseURL: o.DatabaseURL, AutoMigrate: true, Workers: &workers,
		Limits: access.Unlimited(),
	}
	if o.Change != nil {
		o.Change(&c)
	}
	a, err := app.New(ctx, c, options)
	if err != nil {
		stop()
		t.Fatalf("app.New: %v", err)
	}
	s := &Server{App: a, t: t, stop: stop, done: make(chan error, 1), dataDir: o.DataDir, databaseURL: o.DatabaseURL}
	go func() { s.done <- a.Run(ctx) }()
	t.Cleanup(s.Stop)
	return s
}

// For returns the product as one test of several uses it: what goes wrong is that
// test's failure.
func (s *Server) For(t testing.TB) *Server {
	return &Server{App: s.App, t: t, stop: func() {}, dataDir: s.dataDir, databaseURL: s.databaseURL}
}

// Stop ends the product in order. Stopping twice is once.
func (s *Server) Stop() {
	s.stop()
	if s.done == nil {
		return
	}
	if err := <-s.done; err != nil {
		s.t.Errorf("Run: %v", err)
	}
	s.done = nil
	if err := s.Close(); err != nil {
		s.t.Errorf("Close: %v", err)
	}
}

// testWriter sends the log to the test.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(bytes.TrimRight(p, "\n")))
	return len(p), nil
}

// Call makes one request of the API, with body as JSON unless it is nil, decodes
// the answer into into unless that is nil, and returns the status.
func (s *Server) Call(method, path string, body, into any, headers ...string) int {
	s.t.Helper()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, s.URL()+path, content)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			s.t.Fatalf("%s %s answered %d %s: %v", method, path, response.StatusCode, answer, err)
		}
	}
	return response.StatusCode
}

// Page returns a page that is there.
func (s *Server) Page(path string) string {
	s.t.Helper()
	response, err := http.Get(s.URL() + path)
	if err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
	status, page := s.read(response)
	if status != http.StatusOK {
		s.t.Fatalf("GET %s answered %d: %s", path, status, page)
	}
	return page
}

// Post sends a form as a browser does, and returns the answer: redirects are not
// followed.
func (s *Server) Post(path string, form url.Values) (status int, page string) {
	s.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.PostForm(s.URL()+path, form)
	if err != nil {
		s.t.Fatalf("POST %s: %v", path, err)
	}
	return s.read(response)
}

func (s *Server) read(response *http.Response) (status int, page string) {
	s.t.Helper()
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// The shapes of the API, for tests that use no more of it.
type (
	Agent   = client.Agent
	Command = client.Command
	Task    = client.Task
)

// Client returns a client of the API, which asks for nothing twice.
func (s *Server) Client() *client.Client {
	s.t.Helper()
	c, err := client.New(s.URL(), client.Options{Attempts: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Register adds an agent by its card.
func (s *Server) Register(cardURL string) Agent {
	s.t.Helper()
	a, err := s.Client().RegisterAgent(context.Background(), cardURL)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// SampleAgent waits until the sample agent of a variant is registered.
func (s *Server) SampleAgent(variant string) Agent {
	s.t.Helper()
	var found Agent
	s.Eventually("the sample agent "+variant, func() bool {
		agents, err := s.Client().Agents(context.Background())
		i := slices.IndexFunc(agents, func(a Agent) bool {
			return a.CardURL == s.SampleCardURL(variant) && a.Health.Status == "reachable"
		})
		if err == nil && i >= 0 {
			found = agents[i]
		}
		return found.ID != ""
	})
	return found
}

// Send submits a command and waits until it is settled.
func (s *Server) Send(agentID string, body any) Command {
	s.t.Helper()
	var c Command
	if status := s.Call("POST", "/api/v1/agents/"+agentID+"/commands", body, &c, "Idempotency-Key", rand.Text()); status != http.StatusAccepted {
		s.t.Fatalf("the command was answered with %d", status)
	}
	settled, err := s.Client().Command(context.Background(), c.ID, 30*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	return settled
}

// LastText is the first text of a task's last message.
func LastText(t Task) string {
	if len(t.Messages) == 0 || len(t.Messages[len(t.Messages)-1].Parts) == 0 {
		return ""
	}
	return Text(t.Messages[len(t.Messages)-1].Parts[0])
}

// Text is the text of a part; "" if it has none.
func Text(p client.Part) string {
	if p.Text == nil {
		return ""
	}
	return *p.Text
}

// TaskIn waits until the task is in a state, and returns it.
func (s *Server) TaskIn(id, state string) Task {
	s.t.Helper()
	return s.TaskWhere(id, "in "+state, func(t Task) bool { return t.State == state })
}

// TaskWhere waits until the task is as a test wants it, and returns it.
func (s *Server) TaskWhere(id, what string, is func(Task) bool) Task {
	s.t.Helper()
	var t Task
	s.Eventually(fmt.Sprintf("task %s %s", id, what), func() bool {
		var err error
		t, err = s.Client().Task(context.Background(), id)
		return err == nil && is(t)
	})
	return t
}

// Eventually waits until is reports true. It fails the test after a time that no
// machine needs.
func (s *Server) Eventually(what string, is func() bool) {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			s.t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
