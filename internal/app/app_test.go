package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestMainJob does what the product is for: a form that an agent sent is
// answered, and the agent completes its task with the typed values.
func TestMainJob(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		testMainJob(t, apptest.Options{SampleAgents: true})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		testMainJob(t, apptest.Options{SampleAgents: true, DatabaseURL: postgrestest.URL(t)})
	})
}

func testMainJob(t *testing.T, o apptest.Options) {
	s := apptest.Start(t, o)
	agent := s.SampleAgent(demo.Form)

	started := s.Send(agent.ID, map[string]any{"text": "deploy"})
	if started.Status != "succeeded" {
		t.Fatalf("the first message is %s: %s", started.Status, started.Error)
	}
	waiting := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if waiting.Question == nil || waiting.Question.Form == nil {
		t.Fatalf("question %+v, want one with a form", waiting.Question)
	}

	bad := map[string]any{
		"taskId": started.TaskID, "answers": waiting.Question.MessageID,
		"parts": []any{map[string]any{"data": map[string]any{"environment": "moon", "replicas": 11, "dryRun": false}, "mediaType": "application/json"}},
	}
	var problem struct {
		Errors []struct{ Location, Message string }
	}
	if status := s.Call("POST", "/api/v1/agents/"+agent.ID+"/commands", bad, &problem, "Idempotency-Key", "bad"); status != http.StatusUnprocessableEntity || len(problem.Errors) != 2 {
		t.Errorf("a bad answer was answered with %d and %+v, want 422 and two faults", status, problem)
	}

	good := map[string]any{
		"taskId": started.TaskID, "answers": waiting.Question.MessageID,
		"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2,"dryRun":false}`), "mediaType": "application/json"}},
	}
	if answer := s.Send(agent.ID, good); answer.Status != "succeeded" {
		t.Fatalf("the answer is %s: %s", answer.Status, answer.Error)
	}
	done := s.TaskIn(started.TaskID, "TASK_STATE_COMPLETED")
	if got, want := apptest.LastText(done), "Deploying 2 replica(s) to staging."; got != want {
		t.Errorf("the agent said %q, want %q", got, want)
	}
	if status := s.Call("POST", "/api/v1/agents/"+agent.ID+"/commands", good, nil, "Idempotency-Key", "again"); status != http.StatusConflict {
		t.Errorf("a second answer was answered with %d, want 409", status)
	}
}

func TestStreamedArtifact(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	started := s.Send(s.SampleAgent(demo.Slow).ID, map[string]any{"text": "go"})
	waiting := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if len(waiting.Artifacts) == 0 || len(waiting.Artifacts[0].Parts) != 1 || len(apptest.Text(waiting.Artifacts[0].Parts[0])) < 100 {
		t.Errorf("artifacts %+v, want one whole text", waiting.Artifacts)
	}
}

func TestFormsAreDrawnByTheCard(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	for variant, drawn := range map[string]bool{demo.Form: true, demo.Plain: false, demo.Invalid: false, demo.KitchenSink: true} {
		started := s.Send(s.SampleAgent(variant).ID, map[string]any{"text": "go"})
		waiting := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
		if waiting.Question == nil || (waiting.Question.Form != nil) != drawn || (len(waiting.Question.NotForm) == 0) != drawn {
			t.Errorf("%s: question %+v, want a form: %v", variant, waiting.Question, drawn)
		}
	}
}

func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := apptest.Start(t, apptest.Options{DataDir: dir, SampleAgents: true})
	started := first.Send(first.SampleAgent(demo.Form).ID, map[string]any{"text": "deploy"})
	before := first.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	first.Stop()
	second := apptest.Start(t, apptest.Options{DataDir: dir})
	after := second.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if len(after.Messages) != len(before.Messages) || after.Question == nil {
		t.Errorf("after a restart %+v, want %+v", after, before)
	}
}

func TestOneProcessADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.Start(t, apptest.Options{DataDir: dir})
	_, err := app.New(context.Background(), config.Config{Listen: "127.0.0.1:0", DataDir: dir}, app.Options{})
	if err == nil || !strings.Contains(err.Error(), "another taskbay") {
		t.Errorf("a second process got %v, want to hear of the first", err)
	}
}

func TestDataDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	apptest.Start(t, apptest.Options{DataDir: dir})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("the data directory has mode %o, want 700", got)
	}
}

func TestUnreachableAgent(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	a := s.Register("http://127.0.0.1:1/card.json")
	if a.Health.Status != "unreachable" || a.Health.Error == "" {
		t.Errorf("agent %+v, want it unreachable with a reason", a)
	}
}

func TestOtherSitesAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	for _, path := range []string{"/", "/agents", "/api/v1/agents", "/healthz", "/no-such-page"} {
		for name, header := range map[string][2]string{
			"another host":  {"Host", "rebound.example"},
			"another site":  {"Sec-Fetch-Site", "cross-site"},
			"other origins": {"Origin", "https://evil.example"},
		} {
			request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL()+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set(header[0], header[1])
			if header[0] == "Host" {
				request.Host = header[1]
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusForbidden || response.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("POST %s from %s was answered with %d and the policy %q, want 403 and one", path, name, response.StatusCode, response.Header.Get("Content-Security-Policy"))
			}
		}
	}
}

// TestEveryMethodIsGuarded asks with methods that nobody uses, and by paths that a
// ServeMux would answer with a redirect.
func TestEveryMethodIsGuarded(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	for _, method := range []string{http.MethodConnect, http.MethodTrace, http.MethodDelete, "BREW", http.MethodGet} {
		for _, path := range []string{"", "/agents", "//agents", "/api", "/api/v1/agents", "/api//v1", "/healthz"} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			status, allow := response.StatusCode, response.Header.Get("Allow")
			if response.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %q was answered without the security headers", method, path)
			}
			if method != http.MethodGet && (status < 400 || status >= 500 || (status == http.StatusMethodNotAllowed) != (allow != "")) {
				t.Errorf("%s %q was answered with %d and Allow %q, want it refused", method, path, status, allow)
			}
		}
	}
}
