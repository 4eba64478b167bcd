package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/push"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// unregistered are open tasks without a push registration whose agent has not refused
// to push, each as t.
var unregistered = `FROM task t JOIN agent a ON a.id = t.agent_id LEFT JOIN agent_watch w ON w.agent_id = a.id
	WHERE t.remote_task_id IS NOT NULL AND t.kind = 'task' AND t.check_us IS NOT NULL AND t.state NOT IN (` + terminalStates + `)
	AND COALESCE(w.push_refused, '') <> COALESCE(a.card_id, '-')
	AND NOT EXISTS (SELECT 1 FROM push_registration p WHERE p.task_id = t.id)`

// UnregisteredAgents implements push.Tx.
func (tx *Tx) UnregisteredAgents() ([]string, error) {
	agents, err := collect(tx, scanString, "SELECT DISTINCT t.agent_id "+unregistered)
	if err != nil {
		err = fmt.Errorf("look for agents that could push: %w", err)
	}
	return agents, err
}

// UnregisteredTasks implements push.Tx.
func (tx *Tx) UnregisteredTasks(agentID string, limit int) ([]string, error) {
	tasks, err := collect(tx, scanString, "SELECT t.id "+unregistered+" AND t.agent_id = ? ORDER BY t.id LIMIT ?", agentID, limit)
	if err != nil {
		err = fmt.Errorf("look for tasks of which nothing is pushed: %w", err)
	}
	return tasks, err
}

// WantRegistration implements push.Tx.
func (tx *Tx) WantRegistration(id, taskID string) error {
	_, err := tx.exec(`INSERT INTO push_registration (id, task_id, agent_id, state, due_us, created_us, updated_us)
		SELECT ?, t.id, t.agent_id, 'wanted', ?, ?, ? `+unregistered+` AND t.id = ? ON CONFLICT (task_id) DO NOTHING`,
		id, us(tx.now), us(tx.now), us(tx.now), taskID)
	if err != nil {
		return fmt.Errorf("note that task %s is to be pushed: %w", taskID, err)
	}
	return nil
}

// RetireRegistration implements push.Tx.
func (tx *Tx) RetireRegistration(taskID string) error {
	_, err := tx.exec(`UPDATE push_registration SET state = 'removing', attempts = 0, due_us = ?, updated_us = ?
		WHERE task_id = ? AND state IN ('wanted', 'registered')`, us(tx.now), us(tx.now), taskID)
	if err != nil {
		return fmt.Errorf("retire the push registration of task %s: %w", taskID, err)
	}
	return nil
}

// RetireOthers implements push.Tx.
func (tx *Tx) RetireOthers(origin string) error {
	var err error
	if origin == "" {
		_, err = tx.exec(`UPDATE push_registration SET state = 'removing', attempts = 0, due_us = ?, updated_us = ?
			WHERE state IN ('wanted', 'registered')`, us(tx.now), us(tx.now))
	} else {
		_, err = tx.exec(`UPDATE push_registration SET state = 'wanted', attempts = 0, due_us = ?, updated_us = ?
			WHERE state = 'registered' AND origin <> ? OR state IN ('removing', 'removed')
			AND EXISTS (SELECT 1 FROM task t WHERE t.id = task_id AND t.state NOT IN (`+terminalStates+`))`, us(tx.now), us(tx.now), origin)
	}
	if err != nil {
		return fmt.Errorf("retire the push registrations of another origin: %w", err)
	}
	return nil
}

// DueRegistrations implements push.Tx.
func (tx *Tx) DueRegistrations() ([]string, error) {
	agents, err := collect(tx, scanString, "SELECT agent_id FROM push_registration WHERE due_us <= ? GROUP BY agent_id ORDER BY MIN(due_us)", us(tx.now))
	if err != nil {
		err = fmt.Errorf("look for push registrations that are due: %w", err)
	}
	return agents, err
}

// ClaimRegistrations implements push.Tx.
func (tx *Tx) ClaimRegistrations(agentID string, limit int, next time.Time) ([]push.Registration, error) {
	ids, err := collect(tx, scanString, `UPDATE push_registration SET due_us = ?
		WHERE id IN (SELECT id FROM push_registration WHERE due_us <= ? AND agent_id = ? ORDER BY due_us LIMIT ?`+tx.skipLocked()+`)
		RETURNING id`, us(next), us(tx.now), agentID, limit)
	if err != nil {
		return nil, fmt.Errorf("find push registrations that are due: %w", err)
	}
	claimed := make([]push.Registration, len(ids))
	for i, id := range ids {
		if claimed[i], err = tx.Registration(id); err != nil {
			return nil, err
		}
	}
	return claimed, nil
}

// NextRegistration implements push.Tx.
func (tx *Tx) NextRegistration() (time.Time, error) {
	var at micros
	if err := tx.row("SELECT MIN(due_us) FROM push_registration WHERE due_us > ?", us(tx.now)).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("look for the next push registration: %w", err)
	}
	return at.Time, nil
}

// StoreRegistration implements push.Tx. If the registration was retired meanwhile, it
// is kept that the agent has it all the same, so that it is removed there.
func (tx *Tx) StoreRegistration(was push.State, r push.Registration) (bool, error) {
	n, err := tx.exec(`UPDATE push_registration SET state = ?, origin = ?, key_id = ?, config_id = ?, attempts = ?, due_us = ?, problem = ?, updated_us = ?
		WHERE id = ? AND state = ?`,
		string(r.State), r.Origin, r.KeyID, r.ConfigID, r.Attempts, us(r.Due), r.Problem, us(tx.now), r.ID, string(was))
	if err == nil && n == 0 && r.State == push.StateRegistered {
		_, err = tx.exec(`UPDATE push_registration SET config_id = ?, state = 'removing', attempts = 0, due_us = ?, updated_us = ?
			WHERE id = ? AND state IN ('removing', 'removed')`, r.ConfigID, us(tx.now), us(tx.now), r.ID)
	}
	if err != nil {
		return false, fmt.Errorf("store push registration %s: %w", r.ID, err)
	}
	tx.Signal(live.TaskTopic(r.TaskID))
	return n == 1, nil
}

// RefusePushes implements push.Tx.
func (tx *Tx) RefusePushes(agentID, problem string) error {
	_, err := tx.exec(`INSERT INTO agent_watch (agent_id, push_refused, push_problem)
		SELECT id, COALESCE(card_id, '-'), ? FROM agent WHERE id = ?
		ON CONFLICT (agent_id) DO UPDATE SET push_refused = excluded.push_refused, push_problem = excluded.push_problem`, problem, agentID)
	if err != nil {
		return fmt.Errorf("note that agent %s pushes nothing: %w", agentID, err)
	}
	return nil
}

// Registration implements push.Tx.
func (tx *Tx) Registration(id string) (push.Registration, error) {
	r := push.Registration{ID: id}
	var due micros
	err := tx.row(`SELECT p.task_id, t.organisation_id, p.agent_id, t.tenant, COALESCE(t.remote_task_id, ''), p.state,
			t.state IN (`+terminalStates+`), p.origin, p.key_id, p.config_id, p.attempts, p.due_us, p.problem
		FROM push_registration p JOIN task t ON t.id = p.task_id WHERE p.id = ?`, id).
		Scan(&r.TaskID, &r.OrganisationID, &r.AgentID, &r.Tenant, &r.RemoteTaskID, &r.State,
			&r.Ended, &r.Origin, &r.KeyID, &r.ConfigID, &r.Attempts, &due, &r.Problem)
	r.Due = due.Time
	if errors.Is(err, sql.ErrNoRows) {
		return r, fault.New(fault.NotFound, "There is no such push registration.")
	}
	if err != nil {
		return r, fmt.Errorf("read push registration %s: %w", id, err)
	}
	return r, nil
}

// CountPush implements push.Tx. All processes count together.
func (tx *Tx) CountPush(id string, allowed int) (bool, error) {
	began := us(tx.now.Add(-time.Minute))
	n, err := tx.exec(`UPDATE push_registration SET
			window_pushes = CASE WHEN window_us <= ? THEN 1 ELSE window_pushes + 1 END,
			window_us = CASE WHEN window_us <= ? THEN ? ELSE window_us END
		WHERE id = ? AND (window_us <= ? OR window_pushes < ?)`, began, began, us(tx.now), id, began, allowed)
	if err != nil {
		return false, fmt.Errorf("count a push: %w", err)
	}
	if n == 0 {
		_, err = tx.Registration(id)
	}
	return n == 1, err
}

// Pushed implements push.Tx.
func (tx *Tx) Pushed(id string) error {
	if err := tx.execOne("UPDATE push_registration SET pushed_us = ?, problem = '' WHERE id = ?", us(tx.now), id); err != nil {
		return fmt.Errorf("note that a push came: %w", err)
	}
	return nil
}

// PushProblem implements push.Tx.
func (tx *Tx) PushProblem(id, problem string) error {
	if _, err := tx.exec("UPDATE push_registration SET problem = ? WHERE id = ? AND problem <> ?", problem, id, problem); err != nil {
		return fmt.Errorf("note what was wrong with a push: %w", err)
	}
	return nil
}

// readPush completes a task with what the agent pushes about it.
func (tx *Tx) readPush(t *task.Task) error {
	var p task.Push
	var pushed micros
	err := tx.row("SELECT state, pushed_us, problem FROM push_registration WHERE task_id = ?", t.ID).Scan(&p.State, &pushed, &p.Problem)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for pushes of task %s: %w", t.ID, err)
	}
	p.LastAt = pushed.Time
	t.Push = &p
	return nil
}
