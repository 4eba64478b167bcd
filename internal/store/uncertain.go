package store

import (
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// ConfirmSends implements task.Tx.
func (tx *Tx) ConfirmSends(taskID string, has func(messageID string) bool) error {
	type send struct{ id, messageID string }
	uncertain, err := collect(tx, func(s scanner) (send, error) {
		var c send
		return c, s.Scan(&c.id, &c.messageID)
	}, "SELECT id, message_id FROM command WHERE task_id = ? AND status = 'uncertain' AND action = 'send'", taskID)
	if err != nil {
		return fmt.Errorf("look for uncertain sends of task %s: %w", taskID, err)
	}
	for _, c := range uncertain {
		if !has(c.messageID) {
			continue
		}
		if err := tx.execOne("UPDATE command SET status = 'succeeded', error = '', confirmed_us = ?, updated_us = ? WHERE id = ?",
			us(tx.now), us(tx.now), c.id); err != nil {
			return fmt.Errorf("confirm command %s: %w", c.id, err)
		}
		if _, err := tx.touchCommands([]string{c.id}); err != nil {
			return err
		}
	}
	return nil
}

// CompareHistory implements task.Tx.
func (tx *Tx) CompareHistory(taskID string, has func(messageID string) bool) error {
	sent, err := collect(tx, scanString, `SELECT message_id FROM command
		WHERE task_id = ? AND action = 'send' AND status IN ('dispatching', 'succeeded') ORDER BY id`, taskID)
	if err != nil {
		return fmt.Errorf("look for what was sent on task %s: %w", taskID, err)
	}
	lacks, missed := false, false
	for _, id := range sent {
		if has(id) {
			lacks = missed // what comes after the last one that it has may be on its way
		} else {
			missed = true
		}
	}
	var before bool
	if err := tx.row("SELECT history_lacks FROM task WHERE id = ?", taskID).Scan(&before); err != nil || before == lacks {
		return err
	}
	w, err := tx.writeTimeline(taskID)
	if err == nil {
		err = tx.execOne("UPDATE task SET history_lacks = ? WHERE id = ?", lacks, taskID)
	}
	if err != nil {
		return fmt.Errorf("keep what the history of task %s lacks: %w", taskID, err)
	}
	tx.Signal(live.TaskTopic(taskID))
	return w.save()
}

// DeliveredAt implements task.Tx.
func (tx *Tx) DeliveredAt(commandID string) (time.Time, error) {
	var at micros
	err := tx.row(`SELECT MAX(c.updated_us) FROM command c JOIN task t ON t.id = c.task_id
		WHERE c.id = ? AND c.status = 'succeeded' AND t.stream_owner = ''`, commandID).Scan(&at)
	if err != nil {
		err = fmt.Errorf("look when command %s was delivered: %w", commandID, err)
	}
	return at.Time, err
}

// UncertainSends implements observe.Tx.
func (tx *Tx) UncertainSends(taskID string) ([]string, error) {
	ids, err := collect(tx, scanString, "SELECT message_id FROM command WHERE task_id = ? AND status = 'uncertain' AND action = 'send'", taskID)
	if err != nil {
		return nil, fmt.Errorf("look for uncertain sends of task %s: %w", taskID, err)
	}
	return ids, nil
}

// ResendCommand implements command.Tx.
func (tx *Tx) ResendCommand(id, personID, name string) (command.Record, error) {
	n, err := tx.exec(`UPDATE command SET status = 'pending', error = '', attempts = 0, resends = resends + 1, run_us = ?,
			resent_by = ?, resent_by_name = ?, resent_us = ?, updated_us = ?
		WHERE id = ? AND status = 'uncertain'`, us(tx.now), personID, name, us(tx.now), us(tx.now), id)
	if err != nil {
		return command.Record{}, fmt.Errorf("have command %s sent again: %w", id, err)
	}
	if n == 0 {
		return command.Record{}, fault.New(fault.Conflict, "Its outcome is known by now, so it is not sent again.")
	}
	records, err := tx.touchCommands([]string{id})
	if err != nil {
		return command.Record{}, err
	}
	return records[0], nil
}
