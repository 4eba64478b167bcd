package worker_test

import (
	"testing"

	"github.com/agent-taskbay/taskbay/internal/worker"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	r := worker.NewRoom(3, 2)
	wantLeft := func(agentID string, want int) {
		t.Helper()
		if got := r.Left(agentID); got != want {
			t.Errorf("room for %d of %s, want %d", got, agentID, want)
		}
	}
	wantLeft("a", 2)
	r.Take("a")
	r.Take("a")
	wantLeft("a", 0)
	wantLeft("b", 1)
	r.Take("b")
	wantLeft("c", 0)
	if got := r.LeftInAll(); got != 0 {
		t.Errorf("room for %d in all, want none", got)
	}
	r.Leave("a")
	<-r.Freed()
	wantLeft("a", 1)
	wantLeft("b", 1)
}
