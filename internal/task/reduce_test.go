package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// play feeds observations to Reduce one after the other and tells what happened
// in short words.
type play struct {
	t    *testing.T
	head Head
	now  time.Time
	said []string

	afterAnswer bool // what is heard from now on
}

func newPlay(t *testing.T) *play {
	return &play{
		t:    t,
		head: Head{TaskID: "local", Kind: KindTask, State: a2a.StateUnspecified},
		now:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// hears takes in one event of A2A JSON, received a second after the last one.
func (p *play) hears(payload string) { p.hearsAsked(payload, time.Time{}) }

func (p *play) hearsAsked(payload string, asked time.Time) {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	event, _ := a2a.DecodeEvent(json.RawMessage(payload))
	var changes []Change
	p.head, changes = Reduce(p.head, event, Timing{Asked: asked, Received: p.now, AfterAnswer: p.afterAnswer})
	for _, c := range changes {
		p.said = append(p.said, inShort(c))
	}
}

func inShort(c Change) string {
	switch {
	case c.AddMessage != nil:
		return "message " + c.AddMessage.ID
	case c.PutArtifact != nil:
		return "artifact " + c.PutArtifact.ArtifactID
	case c.AppendArtifact != nil:
		return "chunk " + c.AppendArtifact.Artifact.ArtifactID
	case c.AddTransition != nil:
		return string(*c.AddTransition)
	}
	return "complete " + c.Complete
}

func (p *play) wants(want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.said); diff != "" {
		p.t.Errorf("changes (-want +got):\n%s", diff)
	}
	p.said = nil
}

func status(state, message, timestamp string) string {
	status := fmt.Sprintf(`"state":"TASK_STATE_%s"`, state)
	if message != "" {
		status += fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":"about %s"}]}`, message, message)
	}
	if timestamp != "" {
		status += fmt.Sprintf(`,"timestamp":"2026-01-01T%sZ"`, timestamp)
	}
	return status
}

func update(state, message, timestamp string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"r","contextId":"c","status":{%s}}}`, status(state, message, timestamp))
}

func snapshot(state, message, timestamp, rest string) string {
	return fmt.Sprintf(`{"task":{"id":"r","contextId":"c","status":{%s}%s}}`, status(state, message, timestamp), rest)
}

func TestReduceFollowsATask(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(snapshot("SUBMITTED", "", "", ""))
	p.hears(update("WORKING", "", ""))
	p.hears(`{"artifactUpdate":{"taskId":"r","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`)
	p.hears(`{"artifactUpdate":{"taskId":"r","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true,"lastChunk":true}}`)
	p.hears(update("COMPLETED", "m1", ""))
	p.wants("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "artifact a", "chunk a", "complete a", "message m1", "TASK_STATE_COMPLETED")
	if p.head.RemoteTaskID != "r" || p.head.ContextID != "c" {
		t.Errorf("the task is %q in context %q, want r in c", p.head.RemoteTaskID, p.head.ContextID)
	}
}

func TestReduceNeverReopensAnEndedTask(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]string{
		"update":          update("WORKING", "", ""),
		"another end":     update("FAILED", "", ""),
		"a question":      update("INPUT_REQUIRED", "q", "23:00:00"),
		"snapshot":        snapshot("WORKING", "", "", ""),
		"later snapshot":  snapshot("WORKING", "", "23:00:00", ""),
		"canceled so far": snapshot("CANCELED", "", "23:00:00", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			p.hears(update("COMPLETED", "", "10:00:00"))
			p.said = nil
			p.hears(late)
			p.wants()
			if p.head.State != a2a.StateCompleted || p.head.NeedsYou() {
				t.Errorf("the task is %s, want it to stay completed", p.head.State)
			}
		})
	}
}

func TestReduceOlderSnapshotsLose(t *testing.T) {
	t.Parallel()
	t.Run("by the agent's clock", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t)
		p.hears(update("INPUT_REQUIRED", "q", "10:00:05"))
		p.said = nil
		p.hears(snapshot("WORKING", "", "10:00:04", ""))
		p.wants()
	})
	t.Run("by when it was asked for", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t)
		asked := p.now
		p.hears(update("INPUT_REQUIRED", "q", ""))
		p.said = nil
		p.hearsAsked(snapshot("WORKING", "", "", ""), asked)
		p.wants()
	})
	t.Run("a newer one counts", func(t *testing.T) {
		t.Parallel()
		p := newPlay(t)
		p.hears(update("INPUT_REQUIRED", "q", "10:00:05"))
		p.said = nil
		p.hears(snapshot("WORKING", "", "10:00:06", ""))
		p.wants("TASK_STATE_WORKING")
	})
}

func TestReduceBelievesWhatChecksKeepSaying(t *testing.T) {
	t.Parallel()
	working := func(p *play) { p.hears(update("WORKING", "", "10:00:01")); p.said = nil }
	check := func(p *play, after time.Duration, payload string) {
		p.now = p.now.Add(after)
		p.hearsAsked(payload, p.now.Add(time.Second)) // hears moves on by a second
	}
	behind := snapshot("INPUT_REQUIRED", "q", "10:00:00", "")
	tests := map[string]struct {
		steps func(*play)
		want  a2a.State
	}{
		"once":         {func(p *play) { working(p); check(p, 0, behind) }, a2a.StateWorking},
		"for a moment": {func(p *play) { working(p); check(p, 0, behind); check(p, doubtTime/2, behind) }, a2a.StateWorking},
		"for a while":  {func(p *play) { working(p); check(p, 0, behind); check(p, doubtTime, behind) }, a2a.StateInputRequired},
		"but not all along": {func(p *play) {
			working(p)
			check(p, 0, behind)
			check(p, 0, snapshot("WORKING", "", "10:00:01", ""))
			check(p, doubtTime, behind)
		}, a2a.StateWorking},
		"another thing each time": {func(p *play) {
			working(p)
			check(p, 0, behind)
			check(p, doubtTime, snapshot("INPUT_REQUIRED", "q", "09:59:59", ""))
		}, a2a.StateWorking},
		"of a task that has ended": {func(p *play) {
			p.hears(update("COMPLETED", "", "10:00:01"))
			check(p, 0, behind)
			check(p, 2*doubtTime, behind)
		}, a2a.StateCompleted},
		"from a stream": {func(p *play) { working(p); p.hears(behind); p.now = p.now.Add(doubtTime); p.hears(behind) }, a2a.StateWorking},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			test.steps(p)
			if p.head.State != test.want {
				t.Errorf("the task is %s, want %s", p.head.State, test.want)
			}
		})
	}
}

func TestReduceOlderSnapshotsOfTheSameStateLose(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	asked := p.now
	p.hears(update("INPUT_REQUIRED", "q", ""))
	p.hears(update("INPUT_REQUIRED", "q2", ""))
	p.hearsAsked(snapshot("INPUT_REQUIRED", "q", "", ""), asked)
	if p.head.Question.MessageID != "q2" {
		t.Errorf("the question is %s, want q2 to stay", p.head.Question.MessageID)
	}
	p.hears(update("WORKING", "", ""))
	p.said = nil
	p.hearsAsked(snapshot("WORKING", "", "", `,"artifacts":[{"artifactId":"a","parts":[{"text":"less"}]}]`), asked)
	p.wants()
}

func TestReduceQuestions(t *testing.T) {
	t.Parallel()
	const answered = "command"
	tests := map[string]struct {
		steps      func(*play)
		wantID     string
		wantNumber int64
		wantOpen   bool // nobody has answered
	}{
		"asks":           {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")) }, "q", 1, true},
		"without a word": {func(p *play) { p.hears(update("INPUT_REQUIRED", "", "")) }, "", 1, true},
		"the same twice": {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")); p.hears(update("INPUT_REQUIRED", "q", "")) }, "q", 1, true},
		"another one":    {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")); p.hears(update("INPUT_REQUIRED", "q2", "")) }, "q2", 2, true},
		"is answered":    {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")); p.head.AnsweredBy = answered }, "q", 1, false},
		"answered, again": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", ""))
			p.head.AnsweredBy = answered
			p.hears(update("INPUT_REQUIRED", "q", ""))
		}, "q", 1, false},
		"answered, asks something else": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", ""))
			p.head.AnsweredBy = answered
			p.hears(update("INPUT_REQUIRED", "q2", ""))
		}, "q2", 2, true},
		"answered, asks the same later": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", "10:00:00"))
			p.head.AnsweredBy = answered
			p.hears(update("INPUT_REQUIRED", "q", "10:00:01"))
		}, "q", 2, true},
		"answered, asks the same after it got that": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", "10:00:00"))
			p.head.AnsweredBy = answered
			p.afterAnswer = true
			p.hears(update("INPUT_REQUIRED", "q", "10:00:00"))
		}, "q", 2, true},
		"answered, works after it got that": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", ""))
			p.head.AnsweredBy = answered
			p.afterAnswer = true
			p.hears(update("WORKING", "", ""))
		}, "", 1, false},
		"answered, works, asks under the same ID": {func(p *play) {
			p.hears(update("INPUT_REQUIRED", "q", ""))
			p.head.AnsweredBy = answered
			p.hears(update("WORKING", "", ""))
			p.hears(update("INPUT_REQUIRED", "q", ""))
		}, "q", 2, true},
		"moves on": {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")); p.hears(update("WORKING", "", "")) }, "", 1, false},
		"ends":     {func(p *play) { p.hears(update("INPUT_REQUIRED", "q", "")); p.hears(update("CANCELED", "", "")) }, "", 1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t)
			test.steps(p)
			got := p.head.Question
			if got.MessageID != test.wantID || got.Number != test.wantNumber || p.head.NeedsYou() != test.wantOpen {
				t.Errorf("question %q number %d, needs you %v; want %q, %d, %v",
					got.MessageID, got.Number, p.head.NeedsYou(), test.wantID, test.wantNumber, test.wantOpen)
			}
		})
	}
}

func TestReduceKeepsAMessageAMessage(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(`{"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)
	p.wants("message m")
	if p.head.Kind != KindMessage || p.head.RemoteTaskID != "" {
		t.Errorf("kind %s, remote task %q; want a message and no task", p.head.Kind, p.head.RemoteTaskID)
	}
}

func TestReduceKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_DREAMING"}}}`)
	p.wants("TASK_STATE_DREAMING")
	before := p.head
	p.hears(`{"progressUpdate":{"percent":50}}`)
	if len(p.said) != 1 || !strings.HasPrefix(p.said[0], "message content-") {
		t.Errorf("changes %v, want one message that shows the unknown event", p.said)
	}
	before.ObservedAt = p.head.ObservedAt
	if diff := cmp.Diff(before, p.head); diff != "" {
		t.Errorf("an unknown event changed the head (-want +got):\n%s", diff)
	}
}

func TestReduceCompletesTheArtifactsOfAnEndedTask(t *testing.T) {
	t.Parallel()
	p := newPlay(t)
	p.hears(snapshot("COMPLETED", "", "", `,"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}],"history":[{"messageId":"h","role":"ROLE_USER","parts":[{"text":"do"}]}]`))
	p.wants("message h", "artifact a", "TASK_STATE_COMPLETED", "complete a")
}
