package store

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// failedFor is how long a write that failed counts after it: on a full disk a small
// one may still find room where a larger one did not.
const failedFor = 10 * time.Second

// failedWrite is a transaction that the database did not take.
type failedWrite struct {
	at  time.Time
	why string // for people
}

// Writable reports whether the database takes writes: nil, or why it does not. It
// writes, so callers see to it that it is not asked all the time.
//
// It writes a lease of no process that ran out long ago, and so counts for none; the
// clock makes it another one each time, as SQLite writes nothing for a row that stays
// the same.
func (db *DB) Writable(ctx context.Context) error {
	err := db.Update(ctx, func(tx *Tx) error {
		_, err := tx.exec(`INSERT INTO worker_lease (id, expires_us) VALUES ('write probe', -` + tx.dialect.clock + `)
			ON CONFLICT (id) DO UPDATE SET expires_us = excluded.expires_us`)
		return err
	})
	if err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	if last := db.failed.Load(); last != nil && time.Since(last.at) < failedFor {
		return fault.New(fault.Unavailable, "%s That was so at a write within the last %d seconds.", last.why, int(failedFor.Seconds()))
	}
	return nil
}
