package store

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/worker"
)

// Backlog counts what waits in the database. Its cost grows with what is open, not
// with what has been.
func (db *DB) Backlog(ctx context.Context) (worker.Backlog, error) {
	var b worker.Backlog
	err := db.View(ctx, func(tx *Tx) error {
		var command, check micros
		now := us(tx.now)
		for _, q := range []struct {
			query string
			args  []any
			dest  []any
		}{
			{"SELECT COUNT(*) FROM command WHERE status = 'pending'", nil, []any{&b.Pending}},
			{"SELECT COUNT(*) FROM command WHERE status = 'dispatching'", nil, []any{&b.Dispatching}},
			{"SELECT COUNT(*) FROM command WHERE status = 'uncertain'", nil, []any{&b.Uncertain}},
			{"SELECT COUNT(*), MIN(run_us) FROM command WHERE status = 'pending' AND run_us <= ?", []any{now}, []any{&b.Commands.Due, &command}},
			{"SELECT COUNT(*), MIN(check_us) FROM task WHERE check_us IS NOT NULL AND check_us <= ?", []any{now}, []any{&b.Checks.Due, &check}},
			{"SELECT COUNT(*) FROM task WHERE check_us IS NOT NULL", nil, []any{&b.TasksOpen}},
			{countAllNeedYou, nil, []any{&b.TasksNeedYou}},
			{"SELECT COUNT(*) FROM worker_lease WHERE expires_us > " + tx.dialect.clock, nil, []any{&b.Workers}},
		} {
			if err := tx.row(q.query, q.args...).Scan(q.dest...); err != nil {
				return fmt.Errorf("count what waits: %w", err)
			}
		}
		b.Commands.Oldest, b.Checks.Oldest = since(tx.now, command.Time), since(tx.now, check.Time)
		return nil
	})
	return b, err
}

func since(now, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return now.Sub(at)
}

// CheckSchema returns an error with a way out if the database does not have, or no
// longer has, exactly the schema that this program needs.
func (db *DB) CheckSchema(ctx context.Context) error {
	s := Schema{knows: db.knows}
	if err := db.reader.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version WHERE is_applied").Scan(&s.has); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	return s.Check()
}
