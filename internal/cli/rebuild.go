package cli

import (
	"context"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/task"
)

type rebuildCommand struct {
	Task        []string `arg:"" optional:"" help:"IDs of the tasks, as in the addresses of their pages. All tasks if none is given."`
	config.Data `embed:""`
}

// Run replays the ledger of each task. It exits with 1 if a task does not follow
// from its ledger. Nothing is changed.
func (c rebuildCommand) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		var sum replayed
		report := func(t task.Replayed) error { return sum.add(s, t) }
		if len(c.Task) == 0 {
			if err := r.Replay.All(ctx, report); err != nil {
				return err
			}
		}
		for _, id := range c.Task {
			t, err := r.Replay.Task(ctx, id)
			if err == nil {
				err = report(t)
			}
			if err != nil {
				return fmt.Errorf("task %s: %w", oneLine(id), err)
			}
		}
		return sum.end(s)
	})
}

// replayed counts what replays found.
type replayed struct{ tasks, events, differ, unknown, purged int }

func (n *replayed) add(s Streams, t task.Replayed) (err error) {
	n.tasks++
	if !t.Purged {
		n.events += t.Events
	}
	switch {
	case t.Purged:
		n.purged++
	case t.Unknown != "":
		n.unknown++
		_, err = fmt.Fprintf(s.Out, "Task %s cannot be replayed: %s.\n", t.TaskID, t.Unknown)
	case len(t.Differences) > 0:
		n.differ++
		_, err = fmt.Fprintf(s.Out, "Task %s does not follow from its ledger:\n", t.TaskID)
		for _, d := range t.Differences {
			if err == nil {
				_, err = fmt.Fprintf(s.Out, "  %s\n", oneLine(d))
			}
		}
	}
	return err
}

func (n *replayed) end(s Streams) error {
	purged := ""
	if n.purged > 0 {
		purged = fmt.Sprintf("The raw record of %s more was purged, so that it is not replayed.\n", count(n.purged, "task"))
	}
	tasks := n.tasks - n.purged
	if _, err := fmt.Fprintf(s.Out, "Replayed %s of %s: %d as shown, %d differ, %d cannot be replayed.\n%s",
		count(n.events, "observation"), count(tasks, "task"), tasks-n.differ-n.unknown, n.differ, n.unknown, purged); err != nil {
		return err
	}
	if n.differ > 0 {
		return &failure{exitFailed, fmt.Errorf("what is shown of %s was kept; please report this", count(n.differ, "task"))}
	}
	return nil
}
