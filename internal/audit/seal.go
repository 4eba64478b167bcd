package audit

import (
	"context"
	"log/slog"
	"time"

	"github.com/agent-taskbay/taskbay/internal/live"
)

// SealTx is a transaction of the record as Sealer needs it.
type SealTx interface {
	// AuditWaiting returns the organisations of which entries are not sealed yet.
	AuditWaiting() ([]string, error)
	// LockAuditHead returns the head of an organisation's chain, which no other
	// transaction changes until this one ends.
	LockAuditHead(organisationID string) (Head, error)
	// AuditToSeal returns entries that are not sealed, the transactions that began first
	// first: limit of them, and the rest of the last one's transaction.
	AuditToSeal(organisationID string, limit int) ([]Entry, error)
	// SealAudit stores the places of entries, and the chain's new head.
	SealAudit(organisationID string, entries []Sealed, head Head) error
}

// How entries are sealed.
const (
	sealBatch = 500                    // in one transaction
	sealGap   = 100 * time.Millisecond // between two rounds: what comes meanwhile is sealed together
	sealEvery = time.Second            // without a signal, which may be lost, or another process's
)

// Sealer puts entries into the chains of their organisations. Those who write them do
// not wait for each other: an entry is stored in the transaction of its deed, and linked
// a moment later. Several sealers may share one record.
type Sealer struct {
	Update func(context.Context, func(SealTx) error) error
	View   func(context.Context, func(SealTx) error) error
	Live   *live.Hub
	Log    *slog.Logger
}

// Run seals what is written until ctx ends. It returns nil.
func (s *Sealer) Run(ctx context.Context) error {
	written, stop := s.Live.Watch(live.AuditTopic)
	defer stop()
	for ctx.Err() == nil {
		if err := s.Seal(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("seal the audit trail", "error", err)
		}
		pause(ctx, sealGap, nil)
		pause(ctx, sealEvery-sealGap, written)
	}
	return nil
}

// pause waits for a time, a signal or the end of ctx.
func pause(ctx context.Context, d time.Duration, signal <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-timer.C:
	}
}

// Seal links every entry that was written before it was called.
func (s *Sealer) Seal(ctx context.Context) error {
	var waiting []string
	err := s.View(ctx, func(tx SealTx) (err error) {
		waiting, err = tx.AuditWaiting()
		return err
	})
	if err != nil {
		return err
	}
	for _, organisationID := range waiting {
		for more := true; more; {
			err := s.Update(ctx, func(tx SealTx) (err error) {
				more, err = sealSome(tx, organisationID)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sealSome links a batch, and reports whether there may be more.
func sealSome(tx SealTx, organisationID string) (more bool, err error) {
	head, err := tx.LockAuditHead(organisationID)
	if err != nil {
		return false, err
	}
	entries, err := tx.AuditToSeal(organisationID, sealBatch)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	sealed, head, err := chain(head, entries)
	if err != nil {
		return false, err
	}
	return len(entries) >= sealBatch, tx.SealAudit(organisationID, sealed, head)
}
