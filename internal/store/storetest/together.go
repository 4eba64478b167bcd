package storetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// together runs f several times at once, with its number.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func testObservationsAtOnce(b *bench) {
	id, _ := b.task("t")
	const sources, events = 4, 10
	together(sources, func(int) {
		for e := range events {
			b.hears(id, fmt.Sprint("s/", e), fmt.Sprintf(`{"artifactUpdate":{"taskId":"remote-%s","contextId":"c",
				"artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true}}`, id))
		}
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Artifacts(id, 0)
		if err != nil || len(got) != 1 || len(*got[0].Parts[0].Text) != events {
			b.Errorf("artifacts %+v, %v; want one of %d characters: each event once", got, err, events)
		}
		return nil
	})
}

func testAnswersAtOnce(b *bench) {
	id, agentID := b.task("t")
	b.asks(id, "s/0", "q")
	var mu sync.Mutex
	var won, lost int
	together(6, func(int) {
		r := b.newCommand(id, agentID)
		r.Answers, r.QuestionNumber = "q", 1
		err := b.db.Update(context.Background(), func(tx *store.Tx) error { return b.accept(tx, r) })
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			won++
		case fault.KindOf(err) == fault.Conflict:
			lost++
		default:
			b.Errorf("an answer: %v", err)
		}
	})
	if won != 1 || lost != 5 {
		b.Errorf("%d answers were taken and %d refused, want 1 and 5", won, lost)
	}
}

func testClaimsAtOnce(b *bench) {
	agentID := b.agent()
	const tasks, each = 8, 3
	for range tasks {
		id := b.taskOf(agentID, "t")
		for range each {
			b.command(id, agentID)
		}
	}
	var mu sync.Mutex
	claims := map[string]int{}
	sending := map[string]string{} // by task: the command that is being sent
	together(4, func(i int) {
		owner := fmt.Sprint("w", i)
		for done := false; !done; {
			var claimed []command.Record
			b.update(func(tx *store.Tx) (err error) {
				claimed, err = claimAll(tx, owner, 2)
				return err
			})
			for _, r := range claimed {
				mu.Lock()
				claims[r.Command.ID]++
				if other := sending[r.Command.TaskID]; other != "" {
					b.Errorf("%s was claimed while %s of the same task was being sent", r.Command.ID, other)
				}
				sending[r.Command.TaskID] = r.Command.ID
				mu.Unlock()
			}
			for _, r := range claimed {
				mu.Lock()
				sending[r.Command.TaskID] = ""
				mu.Unlock()
				if !b.settle(r.Command.ID, owner, command.Succeeded) {
					b.Errorf("%s could not settle what it claimed", owner)
				}
			}
			mu.Lock()
			done = len(claims) == tasks*each
			mu.Unlock()
		}
	})
	for id, n := range claims {
		if n != 1 {
			b.Errorf("command %s was claimed %d times", id, n)
		}
	}
}
