package command

import (
	"context"
	"maps"
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/audit"
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
	// AuditOrganisations returns every organisation that has, or may have, a trail.
	AuditOrganisations() ([]string, error)
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
}

// AfterRestore makes uncertain whatever a record that was restored from a copy would
// send: it may have been sent after the copy was made. It returns how many commands
// that were. Doing it twice is once. If nobody else can use the record, alone is set, and
// leases that came with the copy end.
// The trail of every organisation says so: by is who did it, and from what.
//
// fault.Conflict if a process works on the record: it may have begun to send.
func AfterRestore(ctx context.Context, update func(context.Context, func(RestoreTx) error) error, by audit.Entry, alone bool) (int, error) {
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
		if err != nil {
			return err
		}
		return auditRestore(tx, by, len(doubted))
	})
	return len(doubted), err
}

func auditRestore(tx RestoreTx, by audit.Entry, doubted int) error {
	organisations, err := tx.AuditOrganisations()
	if err != nil {
		return err
	}
	by.Action, by.Detail = audit.BackupRestored, maps.Clone(by.Detail)
	if by.Detail == nil {
		by.Detail = map[string]string{}
	}
	by.Detail["uncertain"] = strconv.Itoa(doubted)
	for _, by.OrganisationID = range organisations {
		if err := tx.Audit(by); err != nil {
			return err
		}
	}
	return nil
}
