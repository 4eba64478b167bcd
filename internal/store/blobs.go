package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// PutBlob implements task.Tx.
func (tx *Tx) PutBlob(taskID string, b task.Blob) error {
	_, err := tx.exec("INSERT INTO blob (sha256, size, content, created_us) VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO NOTHING",
		b.Info.SHA256, b.Info.Size, b.Content, us(tx.now))
	if err == nil {
		_, err = tx.exec("INSERT INTO task_blob (task_id, sha256, filename, media_type) VALUES (?, ?, ?, ?) ON CONFLICT (task_id, sha256) DO NOTHING",
			taskID, b.Info.SHA256, b.Info.Filename, b.Info.MediaType)
	}
	if err != nil {
		return fmt.Errorf("store bytes: %w", err)
	}
	return nil
}

// Blob implements task.BlobTx.
func (tx *Tx) Blob(organisationID, sha256 string) (task.Blob, error) {
	var b task.Blob
	err := tx.row(`SELECT b.sha256, b.size, tb.filename, tb.media_type, b.content
		FROM blob b JOIN task_blob tb ON tb.sha256 = b.sha256 JOIN task t ON t.id = tb.task_id
		WHERE b.sha256 = ? AND t.organisation_id = ? LIMIT 1`, sha256, organisationID).
		Scan(&b.Info.SHA256, &b.Info.Size, &b.Info.Filename, &b.Info.MediaType, &b.Content)
	if errors.Is(err, sql.ErrNoRows) {
		return b, fault.New(fault.NotFound, "There is no such file.")
	}
	if err != nil {
		return b, fmt.Errorf("read bytes: %w", err)
	}
	return b, nil
}
