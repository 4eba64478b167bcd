// Package app is a whole Taskbay server made from one Config: New, Run, Close.
// The command line and every end-to-end test start the product here.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/push"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/retention"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/telemetry"
	"github.com/agent-taskbay/taskbay/internal/vault"
	"github.com/agent-taskbay/taskbay/internal/web"
	"github.com/agent-taskbay/taskbay/internal/wire"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

// Options are what a server runs with besides its Config.
type Options struct {
	Log          *slog.Logger // nil discards
	Version      string
	WorkerOnly   bool                        // no pages and no API, only work
	SampleAgents string                      // HOST:PORT to run the sample agents on and register them; "" for none
	Pause        func(context.Context) error // between the chunks of a sample agent's stream; nil for its own
	Limits       remote.Limits               // of what an agent may cost; zero members are the defaults
	SweepEvery   time.Duration               // between lists of an agent's tasks; 0 is a minute
}

// App is a server: its store, its workers and its pages.
type App struct {
	log      *slog.Logger
	lock     *dataLock
	db       *store.DB
	bucket   *artifact.Bucket
	remote   *remote.Client
	tokens   *netpolicy.Transport // to OAuth token endpoints
	listener net.Listener
	server   *http.Server
	samples  *samples // nil unless asked for

	agents      *agent.Catalogue
	credentials *credential.Service
	keys        []string // IDs of the vault's
	recorder    *wire.Recorder
	dispatcher  *command.Dispatcher
	observer    *observe.Observer
	sweeper     *observe.Sweeper
	artifacts   *artifact.Keeper
	registrar   *push.Registrar
	pushes      *push.Receiver // nil without a push origin
	lease       *worker.Lease
	retention   *retention.Service
	sealer      *audit.Sealer
	sessions    *access.Sessions
	apiTokens   *access.Tokens
	collector   *access.Collector
	signIn      *signin.Service // nil where nobody signs in

	traces     *telemetry.Traces
	metrics    *telemetry.Metrics
	operating  *http.Server // on an address of its own; nil unless asked for
	operatesOn net.Listener
	works      bool // this process does work, besides or instead of serving
}

// New takes the data directory, brings the database up to date and listens. It
// serves nothing before Run. Its errors are for the person who started it.
func New(ctx context.Context, c config.Config, o Options) (*App, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{log: o.Log, works: c.Works() || o.WorkerOnly}
	if err := a.open(ctx, c, o); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *App) open(ctx context.Context, c config.Config, o Options) (err error) {
	hub := &live.Hub{}
	if err := a.openStore(ctx, c, hub); err != nil {
		return err
	}
	if err := a.openArtifacts(ctx, c, o); err != nil {
		return err
	}
	if !o.WorkerOnly {
		if a.listener, err = Listen(ctx, "--listen", c.Listen); err != nil {
			return err
		}
	}
	if c.MetricsListen != "" {
		if a.operatesOn, err = Listen(ctx, "--metrics-listen", c.MetricsListen); err != nil {
			return err
		}
	}
	collector, err := c.Traces()
	if err != nil {
		return err
	}
	if a.traces, err = telemetry.NewTraces(ctx, collector, o.Version); err != nil {
		return err
	}
	if o.SampleAgents != "" {
		if a.samples, err = newSamples(ctx, o); err != nil {
			return err
		}
	}
	network, err := c.Network.Policy(!c.SignIn.On())
	if err != nil {
		return err
	}
	ring, err := c.Vault.Ring(c.DataDir)
	if err != nil {
		return err
	}
	a.keys = ring.IDs()
	if err := a.keysShared(ctx); err != nil {
		a.log.Error("agents with a credential cannot be called", "error", err)
	}
	a.tokens = network.Transport()
	a.credentials = NewCredentials(a.db, ring, o.Log)
	a.credentials.Tokens, a.credentials.Local = a.tokens, !c.SignIn.On()
	a.recorder = &wire.Recorder{Update: store.For[wire.Tx](a.db.Update), Log: o.Log}
	a.remote = remote.New(remote.Options{
		Limits: o.Limits, Network: network, Credentials: a.credentials, Record: a.recorder.Record, Log: o.Log, Tracer: a.traces, UserAgent: "Agent-Taskbay/" + o.Version,
	})
	if err := a.openSignIn(c, ring, o); err != nil {
		return err
	}
	a.wirePushes(ring, c, o)
	a.wire(hub, c, o)
	return nil
}

// openStore opens PostgreSQL if the Config names one, and else takes the data
// directory for this process alone and opens SQLite in it.
func (a *App) openStore(ctx context.Context, c config.Config, hub *live.Hub) (err error) {
	if c.DatabaseURL != "" {
		if err := makeDataDir(c.DataDir, a.log); err != nil { // for the keys
			return err
		}
		if a.db, err = store.OpenPostgres(ctx, c.DatabaseURL, hub, c.AutoMigrate); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		return nil
	}
	if a.lock, err = lockData(c.DataDir, a.log); err != nil {
		return err
	}
	if err := checkFinished(c.DataDir); err != nil {
		return err
	}
	if a.db, err = store.OpenSQLite(ctx, c.DataDir, hub); err != nil {
		return fmt.Errorf("%s: %w", c.DataDir, err)
	}
	return nil
}

// openArtifacts opens the place for artifacts. Processes that share a database have
// to share it.
func (a *App) openArtifacts(ctx context.Context, c config.Config, o Options) (err error) {
	if c.DatabaseURL != "" && c.Artifacts.URL == "" && (o.WorkerOnly || !c.Works()) {
		o.Log.Warn("artifacts are kept in this process's data directory, and other processes share the database: unless they share the directory too, "+
			"files of tasks are missing there; --artifact-url names a place for all of them", "directory", filepath.Join(c.DataDir, artifact.Dir))
	}
	if a.bucket, err = c.Artifacts.Open(ctx, c.DataDir); err != nil {
		return err
	}
	a.artifacts = NewArtifacts(a.db, a.bucket, c.Artifacts.Limit(), o.Log)
	a.artifacts.Check(ctx)
	return nil
}

// NewArtifacts returns the artifacts of a database.
func NewArtifacts(db *store.DB, bucket *artifact.Bucket, limit int64, log *slog.Logger) *artifact.Keeper {
	return &artifact.Keeper{
		Update: store.For[artifact.Tx](db.Update), View: store.For[artifact.Tx](db.View),
		Bucket: bucket, Limit: limit, NewID: newID, Log: log,
	}
}

// NewCredentials returns the credentials of a database, without a way to ask for
// OAuth tokens.
func NewCredentials(db *store.DB, ring *vault.Ring, log *slog.Logger) *credential.Service {
	return &credential.Service{
		Update: store.For[credential.Tx](db.Update), View: store.For[credential.Tx](db.View),
		Vault: ring, Local: true, NewID: newID, Log: log,
	}
}

// newID makes a UUIDv7: later ones sort behind earlier ones.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// wirePushes makes what asks agents to push. Without a push origin it has them forget
// what they were asked to before.
func (a *App) wirePushes(ring *vault.Ring, c config.Config, o Options) {
	update := store.For[push.Tx](a.db.Update)
	a.registrar = &push.Registrar{Update: update, Remote: a.remote, Keys: ring, Origin: c.PushOrigin, NewID: newID, Poll: a.poll(), Log: o.Log}
	if c.PushOrigin != "" {
		a.pushes = push.NewReceiver(update, ring, newID, o.Log)
	}
}

// wire connects the parts. Each noun gets the transactions that it declares.
func (a *App) wire(hub *live.Hub, c config.Config, o Options) {
	db := a.db
	a.agents = &agent.Catalogue{
		Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View),
		Remote: a.remote, NewID: newID, Log: o.Log, RequireSignatures: c.RequireSignatures, Credentials: a.credentials,
	}
	owner := newID()
	a.registrar.Agents = a.agents
	a.observer = &observe.Observer{
		Pushes: a.registrar,
		Update: store.For[observe.Tx](db.Update),
		Agents: a.agents, Remote: a.remote, Bytes: a.artifacts, NewID: newID, Owner: owner, Poll: a.poll(), Live: hub, Log: o.Log,
	}
	a.sweeper = &observe.Sweeper{Update: store.For[observe.SweepTx](db.Update), Agents: a.agents, Remote: a.remote, Every: o.SweepEvery, Log: o.Log}
	a.retention = newRetention(db, o.Log)
	a.sealer = newSealer(db, hub, o.Log)
	checks := &observe.Requests{Update: store.For[observe.Tx](db.Update)}
	a.dispatcher = &command.Dispatcher{
		Update: store.For[command.Tx](db.Update),
		Agents: a.agents, Remote: a.remote, Observer: a.observer, Bytes: a.artifacts, NewID: newID, Live: hub, Owner: owner, Poll: a.poll(), Log: o.Log,
	}
	limits := task.Limits{Bytes: c.TaskRecordMB << 20, Events: c.TaskRecordEvents}
	a.observer.Limits, a.dispatcher.Limits = limits, limits
	a.metrics = telemetry.NewMetrics(o.Version, telemetry.Sources{Backlog: db.Backlog, Streams: a.observer.Streams, Watchers: hub.Watchers}, o.Log)
	a.observer.Meter, a.dispatcher.Meter, a.dispatcher.Tracer = a.metrics, a.metrics, a.traces
	var pushes http.Handler
	if a.pushes != nil {
		a.pushes.Meter, a.pushes.Limits, a.pushes.Bytes, pushes = a.metrics, limits, a.artifacts, a.pushes
	}
	a.lease = &worker.Lease{
		Update: store.For[worker.Tx](db.Update), Owner: owner, Alone: a.alone(),
		TakeOver: []func(context.Context) error{a.dispatcher.TakeOver, a.observer.TakeOver}, Log: o.Log,
	}
	commands := &command.Service{
		Update: store.For[command.Tx](db.Update), View: store.For[command.Tx](db.View),
		Agents: a.agents, Bytes: a.artifacts, NewID: newID, Live: hub,
	}
	exchanges := &wire.Reader{View: store.For[wire.Tx](db.View)}
	tasks := &task.Reader{View: store.For[task.ReadTx](db.View), Agents: a.agents, Secrets: a.withoutSecrets}
	records := newTrail(db, tasks, a.sealer)
	blobs := &task.Blobs{View: store.For[task.BlobTx](db.View), Bytes: a.artifacts}
	var frontEnds api.AGUI
	if c.ServesAGUI() {
		frontEnds = newAGUI(db, a.agents, tasks, commands, hub, c.SignIn.Origin, o.Log)
	}
	door, rights := a.door(hub, c, o), newRights(db, c.SignIn.Issuer)

	pages := web.New(web.Config{
		Agents: a.agents, AgentSettings: a.agents, Credentials: a.credentials, Commands: commands, Checks: checks, Tasks: tasks, Live: hub,
		Wire: exchanges, Blobs: blobs, Retention: a.retention, Trail: records,
		Tokens: a.apiTokens, Members: rights.Members, Teams: rights.Teams, Grants: rights.Grants,
		Door: door, Version: o.Version, Log: o.Log, Demo: o.SampleAgents != "",
		SignIn: a.signingIn(), Sessions: a.sessions,
	})
	programs := api.New(api.Config{
		Agents: a.agents, AgentSettings: a.agents, Credentials: a.credentials, Commands: commands, Checks: checks, Tasks: tasks, Wire: exchanges, Live: hub, Blobs: blobs, Retention: a.retention, Trail: records, AGUI: frontEnds,
		Door: door, Sessions: a.sessions, Tokens: a.apiTokens, Log: o.Log,
		Members: rights.Members, Teams: rights.Teams, Grants: rights.Grants,
	})
	operations := a.operations()
	if a.operatesOn != nil {
		a.operating = a.operationsServer(operations)
		operations.metrics = nil
	}
	a.server = &http.Server{
		Handler:           a.metrics.Requests(agui.AllowOrigins(c.AGUIOrigins, routes(pages, programs, operations.guarded(door), pushes)), a.traces, newID),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
}

// withoutSecrets returns what takes the secrets of an agent out of a text.
func (a *App) withoutSecrets(ctx context.Context, agentID string) func(string) string {
	redactor, err := a.credentials.Secrets(ctx, agentID)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("the credential of an agent cannot be read, so it may not be recognised in what the agent repeats", "agent", agentID, "error", err)
	}
	return redactor.Text
}

// alone reports whether no other process can share the database.
func (a *App) alone() bool { return a.lock != nil }

// poll is how often the workers look for work that nobody told them of.
func (a *App) poll() time.Duration {
	if a.alone() {
		return time.Minute
	}
	return time.Second
}

// URL is where the server listens, such as "http://127.0.0.1:3002".
func (a *App) URL() string { return "http://" + a.listener.Addr().String() }

// shutdownTime is how long requests may take to end when the server stops.
const shutdownTime = 5 * time.Second

// Run serves until ctx ends, then stops: no new work is begun, requests and
// commands that are being sent may finish for a while, streams end. It returns
// nil after a clean stop.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.server.BaseContext = func(net.Listener) context.Context { return ctx }
	parts := []func(context.Context) error{a.recorder.Run}
	if a.listener != nil {
		parts = append(parts, a.serve)
	}
	if a.signIn != nil {
		parts = append(parts, a.signIn.Run)
	}
	if a.operating != nil {
		parts = append(parts, func(ctx context.Context) error { return serveUntil(ctx, a.operating, a.operatesOn) })
	}
	if a.works {
		endLease, err := a.lease.Hold(ctx)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("take the lease of this process: %w", err)
		}
		if err != nil {
			return nil // asked to stop before it began
		}
		defer endLease() // when nothing is under way any more
		parts = append(parts, a.dispatcher.Run, a.observer.Run, a.sweeper.Run, a.registrar.Run, a.agents.Run, a.artifacts.Run, a.retention.Run, a.sealer.Run, a.collector.Run)
	}
	if a.samples != nil {
		parts = append(parts, a.samples.run, a.registerSamples)
	}
	failures := make(chan error, len(parts))
	var all sync.WaitGroup
	for _, run := range parts {
		all.Go(func() {
			if err := run(ctx); err != nil {
				failures <- err
				stop()
			}
		})
	}
	all.Wait()
	close(failures)
	return <-failures // the first; nil if there is none
}

func (a *App) serve(ctx context.Context) error {
	return serveUntil(ctx, a.server, a.listener)
}

// serveUntil serves until ctx ends, and lets requests finish for a while.
func serveUntil(ctx context.Context, server *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		return server.Close()
	}
	return nil
}

// Close lets go of everything that New took. Run must have returned.
func (a *App) Close() error {
	var errs []error
	if a.listener != nil {
		errs = append(errs, ignoreClosed(a.listener.Close()))
	}
	if a.samples != nil {
		errs = append(errs, ignoreClosed(a.samples.listener.Close()))
	}
	if a.remote != nil {
		a.remote.Close()
		a.tokens.CloseIdleConnections()
	}
	if a.operatesOn != nil {
		errs = append(errs, ignoreClosed(a.operatesOn.Close()))
	}
	if a.recorder != nil {
		a.recorder.Flush(context.Background())
	}
	if a.bucket != nil {
		errs = append(errs, a.bucket.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if a.traces != nil {
		if err := a.traces.Close(); err != nil {
			a.log.Warn("the last traces are lost", "error", err)
		}
	}
	if a.lock != nil {
		errs = append(errs, a.lock.release())
	}
	return errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
