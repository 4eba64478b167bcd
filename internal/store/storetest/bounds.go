package storetest

import (
	"fmt"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// shown returns a task as people see it.
func (b *bench) shown(taskID string) task.Task {
	b.Helper()
	t := b.record(taskID).Task
	b.view(func(tx *store.Tx) error {
		messages, err := tx.Messages(t.ID, 0)
		if err != nil {
			return err
		}
		for _, m := range messages {
			t.Messages = append(t.Messages, m.Message)
		}
		t.Artifacts, err = tx.Artifacts(t.ID, 0)
		return err
	})
	return t
}

// testPolledForever has an agent that answers every check otherwise.
func testPolledForever(b *bench) {
	b.limits = task.Limits{Bytes: 64 << 10, Events: 1000}
	id, _ := b.task("t")
	poll := func(state, message, artifact string, i int) {
		b.Helper()
		b.polls(id, fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_%s"%s},"artifacts":[%s],"metadata":{"n":%d,"pad":"%s"}}}`,
			id, state, message, artifact, i, strings.Repeat("x", 2000)))
	}
	artifact := func(text string) string {
		return fmt.Sprintf(`{"artifactId":"a","parts":[{"text":%q}]}`, text)
	}
	message := func(id, text string) string {
		return fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":%q}]}`, id, text)
	}
	for i := range 200 {
		poll("WORKING", message(fmt.Sprint("m", i), "going on"), artifact(fmt.Sprint("draft ", i)), i)
	}
	got := b.shown(id)
	if got.Ledger.Bytes > 70<<10 || got.Ledger.Events > 60 || got.Ledger.CutEvents == 0 || got.Ledger.CutBytes == 0 {
		b.Errorf("after many polls the ledger has %+v", got.Ledger)
	}
	poll("INPUT_REQUIRED", message("q", "Which?"), artifact("nearly done"), 1)
	if got := b.shown(id); got.State != a2a.StateInputRequired || got.Messages[len(got.Messages)-1].ID != "q" || *got.Artifacts[0].Parts[0].Text != "nearly done" || b.record(id).Question.MessageID != "q" {
		b.Errorf("a question beyond the limits: %+v", got)
	}
	poll("WORKING", "", artifact("another draft"), 1)
	poll("COMPLETED", message("end", "Here it is."), artifact("final"), 1)
	got = b.shown(id)
	if got.State != a2a.StateCompleted || got.Messages[len(got.Messages)-1].ID != "end" || *got.Artifacts[0].Parts[0].Text != "final" {
		b.Errorf("the end beyond the limits: %+v", got)
	}
	b.replays()
}

// testFlood has an agent that streams more than is kept of a task.
func testFlood(b *bench) {
	b.limits = task.Limits{Bytes: 1 << 20, Events: 20}
	id, _ := b.task("t")
	b.hears(id, "s/0", working(id))
	chunk := func(i int) string {
		return fmt.Sprintf(`{"artifactUpdate":{"taskId":"remote-%s","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"text":"%d,"}]},"metadata":{"n":1}}}`, id, i)
	}
	var want strings.Builder
	for i := range 100 {
		b.hears(id, fmt.Sprint("s/", i+1), chunk(i))
		if i < 39 { // with the first event as many as twice the limit
			fmt.Fprintf(&want, "%d,", i)
		}
	}
	b.hears(id, "s/7", chunk(6)) // once more
	b.hears(id, "s/200", `{"progress":1}`)
	got := b.shown(id)
	if len(got.Artifacts) != 1 || *got.Artifacts[0].Parts[0].Text != want.String() {
		b.Errorf("of a flood is shown %+v, want the chunks to twice the limit", got.Artifacts)
	}
	if got.Ledger.Events != 40 || got.Ledger.CutEvents != 20+61+2 {
		b.Errorf("the ledger has %+v", got.Ledger)
	}
	b.hears(id, "s/300", fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`, id))
	b.hears(id, "s/301", fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_FAILED","message":{"messageId":"end","role":"ROLE_AGENT","parts":[{"text":"No."}]}}}}`, id))
	got = b.shown(id)
	if last := got.Messages[len(got.Messages)-1]; got.State != a2a.StateFailed || last.ID != "end" || got.OrganisationID != access.LocalOrganisation {
		b.Errorf("the end of a flood: %+v", got)
	}
	b.replays()
}
