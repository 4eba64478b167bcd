package store

import (
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/task"
)

// AddCancel implements command.Tx.
func (tx *Tx) AddCancel(taskID, commandID string) error {
	w, err := tx.writeTimeline(taskID)
	if err != nil {
		return err
	}
	if err := tx.execOne("UPDATE command SET seq = ?, version = ? WHERE id = ? AND task_id = ?", w.next(), w.version, commandID, taskID); err != nil {
		return fmt.Errorf("put cancel %s on the timeline: %w", commandID, err)
	}
	return w.save()
}

// Cancels implements task.ReadTx.
func (tx *Tx) Cancels(taskID string, since int64) ([]task.CancelRequest, error) {
	cancels, err := collect(tx, func(s scanner) (task.CancelRequest, error) {
		var c task.CancelRequest
		var at micros
		d := &c.Delivery
		err := s.Scan(&c.Seq, &c.Version, &c.Author, &at, &d.CommandID, &d.Status, &d.Error, &d.Refused)
		c.At = at.Time
		return c, err
	}, `SELECT seq, version, actor_name, created_us, id, status, error, refused
		FROM command WHERE task_id = ? AND action = 'cancel' AND seq IS NOT NULL AND version > ? ORDER BY seq`, taskID, since)
	if err != nil {
		return nil, fmt.Errorf("read the cancels of task %s: %w", taskID, err)
	}
	return cancels, nil
}
