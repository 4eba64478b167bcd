package store

import (
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/observe"
)

// listWay names the card, interface and credential with which agent a is called now.
const listWay = `(COALESCE(a.card_id, '-') || ' ' || COALESCE((SELECT c.id FROM credential c WHERE c.agent_id = a.id AND c.ended IS NULL), '-') || ' ' || a.interface)`

// openTask is true of a task that a list of its agent's tasks may show.
var openTask = `check_us IS NOT NULL AND remote_task_id IS NOT NULL AND kind = 'task' AND state NOT IN (` + terminalStates + `)`

// ClaimSweeps implements observe.SweepTx.
func (tx *Tx) ClaimSweeps(limit int, since, next time.Time) ([]observe.Sweep, error) {
	due, err := collect(tx, func(s scanner) (observe.Sweep, error) {
		var w observe.Sweep
		var interval int64
		err := s.Scan(&w.AgentID, &w.OrganisationID, &w.Way, &interval, &w.Problem)
		w.Interval = time.Duration(interval) * time.Microsecond
		return w, err
	}, `SELECT a.id, a.organisation_id, `+listWay+`, COALESCE(w.sweep_interval, 0), COALESCE(w.sweep_problem, '')
		FROM (SELECT DISTINCT agent_id FROM task WHERE created_us <= ? AND `+openTask+`) o
		JOIN agent a ON a.id = o.agent_id LEFT JOIN agent_watch w ON w.agent_id = a.id
		WHERE a.removed_us IS NULL AND COALESCE(w.sweep_us, 0) <= ? AND COALESCE(w.sweep_refused, '') <> `+listWay+`
		ORDER BY COALESCE(w.sweep_us, 0), a.id LIMIT ?`, us(since), us(tx.now), limit)
	if err != nil {
		return nil, fmt.Errorf("look for agents whose tasks are to be listed: %w", err)
	}
	var claimed []observe.Sweep
	for _, w := range due {
		n, err := tx.exec(`INSERT INTO agent_watch (agent_id, sweep_us) VALUES (?, ?)
			ON CONFLICT (agent_id) DO UPDATE SET sweep_us = excluded.sweep_us WHERE COALESCE(agent_watch.sweep_us, 0) <= ?`, w.AgentID, us(next), us(tx.now))
		if err != nil {
			return nil, fmt.Errorf("claim the list of agent %s: %w", w.AgentID, err)
		}
		if n == 1 {
			claimed = append(claimed, w)
		}
	}
	return claimed, nil
}

// OpenTasks implements observe.SweepTx.
func (tx *Tx) OpenTasks(agentID string, limit int) ([]observe.Open, error) {
	open, err := collect(tx, func(s scanner) (observe.Open, error) {
		var o observe.Open
		var stateAt, observed, unsettled, check micros
		var interval int64
		h := &o.Head
		err := s.Scan(&h.TaskID, &h.RemoteTaskID, &o.Tenant, &h.State, &stateAt, &h.Question.MessageID, &h.Question.Digest, &h.Question.Number,
			&h.AnsweredBy, &observed, &unsettled, &check, &interval, &o.Failed)
		h.StateAt, h.ObservedAt, h.Unsettled, o.CheckAt = stateAt.Time, observed.Time, unsettled.Time, check.Time
		o.Interval = time.Duration(interval) * time.Microsecond
		return o, err
	}, `SELECT id, remote_task_id, tenant, state, state_us, question_id, question_sha256, question_number,
			answered_by, observed_us, unsettled_us, check_us, check_interval, check_error <> ''
		FROM task WHERE agent_id = ? AND `+openTask+` ORDER BY observed_us DESC, id LIMIT ?`, agentID, limit)
	if err != nil {
		return nil, fmt.Errorf("read the open tasks of agent %s: %w", agentID, err)
	}
	return open, nil
}

// AskSoon implements observe.SweepTx.
func (tx *Tx) AskSoon(taskID string) error {
	if _, err := tx.exec("UPDATE task SET check_us = ? WHERE id = ? AND check_us > ?", us(tx.now), taskID, us(tx.now)); err != nil {
		return fmt.Errorf("make the check of task %s due: %w", taskID, err)
	}
	return nil
}

// PutOffCheck implements observe.SweepTx.
func (tx *Tx) PutOffCheck(o observe.Open, at time.Time, interval time.Duration) error {
	_, err := tx.exec("UPDATE task SET check_us = ?, check_interval = ? WHERE id = ? AND check_us = ? AND check_interval = ?",
		us(at), interval.Microseconds(), o.Head.TaskID, us(o.CheckAt), o.Interval.Microseconds())
	if err != nil {
		return fmt.Errorf("put the check of task %s off: %w", o.Head.TaskID, err)
	}
	return nil
}

// StoreSweep implements observe.SweepTx.
func (tx *Tx) StoreSweep(s observe.Swept) error {
	var swept time.Time
	if s.Listed {
		swept = tx.now
	}
	err := tx.execOne(`UPDATE agent_watch SET sweep_us = ?, sweep_interval = ?, swept_us = COALESCE(?, swept_us), sweep_refused = ?, sweep_problem = ?
		WHERE agent_id = ?`, us(s.Next), s.Interval.Microseconds(), us(swept), s.Refused, s.Problem, s.AgentID)
	if err != nil {
		return fmt.Errorf("store what came of listing the tasks of agent %s: %w", s.AgentID, err)
	}
	return nil
}
