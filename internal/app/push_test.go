package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// callback is the public address of a product: what agents push to it comes through
// here, as through the proxy of an organisation.
type callback struct {
	url string
	to  atomic.Pointer[httputil.ReverseProxy]

	mu   sync.Mutex
	seen []*http.Request // with their bodies read
	got  []int           // how each was answered
}

func newCallback(t *testing.T) *callback {
	t.Helper()
	c := &callback{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// ServeHTTP implements http.Handler.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	noted := r.Clone(r.Context())
	noted.Body = io.NopCloser(bytes.NewReader(body))
	r.Host = "console.example" // the name that agents know, which is no loopback name
	answer := httptest.NewRecorder()
	c.to.Load().ServeHTTP(answer, r)
	c.mu.Lock()
	c.seen, c.got = append(c.seen, noted), append(c.got, answer.Code)
	c.mu.Unlock()
	w.WriteHeader(answer.Code)
}

// start runs a product that agents push to by this address.
func (c *callback) start(t *testing.T, o apptest.Options) *apptest.Server {
	t.Helper()
	o.Change = func(to *config.Config) { to.PushOrigin = c.url }
	s := apptest.Start(t, o)
	at, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	c.to.Store(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at); r.Out.Host = r.In.Host }})
	return s
}

// pushes returns the pushes that came, and how they were answered.
func (c *callback) pushes() ([]*http.Request, []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*http.Request(nil), c.seen...), append([]int(nil), c.got...)
}

// databases runs a test on both.
func databases(t *testing.T, test func(t *testing.T, databaseURL string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, postgrestest.URL(t))
	})
}

// TestAgentsPush has agents on the official SDK push, over every binding.
func TestAgentsPush(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, databaseURL string) {
		c := newCallback(t)
		s := c.start(t, apptest.Options{DatabaseURL: databaseURL})
		var pages []string
		for _, way := range agenttest.Ways() {
			agent := s.Register(agenttest.Serve(t, way, false).CardURL)
			id := s.Send(agent.ID, map[string]any{"text": "deploy"}).TaskID
			waiting := s.TaskWhere(id, "is pushed", func(t apptest.Task) bool { return t.Question != nil && t.Push != nil && t.Push.State == "registered" })
			if !strings.Contains(s.Page("/tasks/"+id), "pushes what happens") {
				t.Errorf("%s: the page says nothing of pushes", way)
			}
			s.Send(agent.ID, map[string]any{
				"taskId": id, "answers": waiting.Question.MessageID,
				"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2}`), "mediaType": "application/json"}},
			})
			done := s.TaskWhere(id, "was pushed and is over", func(t apptest.Task) bool {
				return t.State == "TASK_STATE_COMPLETED" && t.Push != nil && t.Push.LastAt != nil && t.Push.State == "removed"
			})
			pages = append(pages, "/tasks/"+id, "/tasks/"+id+"/wire", "/agents/"+agent.ID+"/wire")
			if apptest.LastText(done) != "Deploying 2 to staging." || done.Push.Problem != "" {
				t.Errorf("%s: the agent said %q, and there is the problem %q", way, apptest.LastText(done), done.Push.Problem)
			}
		}
		seen, got := c.pushes()
		for i, push := range seen {
			if got[i] != http.StatusNoContent {
				t.Errorf("%s was answered with %d", push.URL.Path, got[i])
			}
			assertNoTrace(t, s, push, pages)
		}
	})
}

// assertNoTrace fails if the secrets of a push are on one of the pages.
func assertNoTrace(t *testing.T, s *apptest.Server, push *http.Request, pages []string) {
	t.Helper()
	inPath := push.URL.Path[strings.LastIndexByte(push.URL.Path, '/')+1:]
	_, token, _ := strings.Cut(push.Header.Get("Authorization"), " ")
	if len(inPath) != 43 || len(token) != 43 {
		t.Fatalf("the secrets of a push are %q and %q, want 43 characters each", inPath, token)
	}
	for _, page := range pages {
		findCanary(t, page, s.Page(page), inPath, token)
	}
}

// hostile is a push as it came once, to be pushed again in other ways.
type hostile struct {
	t      *testing.T
	to     string // with the secret
	bare   string // without
	token  string
	taskID string // of the agent
}

func (h hostile) push(to, body string, headers ...string) int {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func (h hostile) status(state, at string) string {
	return `{"statusUpdate":{"taskId":"` + h.taskID + `","contextId":"c","status":{"state":"` + state + `","timestamp":"` + at + `"}}}`
}

// TestHostilePushes are refused, and what is refused leaves no trace.
func TestHostilePushes(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, databaseURL string) {
		h, s, id := pushed(t, databaseURL)
		late := h.status("TASK_STATE_FAILED", "2099-01-01T00:00:00Z")
		const other = "0190a0a0-0000-7000-8000-000000000000"
		for name, c := range map[string]struct {
			to, body string
			headers  []string
			want     int
		}{
			"no secret":                {h.bare, late, nil, 401},
			"another secret":           {h.bare + "/" + strings.Repeat("A", 43), late, nil, 401},
			"the token in the address": {h.bare + "/" + h.token, late, nil, 401},
			"a wrong token":            {h.bare, late, []string{"A2A-Notification-Token", strings.Repeat("A", 43)}, 401},
			"the token as Basic":       {h.bare, late, []string{"Authorization", "Basic " + h.token}, 401},
			"another registration":     {strings.Replace(h.to, h.bare[strings.LastIndexByte(h.bare, '/')+1:], other, 1), late, nil, 401},
			"no registration":          {h.bare[:strings.LastIndexByte(h.bare, '/')+1], late, nil, 401},
			"no JSON":                  {h.to, "state=FAILED", nil, 400},
			"no event":                 {h.to, `{"hello":1}`, nil, 400},
			"another task":             {h.to, strings.Replace(late, h.taskID, "another", 1), nil, 422},
			"too large":                {h.to, late + strings.Repeat(" ", 8<<20), nil, 413},
		} {
			if got := h.push(c.to, c.body, c.headers...); got != c.want {
				t.Errorf("%s is answered with %d, want %d", name, got, c.want)
			}
		}
		if response, err := http.Get(h.to); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("GET is answered with %v, %v", response, err)
		}
		var task apptest.Task
		s.Call("GET", "/api/v1/tasks/"+id, nil, &task)
		if task.State != "TASK_STATE_WORKING" || task.Push == nil || !strings.Contains(task.Push.Problem, "another task") && !strings.Contains(task.Push.Problem, "no A2A event") {
			t.Errorf("the task is %s, the problem is %q; want it at work, and the problem told", task.State, task.Push.Problem)
		}
		proofs := map[string][]string{
			h.bare: {"A2A-Notification-Token", h.token}, h.bare + "/": {"X-A2A-Notification-Token", h.token},
			h.bare + "/x": {"Authorization", "bearer " + h.token}, h.to: {"Content-Type", "application/octet-stream"},
		}
		for to, headers := range proofs {
			if got := h.push(to, h.status("TASK_STATE_WORKING", "2020-01-01T00:00:00Z"), headers...); got != 204 {
				t.Errorf("with %s a push is answered with %d", headers[0], got)
			}
		}
		flood(t, h)
	})
}

// flood pushes until it is too much.
func flood(t *testing.T, h hostile) {
	t.Helper()
	const tries = 130
	refused := 0
	for range tries {
		if h.push(h.to, h.status("TASK_STATE_WORKING", "2020-01-01T00:00:00Z")) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 || refused > tries-90 {
		t.Errorf("of %d pushes %d were too many; about 120 may come in a minute", tries, refused)
	}
}

// pushed starts a task that works on, and returns what its agent was given.
func pushed(t *testing.T, databaseURL string) (hostile, *apptest.Server, string) {
	t.Helper()
	fake := agenttest.PlayPushing(t, agenttest.Ways()[0], false, func(agenttest.Call) agenttest.Say {
		return agenttest.Say{Events: []string{`{"task":{"id":"T","contextId":"c","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:06Z"}}}`}}
	})
	s := apptest.Start(t, apptest.Options{DatabaseURL: databaseURL, Change: func(c *config.Config) { c.PushOrigin = "https://console.example" }})
	id := s.Send(s.Register(fake.CardURL).ID, map[string]any{"text": "go"}).TaskID
	config := <-fake.Asked()
	to := strings.Replace(config.URL, "https://console.example", s.URL(), 1)
	return hostile{t: t, to: to, bare: to[:strings.LastIndexByte(to, '/')], token: config.Token, taskID: config.TaskID}, s, id
}

// TestPushesWhileTheDatabaseIsAway are to come again, and do.
func TestPushesWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	cable, through := newCable(t, postgrestest.URL(t))
	h, s, id := pushed(t, through)
	event := h.status("TASK_STATE_INPUT_REQUIRED", "2026-01-02T03:05:00Z")
	cable.set(true)
	response, err := http.Post(h.to, "application/json", strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("it is answered with %d, Retry-After %q; want 503 and when to come again", response.StatusCode, response.Header.Get("Retry-After"))
	}
	cable.set(false)
	s.Eventually("the push again", func() bool { return h.push(h.to, event) == http.StatusNoContent })
	s.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
}
