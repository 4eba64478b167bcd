package storetest

import (
	"context"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// testAfterRestore: nothing that a restored record was about to send is sent by
// itself, and all else is as it was.
func testAfterRestore(b *bench) {
	id, agentID := b.task("t")
	done, sending := b.command(id, agentID), b.command(b.taskOf(agentID, "u"), agentID)
	b.claim("alive")
	b.settle(done.Command.ID, "alive", command.Succeeded)
	due := b.command(id, agentID)
	version := b.record(id).Task.Version
	update := store.For[command.RestoreTx](b.db.Update)
	if _, err := command.AfterRestore(context.Background(), update, ops, false); fault.KindOf(err) != fault.Conflict {
		b.Errorf("beside processes that work: %v, want a conflict", err)
	}
	for again, want := range []int{2, 0} {
		if n, err := command.AfterRestore(context.Background(), update, ops, true); err != nil || n != want {
			b.Errorf("run %d: %d commands are uncertain, %v; want %d", again, n, err, want)
		}
	}
	b.lease("w1")
	if got := b.claim("w1"); len(got) != 0 {
		b.Errorf("sent after a restore: %v", got)
	}
	b.view(func(tx *store.Tx) error {
		for _, r := range []command.Record{due, sending} {
			got, err := tx.CommandByID(r.Command.ID)
			if err != nil {
				return err
			}
			if got.Command.Status != command.Uncertain || !strings.Contains(got.Command.Error, "before the backup was made") {
				b.Errorf("a command that was due is %s: %s", got.Command.Status, got.Command.Error)
			}
		}
		return nil
	})
	if got := b.status(done.Command.ID); got != command.Succeeded {
		b.Errorf("a command that was done is %s", got)
	}
	if got := b.record(id).Task.Version; got <= version {
		b.Errorf("the task has version %d, as before its command changed", got)
	}
	b.update(func(tx *store.Tx) error {
		_, err := tx.ResendCommand(due.Command.ID, "p", "P")
		return err
	})
	if got := b.claim("w1"); len(got) != 1 || got[0] != due.Command.ID {
		b.Errorf("after a person's decision %v is sent, want %s", got, due.Command.ID)
	}
}
