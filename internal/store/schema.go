package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrations embed.FS

// Schema is the schema of a database, and how to bring it up to date.
type Schema struct {
	provider *goose.Provider
	has      int64
	lacks    bool // a version below the highest that it has
	knows    int64
	close    func() error
}

// newSchema reads which version the database has. The caller keeps the pool.
func newSchema(ctx context.Context, d dialect, pool *sql.DB) (*Schema, error) {
	files, err := fs.Sub(migrations, "migrations/"+d.folder)
	if err != nil {
		return nil, err
	}
	// A version may lack a lower one if it was made from the middle of a development.
	options := []goose.ProviderOption{goose.WithAllowOutofOrder(true)}
	if d.name == goose.DialectPostgres {
		// Tried once a second for two minutes: several processes may start at once.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120))
		if err != nil {
			return nil, fmt.Errorf("make the lock of the migrations: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(d.name, pool, files, options...)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	s := &Schema{provider: provider, close: func() error { return nil }}
	if s.has, s.knows, err = provider.GetVersions(ctx); err != nil {
		return nil, fmt.Errorf("read the schema version: %w", err)
	}
	if s.has == s.knows {
		if s.lacks, err = provider.HasPending(ctx); err != nil {
			return nil, fmt.Errorf("look for migrations that are missing: %w", err)
		}
	}
	return s, nil
}

// Close ends the connection that OpenPostgresSchema made.
func (s *Schema) Close() error { return s.close() }

// Versions returns the version that the database has, 0 if it is empty, and the
// one that this program needs.
func (s *Schema) Versions() (has, needs int64) { return s.has, s.knows }

// Check returns an error with a way out if the database does not have exactly
// the version that this program needs.
func (s *Schema) Check() error {
	switch {
	case s.has > s.knows:
		return fmt.Errorf("the database has schema version %d, but this taskbay knows only up to %d: start a newer taskbay", s.has, s.knows)
	case s.has < s.knows:
		return fmt.Errorf("the database has schema version %d, but this taskbay needs %d: %s", s.has, s.knows, wayUp)
	case s.lacks:
		return fmt.Errorf("the database has schema version %d, but lacks an earlier one: %s", s.has, wayUp)
	}
	return nil
}

const wayUp = "start its server, which brings a SQLite file up to date; on PostgreSQL run taskbay migrate up, or start with --auto-migrate"

// Up brings the schema up to date. Several processes may do so at once. A newer
// schema than this program knows is an error that says so.
func (s *Schema) Up(ctx context.Context) error {
	if s.has > s.knows {
		return s.Check()
	}
	if _, err := s.provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	s.has, s.lacks = s.knows, false
	return nil
}
