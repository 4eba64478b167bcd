package cli_test

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/store"
)

var printedHead = regexp.MustCompile(`Head: (\d+:[0-9a-f]{64})`)

// TestAudit works with a server, and finds what it did on the trail, on the task and in
// exports; the chain holds through a backup and a restore, and not when the database is
// changed past Taskbay.
func TestAudit(t *testing.T) {
	t.Parallel()
	agent := startFiling(t)
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	c := s.Send(s.Register(agent.URL+"/card.json").ID, map[string]any{"text": "secret words"})
	s.TaskIn(c.TaskID, "TASK_STATE_COMPLETED")
	audit := func(place string, args ...string) result {
		t.Helper()
		return taskbay(t, "", append(append([]string{"audit"}, args...), "--data-dir", place)...)
	}
	assertTrailOf(t, s, c.TaskID)

	got := audit(dir, "verify")
	if got.code != 0 || !strings.Contains(got.out, "Organisation local: 2 entries, unbroken.") {
		t.Fatalf("audit verify = %+v", got)
	}
	head := printedHead.FindStringSubmatch(got.out)[1]
	assertExports(t, s, audit, dir)

	// Through a backup and a restore, the chain goes on.
	archive, place := filepath.Join(t.TempDir(), "backup.tar"), t.TempDir()
	for _, args := range [][]string{{"backup", archive, "--data-dir", dir}, {"restore", archive, "--data-dir", place}} {
		if got := taskbay(t, "", args...); got.code != 0 {
			t.Fatalf("%v = %+v", args, got)
		}
	}
	if got := audit(place, "verify", "--head", head); got.code != 0 {
		t.Errorf("audit verify after a restore = %+v", got)
	}
	if got := audit(place, "export", "-"); got.code != 0 || !strings.Contains(got.out, `"action":"backup-restored"`) {
		t.Errorf("after a restore, the trail is %+v", got)
	}
	db, err := sql.Open("sqlite", filepath.Join(place, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DROP TRIGGER audit_entry_no_update", "UPDATE audit_entry SET actor_name = 'Eve' WHERE action = 'message-sent'"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := audit(place, "verify"); got.code != 1 || !strings.Contains(got.err, "Organisation local, at 2 (entry ") || !strings.Contains(got.err, "): changed: ") {
		t.Errorf("audit verify of a changed trail = %+v", got)
	}
	for _, args := range [][]string{{"verify", "--head", "x"}, {"verify", "--organisation", "none"}, {"export", "-", "--format", "xml"}} {
		if got := audit(place, args...); got.code != 2 {
			t.Errorf("audit %v = %+v, want 2", args, got)
		}
	}
}

// assertTrailOf fails the test unless the API tells of the agent and the message, without
// its words.
func assertTrailOf(t *testing.T, s *apptest.Server, taskID string) {
	t.Helper()
	type page struct {
		Items []struct{ What, Action, TaskID, ContentSHA256, Hash string }
		Next  *string
	}
	for path, want := range map[string][]string{
		"/api/v1/audit":                         {"message-sent", "agent-registered"},
		"/api/v1/audit?kind=agent":              {"agent-registered"},
		"/api/v1/audit?limit=1":                 {"message-sent"},
		"/api/v1/audit?taskId=" + taskID:        {"message-sent"},
		"/api/v1/audit?personId=nobody":         {},
		"/api/v1/audit?to=2020-01-01T00:00:00Z": {},
		"/api/v1/tasks/" + taskID + "/audit":    {"message-sent"},
	} {
		var got page
		if status := s.Call("GET", path, nil, &got); status != http.StatusOK || len(got.Items) != len(want) {
			t.Errorf("%s: %d, %+v; want %v", path, status, got, want)
			continue
		}
		for i, e := range got.Items {
			if e.Action != want[i] || e.What == "" || (e.Hash == "") != strings.Contains(path, "/tasks/") || e.Action == "message-sent" && len(e.ContentSHA256) != 64 {
				t.Errorf("%s: entry %d is %+v", path, i, e)
			}
			if e.Action == "agent-registered" && !strings.HasSuffix(e.What, "/card.json") {
				t.Errorf("%s: %q does not say which of the agents of a host", path, e.What)
			}
		}
	}
	for path, want := range map[string]int{
		"/api/v1/audit?kind=x": 400, "/api/v1/audit?from=x": 400, "/api/v1/audit?cursor=!": 400, "/api/v1/audit?limit=0": 400,
		"/api/v1/audit/export?format=xml": 400, "/api/v1/tasks/none/audit": 404,
	} {
		if status := s.Call("GET", path, nil, nil); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

// assertExports fails the test unless exports from the server and by the command have
// every entry, and themselves.
func assertExports(t *testing.T, s *apptest.Server, audit func(string, ...string) result, dir string) {
	t.Helper()
	lines := s.Page("/api/v1/audit/export")
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		var entry struct{ Seq int }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Seq != i+1 {
			t.Errorf("line %d of the export is %s, %v", i, line, err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(s.Page("/api/v1/audit/export?format=csv"))).ReadAll()
	if err != nil || len(rows) != 1+4 {
		t.Errorf("as CSV the export has %d rows, %v", len(rows), err)
	}
	file := filepath.Join(t.TempDir(), "trail.csv")
	if got := audit(dir, "export", file, "--format", "csv", "--kind", "agent"); got.code != 0 || !printedHead.MatchString(got.out) {
		t.Errorf("audit export = %+v", got)
	}
	written, err := os.ReadFile(file)
	if err != nil || strings.Count(string(written), "\n") != 2 || strings.Contains(lines+string(written), "secret words") {
		t.Errorf("the file has %q, %v", written, err)
	}
}
