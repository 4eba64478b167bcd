package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// thread makes a thread of Ann with an agent.
func (b *bench) thread(agentID, key string) agui.Thread {
	b.Helper()
	var held agui.Thread
	b.update(func(tx *store.Tx) (err error) {
		held, err = tx.HoldThread(agui.Thread{ID: newID(), OrganisationID: access.LocalOrganisation, PersonID: "ann", AgentID: agentID, Key: key, CreatedAt: tx.Now()})
		return err
	})
	return held
}

// testThreads keeps threads of two people and of two agents apart.
func testThreads(b *bench) {
	agentID, other := b.agent(), b.agent()
	mine := b.thread(agentID, "one")
	if again := b.thread(agentID, "one"); again != mine {
		b.Errorf("the thread is %+v when it is held again, want %+v", again, mine)
	}
	if elsewhere := b.thread(other, "one"); elsewhere.ID == mine.ID {
		b.Error("two agents share a thread")
	}
	b.view(func(tx *store.Tx) error {
		for _, who := range [][3]string{{access.LocalOrganisation, "bob", agentID}, {"elsewhere", "ann", agentID}, {access.LocalOrganisation, "ann", newID()}} {
			if _, err := tx.Thread(who[0], who[1], who[2], "one"); fault.KindOf(err) != fault.NotFound {
				b.Errorf("the thread of %v: %v, want fault.NotFound", who, err)
			}
		}
		got, err := tx.Thread(access.LocalOrganisation, "ann", agentID, "one")
		if got != mine {
			b.Errorf("Thread = %+v, want %+v", got, mine)
		}
		return err
	})
}

// run adds a run to a thread, with a command of its own.
func (b *bench) run(thread agui.Thread, number int64, key string) agui.Run {
	b.Helper()
	taskID := b.taskOf(thread.AgentID, "run")
	c := b.command(taskID, thread.AgentID)
	r := agui.Run{ID: newID(), ThreadID: thread.ID, Number: number, Key: key, TaskID: taskID, CommandID: c.Command.ID, Resume: "digest"}
	b.update(func(tx *store.Tx) error {
		r.CreatedAt = tx.Now()
		return tx.InsertRun(r)
	})
	return r
}

// testRuns finds runs by the keys of clients, for whom they are.
func testRuns(b *bench) {
	agentID := b.agent()
	thread := b.thread(agentID, "one")
	first, again := b.run(thread, 1, "r"), b.run(thread, 2, "r")
	said := []agui.Said{
		{ThreadID: thread.ID, MessageID: "m1", Number: 1, RunID: first.ID, Sent: true, Digest: "d", Plain: true, Content: []agui.Content{{Type: "text", Text: "<ünï>\n"}}},
		{ThreadID: thread.ID, MessageID: "m2", Number: 2, RunID: again.ID, Digest: "e", Content: []agui.Content{{Type: "image", SHA256: "s", MediaType: "image/png", Filename: "f"}}},
	}
	b.update(func(tx *store.Tx) error { return errors.Join(tx.InsertSaid(said[0]), tx.InsertSaid(said[1])) })
	b.view(func(tx *store.Tx) error {
		runs, err := tx.Runs(thread.ID)
		if diff := cmp.Diff([]agui.Run{first, again}, runs); diff != "" || err != nil {
			b.Errorf("Runs: %v (-want +got):\n%s", err, diff)
		}
		got, err := tx.Said(thread.ID)
		if diff := cmp.Diff(said, got, cmp.AllowUnexported(agui.Content{})); diff != "" || err != nil {
			b.Errorf("Said: %v (-want +got):\n%s", err, diff)
		}
		last, of, err := tx.RunByKey(access.LocalOrganisation, "ann", agentID, "r")
		if err != nil || last != again || of != thread {
			b.Errorf("RunByKey = %+v of %+v, %v; want %+v", last, of, err, again)
		}
		if _, _, err := tx.RunByKey(access.LocalOrganisation, "bob", agentID, "r"); fault.KindOf(err) != fault.NotFound {
			b.Errorf("RunByKey of somebody else: %v, want fault.NotFound", err)
		}
		return nil
	})
	if err := b.db.Update(context.Background(), func(tx *store.Tx) error { return tx.InsertSaid(said[0]) }); err == nil {
		b.Error("a message is in a thread twice")
	}
}

// testInterrupts keeps the ID of what is asked, whoever shows it.
func testInterrupts(b *bench) {
	thread := b.thread(b.agent(), "one")
	run := b.run(thread, 1, "r")
	keep := func(id, subject string) agui.Asked {
		a := agui.Asked{ThreadID: thread.ID, RunID: run.ID, TaskID: run.TaskID, Subject: subject, Interrupt: agui.Interrupt{
			ID: id, Reason: "input_required", Message: "Which?", ResponseSchema: json.RawMessage(`{"maximum":9007199254740993}`)}}
		b.update(func(tx *store.Tx) (err error) {
			a.CreatedAt = tx.Now()
			a, err = tx.KeepInterrupt(a)
			return err
		})
		return a
	}
	var kept [8]agui.Asked
	var all sync.WaitGroup
	ids := make([]string, len(kept))
	for i := range kept {
		ids[i] = newID()
		all.Go(func() { kept[i] = keep(ids[i], "question/1") })
	}
	all.Wait()
	for _, a := range kept {
		if diff := cmp.Diff(kept[0], a); diff != "" {
			b.Errorf("one question has two interrupts:\n%s", diff)
		}
	}
	if next := keep(newID(), "question/2"); next.Interrupt.ID == kept[0].Interrupt.ID {
		b.Error("two questions have one interrupt")
	}
	b.update(func(tx *store.Tx) error { return tx.DecideInterrupt(kept[0].Interrupt.ID, "answer", run.CommandID) })
	b.view(func(tx *store.Tx) error {
		got, err := tx.Interrupts(thread.ID)
		if len(got) != 2 || got[0].Decision != "answer" || got[0].CommandID != run.CommandID || got[0].DecidedAt.IsZero() ||
			string(got[0].Interrupt.ResponseSchema) != `{"maximum":9007199254740993}` || got[1].Decision != "" {
			b.Errorf("Interrupts = %+v", got)
		}
		return err
	})
}
