package cli_test

import (
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := "--database-url=" + postgrestest.URL(t)
	if got := taskbay(t, "", "migrate", "status", url); got.code != 1 || !strings.Contains(got.err, "taskbay migrate up") {
		t.Errorf("status of an empty database: %+v, want 1 and what to do", got)
	}
	for range 2 {
		if got := taskbay(t, "", "migrate", "up", url); got.code != 0 {
			t.Errorf("up: %+v, want 0", got)
		}
	}
	if got := taskbay(t, "", "migrate", "status", url); got.code != 0 {
		t.Errorf("status after up: %+v, want 0", got)
	}
	if got := taskbay(t, "", "migrate", "after-restore", url); got.code != 0 || !strings.HasPrefix(got.out, "0 commands") {
		t.Errorf("after-restore: %+v, want 0 and how many", got)
	}
}

func TestDatabaseURLIsNotShown(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:s3cret@127.0.0.1:1/db", "postgres://u:s3cret@[bad/db"} {
		for _, command := range [][]string{{"serve"}, {"worker"}, {"migrate", "up"}, {"migrate", "after-restore"}} {
			got := taskbay(t, "", append(command, "--database-url", url)...)
			if got.code == 0 || strings.Contains(got.out+got.err, "s3cret") {
				t.Errorf("%v with %s: %+v; want a failure that does not show the password", command, url, got)
			}
		}
	}
}

func TestWorkerNeedsPostgreSQL(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"worker"}, {"serve", "--no-workers"}} {
		if got := taskbay(t, "", args...); got.code != 2 || !strings.Contains(got.err, "--database-url") {
			t.Errorf("%v: %+v, want 2 and what it needs", args, got)
		}
	}
}
