package store

import (
	"cmp"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// where is a condition that grows, with its bound arguments.
type where struct {
	conditions []string
	args       []any
}

func (w *where) and(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

func (w *where) sql() string { return strings.Join(w.conditions, " AND ") }

// ListTasks implements task.ReadTx.
func (tx *Tx) ListTasks(v access.View, f task.Filter) ([]task.Task, string, error) {
	w, err := filtered(v, f)
	if err != nil {
		return nil, "", err
	}
	last, err := tx.searched(&w, f)
	if err != nil {
		return nil, "", err
	}
	query, args := listQuery(w, f)
	tasks, err := collect(tx, func(s scanner) (task.Task, error) { return scanTask(s) }, query, args...)
	if err != nil {
		return nil, "", fmt.Errorf("list tasks: %w", err)
	}
	if len(tasks) <= f.Limit {
		return tasks, last, nil
	}
	tasks = tasks[:f.Limit]
	return tasks, writeCursor(tasks[f.Limit-1].UpdatedAt, tasks[f.Limit-1].ID), nil
}

// searched narrows w to the tasks that a search for a text looks at, and to those
// that have it. It returns the cursor of the last of them; "" if they are all.
func (tx *Tx) searched(w *where, f task.Filter) (last string, err error) {
	text := strings.TrimSpace(f.Query)
	if text == "" {
		return "", nil
	}
	span := cmp.Or(f.Span, task.SearchSpan)
	var end task.Task
	var updated micros
	err = tx.row("SELECT t.updated_us, t.id FROM "+taskSource+" WHERE "+w.sql()+" ORDER BY t.updated_us DESC, t.id DESC LIMIT 1 OFFSET ?",
		append(slices.Clone(w.args), span-1)...).Scan(&updated, &end.ID)
	switch {
	case err == nil:
		end.UpdatedAt = updated.Time
		last = writeCursor(end.UpdatedAt, end.ID)
		w.and("(t.updated_us, t.id) >= (?, ?)", us(updated.Time), end.ID)
	case !errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("look how far to search: %w", err)
	}
	like := "%" + likeEscaper.Replace(strings.ToLower(text)) + "%"
	w.and(`(t.title_search LIKE ? ESCAPE '\'
		OR EXISTS (SELECT 1 FROM message m WHERE m.task_id = t.id AND m.search LIKE ? ESCAPE '\')
		OR EXISTS (SELECT 1 FROM artifact a WHERE a.task_id = t.id AND a.search LIKE ? ESCAPE '\'))`, like, like, like)
	return last, nil
}

// listQuery is the statement that lists tasks, one more than the limit.
func listQuery(w where, f task.Filter) (query string, args []any) {
	return "SELECT " + taskColumns + " FROM " + taskSource + " WHERE " + w.sql() + " ORDER BY t.updated_us DESC, t.id DESC LIMIT ?",
		append(slices.Clone(w.args), f.Limit+1)
}

// filtered is the condition of all filters but text. For each of them there is an
// index in the order of the list, so that a page of the tasks of years costs what a
// page of few does.
func filtered(v access.View, f task.Filter) (w where, err error) {
	w = seenTasks(v)
	w.and("t.merged_into IS NULL")
	if f.NeedsYou {
		w.and("t.needs_you")
	}
	if f.State != "" {
		w.and("t.state = ?", string(f.State))
	}
	if f.Standing != "" {
		w.and(standing(f.Standing))
	}
	if f.AgentID != "" {
		w.and("t.agent_id = ?", f.AgentID)
	}
	if f.Cursor != "" {
		updated, id, err := readCursor(f.Cursor)
		if err != nil {
			return w, err
		}
		w.and("(t.updated_us, t.id) < (?, ?)", updated, id)
	}
	return w, nil
}

// standing is the condition for tasks that stand so; one that there is none of
// fits no task. How a message was sent counts only while the agent has told nothing
// of the task, which taskSource says too: here it is for the index.
func standing(s task.Standing) string {
	const untold = "t.state = 'TASK_STATE_UNSPECIFIED' AND "
	switch s {
	case task.StandingSending:
		return untold + "s.status IN ('pending', 'dispatching')"
	case task.StandingNotSent:
		return untold + "s.status = 'failed' AND NOT s.refused"
	case task.StandingRefused:
		return untold + "s.status = 'failed' AND s.refused"
	case task.StandingUnknown:
		return untold + "s.status = 'uncertain'"
	case task.StandingReplied:
		return "t.kind = 'message'"
	case task.StandingForgotten:
		return "t.forgotten_checks >= 2 AND t.state NOT IN (" + terminalStates + ")"
	case task.StandingAnswered:
		return "t.state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') AND NOT t.needs_you AND t." + notForgotten
	}
	return "FALSE"
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// writeCursor is the cursor behind an item of a list that is in the order of a time and
// then of the ID.
func writeCursor(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + id))
}

func readCursor(cursor string) (at int64, id string, err error) {
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		before, after, _ := strings.Cut(string(plain), " ")
		id = after
		at, err = strconv.ParseInt(before, 10, 64)
	}
	if err != nil {
		return 0, "", fault.Wrap(err, fault.Invalid, "The cursor is none that a page of this list gave: start again without one.")
	}
	return at, id, nil
}

// What waits for a person in all organisations.
const countAllNeedYou = "SELECT COUNT(*) FROM task WHERE needs_you AND merged_into IS NULL"

// countNeedsYou is the statement that counts what waits for a person in a view.
func countNeedsYou(v access.View) (query string, args []any) {
	w := seenTasks(v)
	return "SELECT COUNT(*) FROM task t WHERE t.needs_you AND t.merged_into IS NULL AND " + w.sql(), w.args
}

// CountTasks implements task.ReadTx.
func (tx *Tx) CountTasks(v access.View) (task.Counts, error) {
	var c task.Counts
	query, args := countNeedsYou(v)
	err := tx.row(query, args...).Scan(&c.NeedsYou)
	if err != nil {
		err = fmt.Errorf("count tasks: %w", err)
	}
	return c, err
}
