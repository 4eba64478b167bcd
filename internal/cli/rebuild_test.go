package cli_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// TestRebuild replays a task beside the server that runs it, and again after
// somebody changed what is shown of it behind the ledger's back.
func TestRebuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir, SampleAgents: true})
	bot := s.SampleAgent(demo.Form)
	c := s.Send(bot.ID, map[string]any{"text": "deploy"})
	s.TaskIn(c.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if got := taskbay(t, "", "rebuild", "--data-dir", dir); got.code != 0 || !strings.Contains(got.out, " of 1 task: 1 as shown, 0 differ, 0 cannot be replayed.") {
		t.Errorf("rebuild = %+v", got)
	}
	if got := taskbay(t, "", "rebuild", "no-such-task", "--data-dir", dir); got.code == 0 || !strings.Contains(got.err, "task no-such-task: There is no such task.") {
		t.Errorf("rebuild of no task = %+v", got)
	}
	s.Stop()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("UPDATE task SET state = 'TASK_STATE_WORKING'"); err != nil {
		t.Fatal(err)
	}
	got := taskbay(t, "", "rebuild", c.TaskID, "--data-dir", dir)
	if got.code != 1 || !strings.Contains(got.out, "state: shown is TASK_STATE_WORKING, the ledger says TASK_STATE_INPUT_REQUIRED") || !strings.Contains(got.out, "1 differ") {
		t.Errorf("rebuild of a changed task = %+v", got)
	}
}
