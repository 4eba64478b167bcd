package store

import (
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/observe"
)

// pushedLately is how long a push shows that pushes come.
const pushedLately = 10 * time.Minute

// DueChecks implements observe.Tx.
func (tx *Tx) DueChecks() ([]string, error) {
	agents, err := collect(tx, scanString, `SELECT agent_id FROM task WHERE check_us <= ? AND NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = agent_id AND a.removed_us IS NOT NULL)
		GROUP BY agent_id ORDER BY MIN(check_us)`, us(tx.now))
	if err != nil {
		return nil, fmt.Errorf("look for checks that are due: %w", err)
	}
	return agents, nil
}

// ClaimChecks implements observe.Tx.
func (tx *Tx) ClaimChecks(agentID string, limit int, next time.Time) ([]observe.Check, error) {
	checks, err := collect(tx, func(s scanner) (observe.Check, error) {
		var c observe.Check
		var interval int64
		err := s.Scan(&c.TaskID, &c.OrganisationID, &c.AgentID, &c.Tenant, &c.RemoteTaskID, &c.ContextID, &interval, &c.StreamOwner, &c.Pushed)
		c.Interval = time.Duration(interval) * time.Microsecond
		return c, err
	}, `UPDATE task SET check_us = ?
		WHERE id IN (SELECT id FROM task WHERE check_us <= ? AND agent_id = ? ORDER BY check_us LIMIT ?`+tx.skipLocked()+`)
		RETURNING id, organisation_id, agent_id, tenant, COALESCE(remote_task_id, ''), context_id, check_interval, stream_owner,
			EXISTS (SELECT 1 FROM push_registration p WHERE p.task_id = task.id AND p.state = 'registered' AND p.pushed_us > ?)`,
		us(next), us(tx.now), agentID, limit, us(tx.now.Add(-pushedLately)))
	if err != nil {
		return nil, fmt.Errorf("find tasks to check: %w", err)
	}
	return checks, nil
}

// NextCheck implements observe.Tx.
func (tx *Tx) NextCheck() (time.Time, error) {
	var at micros
	if err := tx.row("SELECT MIN(check_us) FROM task WHERE check_us > ?", us(tx.now)).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("look for the next check: %w", err)
	}
	return at.Time, nil
}

// SetCheckError implements observe.Tx.
func (tx *Tx) SetCheckError(taskID, problem string) (changed bool, err error) {
	n, err := tx.exec("UPDATE task SET check_error = ?, version = version + 1 WHERE id = ? AND (check_error <> ? OR ? = '' AND forgotten_checks > 0)", problem, taskID, problem, problem)
	if err != nil {
		return false, fmt.Errorf("store why task %s could not be checked: %w", taskID, err)
	}
	if n > 0 {
		tx.Signal(live.TaskTopic(taskID))
	}
	return n > 0, nil
}

// HastenCheck implements observe.Tx and push.Tx.
func (tx *Tx) HastenCheck(taskID string, at time.Time) error {
	_, err := tx.exec("UPDATE task SET check_us = ?, check_interval = 0 WHERE id = ? AND (check_us IS NULL OR check_us > ?)", us(at), taskID, us(at))
	if err != nil {
		return fmt.Errorf("hasten the check of task %s: %w", taskID, err)
	}
	return nil
}

// CheckAllSoon implements observe.Tx.
func (tx *Tx) CheckAllSoon() error {
	_, err := tx.exec("UPDATE task SET check_us = ?, check_interval = 0 WHERE check_us IS NOT NULL", us(tx.now))
	if err != nil {
		return fmt.Errorf("plan the checks after a start: %w", err)
	}
	return nil
}
