package httpguard

import (
	"context"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/live"
)

const (
	recheckEvery = 500 * time.Millisecond
	recheckTime  = 10 * time.Second // for one look
)

// visit is one request of somebody whom the record has to stand for.
type visit struct {
	who     access.Identity
	secret  string     // that they came by
	by      Identities // nil for those who came by none
	byToken bool
	end     context.CancelFunc
}

// organisation is what is open of one organisation: a watcher goes with it.
type organisation struct {
	visits map[*visit]struct{}
	stop   func()
}

// enter returns a context that ends when the visitor may no longer, at the latest when
// their secret stops to work. The caller calls leave at the end.
func (d *Door) enter(ctx context.Context, v visit) (_ context.Context, leave func()) {
	if v.by == nil {
		return ctx, func() {}
	}
	if v.who.ExpiresAt.IsZero() {
		ctx, v.end = context.WithCancel(ctx)
	} else {
		ctx, v.end = context.WithDeadline(ctx, v.who.ExpiresAt)
	}
	id := v.who.Principal.OrganisationID
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[string]*organisation{}
	}
	o := d.open[id]
	if o == nil {
		o = &organisation{visits: map[*visit]struct{}{}}
		o.stop = d.watch(id)
		d.open[id] = o
	}
	o.visits[&v] = struct{}{}
	return ctx, func() { d.leave(id, &v) }
}

func (d *Door) leave(id string, v *visit) {
	v.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.open[id]
	delete(o.visits, v)
	if len(o.visits) == 0 {
		o.stop()
		delete(d.open, id)
	}
}

// watch looks again at those who have something open of an organisation, whenever its
// access changes, until stop is called.
func (d *Door) watch(id string) (stop func()) {
	signals, forget := d.Live.Watch(live.AccessTopic(id))
	ctx, cancel := context.WithCancel(context.Background())
	every := d.Recheck
	if every == 0 {
		every = recheckEvery
	}
	go func() {
		defer forget()
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			case <-ticks.C:
			}
			d.look(ctx, id)
		}
	}()
	return cancel
}

// look ends the visits of those who are no longer who they were. While the record is
// away nobody is: they cannot read it either.
func (d *Door) look(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, recheckTime)
	defer cancel()
	open := map[Identities]map[string][]*visit{}
	d.mu.Lock()
	if o := d.open[id]; o != nil {
		for v := range o.visits {
			if open[v.by] == nil {
				open[v.by] = map[string][]*visit{}
			}
			open[v.by][v.secret] = append(open[v.by][v.secret], v)
		}
	}
	d.mu.Unlock()
	for by, visits := range open {
		secrets := make([]string, 0, len(visits))
		for secret := range visits {
			secrets = append(secrets, secret)
		}
		now, err := by.Standing(ctx, secrets)
		if err != nil {
			continue
		}
		for secret, all := range visits {
			for _, v := range all {
				if now[secret].Principal != v.who.Principal {
					v.end()
				}
			}
		}
	}
}
