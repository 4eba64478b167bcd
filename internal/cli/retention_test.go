package cli_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// TestRetention purges a task beside the server that shows it.
func TestRetention(t *testing.T) {
	t.Parallel()
	agent := startFiling(t)
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	c := s.Send(s.Register(agent.URL+"/card.json").ID, map[string]any{"text": "go"})
	s.TaskIn(c.TaskID, "TASK_STATE_COMPLETED")
	s.Stop()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE task SET updated_us = 1000000"); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	s = apptest.Start(t, apptest.Options{DataDir: dir})
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"show"}, 0, "kept for ever"},
		{[]string{"run"}, 0, "kept for ever"},
		{[]string{"set", "0"}, 2, "1 to 36500, or off"},
		{[]string{"run", "--days", "30"}, 2, "--dry-run"},
		{[]string{"run", "--dry-run", "--days", "40000"}, 1, "1 to 36500"},
		{[]string{"run", "--dry-run", "--days", "30"}, 0, "Would purge 1 observation,"},
		{[]string{"set", "30"}, 0, "purged 30 days after"},
		{[]string{"run", "--dry-run"}, 0, "and 1 file, 2 bytes, of 1 task."},
		{[]string{"run"}, 0, "Purged 1 observation,"},
		{[]string{"run"}, 0, "Purged 0 observations"},
		{[]string{"set", "off"}, 0, "(command line) at"},
	} {
		if got := taskbay(t, "", append(append([]string{"retention"}, step.args...), "--data-dir", dir)...); got.code != step.code || !strings.Contains(got.out+got.err, step.want) {
			t.Errorf("retention %v = %+v, want %d and %q", step.args, got, step.code, step.want)
		}
	}
	var problem struct{ Detail string }
	if status := s.Call("GET", "/api/v1/artifacts/"+sha256Of("go"), nil, &problem); status != http.StatusGone || !strings.Contains(problem.Detail, "was purged on") {
		t.Errorf("a purged file: %d %q, want 410 and why", status, problem.Detail)
	}
	if status := s.Call("GET", "/artifacts/"+sha256Of("go"), nil, nil); status != http.StatusGone {
		t.Errorf("a purged file on the pages: %d, want 410", status)
	}
	var task struct{ PurgedAt, State string }
	if s.Call("GET", "/api/v1/tasks/"+c.TaskID, nil, &task); task.PurgedAt == "" || task.State != "TASK_STATE_COMPLETED" {
		t.Errorf("the task is %+v", task)
	}
	for body, want := range map[string]int{`{}`: 400, `{"days":null}`: 400, `{"days":-1}`: 422, `{"days":7}`: 200} {
		if status := s.Call("PUT", "/api/v1/retention", json.RawMessage(body), nil); status != want {
			t.Errorf("PUT /retention %s: %d, want %d", body, status, want)
		}
	}
	if page := s.Page("/tasks/" + c.TaskID); !strings.Contains(page, "files of this task were purged") {
		t.Error("the task's page does not say that it was purged")
	}
	if got := taskbay(t, "", "rebuild", "--data-dir", dir); got.code != 0 || !strings.Contains(got.out, "of 0 tasks: 0 as shown") || !strings.Contains(got.out, "1 task more was purged") {
		t.Errorf("rebuild = %+v", got)
	}
}
