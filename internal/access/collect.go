package access

import (
	"context"
	"log/slog"
	"time"
)

// CollectTx is a transaction of the record as the collector needs it.
type CollectTx interface {
	Now() time.Time
	// TakeTurn reports whether it is this process's turn to do what name says, which
	// makes the next turn no earlier than next.
	TakeTurn(name string, next time.Time) (bool, error)
	// CollectAccess deletes sessions that have ended, sign-ins that are too old to come
	// back, and what was taken of allowances in minutes that are over.
	CollectAccess() error
}

const (
	collectEvery = time.Hour
	collectTurn  = "collect access"
)

// Collector deletes what access has no more use for.
type Collector struct {
	Update func(context.Context, func(CollectTx) error) error
	Log    *slog.Logger
}

// Run collects once an hour, in one of the processes that share a record, until ctx
// ends. It returns nil.
func (c *Collector) Run(ctx context.Context) error {
	ticks := time.NewTicker(collectEvery)
	defer ticks.Stop()
	for {
		if err := c.Collect(ctx); err != nil && ctx.Err() == nil {
			c.Log.Error("sessions that have ended could not be deleted", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// Collect collects if it is this process's turn.
func (c *Collector) Collect(ctx context.Context) error {
	return c.Update(ctx, func(tx CollectTx) error {
		mine, err := tx.TakeTurn(collectTurn, tx.Now().Add(collectEvery))
		if err != nil || !mine {
			return err
		}
		return tx.CollectAccess()
	})
}
