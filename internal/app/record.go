package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/agent-taskbay/taskbay/internal/agent"
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
	Agents      *agent.Catalogue // without a way to fetch cards
	Credentials *credential.Service
	Replay      *task.Replay
	Retention   *retention.Service

	db *store.DB
}

// OpenRecord opens the record of a server that has run before. Its errors are for
// the person who gave the command.
func OpenRecord(ctx context.Context, d config.Data) (*Record, error) {
	db, err := openData(ctx, d)
	if err != nil {
		return nil, err
	}
	ring, err := d.Vault.Ring(d.DataDir)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Record{
		Agents:      &agent.Catalogue{Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), NewID: newID},
		Credentials: NewCredentials(db, ring, slog.New(slog.DiscardHandler)),
		Replay:      &task.Replay{Update: store.For[task.ReplayTx](db.Update)},
		Retention:   newRetention(db, slog.New(slog.DiscardHandler)),
		db:          db,
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
	return store.OpenSQLite(ctx, d.DataDir, &live.Hub{})
}

// Close lets go of it.
func (r *Record) Close() error { return r.db.Close() }

func newRetention(db *store.DB, log *slog.Logger) *retention.Service {
	return &retention.Service{Update: store.For[retention.Tx](db.Update), View: store.For[retention.Tx](db.View), Log: log}
}
