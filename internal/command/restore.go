package command

import (
	"context"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// restored is the reason of a command that a restored record was about to send.
const restored = "This was accepted before the backup was made from which Taskbay was restored. Whether it was sent after that is not known: " +
	"the agent may have it. It is not sent by itself."

// RestoreTx is a transaction of the record as AfterRestore needs it.
type RestoreTx interface {
	// Workers counts the processes that hold a lease.
	Workers() (int, error)
	// EndLease ends the lease of a process; those of all if owner is "".
	EndLease(owner string) error
	// DoubtCommands makes every pending and dispatching command uncertain, for a
	// reason, and returns them.
	DoubtCommands(problem string) ([]Record, error)
}

// AfterRestore makes uncertain whatever a record that was restored from a copy would
// send: it may have been sent after the copy was made. It returns how many commands
// that were. Doing it twice is once. If nobody else can use the record, alone is set, and
// leases that came with the copy end.
//
// fault.Conflict if a process works on the record: it may have begun to send.
func AfterRestore(ctx context.Context, update func(context.Context, func(RestoreTx) error) error, alone bool) (int, error) {
	var doubted []Record
	err := update(ctx, func(tx RestoreTx) error {
		if alone {
			if err := tx.EndLease(""); err != nil {
				return err
			}
		}
		workers, err := tx.Workers()
		if err == nil && workers > 0 {
			err = fault.New(fault.Conflict, "%d servers or workers are at work on this database. Stop all of them, wait for 10 seconds, and start none before this is done.", workers)
		}
		if err == nil {
			doubted, err = tx.DoubtCommands(restored)
		}
		return err
	})
	return len(doubted), err
}
