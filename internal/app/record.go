package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/retention"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// Record is what a server keeps, opened by a command beside whatever servers are
// running. It calls no agents.
type Record struct {
	Agents      *agent.Catalogue    // without a way to fetch cards
	Credentials *credential.Service // nil before UseKeys
	Replay      *task.Replay
	Retention   *retention.Service
	Tokens      *access.Tokens
	Trail       *trail.Reader
	Verifier    *audit.Verifier
	Rights

	db *store.DB
}

// OpenRecord opens the record of a server that has run before. Its errors are for
// the person who gave the command.
func OpenRecord(ctx context.Context, d config.Data) (*Record, error) {
	db, err := openData(ctx, d)
	if err != nil {
		return nil, err
	}
	sealer := newSealer(db, &live.Hub{}, slog.New(slog.DiscardHandler))
	return &Record{
		Agents:    &agent.Catalogue{Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), NewID: newID},
		Replay:    &task.Replay{Update: store.For[task.ReplayTx](db.Update)},
		Retention: newRetention(db, slog.New(slog.DiscardHandler)),
		Tokens:    newTokens(db, slog.New(slog.DiscardHandler)),
		Trail:     newTrail(db, &task.Reader{View: store.For[task.ReadTx](db.View)}, sealer),
		Verifier:  &audit.Verifier{View: store.For[audit.VerifyTx](db.View), Sealer: sealer},
		Rights:    newRights(db, ""),
		db:        db,
	}, nil
}

func openData(ctx context.Context, d config.Data) (*store.DB, error) {
	if d.DatabaseURL != "" {
		db, err := store.OpenPostgres(ctx, d.DatabaseURL, &live.Hub{}, false)
		if err != nil {
			return nil, fmt.Errorf("PostgreSQL: %w", err)
		}
		return db, nil
	}
	if err := hasRecord(d.DataDir); err != nil {
		return nil, err
	}
	return store.OpenSQLiteAsIs(ctx, d.DataDir, &live.Hub{})
}

// UseKeys reads the keys that credentials are encrypted with, as a server does: where
// there are none yet, they are made. Commands that need no credentials leave it out, and
// so make nothing.
func (r *Record) UseKeys(d config.Data) error {
	ring, err := d.Vault.Ring(d.DataDir)
	if err != nil {
		return err
	}
	r.Credentials = NewCredentials(r.db, ring, slog.New(slog.DiscardHandler))
	return nil
}

// Close lets go of it.
func (r *Record) Close() error { return r.db.Close() }

func newRetention(db *store.DB, log *slog.Logger) *retention.Service {
	return &retention.Service{Update: store.For[retention.Tx](db.Update), View: store.For[retention.Tx](db.View), Log: log}
}

func newSealer(db *store.DB, hub *live.Hub, log *slog.Logger) *audit.Sealer {
	return &audit.Sealer{Update: store.For[audit.SealTx](db.Update), View: store.For[audit.SealTx](db.View), Live: hub, Log: log}
}

func newTrail(db *store.DB, tasks trail.Tasks, sealer *audit.Sealer) *trail.Reader {
	return &trail.Reader{Update: store.For[trail.ReadTx](db.Update), View: store.For[trail.ReadTx](db.View), Tasks: tasks, Sealer: sealer}
}
