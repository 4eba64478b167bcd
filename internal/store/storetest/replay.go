package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// replays makes sure that the ledger of every task of the test says what is shown.
func (b *bench) replays() {
	b.Helper()
	if b.broken {
		return
	}
	for _, r := range b.replayAll() {
		if r.Unknown != "" || len(r.Differences) > 0 {
			b.Errorf("task %s does not follow from its ledger: %s %s", r.TaskID, r.Unknown, strings.Join(r.Differences, "; "))
		}
	}
}

func (b *bench) replayAll() (all []task.Replayed) {
	b.Helper()
	replay := task.Replay{Update: store.For[task.ReplayTx](b.db.Update)}
	err := replay.All(context.Background(), func(r task.Replayed) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		b.Fatalf("replay: %v", err)
	}
	return all
}

// polls takes in what a check saw.
func (b *bench) polls(taskID, payload string) {
	b.Helper()
	b.sees(taskID, payload, time.Now())
}

// testReplay has a task live through all that can happen to one.
func testReplay(b *bench) {
	id, agentID := b.task("t")
	b.command(id, agentID)
	b.hears(id, "s/0", working(id))
	snapshot := `{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-02T03:04:0%d.123456789Z",
		"message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"Which?"}]}},
		"history":[{"messageId":"elsewhere","role":"ROLE_USER","parts":[{"text":"said elsewhere"}]}]}}`
	b.polls(id, fmt.Sprintf(snapshot, id, 5))
	answer := b.command(id, agentID)
	b.update(func(tx *store.Tx) error { return tx.SetAnsweredBy(id, answer.Command.ID) })
	b.polls(id, fmt.Sprintf(snapshot, id, 5))
	if got := b.record(id); got.AnsweredBy != answer.Command.ID {
		b.Errorf("the same status, seen again, asks again: answered by %q, want %s", got.AnsweredBy, answer.Command.ID)
	}
	b.polls(id, fmt.Sprintf(snapshot, id, 4)) // set aside
	b.replays()
	b.polls(id, fmt.Sprintf(snapshot, id, 6)) // asks again
	chunk := `{"artifactUpdate":{"taskId":"remote-%s","artifact":{"artifactId":"a","parts":[{"raw":"aGVsbG8=","filename":"h.txt"},{"text":"%d"}]},"append":true}}`
	for i := range 40 {
		b.hears(id, fmt.Sprint("s/", i+1), fmt.Sprintf(chunk, id, i))
	}
	b.command(id, agentID)
	b.hears(id, "s/50", `{"progressUpdate":{"taskId":"remote-`+id+`","percent":5}}`)
	b.hears(id, "s/51", completed(id))
	b.polls(id, fmt.Sprintf(snapshot, id, 9)) // too late
	replayed := b.replayAll()
	if len(replayed) != 1 || replayed[0].Events < 45 {
		b.Errorf("replayed %+v, want one task with all its events", replayed)
	}
	if got := b.record(id).Task; got.Version == 0 || got.Title != "t" {
		b.Errorf("task %+v after a replay", got)
	}
}

func testReplayFindsDifferences(b *bench) {
	id, _ := b.task("t")
	b.hears(id, "s/0", working(id))
	b.hears(id, "s/1", completed(id))
	before := b.record(id).Task
	for statement, want := range map[string]string{
		"UPDATE task SET context_id = 'other' WHERE id = ?":                               `context: shown is "other", the ledger says "c"`,
		"UPDATE message SET sha256 = 'x' WHERE message_id = 'done' AND task_id = ?":       "message 2: shown is agent done x",
		"DELETE FROM transition WHERE seq = 1 AND task_id = ?":                            "transition 1: not shown, the ledger says TASK_STATE_WORKING",
		"UPDATE transition SET state = 'TASK_STATE_FAILED' WHERE seq > 1 AND task_id = ?": "transition 3: shown is TASK_STATE_FAILED",
	} {
		if err := b.db.Exec(context.Background(), statement, id); err != nil {
			b.Fatal(err)
		}
		all := b.replayAll()
		if got := strings.Join(all[0].Differences, "\n"); !strings.Contains(got, want) {
			b.Errorf("after %s the differences are\n%s\nwant %s", statement, got, want)
		}
	}
	if after := b.record(id).Task; after.Version != before.Version || after.ContextID != "other" {
		b.Errorf("the replay changed the task to %+v", after)
	}
	b.broken = true
}
