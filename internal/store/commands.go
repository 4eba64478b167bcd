package store

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

const commandColumns = `c.id, c.organisation_id, c.agent_id, c.task_id, c.action, c.message_id, c.request, c.sha256, c.idempotency_key,
	COALESCE(c.answers, ''), COALESCE(c.question_number, 0), c.status, c.error, c.attempts, c.run_us, c.actor_id, c.actor_name, c.created_us, c.updated_us`

func scanCommand(s scanner) (command.Record, error) {
	var r command.Record
	var request []byte
	var run, created, updated micros
	c := &r.Command
	err := s.Scan(&c.ID, &r.OrganisationID, &c.AgentID, &c.TaskID, &c.Action, &c.MessageID, &request, &r.Digest, &r.Key,
		&r.Answers, &r.QuestionNumber, &c.Status, &c.Error, &c.Attempts, &run, &r.PersonID, &c.Author, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fault.New(fault.NotFound, "There is no such command.")
	}
	if err != nil {
		return r, fmt.Errorf("read a command: %w", err)
	}
	r.RunAt, c.CreatedAt, c.UpdatedAt = run.Time, created.Time, updated.Time
	if r.Request, err = command.DecodeRequest(request); err != nil {
		r.Request, r.Unreadable = command.Request{}, true // this command fails; it holds up no other
	}
	return r, nil
}

// CommandByKey implements command.Tx.
func (tx *Tx) CommandByKey(organisationID, key string) (command.Record, error) {
	return scanCommand(tx.row("SELECT "+commandColumns+" FROM command c WHERE c.organisation_id = ? AND c.idempotency_key = ?", organisationID, key))
}

// CommandByID implements command.Tx.
func (tx *Tx) CommandByID(id string) (command.Record, error) {
	return scanCommand(tx.row("SELECT "+commandColumns+" FROM command c WHERE c.id = ?", id))
}

// AnswerTo implements command.Tx.
func (tx *Tx) AnswerTo(taskID, messageID string) (command.Record, error) {
	return scanCommand(tx.row("SELECT "+commandColumns+` FROM command c
		WHERE c.task_id = ? AND c.answers = ? AND c.status <> 'failed' ORDER BY c.question_number DESC LIMIT 1`, taskID, messageID))
}

// MessageIDUsed implements command.Tx.
func (tx *Tx) MessageIDUsed(agentID, taskID, messageID string) (bool, error) {
	var used bool
	err := tx.row(`SELECT EXISTS (SELECT 1 FROM command WHERE agent_id = ? AND message_id = ?)
		OR EXISTS (SELECT 1 FROM message WHERE task_id = ? AND message_id = ? AND role = 'user')`, agentID, messageID, taskID, messageID).Scan(&used)
	if err != nil {
		err = fmt.Errorf("look for a message ID: %w", err)
	}
	return used, err
}

// UnconfirmedSends implements command.Tx.
func (tx *Tx) UnconfirmedSends(taskID string) (int, error) {
	var n int
	err := tx.row("SELECT COUNT(*) FROM command WHERE task_id = ? AND action = 'send' AND status IN ('pending', 'dispatching', 'uncertain')", taskID).Scan(&n)
	if err != nil {
		err = fmt.Errorf("count a task's sends: %w", err)
	}
	return n, err
}

// InsertCommand implements command.Tx.
func (tx *Tx) InsertCommand(r command.Record) error {
	request, err := r.Request.Encode()
	if err != nil {
		return fmt.Errorf("write the request of a command: %w", err)
	}
	var number any
	if r.Answers != "" {
		number = r.QuestionNumber
	}
	c := r.Command
	_, err = tx.exec(`INSERT INTO command (id, organisation_id, agent_id, task_id, action, message_id, request, sha256, idempotency_key,
			answers, question_number, status, run_us, actor_id, actor_name, created_us, updated_us)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, r.OrganisationID, c.AgentID, c.TaskID, string(c.Action), c.MessageID, request, r.Digest, r.Key,
		r.Answers, number, string(c.Status), us(r.RunAt), r.PersonID, c.Author, us(c.CreatedAt), us(c.UpdatedAt))
	if tx.dialect.isUnique(err) {
		return fault.Wrap(err, fault.Conflict, "This question was answered a moment ago. What you entered was not sent.")
	}
	if err != nil {
		return fmt.Errorf("store a command: %w", err)
	}
	return nil
}

// AddUserMessage implements command.Tx.
func (tx *Tx) AddUserMessage(taskID string, m task.NewMessage, commandID string, definition []byte) error {
	w, err := tx.writeTimeline(taskID)
	if err != nil {
		return err
	}
	if err := w.addMessage(m, commandID, definition); err != nil {
		return err
	}
	return w.save()
}

// save stores where the timeline has got to.
func (w *timelineWriter) save() error {
	if err := w.tx.execOne("UPDATE task SET next_seq = ?, version = ?, updated_us = ? WHERE id = ?", w.seq, w.version, us(w.tx.now), w.taskID); err != nil {
		return fmt.Errorf("store task %s: %w", w.taskID, err)
	}
	return nil
}

// SetAnsweredBy implements command.Tx.
func (tx *Tx) SetAnsweredBy(taskID, commandID string) error {
	was, _, err := tx.TaskHead(taskID)
	if err != nil {
		return err
	}
	is := was
	is.AnsweredBy = commandID
	w, err := tx.writeTimeline(taskID)
	if err != nil {
		return err
	}
	if err := w.touchQuestion(was, is); err != nil {
		return err
	}
	if err := tx.execOne("UPDATE task SET answered_by = ?, needs_you = (? AND "+notForgotten+") WHERE id = ?", is.AnsweredBy, is.NeedsYou(), taskID); err != nil {
		return fmt.Errorf("store who answered task %s: %w", taskID, err)
	}
	return w.save()
}

// DueCommands implements command.Tx.
func (tx *Tx) DueCommands() ([]command.Lane, error) {
	lanes, err := collect(tx, func(s scanner) (command.Lane, error) {
		var l command.Lane
		return l, s.Scan(&l.AgentID, &l.Action)
	}, "SELECT agent_id, action FROM command WHERE status = 'pending' AND run_us <= ? GROUP BY agent_id, action ORDER BY MIN(run_us)", us(tx.now))
	if err != nil {
		return nil, fmt.Errorf("look for commands that are due: %w", err)
	}
	return lanes, nil
}

// ClaimCommands implements command.Tx.
func (tx *Tx) ClaimCommands(owner string, lane command.Lane, limit int) ([]command.Record, error) {
	ids, err := collect(tx, scanString, `UPDATE command SET status = 'dispatching', owner = ?, attempts = attempts + 1, updated_us = ?
		WHERE id IN (
			SELECT c.id FROM command c
			WHERE c.status = 'pending' AND c.run_us <= ? AND c.agent_id = ? AND c.action = ? AND (c.action = 'cancel' OR NOT EXISTS (
				SELECT 1 FROM command e WHERE e.task_id = c.task_id AND e.status IN ('pending', 'dispatching') AND e.id < c.id))
			AND `+tx.leased("?")+`
			ORDER BY c.run_us, c.id LIMIT ?`+tx.skipLocked()+`)
		RETURNING id`, owner, us(tx.now), us(tx.now), lane.AgentID, string(lane.Action), owner, limit)
	if err != nil {
		return nil, fmt.Errorf("claim commands: %w", err)
	}
	return tx.touchCommands(ids)
}

// UnclaimCommands implements command.Tx.
func (tx *Tx) UnclaimCommands(owner string, sending []string) error {
	ids, err := collect(tx, scanString, "SELECT id FROM command WHERE status = 'dispatching' AND owner = ?", owner)
	if err != nil {
		return fmt.Errorf("find claimed commands: %w", err)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(sending, id) })
	for _, id := range ids {
		err := tx.execOne("UPDATE command SET status = 'pending', owner = '', attempts = attempts - 1, updated_us = ? WHERE id = ?", us(tx.now), id)
		if err != nil {
			return fmt.Errorf("take the claim of command %s back: %w", id, err)
		}
	}
	_, err = tx.touchCommands(ids)
	return err
}

// touchCommands marks the messages of the commands as changed, and returns these.
func (tx *Tx) touchCommands(ids []string) ([]command.Record, error) {
	records := make([]command.Record, len(ids))
	for i, id := range ids {
		r, err := tx.CommandByID(id)
		if err == nil {
			err = tx.touchCommand(r)
		}
		if err != nil {
			return nil, err
		}
		records[i] = r
	}
	return records, nil
}

// touchCommand marks a command's message as changed, or the entry of a cancel.
func (tx *Tx) touchCommand(r command.Record) error {
	w, err := tx.writeTimeline(r.Command.TaskID)
	if err != nil {
		return err
	}
	if _, err := tx.exec("UPDATE message SET version = ? WHERE task_id = ? AND command_id = ?", w.version, w.taskID, r.Command.ID); err != nil {
		return fmt.Errorf("mark a command's message: %w", err)
	}
	if _, err := tx.exec("UPDATE command SET version = ? WHERE id = ? AND seq IS NOT NULL", w.version, r.Command.ID); err != nil {
		return fmt.Errorf("mark a cancel: %w", err)
	}
	tx.Signal(live.TaskTopic(w.taskID), live.OrganisationTopic(r.OrganisationID), live.CommandsTopic)
	return w.save()
}

// SettleCommand implements command.Tx.
func (tx *Tx) SettleCommand(id, owner string, v command.Verdict) (bool, error) {
	n, err := tx.exec(`UPDATE command SET status = ?, error = ?, refused = ?, run_us = ?, owner = '', updated_us = ?
		WHERE id = ? AND owner = ? AND status = 'dispatching'`, string(v.Status), v.Problem, v.Refused, us(v.RunAt), us(tx.now), id, owner)
	if err != nil {
		return false, fmt.Errorf("settle command %s: %w", id, err)
	}
	if n == 0 {
		return false, nil
	}
	r, err := tx.CommandByID(id)
	if err != nil {
		return false, err
	}
	return true, tx.touchCommand(r)
}

// OrphanCommands implements command.Tx.
func (tx *Tx) OrphanCommands(problem string) ([]command.Record, error) {
	ids, err := collect(tx, scanString, `UPDATE command SET status = 'uncertain', error = ?, owner = '', updated_us = ?
		WHERE status = 'dispatching' AND NOT `+tx.leased("command.owner")+` RETURNING id`, problem, us(tx.now))
	if err != nil {
		return nil, fmt.Errorf("find commands whose process ended: %w", err)
	}
	return tx.touchCommands(ids)
}

// NextCommand implements command.Tx.
func (tx *Tx) NextCommand() (time.Time, error) {
	var at micros
	if err := tx.row("SELECT MIN(run_us) FROM command WHERE status = 'pending' AND run_us > ?", us(tx.now)).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("look for the next command: %w", err)
	}
	return at.Time, nil
}

// ScheduleCheck implements command.Tx and observe.Tx.
func (tx *Tx) ScheduleCheck(taskID string, at time.Time, interval time.Duration) error {
	_, err := tx.exec("UPDATE task SET check_us = ?, check_interval = ? WHERE id = ?", us(at), interval.Microseconds(), taskID)
	if err != nil {
		return fmt.Errorf("schedule a check of task %s: %w", taskID, err)
	}
	return nil
}
