package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestListsUseIndexes looks at the plan of each list: its index holds the filter and
// the order, so that no page reads or sorts the tasks of years.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lite, err := OpenSQLite(ctx, t.TempDir(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lite.Close() }()
	postgres, err := OpenPostgres(ctx, postgrestest.URL(t), silent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = postgres.Close() }()
	cursor := writeCursor(task.Task{ID: "id"})
	lists := map[string]struct {
		filter task.Filter
		index  string
	}{
		"all":          {task.Filter{}, "task_newest"},
		"further down": {task.Filter{Cursor: cursor}, "task_newest"},
		"needs you":    {task.Filter{NeedsYou: true, Cursor: cursor}, "task_needs_you"},
		"one agent":    {task.Filter{AgentID: "a", Cursor: cursor}, "task_agent_newest"},
		"one state":    {task.Filter{State: a2a.StateRejected, Cursor: cursor}, "task_state_newest"},
		"sending":      {task.Filter{Standing: task.StandingSending, Cursor: cursor}, "task_state_newest"},
		"not sent":     {task.Filter{Standing: task.StandingNotSent, Cursor: cursor}, "task_state_newest"},
		"refused":      {task.Filter{Standing: task.StandingRefused, Cursor: cursor}, "task_state_newest"},
		"unknown":      {task.Filter{Standing: task.StandingUnknown, Cursor: cursor}, "task_state_newest"},
		"replied":      {task.Filter{Standing: task.StandingReplied, Cursor: cursor}, "task_replied"},
		"forgotten":    {task.Filter{Standing: task.StandingForgotten, Cursor: cursor}, "task_forgotten"},
		"answered":     {task.Filter{Standing: task.StandingAnswered, Cursor: cursor}, "task_answered"},
	}
	for name, list := range lists {
		list.filter.Limit = 50
		w, err := filtered("o", list.filter)
		if err != nil {
			t.Fatal(err)
		}
		query, args := listQuery(w, list.filter)
		plan := explained(t, lite, "EXPLAIN QUERY PLAN "+query, args...)
		if !strings.Contains(plan, "SEARCH t USING INDEX "+list.index+" ") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s, want %s in SQLite's plan:\n%s", name, list.index, plan)
		}
		// Of an empty table PostgreSQL would read all.
		plan = explained(t, postgres, "EXPLAIN "+query, args...)
		if !strings.Contains(plan, "using "+list.index+" on task t") || strings.Contains(plan, "Sort") {
			t.Errorf("%s, want %s in PostgreSQL's plan:\n%s", name, list.index, plan)
		}
	}
}

// explained is the plan of a query, a step each line. PostgreSQL may neither scan nor
// sort for it if there is another way.
func explained(t *testing.T, db *DB, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := db.Update(context.Background(), func(tx *Tx) (err error) {
		if db.dialect.folder == "postgres" {
			for _, method := range []string{"seqscan", "bitmapscan", "sort"} {
				if _, err := tx.exec("SET LOCAL enable_" + method + " = off"); err != nil {
					return err
				}
			}
		}
		steps, err = collect(tx, func(s scanner) (string, error) {
			if db.dialect.folder == "postgres" {
				return scanString(s)
			}
			var id, parent, unused int
			var step string
			err := s.Scan(&id, &parent, &unused, &step)
			return step, err
		}, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return strings.Join(steps, "\n")
}

// TestCountsUseIndexes is the same for what every page and every look at the metrics
// counts, on SQLite, which has no statistics to go by.
func TestCountsUseIndexes(t *testing.T) {
	t.Parallel()
	lite, err := OpenSQLite(context.Background(), t.TempDir(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lite.Close() }()
	for query, args := range map[string][]any{countNeedsYou: {"o"}, countAllNeedYou: nil} {
		if plan := explained(t, lite, "EXPLAIN QUERY PLAN "+query, args...); !strings.Contains(plan, "INDEX task_needs_you (") {
			t.Errorf("the plan of %s is not by task_needs_you:\n%s", query, plan)
		}
	}
}
