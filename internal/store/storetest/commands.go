package storetest

import (
	"context"
	"fmt"
	"maps"
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
		claimed, err := claimAll(tx, owner, 9)
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

// claimAll claims up to limit commands of each lane.
func claimAll(tx *store.Tx, owner string, limit int) ([]command.Record, error) {
	lanes, err := tx.DueCommands()
	if err != nil {
		return nil, err
	}
	var all []command.Record
	for _, lane := range lanes {
		claimed, err := tx.ClaimCommands(owner, lane, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, claimed...)
	}
	return all, nil
}

func (b *bench) settle(id, owner string, to command.Status) bool {
	b.Helper()
	var mine bool
	b.update(func(tx *store.Tx) (err error) {
		mine, err = tx.SettleCommand(id, owner, command.Verdict{Status: to, RunAt: tx.Now()})
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

func testUnreadableCommand(b *bench) {
	one, agentID := b.task("one")
	broken, sound := b.command(one, agentID), b.command(b.taskOf(agentID, "two"), agentID)
	// As an earlier release took it in: the reader refuses line breaks in a name.
	if err := b.db.Exec(context.Background(), "UPDATE command SET request = ? WHERE id = ?",
		[]byte(`{"parts":[{"text":"a","filename":"a\r\nb"}]}`), broken.Command.ID); err != nil {
		b.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		claimed, err := claimAll(tx, "w1", 9)
		unreadable := map[string]bool{}
		for _, r := range claimed {
			unreadable[r.Command.ID] = r.Unreadable
		}
		want := map[string]bool{broken.Command.ID: true, sound.Command.ID: false}
		if !maps.Equal(unreadable, want) {
			b.Errorf("claimed %v, want %v: the one that cannot be read is told, and holds up no other", unreadable, want)
		}
		return err
	})
}

func testOrphans(b *bench) {
	id, agentID := b.task("t")
	r := b.command(id, agentID)
	b.claim("dead")
	orphans := func() int {
		var n int
		b.update(func(tx *store.Tx) error {
			found, err := tx.OrphanCommands("died")
			n = len(found)
			return err
		})
		return n
	}
	if n := orphans(); n != 0 {
		b.Errorf("%d orphans while their worker has a lease", n)
	}
	b.update(func(tx *store.Tx) error { return tx.EndLease("dead") })
	if n := orphans(); n != 1 {
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

func testUnclaim(b *bench) {
	one, agentID := b.task("one")
	two, _ := b.task("two")
	three, _ := b.task("three")
	sending, unknown := b.command(one, agentID), b.command(two, agentID)
	b.claim("alive")
	others := b.command(three, agentID)
	b.claim("dead")
	b.update(func(tx *store.Tx) error { return tx.UnclaimCommands("alive", []string{sending.Command.ID}) })
	for id, want := range map[string]command.Status{
		sending.Command.ID: command.Dispatching, unknown.Command.ID: command.Pending, others.Command.ID: command.Dispatching,
	} {
		if got := b.status(id); got != want {
			b.Errorf("command %s is %s, want %s", id, got, want)
		}
	}
	b.view(func(tx *store.Tx) error {
		got, err := tx.CommandByID(unknown.Command.ID)
		if got.Command.Attempts != 0 {
			b.Errorf("%d attempts of a command of which nothing was sent", got.Command.Attempts)
		}
		return err
	})
	if got := b.claim("alive"); len(got) != 1 || got[0] != unknown.Command.ID {
		b.Errorf("claimed %v, want %s again", got, unknown.Command.ID)
	}
}

func testLeases(b *bench) {
	id, agentID := b.task("t")
	r := b.command(id, agentID)
	b.update(func(tx *store.Tx) error { return tx.Beat("late", -time.Second) })
	for _, owner := range []string{"late", "never"} {
		if got := b.claim(owner); len(got) != 0 {
			b.Errorf("%s claimed %v without a lease", owner, got)
		}
	}
	b.lease("late")
	if got := b.claim("late"); !slices.Equal(got, []string{r.Command.ID}) {
		b.Errorf("claimed %v with a renewed lease, want %s", got, r.Command.ID)
	}
	b.update(func(tx *store.Tx) error { return tx.EndLease("") })
	b.command(b.taskOf(agentID, "two"), agentID)
	if got := b.claim("w1"); len(got) != 0 {
		b.Errorf("claimed %v after every lease ended", got)
	}
}

func testStreams(b *bench) {
	id, _ := b.task("t")
	b.hears(id, "s/0", working(id))
	claim := func(owner string) (epoch int64) {
		b.update(func(tx *store.Tx) (err error) {
			epoch, err = tx.ClaimStream(id, owner)
			return err
		})
		return epoch
	}
	holds := func(owner string, epoch int64) (held bool) {
		b.update(func(tx *store.Tx) (err error) {
			held, err = tx.HoldsStream(id, owner, epoch)
			return err
		})
		return held
	}
	adopt := func() (n int64) {
		b.update(func(tx *store.Tx) (err error) {
			n, err = tx.AdoptStreams()
			return err
		})
		return n
	}
	first := claim("dead")
	if !holds("dead", first) {
		b.Error("who claimed the stream does not hold it")
	}
	second := claim("w1")
	if holds("dead", first) || holds("w1", first) || !holds("w1", second) {
		b.Error("the stream is not held by its last claimer in the last epoch alone")
	}
	b.update(func(tx *store.Tx) error { return tx.ReleaseStream(id, "dead", first) })
	if !holds("w1", second) {
		b.Error("an earlier holder released the stream")
	}
	third := claim("dead")
	if n := adopt(); n != 0 || !holds("dead", third) {
		b.Errorf("%d streams adopted while their worker has a lease", n)
	}
	b.update(func(tx *store.Tx) error {
		if err := tx.ScheduleCheck(id, tx.Now().Add(time.Hour), time.Hour); err != nil {
			return err
		}
		return tx.EndLease("dead")
	})
	if n := adopt(); n != 1 || holds("dead", third) {
		b.Errorf("%d streams adopted, want the one whose worker is gone", n)
	}
	if n := claimAny(b); n != 1 {
		b.Errorf("%d checks due after the takeover, want 1", n)
	}
}

// uncertain makes a command whose outcome is not known.
func (b *bench) uncertain(taskID, agentID string) command.Record {
	b.Helper()
	r := b.command(taskID, agentID)
	b.claim("w1")
	if !b.settle(r.Command.ID, "w1", command.Uncertain) {
		b.Fatal("the command could not be settled")
	}
	return r
}

func (b *bench) status(id string) command.Status {
	b.Helper()
	var status command.Status
	b.view(func(tx *store.Tx) error {
		r, err := tx.CommandByID(id)
		status = r.Command.Status
		return err
	})
	return status
}

func testUncertainIsConfirmed(b *bench) {
	id, agentID := b.task("t")
	r := b.uncertain(id, agentID)
	history := `{"task":{"id":"remote","contextId":"c","status":{"state":"TASK_STATE_WORKING"},
		"history":[{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"hello"}]}]}}`
	b.hears(id, "s/0", fmt.Sprintf(history, "another"))
	if got := b.status(r.Command.ID); got != command.Uncertain {
		b.Errorf("it is %s although the agent shows another message", got)
	}
	before := b.record(id).Task.Version
	b.hears(id, "s/1", fmt.Sprintf(history, r.Command.MessageID))
	if got := b.status(r.Command.ID); got != command.Succeeded {
		b.Errorf("it is %s although the agent shows the message", got)
	}
	if after := b.record(id).Task.Version; after == before {
		b.Error("nobody is told that it is confirmed")
	}
}

func testUncertainIsSentAgain(b *bench) {
	id, agentID := b.task("t")
	r := b.uncertain(id, agentID)
	resend := func() error {
		return b.db.Update(context.Background(), func(tx *store.Tx) error {
			_, err := tx.ResendCommand(r.Command.ID, "ann", "Ann")
			return err
		})
	}
	if err := resend(); err != nil {
		b.Fatalf("ResendCommand: %v", err)
	}
	if err := resend(); fault.KindOf(err) != fault.Conflict {
		b.Errorf("sent again twice: %v, want a conflict", err)
	}
	if got := b.claim("w1"); !slices.Equal(got, []string{r.Command.ID}) {
		b.Errorf("claimed %v, want the command that is sent again", got)
	}
	b.settle(r.Command.ID, "w1", command.Succeeded)
	if err := resend(); fault.KindOf(err) != fault.Conflict {
		b.Errorf("a command that succeeded is sent again: %v, want a conflict", err)
	}
}

func testCancelWaitsForNothing(b *bench) {
	id, agentID := b.task("t")
	b.command(id, agentID)
	b.claim("w1")
	cancel := b.newCommand(id, agentID)
	cancel.Command.Action = command.Cancel
	b.update(func(tx *store.Tx) error { return tx.InsertCommand(cancel) })
	send := b.command(id, agentID)
	if got := b.claim("w1"); !slices.Equal(got, []string{cancel.Command.ID}) {
		b.Errorf("claimed %v while a send is on its way, want the cancel %s and not the next send %s", got, cancel.Command.ID, send.Command.ID)
	}
}

func testLanes(b *bench) {
	agentID, other := b.agent(), b.agent()
	for range 3 {
		b.command(b.taskOf(agentID, "t"), agentID)
	}
	late := b.command(b.taskOf(other, "t"), other)
	b.update(func(tx *store.Tx) error {
		lanes, err := tx.DueCommands()
		if want := []command.Lane{{AgentID: agentID, Action: command.Send}, {AgentID: other, Action: command.Send}}; !slices.Equal(lanes, want) {
			b.Errorf("lanes %v, want %v", lanes, want)
		}
		if err != nil {
			return err
		}
		claimed, err := tx.ClaimCommands("w1", command.Lane{AgentID: other, Action: command.Send}, 9)
		if len(claimed) != 1 || claimed[0].Command.ID != late.Command.ID {
			b.Errorf("claimed %v in the second lane, want %s", claimed, late.Command.ID)
		}
		if err != nil {
			return err
		}
		claimed, err = tx.ClaimCommands("w1", command.Lane{AgentID: agentID, Action: command.Send}, 2)
		if len(claimed) != 2 {
			b.Errorf("claimed %d of the first lane, want 2", len(claimed))
		}
		return err
	})
}
