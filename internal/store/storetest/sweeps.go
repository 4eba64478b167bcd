package storetest

import (
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// testSweeps: each agent with an open task is swept by one at a time, until it refuses.
func testSweeps(b *bench) {
	id, agentID := b.task("t")
	b.task("of an agent that has not answered")
	b.hears(id, "s/0", fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-02T03:04:06Z"}}}`, id))
	due := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	b.update(func(tx *store.Tx) error { return tx.ScheduleCheck(id, due, time.Minute) })
	if got := b.claimSweeps(time.Now().Add(-time.Minute), time.Now()); len(got) != 0 {
		b.Errorf("an agent with a task of just now is swept: %+v", got)
	}
	first := b.claimSweeps(time.Now(), time.Now().Add(time.Hour))
	if len(first) != 1 || first[0].AgentID != agentID || first[0].OrganisationID != access.LocalOrganisation {
		b.Fatalf("claimed %+v, want the agent", first)
	}
	if got := b.claimSweeps(time.Now(), time.Now()); len(got) != 0 {
		b.Errorf("claimed twice: %+v", got)
	}
	b.plansChecks(id, agentID, due)

	refused := observe.Swept{AgentID: agentID, Next: time.Now().Add(-time.Second), Interval: time.Minute, Refused: first[0].Way, Problem: "No."}
	b.update(func(tx *store.Tx) error { return tx.StoreSweep(refused) })
	b.lists(agentID, agent.Listing{Status: agent.ListingRefused, Problem: "No."})
	if got := b.claimSweeps(time.Now(), time.Now()); len(got) != 0 {
		b.Errorf("an agent that refused is swept again: %+v", got)
	}
	b.credential(agentID, "sealed")
	b.lists(agentID, agent.Listing{Status: agent.ListingUnknown})
	again := b.claimSweeps(time.Now(), time.Now())
	if len(again) != 1 || again[0].Interval != time.Minute || again[0].Problem != "No." {
		b.Errorf("with a credential %+v is claimed, want the agent", again)
	}
	b.update(func(tx *store.Tx) error {
		return tx.StoreSweep(observe.Swept{AgentID: agentID, Next: tx.Now().Add(-time.Second), Interval: time.Minute, Listed: true})
	})
	b.lists(agentID, agent.Listing{Status: agent.ListingWorks})

	b.hears(id, "s/1", fmt.Sprintf(`{"statusUpdate":{"taskId":"remote-%s","status":{"state":"TASK_STATE_COMPLETED"}}}`, id))
	if got := b.claimSweeps(time.Now(), time.Now()); len(got) != 0 {
		b.Errorf("an agent without open tasks is swept: %+v", got)
	}
}

func (b *bench) claimSweeps(since, next time.Time) (claimed []observe.Sweep) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		claimed, err = tx.ClaimSweeps(9, since, next)
		return err
	})
	return claimed
}

// lists compares how the agent lists; with Works goes that it is known when.
func (b *bench) lists(agentID string, want agent.Listing) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		a, err := tx.Agent(everything, agentID)
		if listed := !a.Listing.LastAt.IsZero(); listed != (want.Status == agent.ListingWorks) {
			b.Errorf("the agent listed at %v", a.Listing.LastAt)
		}
		a.Listing.LastAt = time.Time{}
		if a.Listing != want {
			b.Errorf("the agent lists as %+v, want %+v", a.Listing, want)
		}
		return err
	})
}

// plansChecks puts a check off, and makes it due, as sweeps do.
func (b *bench) plansChecks(id, agentID string, due time.Time) {
	b.Helper()
	var open []observe.Open
	next := func() (at time.Time) {
		b.update(func(tx *store.Tx) (err error) {
			if open, err = tx.OpenTasks(agentID, 9); err != nil {
				return err
			}
			at, err = tx.NextCheck()
			return err
		})
		return at
	}
	next()
	if len(open) != 1 {
		b.Fatalf("open tasks %+v, want one", open)
	}
	o := open[0]
	stated := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	if o.Head.TaskID != id || o.Head.RemoteTaskID != "remote-"+id || o.Head.State != a2a.StateWorking || !o.Head.StateAt.Equal(stated) ||
		o.Head.ObservedAt.IsZero() || !o.CheckAt.Equal(due) || o.Interval != time.Minute || o.Failed {
		b.Errorf("open task %+v", o)
	}
	later := due.Add(time.Hour)
	b.update(func(tx *store.Tx) error { return tx.PutOffCheck(o, later, 5*time.Minute) })
	b.update(func(tx *store.Tx) error { return tx.PutOffCheck(o, later.Add(time.Hour), 10*time.Minute) }) // it is planned anew by now
	if got := next(); !got.Equal(later) || open[0].Interval != 5*time.Minute {
		b.Errorf("the check is at %v after %v, want %v", got, open[0].Interval, later)
	}
	b.update(func(tx *store.Tx) error { return tx.AskSoon(id) })
	if got := next(); !got.IsZero() || open[0].CheckAt.After(time.Now()) || open[0].Interval != 5*time.Minute {
		b.Errorf("the check is at %v after %v, want it due", open[0].CheckAt, open[0].Interval)
	}
}
