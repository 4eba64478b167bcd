package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
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
	cursor := writeCursor(time.Time{}, "id")
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
		for _, v := range []access.View{access.Everything("o"), {OrganisationID: "o", MembershipID: "m"}} {
			testPlan(t, lite, postgres, fmt.Sprintf("%s, all of it: %t", name, v.All), v, list.filter, list.index)
		}
	}
}

// testPlan looks at the plans of one list. What somebody sees by grants is looked up
// for each task in the order of the list.
func testPlan(t *testing.T, lite, postgres *DB, name string, v access.View, f task.Filter, index string) {
	t.Helper()
	w, err := filtered(v, f)
	if err != nil {
		t.Fatal(err)
	}
	query, args := listQuery(w, f)
	plan := explained(t, lite, "EXPLAIN QUERY PLAN "+query, args...)
	if !strings.Contains(plan, "SEARCH t USING INDEX "+index+" ") || strings.Contains(plan, "TEMP B-TREE") ||
		!v.All && !strings.Contains(plan, "access_grant_agent (organisation_id=? AND agent_id=?") {
		t.Errorf("%s, want %s in SQLite's plan:\n%s", name, index, plan)
	}
	// Of an empty table PostgreSQL would read all.
	plan = explained(t, postgres, "EXPLAIN "+query, args...)
	if !strings.Contains(plan, "using "+index+" on task t") || strings.Contains(plan, "Sort") ||
		!v.All && !strings.Contains(plan, "on access_grant g") {
		t.Errorf("%s, want %s in PostgreSQL's plan:\n%s", name, index, plan)
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
	ofOrganisation, args := countNeedsYou(access.Everything("o"))
	for query, args := range map[string][]any{ofOrganisation: args, countAllNeedYou: nil} {
		if plan := explained(t, lite, "EXPLAIN QUERY PLAN "+query, args...); !strings.Contains(plan, "INDEX task_needs_you (") {
			t.Errorf("the plan of %s is not by task_needs_you:\n%s", query, plan)
		}
	}
}
