package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
)

func (b *bench) claim(owner string) []string {
	b.Helper()
	var ids []string
	b.update(func(tx *store.Tx) error {
		claimed, err := tx.ClaimCommands(owner, 9)
		for _, r := range claimed {
			if r.Command.Status != command.Dispatching {
				b.Errorf("a claimed command is %s", r.Command.Status)
			}
			ids = append(ids, r.Command.ID)
		}
		return err
	})
	return ids
}

func (b *bench) settle(id, owner string, to command.Status) bool {
	b.Helper()
	var mine bool
	b.update(func(tx *store.Tx) (err error) {
		mine, err = tx.SettleCommand(id, owner, to, "", tx.Now())
		return err
	})
	return mine
}

func testClaimOncePerTask(b *bench) {
	one, agentID := b.task("one")
	first, second := b.command(one, agentID), b.command(one, agentID)
	elsewhere := b.command(b.taskOf(agentID, "two"), agentID)
	got := b.claim("w1")
	slices.Sort(got)
	if want := []string{first.Command.ID, elsewhere.Command.ID}; !slices.Equal(got, want) {
		b.Errorf("claimed %v, want the first of each task %v", got, want)
	}
	if got := b.claim("w2"); len(got) != 0 {
		b.Errorf("claimed %v while the task's first command is being sent", got)
	}
	b.settle(first.Command.ID, "w1", command.Succeeded)
	if got := b.claim("w2"); !slices.Equal(got, []string{second.Command.ID}) {
		b.Errorf("claimed %v, want the second command %s", got, second.Command.ID)
	}
}

func testCommandStates(b *bench) {
	id, agentID := b.task("t")
	r := b.command(id, agentID)
	if b.settle(r.Command.ID, "w1", command.Succeeded) {
		b.Error("a pending command was settled")
	}
	b.claim("w1")
	if b.settle(r.Command.ID, "w2", command.Succeeded) {
		b.Error("another worker settled the command")
	}
	if !b.settle(r.Command.ID, "w1", command.Uncertain) {
		b.Error("the worker that claimed the command could not settle it")
	}
	for _, status := range []string{"pending", "dispatching", "succeeded", "failed"} {
		if err := b.db.Exec(context.Background(), "UPDATE command SET status = '"+status+"', owner = 'x'"); err == nil {
			b.Errorf("an uncertain command became %s", status)
		}
	}
}

func testOneAnswerPerQuestion(b *bench) {
	id, agentID := b.task("t")
	b.asks(id, "s/0", "q")
	answer := func() (command.Record, error) {
		r := b.newCommand(id, agentID)
		r.Answers, r.QuestionNumber = "q", 1
		return r, b.db.Update(context.Background(), func(tx *store.Tx) error { return b.accept(tx, r) })
	}
	first, err := answer()
	if err != nil {
		b.Fatalf("the first answer: %v", err)
	}
	if _, err := answer(); fault.KindOf(err) != fault.Conflict {
		b.Errorf("the second answer: %v, want a conflict", err)
	}
	b.claim("w1")
	b.settle(first.Command.ID, "w1", command.Failed)
	if _, err := answer(); err != nil {
		b.Errorf("an answer after one that failed: %v", err)
	}
}

func testOrphans(b *bench) {
	id, agentID := b.task("t")
	r := b.command(id, agentID)
	b.claim("dead")
	orphans := func(owner string) int {
		var n int
		b.update(func(tx *store.Tx) error {
			found, err := tx.OrphanCommands(owner, "died")
			n = len(found)
			return err
		})
		return n
	}
	if n := orphans("dead"); n != 0 {
		b.Errorf("%d orphans among a worker's own commands", n)
	}
	if n := orphans("alive"); n != 1 {
		b.Errorf("%d orphans, want 1", n)
	}
	b.view(func(tx *store.Tx) error {
		got, err := tx.CommandByID(r.Command.ID)
		if got.Command.Status != command.Uncertain || got.Command.Error != "died" {
			b.Errorf("the orphan is %s (%s), want uncertain", got.Command.Status, got.Command.Error)
		}
		return err
	})
	if got := b.claim("alive"); len(got) != 0 {
		b.Errorf("claimed %v: an uncertain command must never be sent again", got)
	}
	b.update(func(tx *store.Tx) error {
		next, err := tx.NextCommand()
		if !next.IsZero() {
			b.Errorf("next command at %v, want none", next.Format(time.RFC3339))
		}
		return err
	})
}
