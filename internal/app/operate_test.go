package app_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
	"github.com/agent-taskbay/taskbay/internal/telemetry"
)

// get asks for a path of the server, or for a whole address.
func get(t *testing.T, s *apptest.Server, path string) (status int, body string, header http.Header) {
	t.Helper()
	if strings.HasPrefix(path, "/") {
		path = s.URL() + path
	}
	response, err := http.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all), response.Header
}

const said = "canary-of-what-was-said"

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	bot := s.SampleAgent(demo.Form)
	c := s.Send(bot.ID, map[string]any{"text": "deploy " + said})
	s.TaskIn(c.TaskID, "TASK_STATE_INPUT_REQUIRED")
	s.Page("/tasks/" + c.TaskID)
	get(t, s, "/tasks?q="+said)
	get(t, s, "/none/"+said)
	get(t, s, "/readyz")
	var metrics string
	s.Eventually("the metrics of a check", func() bool {
		_, metrics, _ = get(t, s, "/metrics")
		return strings.Contains(metrics, `taskbay_observations_total{result="unchanged",source="poll"}`) ||
			strings.Contains(metrics, `taskbay_observations_total{result="duplicate",source="poll"}`)
	})
	for _, want := range []string{
		`taskbay_build_info{version="test"} 1`,
		`taskbay_dispatch_wait_seconds_count{action="send"} 1`,
		`taskbay_dispatch_duration_seconds_count{action="send",status="succeeded"} 1`,
		`taskbay_observation_bytes_total{source="stream"} [1-9]`,
		`taskbay_commands{status="pending"} 0`,
		`taskbay_commands{status="uncertain"} 0`,
		`taskbay_queue_depth{queue="checks"} [0-9]`,
		`taskbay_queue_oldest_seconds{queue="commands"} 0`,
		`taskbay_tasks{status="needs_you"} 1`,
		`taskbay_workers 1`,
		`taskbay_streams [0-9]`,
		`taskbay_live_watchers [1-9]`,
		`taskbay_http_request_duration_seconds_count{code="200",method="GET",route="/tasks/{id}"} 1`,
		`taskbay_http_request_duration_seconds_count{code="202",method="POST",route="/api/v1/agents/{id}/commands"} 1`,
		`taskbay_http_request_duration_seconds_count{code="200",method="GET",route="/readyz"} 1`,
		`process_open_fds [1-9]`,
	} {
		if !regexp.MustCompile(`(?m)^` + regexp.MustCompile(`[{}]`).ReplaceAllString(want, `\$0`)).MatchString(metrics) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	for _, never := range []string{said, c.TaskID, bot.ID} {
		if strings.Contains(metrics, never) {
			t.Errorf("the metrics have %q in them", never)
		}
	}
	if t.Failed() {
		t.Log(regexp.MustCompile(`(?m)^.*_bucket.*\n|^#.*\n|^go_.*\n`).ReplaceAllString(metrics, ""))
	}
}

// ready asks whether a process is ready and returns the checks that fail.
func ready(t *testing.T, s *apptest.Server, address string) (status int, failing []string) {
	t.Helper()
	status, body, _ := get(t, s, address)
	var answer struct {
		Status string
		Checks []struct{ Name, Status, Detail string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Checks) != 6 {
		t.Fatalf("%s answers %s (%v), want six checks", address, body, err)
	}
	for _, c := range answer.Checks {
		if c.Status != "ok" {
			failing = append(failing, c.Name)
			if c.Detail == "" {
				t.Errorf("check %s fails without a word", c.Name)
			}
		}
	}
	if (answer.Status == "ok") != (len(failing) == 0) {
		t.Errorf("status %s with failing %v", answer.Status, failing)
	}
	return status, failing
}

func TestReady(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := apptest.Start(t, apptest.Options{DatabaseURL: url, ServeOnly: true})
	if status, failing := ready(t, s, "/readyz"); status != 503 || !slices.Equal(failing, []string{"workers"}) {
		t.Errorf("without a worker: %d, failing %v", status, failing)
	}
	w := apptest.Start(t, apptest.Options{DatabaseURL: url, WorkOnly: true, Change: func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" }})
	s.Eventually("a live worker", func() bool {
		status, failing := ready(t, s, "/readyz")
		return status == 200 && failing == nil
	})
	if status, failing := ready(t, w, w.OperationsURL()+"/readyz"); status != 200 || failing != nil {
		t.Errorf("the worker: %d, failing %v", status, failing)
	}
	if status, metrics, _ := get(t, w, w.OperationsURL()+"/metrics"); status != 200 || !strings.Contains(metrics, "taskbay_workers 1") {
		t.Errorf("the worker's metrics: %d %s", status, metrics)
	}
	if status, _, _ := get(t, w, w.OperationsURL()+"/healthz"); status != 200 {
		t.Errorf("the worker's health: %d", status)
	}
	stranger := apptest.Start(t, apptest.Options{DatabaseURL: url, ServeOnly: true, Log: slog.New(slog.DiscardHandler)})
	agent := s.Register("http://127.0.0.1:1/card.json")
	if status := s.Call("PUT", "/api/v1/agents/"+agent.ID+"/credential",
		map[string]any{"kind": "bearer", "secret": "canary-of-keys", "origins": []string{"http://127.0.0.1:1"}}, nil); status != 200 {
		t.Fatalf("a credential is answered %d", status)
	}
	if status, failing := ready(t, stranger, "/readyz"); status != 503 || !slices.Equal(failing, []string{"keys"}) {
		t.Errorf("without the others' keys: %d, failing %v", status, failing)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)"); err != nil {
		t.Fatal(err)
	}
	if status, failing := ready(t, s, "/readyz"); status != 503 || !slices.Equal(failing, []string{"migrations"}) {
		t.Errorf("with a newer schema: %d, failing %v", status, failing)
	}
}

// TestMetricsElsewhere has the metrics at the address that was asked for, and there alone.
func TestMetricsElsewhere(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{Change: func(c *config.Config) { c.MetricsListen = "127.0.0.1:0" }})
	if status, _, _ := get(t, s, "/metrics"); status != 404 {
		t.Errorf("the metrics at the pages' address: %d, want 404", status)
	}
	if status, metrics, _ := get(t, s, s.OperationsURL()+"/metrics"); status != 200 || !strings.Contains(metrics, "taskbay_build_info") {
		t.Errorf("the metrics: %d %s", status, metrics)
	}
	if status, _, _ := get(t, s, "/readyz"); status != 200 {
		t.Errorf("ready at the pages' address: %d", status)
	}
}

// traces is a collector that keeps the names and attributes of spans.
type traces struct {
	mu    sync.Mutex
	names []string
	raw   bytes.Buffer
}

func (c *traces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	all, err := io.ReadAll(body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/base/v1/traces" || proto.Unmarshal(all, &request) != nil {
		http.Error(w, "not traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(all)
	for _, r := range request.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				c.names = append(c.names, span.Name)
			}
		}
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	c := &traces{}
	at := httptest.NewServer(c)
	defer at.Close()
	s := apptest.Start(t, apptest.Options{SampleAgents: true, Change: func(c *config.Config) { c.OTLPEndpoint = at.URL + "/base" }})
	sent := s.Send(s.SampleAgent(demo.Form).ID, map[string]any{"text": "deploy " + said})
	s.TaskIn(sent.TaskID, "TASK_STATE_INPUT_REQUIRED")
	get(t, s, "/tasks?q="+said)
	s.Stop() // sends what is left
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, want := range []string{"dispatch send", "SendStreamingMessage", "AgentCard", "GET /tasks"} {
		if !slices.Contains(c.names, want) {
			t.Errorf("no span %q among %q", want, c.names)
		}
	}
	for _, want := range []string{sent.ID, sent.TaskID, "taskbay"} {
		if !bytes.Contains(c.raw.Bytes(), []byte(want)) {
			t.Errorf("no span says %q", want)
		}
	}
	if bytes.Contains(c.raw.Bytes(), []byte(said)) {
		t.Error("a span has what was said in it")
	}
}

// TestRequestIDs has every answer carry an ID that the log names.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var log bytes.Buffer
	handler := telemetry.LogHandler(slog.NewJSONHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := apptest.Start(t, apptest.Options{Log: slog.New(handler).With("process", "a")})
	_, _, header := get(t, s, "/tasks?q="+said)
	id := header.Get(telemetry.RequestIDHeader)
	line := ""
	s.Eventually("the request's line", func() bool {
		mu.Lock()
		defer mu.Unlock()
		line = regexp.MustCompile(`.*"request":"` + id + `".*`).FindString(log.String())
		return id != "" && line != ""
	})
	if !strings.Contains(line, `"route":"/tasks"`) || !strings.Contains(line, `"status":200`) || strings.Contains(line, said) {
		t.Errorf("the line is %s", line)
	}
	if _, _, again := get(t, s, "/tasks"); again.Get(telemetry.RequestIDHeader) == id {
		t.Error("two requests have one ID")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
