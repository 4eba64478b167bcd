package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// startFiles starts an agent that answers with a task that has a file.
func startFiles(t *testing.T) (cardURL string) {
	t.Helper()
	var server *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Files","description":"d","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, server.URL)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var call struct{ ID json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},
			"artifacts":[{"artifactId":"a","parts":[{"raw":"aGVsbG8=","filename":"hello.html","mediaType":"text/html"}]}]}}}`, call.ID)
	})
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/card.json"
}

const helloDigest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestFilesOfATask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	files := s.Register(startFiles(t))
	sent := s.Send(files.ID, map[string]any{"text": "go"})
	if sent.Status != "succeeded" {
		t.Fatalf("the message is %s: %s", sent.Status, sent.Error)
	}
	stored, err := filepath.Glob(filepath.Join(dir, artifact.Dir, "2c", helloDigest+"-*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("files %v, %v; want one under its digest", stored, err)
	}
	for _, address := range []string{"/artifacts/", "/api/v1/artifacts/"} {
		response, err := http.Get(s.URL() + address + helloDigest)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || string(body) != "hello" {
			t.Errorf("%s: %s %q, %v; want hello", address, response.Status, body, err)
		}
		for name, want := range map[string]string{
			"Content-Disposition": `attachment; filename="hello.html"`, "Content-Type": "application/octet-stream", "Cache-Control": "no-store",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", address, name, got, want)
			}
		}
	}
	if err := os.Remove(stored[0]); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/artifacts/", "/api/v1/artifacts/"} {
		if status := s.Call("GET", address+helloDigest, nil, nil); status != http.StatusGone {
			t.Errorf("%s: lost bytes are answered with %d, want 410", address, status)
		}
	}
}

// TestAPlaceThatIsNotShared: what can be known of it is said in the log.
func TestAPlaceThatIsNotShared(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	serve := func(o apptest.Options) string {
		var log logBuffer
		o.DatabaseURL, o.Log = url, slog.New(slog.NewTextHandler(&log, nil))
		s := apptest.Start(t, o)
		if !o.ServeOnly && !o.WorkOnly {
			s.Send(s.Register(startFiles(t)).ID, map[string]any{"text": "go"})
		}
		s.Stop()
		return log.text()
	}
	const unshared, missing = "unless they share the directory", "are not where this process looks for them"
	shared := t.TempDir()
	named := func(c *config.Config) { c.Artifacts.URL = "file://" + filepath.ToSlash(shared) }
	if log := serve(apptest.Options{Change: named}); strings.Contains(log, unshared) || strings.Contains(log, missing) {
		t.Errorf("one process and a place of its own: %s", log)
	}
	for name, test := range map[string]struct {
		options           apptest.Options
		unshared, missing bool
	}{
		"a worker without a place": {apptest.Options{WorkOnly: true}, true, true},
		"one that serves, without": {apptest.Options{ServeOnly: true}, true, true},
		"a worker with the place":  {apptest.Options{WorkOnly: true, Change: named}, false, false},
	} {
		log := serve(test.options)
		if strings.Contains(log, unshared) != test.unshared || strings.Contains(log, missing) != test.missing {
			t.Errorf("%s: warned %v, missed %v; the log is %s", name, test.unshared, test.missing, log)
		}
	}
}
