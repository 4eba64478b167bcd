package command_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// TestAClaimWhoseCommitWasCutOff claims commands and hears that the database went
// away at the commit, which took place all the same.
func TestAClaimWhoseCommitWasCutOff(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool
	b := setUp(t, func(d *command.Dispatcher) {
		update := d.Update
		d.Update = func(ctx context.Context, f func(command.Tx) error) error {
			claims := &claims{}
			err := update(ctx, func(tx command.Tx) error {
				claims.Tx, claims.n = tx, 0
				return f(claims)
			})
			if err == nil && claims.n > 0 && cut.CompareAndSwap(false, true) {
				err = fault.Wrap(errors.New("cut off"), fault.Unavailable, "It may or may not have kept what was asked for.")
			}
			return err
		}
	})
	b.remote.says(question)
	c := b.send(command.Body{Text: "hello"})
	if !cut.Load() || c.Status != command.Succeeded || len(b.remote.calls()) != 1 || c.Attempts != 1 {
		t.Errorf("%s (%s) after %d calls in %d attempts, want one that succeeded", c.Status, c.Error, len(b.remote.calls()), c.Attempts)
	}
}

// claims counts what a transaction claims.
type claims struct {
	command.Tx
	n int
}

func (c *claims) ClaimCommands(owner string, lane command.Lane, limit int) ([]command.Record, error) {
	records, err := c.Tx.ClaimCommands(owner, lane, limit)
	c.n += len(records)
	return records, err
}
