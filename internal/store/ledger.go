package store

import (
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/task"
)

// AppendEvent implements task.Tx.
func (tx *Tx) AppendEvent(e task.Event) (bool, error) {
	n, err := tx.exec(`INSERT INTO event (id, task_id, source, source_key, raw, payload, sha256, asked_us, received_us, answered_by, after_answer, number, seq)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			(SELECT COALESCE(MAX(number), 0) + 1 FROM event WHERE task_id = ?), (SELECT next_seq FROM task WHERE id = ?))
		ON CONFLICT (task_id, source, source_key) DO NOTHING`,
		e.ID, e.TaskID, string(e.Source), e.SourceKey, e.Raw, []byte(e.Payload), e.Digest, us(e.Asked), us(e.Received),
		e.AnsweredBy, e.AfterAnswer, e.TaskID, e.TaskID)
	if err != nil {
		return false, fmt.Errorf("append to the ledger: %w", err)
	}
	return n == 1, nil
}
