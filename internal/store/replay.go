package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TaskIDs implements task.ReplayTx.
func (tx *Tx) TaskIDs(after string, limit int) ([]string, error) {
	ids, err := collect(tx, scanString, "SELECT id FROM task WHERE id > ? AND merged_into IS NULL ORDER BY id LIMIT ?", after, limit)
	if err != nil {
		err = fmt.Errorf("list the tasks: %w", err)
	}
	return ids, err
}

// Events implements task.ReplayTx.
func (tx *Tx) Events(taskID string, after int64, limit int) ([]task.Event, error) {
	events, err := collect(tx, func(s scanner) (task.Event, error) {
		e := task.Event{TaskID: taskID}
		var asked, received, purged micros
		err := s.Scan(&e.ID, &e.Source, &e.SourceKey, (*[]byte)(&e.Payload), &e.Digest, &asked, &received, &e.Number, &e.Seq, &e.AnsweredBy, &e.AfterAnswer, &e.Limit, &purged)
		e.Asked, e.Received, e.Purged = asked.Time, received.Time, purged.Time
		return e, err
	}, `SELECT id, source, source_key, COALESCE(payload, raw), sha256, asked_us, received_us, number, seq, answered_by, after_answer, artifact_limit, purged_us
		FROM event WHERE task_id = ? AND number > ? ORDER BY number LIMIT ?`, taskID, after, limit)
	if err != nil {
		err = fmt.Errorf("read the ledger of task %s: %w", taskID, err)
	}
	return events, err
}

// ClearProjection implements task.ReplayTx.
func (tx *Tx) ClearProjection(taskID string) error {
	var context string
	first, err := collect(tx, scanString, "SELECT id FROM command WHERE task_id = ? AND action = 'send' ORDER BY id LIMIT 1", taskID)
	if err == nil && len(first) == 1 {
		started, err := tx.CommandByID(first[0])
		if err != nil {
			return err
		}
		context = started.Request.ContextID
	}
	for _, statement := range []string{
		"DELETE FROM message WHERE task_id = ? AND command_id IS NULL AND NOT merged",
		"DELETE FROM artifact_part WHERE task_id = ?",
		"DELETE FROM artifact WHERE task_id = ?",
		"DELETE FROM transition WHERE task_id = ?",
	} {
		if err == nil {
			_, err = tx.exec(statement, taskID)
		}
	}
	if err == nil {
		err = tx.execOne(`UPDATE task SET context_id = ?, kind = 'task', state = ?, state_us = NULL, question_id = '', question_sha256 = '', question_number = 0,
			answered_by = '', needs_you = FALSE, snapshot_sha256 = '', doubt = '', doubt_us = NULL, state_stream = '', unsettled_us = NULL, observed_us = NULL WHERE id = ?`,
			context, string(a2a.StateUnspecified), taskID)
	}
	if err != nil {
		return fmt.Errorf("clear task %s: %w", taskID, err)
	}
	return nil
}

// SetPlace implements task.ReplayTx.
func (tx *Tx) SetPlace(taskID string, seq int64) error {
	if err := tx.execOne("UPDATE task SET next_seq = ? WHERE id = ?", seq, taskID); err != nil {
		return fmt.Errorf("set the place in task %s: %w", taskID, err)
	}
	return nil
}

// Projection implements task.ReplayTx.
func (tx *Tx) Projection(taskID string) (task.Projection, error) {
	var p task.Projection
	var err error
	if p.Head, _, err = tx.TaskHead(taskID); err != nil {
		return p, err
	}
	p.Entries, err = collect(tx, scanEntry, `SELECT 'message ' || seq, role || ' ' || message_id || ' ' || sha256, at_us FROM message WHERE task_id = ?
		UNION ALL SELECT 'transition ' || seq, state, at_us FROM transition WHERE task_id = ? ORDER BY 1`, taskID, taskID)
	if err != nil {
		return p, fmt.Errorf("read the timeline of task %s: %w", taskID, err)
	}
	artifacts, err := tx.Artifacts(taskID, 0)
	if err != nil {
		return p, err
	}
	for _, a := range artifacts {
		parts, err := a2a.EncodeParts(a.Parts)
		if err != nil {
			return p, fmt.Errorf("write the parts of artifact %s: %w", a.ID, err)
		}
		sum := sha256.Sum256(parts)
		p.Entries = append(p.Entries, task.Entry{
			Place: "artifact " + a.ID,
			Content: fmt.Sprintf("entry %d of %s, named %q, described as %q, complete %t, of content %s",
				a.Seq, a.At.Format(time.RFC3339Nano), a.Name, a.Description, a.Complete, hex.EncodeToString(sum[:])),
		})
	}
	return p, nil
}

func scanEntry(s scanner) (task.Entry, error) {
	var e task.Entry
	var at micros
	err := s.Scan(&e.Place, &e.Content, &at)
	e.Content += " of " + at.Format(time.RFC3339Nano)
	return e, err
}
