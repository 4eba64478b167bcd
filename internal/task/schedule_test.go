package task

import (
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

func TestNextCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	heard := func(ago time.Duration, state a2a.State, answered string) Head {
		return Head{RemoteTaskID: "r", State: state, AnsweredBy: answered, ObservedAt: now.Add(-ago)}
	}
	tests := map[string]struct {
		head      Head
		streaming bool
		last      time.Duration
		want      time.Duration // 0: never
	}{
		"just heard":              {heard(0, a2a.StateWorking, ""), false, 0, firstCheck},
		"grows":                   {heard(0, a2a.StateWorking, ""), false, 4 * time.Second, 6 * time.Second},
		"at most 15 s":            {heard(time.Minute, a2a.StateWorking, ""), false, 14 * time.Second, activeCheck},
		"quiet for long":          {heard(11*time.Minute, a2a.StateWorking, ""), false, time.Minute, time.Minute},
		"quiet for very long":     {heard(2*time.Hour, a2a.StateWorking, ""), false, time.Hour, 5 * time.Minute},
		"waits for a person":      {heard(0, a2a.StateInputRequired, ""), false, 0, waitingCheck},
		"was answered":            {heard(0, a2a.StateInputRequired, "c"), false, 0, firstCheck},
		"a stream brings it":      {heard(0, a2a.StateWorking, ""), true, 0, streamCheck},
		"ended":                   {heard(0, a2a.StateCompleted, ""), false, 0, 0},
		"never began":             {Head{State: a2a.StateUnspecified}, false, 0, 0},
		"a state nobody knows of": {heard(0, "DREAMING", ""), false, 0, firstCheck},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, interval := NextCheck(test.head, test.streaming, test.last, now)
			if interval != test.want {
				t.Errorf("interval %v, want %v", interval, test.want)
			}
			if test.want == 0 && !at.IsZero() {
				t.Errorf("next check at %v, want none", at)
			}
			if wait := at.Sub(now); test.want > 0 && (wait < test.want || wait > test.want*5/4) {
				t.Errorf("next check in %v, want %v and up to a quarter more", wait, test.want)
			}
		})
	}
}

// TestListedTasks are asked about seldom, but asked about.
func TestListedTasks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := Head{RemoteTaskID: "r", State: a2a.StateWorking, ObservedAt: now.Add(-2 * time.Minute)}
	put := ListedCheck(h, 15*time.Second, now)
	if put != 5*time.Minute {
		t.Fatalf("put off by %s, want 5m", put)
	}
	if again := ListedCheck(h, put, now.Add(time.Minute)); again != 0 {
		t.Errorf("a check that was put off is put off again, by %s", again)
	}
	if _, after := NextCheck(h, false, put, now); after != time.Minute {
		t.Errorf("after a check that was put off the next is in %s, want a minute, in which the list comes first", after)
	}
	if _, after := NextCheck(h, false, time.Minute, now); after != 15*time.Second {
		t.Errorf("if no list comes the next is in %s, want 15s", after)
	}
}
