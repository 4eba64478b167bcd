// Package worker lets the processes that share a database share its work. Each
// holds a lease, which it renews while it lives; what it claims carries its name,
// and is taken over by the others once the lease has run out.
package worker

import (
	"context"
	"log/slog"
	"time"
)

// What a lease keeps to. A process that dies is found after TTL plus sweepEvery
// at the latest.
const (
	TTL        = 10 * time.Second
	beatEvery  = 3 * time.Second
	sweepEvery = 2 * time.Second
	endTime    = 2 * time.Second // for ending it
	forever    = 100 * 365 * 24 * time.Hour
)

// Tx is a transaction of the record as the package needs it.
type Tx interface {
	// Beat makes or renews the lease of owner: it runs out after ttl, by the
	// database's own clock.
	Beat(owner string, ttl time.Duration) error
	// EndLease ends the lease of owner at once; of everyone, if owner is "".
	EndLease(owner string) error
}

// Lease is the lease of one process.
type Lease struct {
	Update func(context.Context, func(Tx) error) error
	Owner  string // names this process
	// Alone says that no other process can share the database, so that leases of
	// earlier ones are void and this one needs no renewal.
	Alone bool
	// TakeOver takes over what processes whose lease has run out had claimed.
	TakeOver []func(context.Context) error
	Log      *slog.Logger
}

// Hold takes the lease, takes over what is there to be taken over, and renews the
// lease until end is called, whatever becomes of ctx. Nothing may be claimed
// before, or be under way still when end is called.
//
// The database may be away for a while: then others take over what this process
// had, and what it goes on to write of that is refused.
func (l *Lease) Hold(ctx context.Context) (end func(), err error) {
	if err := l.take(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		l.keep(ctx)
	}()
	return func() {
		stop()
		<-kept
		l.end(ctx)
	}, nil
}

func (l *Lease) take(ctx context.Context) error {
	ttl := TTL
	err := l.Update(ctx, func(tx Tx) error {
		if l.Alone {
			ttl = forever
			if err := tx.EndLease(""); err != nil {
				return err
			}
		}
		return tx.Beat(l.Owner, ttl)
	})
	if err != nil {
		return err
	}
	return l.takeOver(ctx)
}

func (l *Lease) takeOver(ctx context.Context) error {
	for _, f := range l.TakeOver {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lease) keep(ctx context.Context) {
	if l.Alone {
		<-ctx.Done()
		return
	}
	beat, sweep := time.NewTicker(beatEvery), time.NewTicker(sweepEvery)
	defer beat.Stop()
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			err = l.Update(ctx, func(tx Tx) error { return tx.Beat(l.Owner, TTL) })
		case <-sweep.C:
			err = l.takeOver(ctx)
		}
		if err != nil && ctx.Err() == nil {
			l.Log.Error("keep the lease of this process", "error", err)
		}
	}
}

// end lets the others take over at once what is left.
func (l *Lease) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := l.Update(ctx, func(tx Tx) error { return tx.EndLease(l.Owner) }); err != nil {
		l.Log.Warn("end the lease of this process; it runs out by itself", "error", err)
	}
}
