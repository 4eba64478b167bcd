package store

import (
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/task"
)

// AppendEvent implements task.Tx.
func (tx *Tx) AppendEvent(e task.Event) (bool, error) {
	n, err := tx.exec(`INSERT INTO event (id, task_id, source, source_key, raw, payload, sha256, asked_us, received_us, answered_by, after_answer, artifact_limit, cut_size, number, seq)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0),
			(SELECT COALESCE(MAX(number), 0) + 1 FROM event WHERE task_id = ?), (SELECT next_seq FROM task WHERE id = ?))
		ON CONFLICT (task_id, source, source_key) DO NOTHING`,
		e.ID, e.TaskID, string(e.Source), e.SourceKey, e.Raw, []byte(e.Payload), e.Digest, us(e.Asked), us(e.Received),
		e.AnsweredBy, e.AfterAnswer, e.Limit, e.Cut, e.TaskID, e.TaskID)
	if err != nil {
		return false, fmt.Errorf("append to the ledger: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	if err := tx.execOne("UPDATE task SET ledger_events = ledger_events + 1, ledger_bytes = ledger_bytes + ? WHERE id = ?", len(e.Raw)+len(e.Payload), e.TaskID); err != nil {
		return false, fmt.Errorf("count what is in the ledger: %w", err)
	}
	if e.Cut == 0 {
		return true, nil
	}
	return true, tx.LeaveOut(e.TaskID, max(e.Cut-int64(len(e.Payload)), 0))
}

// LeaveOut implements task.Tx. The first time changes what is shown of the task.
func (tx *Tx) LeaveOut(taskID string, size int64) error {
	err := tx.execOne(`UPDATE task SET version = CASE WHEN cut_events = 0 THEN version + 1 ELSE version END,
		cut_events = cut_events + 1, cut_bytes = cut_bytes + ? WHERE id = ?`, size, taskID)
	if err != nil {
		return fmt.Errorf("count what is not in the ledger: %w", err)
	}
	return nil
}
