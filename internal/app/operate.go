package app

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// operations are what those who run the process look at.
type operations struct {
	health, ready, metrics http.Handler
}

// operations makes them. The parts that they tell of are wired already.
func (a *App) operations() operations {
	return operations{
		health:  api.Health(a.db, a.log),
		metrics: a.metrics.Handler(),
		ready: api.Ready(a.log,
			api.ReadyCheck{Name: "database", Run: a.databaseAnswers},
			api.ReadyCheck{Name: "writes", Run: (&writeProbe{try: a.db.Writable}).check},
			api.ReadyCheck{Name: "migrations", Run: a.schemaFits},
			api.ReadyCheck{Name: "keys", Run: a.keysShared},
			api.ReadyCheck{Name: "workers", Run: a.workersLive},
			api.ReadyCheck{Name: "files", Run: filesLeft}),
	}
}

func (a *App) databaseAnswers(ctx context.Context) error {
	if err := a.db.Ping(ctx); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The database does not answer.")
	}
	return nil
}

// A writeProbe tries whether the database takes writes, every few seconds at most
// however often it is asked.
type writeProbe struct {
	try func(context.Context) error

	mu   sync.Mutex
	last time.Time
	err  error // of the last try
}

const (
	probeEvery = 3 * time.Second
	probeTime  = 3 * time.Second // for one try, which does not end with the request that made it
)

func (p *writeProbe) check(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < probeEvery {
		return p.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	p.err = p.try(ctx)
	if ctx.Err() != nil {
		p.err = fault.New(fault.Unavailable, "The database did not take a write within %d seconds.", int(probeTime.Seconds()))
	}
	p.last = time.Now()
	return p.err
}

func (a *App) schemaFits(ctx context.Context) error {
	if err := a.db.CheckSchema(ctx); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The schema of the database is not the one that this version needs: run taskbay migrate status.")
	}
	return nil
}

func (a *App) workersLive(ctx context.Context) error {
	now, err := a.db.Backlog(ctx)
	if err == nil && now.Workers == 0 {
		return fault.New(fault.Unavailable, "No process does the work: start a taskbay worker, or serve without --no-workers.")
	}
	return err
}

// keysShared says when other processes encrypt credentials with a key that this one does
// not have. Where a process is alone, as after a restore without the keys, each agent's
// page says so instead.
func (a *App) keysShared(ctx context.Context) error {
	if a.alone() {
		return nil
	}
	needed, err := a.db.CredentialKeys(ctx)
	if err != nil {
		return err
	}
	for _, id := range needed {
		if !slices.Contains(a.keys, id) {
			return fault.New(fault.Unavailable, "Credentials in use are encrypted with the vault key %q, which this process does not have. Give all processes the same keys.", id)
		}
	}
	return nil
}

// filesLeft says when the process is about to run out of files and connections.
func filesLeft(context.Context) error {
	used, limit, known := openFiles()
	if known && used > limit-limit/10 {
		return fault.New(fault.Unavailable, "%d of at most %d files and connections are open: raise the limit (ulimit -n, LimitNOFILE).", used, limit)
	}
	return nil
}

// OperationsURL is where the process tells how it is doing, if it does that at an
// address of its own.
func (a *App) OperationsURL() string { return "http://" + a.operatesOn.Addr().String() }

// guarded answers programs on the address of the pages, as the API is. Where people
// sign in, whoever probes may do it by any name, and metrics are for administrators.
func (o operations) guarded(door *httpguard.Door) operations {
	guard := func(h http.Handler) http.Handler { return door.Guard(door.SameOrigin(h, api.Refuse), api.Refuse) }
	if door.Origin != "" {
		if o.metrics != nil {
			o.metrics = guard(door.Admit(access.NeedAdminister, o.metrics, api.Refuse))
		}
		o.health, o.ready = httpguard.Secure(o.health), httpguard.Secure(o.ready)
		return o
	}
	for _, h := range []*http.Handler{&o.health, &o.ready, &o.metrics} {
		if *h != nil {
			*h = guard(*h)
		}
	}
	return o
}

// operationsServer serves them on an address of their own, where metrics may be
// asked for from elsewhere.
func (a *App) operationsServer(o operations) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/healthz", o.health)
	mux.Handle("/readyz", o.ready)
	mux.Handle("/metrics", o.metrics)
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}
