package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/store"
)

type migrateCommands struct {
	Status migrateStatusCommand `cmd:"" help:"Say which version the schema has, and which one this taskbay needs."`
	Up     migrateUpCommand     `cmd:"" help:"Bring the schema up to date. Servers and workers may run meanwhile."`

	AfterRestore migrateAfterRestoreCommand `cmd:"" help:"Keep a database that was restored from a copy from sending what may have been sent already. No server or worker may run."`
}

type databaseFlags struct {
	DatabaseURL string `required:"" env:"TASKBAY_DATABASE_URL" placeholder:"URL" help:"The PostgreSQL database, as postgres://USER:PASSWORD@HOST/DATABASE."`
}

// withSchema runs f on the database's schema.
func (d databaseFlags) withSchema(ctx context.Context, f func(*store.Schema) error) error {
	schema, err := store.OpenPostgresSchema(ctx, d.DatabaseURL)
	if err != nil {
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	return errors.Join(f(schema), schema.Close())
}

type migrateStatusCommand struct {
	databaseFlags `embed:""`
}

// Run exits with 1 if the schema is not the one that this program needs.
func (c migrateStatusCommand) Run(ctx context.Context, s Streams) error {
	return c.withSchema(ctx, func(schema *store.Schema) error {
		has, needs := schema.Versions()
		if _, err := fmt.Fprintf(s.Out, "The schema has version %d; this taskbay needs %d.\n", has, needs); err != nil {
			return err
		}
		if err := schema.Check(); err != nil {
			return &failure{exitFailed, err}
		}
		return nil
	})
}

type migrateUpCommand struct {
	databaseFlags `embed:""`
}

// Run brings the schema up to date.
func (c migrateUpCommand) Run(ctx context.Context, s Streams) error {
	return c.withSchema(ctx, func(schema *store.Schema) error {
		before, _ := schema.Versions()
		if err := schema.Up(ctx); err != nil {
			return err
		}
		after, _ := schema.Versions()
		_, err := fmt.Fprintf(s.Out, "The schema has version %d (it had %d).\n", after, before)
		return err
	})
}

type migrateAfterRestoreCommand struct {
	databaseFlags `embed:""`
}

// Help says why.
func (migrateAfterRestoreCommand) Help() string {
	return "Commands that were about to be sent when the copy was made may have been sent after that. This makes each of them uncertain, and a person decides. " +
		"Run it after every restore and every recovery to a point in time, before the first server or worker starts."
}

// Run makes uncertain what the database was about to send.
func (c migrateAfterRestoreCommand) Run(ctx context.Context, s Streams) error {
	n, err := app.AfterRestore(ctx, c.DatabaseURL, operator())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s %s about to be sent: uncertain now.\n", count(n, "command"), was(n))
	return err
}
