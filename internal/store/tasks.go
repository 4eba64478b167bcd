package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

func errNoTask() error { return fault.New(fault.NotFound, "There is no such task.") }

// TaskHead implements task.Tx.
func (tx *Tx) TaskHead(taskID string) (task.Head, task.Owner, error) {
	h, o, _, err := tx.taskHead(taskID)
	return h, o, err
}

// position is the place of a task's next timeline entry, and its version.
type position struct{ seq, version int64 }

func (tx *Tx) taskHead(taskID string) (h task.Head, o task.Owner, at position, err error) {
	var stateAt, observed, doubted, unsettled micros
	var merged sql.NullString
	err = tx.row(`SELECT id, COALESCE(remote_task_id, ''), context_id, kind, state, state_us,
			question_id, question_sha256, question_number, answered_by, observed_us,
			snapshot_sha256, doubt, doubt_us, state_stream, unsettled_us, organisation_id, agent_id, tenant, skill_id, title, merged_into,
			ledger_events, ledger_bytes, cut_events, cut_bytes, next_seq, version
		FROM task WHERE id = ?`+tx.forUpdate(), taskID).
		Scan(&h.TaskID, &h.RemoteTaskID, &h.ContextID, &h.Kind, &h.State, &stateAt,
			&h.Question.MessageID, &h.Question.Digest, &h.Question.Number, &h.AnsweredBy, &observed,
			&h.Sight, &h.Doubt.Status, &doubted, &h.StateStream, &unsettled, &o.OrganisationID, &o.AgentID, &o.Tenant, &o.SkillID, &o.Title, &merged,
			&o.Ledger.Events, &o.Ledger.Bytes, &o.Ledger.CutEvents, &o.Ledger.CutBytes, &at.seq, &at.version)
	if errors.Is(err, sql.ErrNoRows) {
		return h, o, at, errNoTask()
	}
	if err != nil {
		return h, o, at, fmt.Errorf("read task %s: %w", taskID, err)
	}
	if merged.Valid {
		return tx.taskHead(merged.String)
	}
	h.StateAt, h.ObservedAt, h.Doubt.Since, h.Unsettled = stateAt.Time, observed.Time, doubted.Time, unsettled.Time
	return h, o, at, nil
}

// FindRemoteTask implements task.Tx.
func (tx *Tx) FindRemoteTask(agentID, tenant, remoteTaskID string) (string, error) {
	var id string
	err := tx.row("SELECT id FROM task WHERE agent_id = ? AND tenant = ? AND remote_task_id = ?", agentID, tenant, remoteTaskID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// CreateTask implements task.Tx and command.Tx.
func (tx *Tx) CreateTask(h task.Head, o task.Owner) error {
	_, err := tx.exec(`INSERT INTO task (id, organisation_id, agent_id, tenant, skill_id, remote_task_id, context_id, kind, state,
			title, title_search, created_us, updated_us)
		VALUES (?, ?, ?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?)`,
		h.TaskID, o.OrganisationID, o.AgentID, o.Tenant, o.SkillID, h.RemoteTaskID, h.ContextID, string(h.Kind), string(h.State),
		o.Title, strings.ToLower(o.Title), us(tx.now), us(tx.now))
	if err != nil {
		return fmt.Errorf("create task: %w", err)
	}
	return nil
}

// MergeTask implements task.Tx: the timeline, the ledger's future and the
// commands of from belong to into, and from points there.
func (tx *Tx) MergeTask(from, into string) error {
	at, err := tx.position(into)
	if err != nil {
		return err
	}
	seq, version := at.seq, at.version+1
	messages, err := tx.Messages(from, 0)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if _, err := tx.exec(`UPDATE message SET task_id = ?, seq = ?, version = ?, merged = TRUE
			WHERE task_id = ? AND seq = ? AND NOT EXISTS (SELECT 1 FROM message b WHERE b.task_id = ? AND b.message_id = message.message_id AND b.role = message.role)`,
			into, seq, version, from, m.Message.Seq, into); err != nil {
			return fmt.Errorf("merge messages: %w", err)
		}
		seq++
	}
	if _, err := tx.exec("UPDATE command SET task_id = ? WHERE task_id = ?", into, from); err != nil {
		return fmt.Errorf("merge commands: %w", err)
	}
	if err := tx.execOne("UPDATE task SET merged_into = ?, needs_you = FALSE, check_us = NULL WHERE id = ?", into, from); err != nil {
		return fmt.Errorf("merge task: %w", err)
	}
	return tx.execOne("UPDATE task SET next_seq = ?, version = ?, updated_us = ? WHERE id = ?", seq, version, us(tx.now), into)
}

func (tx *Tx) position(taskID string) (at position, err error) {
	err = tx.row("SELECT next_seq, version FROM task WHERE id = ?"+tx.forUpdate(), taskID).Scan(&at.seq, &at.version)
	if err != nil {
		err = fmt.Errorf("read task %s: %w", taskID, err)
	}
	return at, err
}

// ApplyChanges implements task.Tx.
func (tx *Tx) ApplyChanges(h task.Head, changes []task.Change, received time.Time) (changed bool, err error) {
	was, _, at, err := tx.taskHead(h.TaskID)
	if err != nil {
		return false, err
	}
	w := tx.timelineFrom(h.TaskID, at)
	w.at = received
	for _, c := range changes {
		if err := w.apply(c); err != nil {
			return false, err
		}
	}
	if err := w.touchQuestion(was, h); err != nil {
		return false, err
	}
	if h.State.Terminal() && !was.State.Terminal() { // what became of a refused cancel looks different now
		if _, err := tx.exec("UPDATE command SET version = ? WHERE task_id = ? AND action = 'cancel' AND refused AND seq IS NOT NULL", w.version, h.TaskID); err != nil {
			return false, fmt.Errorf("mark the cancels of task %s: %w", h.TaskID, err)
		}
	}
	heard := []any{us(h.ObservedAt), us(h.StateAt), h.Sight, h.Doubt.Status, us(h.Doubt.Since), h.StateStream, us(h.Unsettled)}
	if shown(h) == shown(was) && !w.changed {
		if _, err := tx.exec("UPDATE task SET "+setHeard+" WHERE id = ?", append(heard, h.TaskID)...); err != nil {
			return false, fmt.Errorf("store how task %s was heard: %w", h.TaskID, err)
		}
		return false, nil
	}
	err = tx.execOne("UPDATE task SET "+setHeard+`, remote_task_id = NULLIF(?, ''), context_id = ?, kind = ?, state = ?,
			question_id = ?, question_sha256 = ?, question_number = ?, answered_by = ?, needs_you = (? AND `+notForgotten+`),
			next_seq = ?, version = ?, updated_us = ?
		WHERE id = ?`, append(heard,
		h.RemoteTaskID, h.ContextID, string(h.Kind), string(h.State),
		h.Question.MessageID, h.Question.Digest, h.Question.Number, h.AnsweredBy, h.NeedsYou(),
		w.seq, w.version, us(tx.now), h.TaskID)...)
	if err != nil {
		return false, fmt.Errorf("store task %s: %w", h.TaskID, err)
	}
	return true, nil
}

// setHeard sets how a task was heard.
const setHeard = "observed_us = ?, state_us = ?, snapshot_sha256 = ?, doubt = ?, doubt_us = ?, state_stream = ?, unsettled_us = ?"

// shown is a head without how its task was heard: a change of that alone is none of
// the task.
func shown(h task.Head) task.Head {
	h.ObservedAt, h.StateAt, h.Unsettled = time.Time{}, time.Time{}, time.Time{}
	h.Sight, h.StateStream, h.Doubt = "", "", task.Doubt{}
	return h
}

const taskColumns = `t.id, t.organisation_id, COALESCE(t.remote_task_id, ''), t.agent_id, (SELECT name FROM agent WHERE id = t.agent_id), (SELECT removed_us IS NOT NULL FROM agent WHERE id = t.agent_id), t.tenant, t.skill_id, t.context_id, t.kind, t.state,
	t.title, t.needs_you, t.check_error, t.history_lacks, CASE WHEN t.forgotten_checks >= 2 THEN t.forgotten_us END, t.observed_us, t.purged_us, t.version, t.created_us, t.updated_us,
	t.ledger_events, t.ledger_bytes, t.cut_events, t.cut_bytes,
	COALESCE(s.id, ''), COALESCE(s.status, ''), COALESCE(s.error, ''), COALESCE(s.refused, FALSE)`

// taskSource is what taskColumns are columns of: tasks, each with the last
// message that was sent, as long as the agent has told nothing of it.
const taskSource = `task t LEFT JOIN command s ON t.remote_task_id IS NULL AND t.kind = 'task' AND t.state = 'TASK_STATE_UNSPECIFIED'
	AND s.id = (SELECT MAX(id) FROM command WHERE task_id = t.id AND action = 'send')`

func scanTask(s scanner, rest ...any) (task.Task, error) {
	var t task.Task
	var sent task.Delivery
	var forgotten, observed, purged, created, updated micros
	dest := append([]any{&t.ID, &t.OrganisationID, &t.RemoteTaskID, &t.AgentID, &t.AgentName, &t.AgentRemoved, &t.Tenant, &t.SkillID, &t.ContextID, &t.Kind, &t.State,
		&t.Title, &t.NeedsYou, &t.CheckError, &t.HistoryLacks, &forgotten, &observed, &purged, &t.Version, &created, &updated,
		&t.Ledger.Events, &t.Ledger.Bytes, &t.Ledger.CutEvents, &t.Ledger.CutBytes,
		&sent.CommandID, &sent.Status, &sent.Error, &sent.Refused}, rest...)
	err := s.Scan(dest...)
	if sent.CommandID != "" {
		t.Sent = &sent
	}
	if !t.State.Terminal() { // what has ended may be forgotten
		t.ForgottenAt = forgotten.Time
	}
	t.ObservedAt, t.PurgedAt, t.CreatedAt, t.UpdatedAt = observed.Time, purged.Time, created.Time, updated.Time
	return t, err
}

// TaskRecord implements task.ReadTx.
func (tx *Tx) TaskRecord(v access.View, taskID string) (task.Record, error) {
	w := seenTasks(v)
	w.and("t.id = ?", taskID)
	var r task.Record
	var merged sql.NullString
	t, err := scanTask(tx.row(`SELECT `+taskColumns+`, t.question_id, t.question_sha256, t.question_number, t.answered_by, t.merged_into
		FROM `+taskSource+` WHERE `+w.sql(), w.args...),
		&r.Question.MessageID, &r.Question.Digest, &r.Question.Number, &r.AnsweredBy, &merged)
	if errors.Is(err, sql.ErrNoRows) {
		return r, errNoTask()
	}
	if err != nil {
		return r, fmt.Errorf("read task %s: %w", taskID, err)
	}
	if merged.Valid {
		return tx.TaskRecord(v, merged.String)
	}
	r.Task = t
	return r, tx.readPush(&r.Task)
}

func scanString(s scanner) (string, error) {
	var v string
	return v, s.Scan(&v)
}

// terminalStates is a SQL list of the states in which a task has ended.
var terminalStates = func() string {
	var quoted []string
	for _, s := range []a2a.State{a2a.StateCompleted, a2a.StateFailed, a2a.StateCanceled, a2a.StateRejected} {
		quoted = append(quoted, "'"+string(s)+"'")
	}
	return strings.Join(quoted, ", ")
}()
