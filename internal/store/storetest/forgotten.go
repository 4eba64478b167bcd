package storetest

import (
	"slices"

	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// testForgotten: a task that its agent did not know twice in a row waits for nobody,
// whatever else happens to it, and asks again as soon as the agent knows it.
func testForgotten(b *bench) {
	id, agentID := b.task("t")
	b.asks(id, "s/0", "q-1")
	note := func(forgotten bool) {
		b.Helper()
		b.update(func(tx *store.Tx) error { return tx.NoteForgotten(id, forgotten) })
	}
	wants := func(when string, forgotten bool) {
		b.Helper()
		r := b.record(id)
		b.view(func(tx *store.Tx) error {
			counts, err := tx.CountTasks(everything)
			if r.Task.NeedsYou == forgotten || r.Task.ForgottenAt.IsZero() == forgotten || (counts.NeedsYou == 0) != forgotten {
				b.Errorf("%s: needs you %v (%d in all), forgotten since %v; want forgotten %v", when, r.Task.NeedsYou, counts.NeedsYou, r.Task.ForgottenAt, forgotten)
			}
			return err
		})
		listed := map[bool][]string{true: {"t"}}
		for f, want := range map[task.Filter][]string{
			{NeedsYou: true, Limit: 9}: listed[!forgotten], {Standing: task.StandingForgotten, Limit: 9}: listed[forgotten], {Standing: task.StandingAnswered, Limit: 9}: nil,
		} {
			if got, _ := b.list(f); !slices.Equal(got, want) {
				b.Errorf("%s: %+v lists %v, want %v", when, f, got, want)
			}
		}
		if state := r.Task.State; !state.Waiting() {
			b.Errorf("%s: the state is %s", when, state)
		}
		for _, replayed := range b.replayAll() {
			if len(replayed.Differences) > 0 {
				b.Errorf("%s: the ledger says otherwise: %v", when, replayed.Differences)
			}
		}
	}
	note(true)
	wants("after the first time", false)
	note(false)
	note(true)
	wants("after twice, not in a row", false)
	before := b.record(id).Task.Version
	note(true)
	wants("after twice in a row", true)
	since := b.record(id).Task.ForgottenAt
	if changed := b.changedSince(id, before); changed != 1 {
		b.Errorf("%d messages changed, want the question, which asks no more", changed)
	}
	note(true)
	if again := b.record(id).Task; !again.ForgottenAt.Equal(since) {
		b.Errorf("forgotten since %v, then since %v", since, again.ForgottenAt)
	}
	b.asks(id, "s/1", "q-2") // as a push may bring it
	wants("asked something else", true)
	r := b.command(id, agentID)
	b.update(func(tx *store.Tx) error { return tx.SetAnsweredBy(id, r.Command.ID) })
	b.update(func(tx *store.Tx) error { return tx.SetAnsweredBy(id, "") })
	wants("an answer failed", true)
	before = b.record(id).Task.Version
	note(false)
	wants("known again", false)
	if changed := b.changedSince(id, before); changed != 1 {
		b.Errorf("%d messages changed, want the question, which asks again", changed)
	}
	note(true)
	note(true)
	b.hears(id, "s/2", completed(id))
	if got := b.record(id).Task; !got.ForgottenAt.IsZero() || got.NeedsYou {
		b.Errorf("what has ended is forgotten since %v, needs you %v", got.ForgottenAt, got.NeedsYou)
	}
}

// changedSince counts the messages that changed after a version.
func (b *bench) changedSince(taskID string, version int64) int {
	b.Helper()
	var n int
	b.view(func(tx *store.Tx) error {
		messages, err := tx.Messages(taskID, version)
		n = len(messages)
		return err
	})
	return n
}
