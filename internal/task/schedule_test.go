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
