package task

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// comes takes in one event that came in this way.
func (p *play) comes(when Timing, payload string) {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	when.Received = p.now
	event, _ := a2a.DecodeEvent(json.RawMessage(payload))
	var changes []Change
	p.head, changes = Reduce(p.head, event, when)
	for _, c := range changes {
		p.said = append(p.said, inShort(c))
	}
}

func statusAt(state string, second int, message string) string {
	if message != "" {
		message = fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":"x"}]}`, message)
	}
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_%s","timestamp":"2026-01-02T03:05:%02dZ"%s}}}`, state, second, message)
}

const chunkOfA = `{"artifactUpdate":{"taskId":"r","append":true,"artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`

// TestWhatIsOutOfOrder has a row for each thing that came when nobody can know what
// comes before and after it.
func TestWhatIsOutOfOrder(t *testing.T) {
	t.Parallel()
	pushed, streamed := Timing{Pushed: true}, Timing{Stream: "s"}
	for name, tc := range map[string]struct {
		when      Timing
		event     string
		want      []string
		state     a2a.State
		unsettled bool
	}{
		"a later state pushed":             {pushed, statusAt("INPUT_REQUIRED", 20, "q"), []string{"message q", "TASK_STATE_INPUT_REQUIRED"}, a2a.StateInputRequired, false},
		"an earlier state pushed":          {pushed, statusAt("SUBMITTED", 5, "m"), nil, a2a.StateWorking, true},
		"the same state pushed":            {pushed, statusAt("WORKING", 10, ""), nil, a2a.StateWorking, false},
		"a state without a time pushed":    {pushed, `{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`, nil, a2a.StateWorking, true},
		"the end pushed":                   {pushed, `{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_FAILED"}}}`, []string{"TASK_STATE_FAILED"}, a2a.StateFailed, true},
		"a chunk pushed":                   {pushed, chunkOfA, nil, a2a.StateWorking, true},
		"a message pushed":                 {pushed, `{"message":{"messageId":"m","taskId":"r","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, []string{"message m"}, a2a.StateWorking, false},
		"an earlier state of a stream":     {streamed, statusAt("SUBMITTED", 5, "m"), []string{"message m"}, a2a.StateWorking, true},
		"a later state of a stream":        {streamed, statusAt("INPUT_REQUIRED", 20, ""), []string{"TASK_STATE_INPUT_REQUIRED"}, a2a.StateInputRequired, false},
		"the end of a stream":              {streamed, statusAt("COMPLETED", 20, ""), []string{"TASK_STATE_COMPLETED"}, a2a.StateCompleted, true},
		"a chunk of a stream":              {streamed, chunkOfA, []string{"chunk a"}, a2a.StateWorking, false},
		"a chunk onto what another wrote":  {Timing{Stream: "s", Misplaced: true}, chunkOfA, nil, a2a.StateWorking, true},
		"a whole artifact of a stream":     {streamed, `{"artifactUpdate":{"taskId":"r","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`, []string{"artifact a"}, a2a.StateWorking, false},
		"a snapshot pushed with artifacts": {pushed, `{"task":{"id":"r","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:05:20Z"},"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}]}}`, nil, a2a.StateWorking, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			p.hears(statusAt("WORKING", 10, ""))
			p.said = nil
			p.comes(tc.when, tc.event)
			if diff := cmp.Diff(tc.want, p.said); diff != "" || p.head.State != tc.state || p.head.Unsettled.IsZero() == tc.unsettled {
				t.Errorf("state %s, unsettled since %v, changes (-want +got):\n%s", p.head.State, p.head.Unsettled, diff)
			}
		})
	}
}

// TestACheckSettles: one that was asked for after what was missing, not one before.
func TestACheckSettles(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(statusAt("WORKING", 10, ""))
	before := p.now.Add(500 * time.Millisecond)
	p.comes(Timing{Pushed: true}, chunkOfA)
	const whole = `{"task":{"id":"r","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:05:10Z"},"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}]}}`
	p.hearsAsked(whole, before)
	if p.head.Unsettled.IsZero() {
		t.Error("a check that was asked for before settles it")
	}
	p.hearsAsked(whole, p.now)
	if !p.head.Unsettled.IsZero() {
		t.Error("a check that was asked for after does not settle it")
	}
}

// TestAnEndedTaskTakesNoChunks: whether a chunk is in the snapshot of the end already,
// only another one tells.
func TestAnEndedTaskTakesNoChunks(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(statusAt("COMPLETED", 10, ""))
	p.said = nil
	p.comes(Timing{Stream: "s"}, chunkOfA)
	if len(p.said) > 0 || p.head.Unsettled.IsZero() {
		t.Errorf("it takes %v in, unsettled since %v", p.said, p.head.Unsettled)
	}
}

// TestUnsettledTasksAreChecked also when they have ended, but not for ever.
func TestUnsettledTasksAreChecked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ended := Head{State: a2a.StateCompleted, RemoteTaskID: "r", ObservedAt: now}
	if at, _ := NextCheck(ended, false, 0, now); !at.IsZero() {
		t.Errorf("an ended task is checked at %v", at)
	}
	ended.Unsettled = now
	if at, _ := NextCheck(ended, true, 0, now); at.Sub(now) > time.Second || at.Before(now) {
		t.Errorf("an unsettled one is checked after %v, want soon", at.Sub(now))
	}
	if at, _ := NextCheck(ended, false, 0, now.Add(endCheck)); !at.IsZero() {
		t.Errorf("it is checked without end, at %v", at)
	}
}
