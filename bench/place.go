package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// place is where one measurement keeps its data: empty before, and gone after.
type place struct {
	DataDir     string
	DatabaseURL string // "" is SQLite in DataDir
}

// database is a kind of database to measure on.
type database struct {
	name      string
	serverURL string // "" is SQLite
}

func sqliteDatabase() database                   { return database{name: "SQLite"} }
func postgresDatabase(serverURL string) database { return database{"PostgreSQL", serverURL} }

func (d database) version(ctx context.Context) (version string, err error) {
	driver, source, query := "sqlite", ":memory:", "SELECT sqlite_version()"
	if d.serverURL != "" {
		driver, source, query = "pgx", d.serverURL, "SELECT current_setting('server_version')"
	}
	pool, err := sql.Open(driver, source)
	if err != nil {
		return "", errors.New("the URL of the database cannot be read") // its text would repeat a password
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return version, pool.QueryRowContext(ctx, query).Scan(&version)
}

// makePlace makes a place. remove takes it away again, with all that is in it;
// nothing may use it any more.
func (d database) makePlace(ctx context.Context) (at place, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "taskbay-bench-")
	if err != nil {
		return place{}, nil, err
	}
	if d.serverURL == "" {
		return place{DataDir: dir}, func() error { return os.RemoveAll(dir) }, nil
	}
	at, schema, err := place{DataDir: dir}, "taskbay_bench_"+strings.ReplaceAll(uuid.NewString(), "-", ""), error(nil)
	if at.DatabaseURL, err = withSchema(d.serverURL, schema); err == nil {
		err = d.exec(ctx, "CREATE SCHEMA "+schema)
	}
	if err != nil {
		return place{}, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return at, func() error {
		return errors.Join(d.exec(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE"), os.RemoveAll(dir))
	}, nil
}

func withSchema(serverURL, schema string) (string, error) {
	u, err := url.Parse(serverURL)
	if err != nil {
		return "", errors.New("--database-url is no URL: write it as postgres://USER:PASSWORD@HOST/DATABASE")
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func (d database) exec(ctx context.Context, statement string) (err error) {
	pool, err := sql.Open("pgx", d.serverURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, statement)
	return err
}

// open opens the record in the place, and makes its schema.
func (p place) open(ctx context.Context, hub *live.Hub) (*store.DB, error) {
	if p.DatabaseURL != "" {
		return store.OpenPostgres(ctx, p.DatabaseURL, hub, true)
	}
	return store.OpenSQLite(ctx, p.DataDir, hub)
}

// fill runs statements past the product, to put there what would take it years. The
// schema must be there, and nobody at work. It makes sure of nothing: a fixture
// that a power failure takes is made anew.
func (p place) fill(ctx context.Context, statements ...string) (err error) {
	driver, source := "sqlite", "file:"+(&url.URL{Path: filepath.Join(p.DataDir, store.FileName)}).EscapedPath()+
		"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)&_pragma=cache_size(-262144)"
	if p.DatabaseURL != "" {
		driver, source = "pgx", p.DatabaseURL
		statements = append([]string{"SET synchronous_commit = off"}, statements...)
	}
	pool, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := pool.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("fill the database by %.60q: %w", s, err)
		}
	}
	return nil
}

// settle has a server that just got many rows look at them, as it would by itself
// within a minute. SQLite is used as the product does, without statistics.
func (p place) settle(ctx context.Context) error {
	if p.DatabaseURL == "" {
		return nil
	}
	return p.fill(ctx, "VACUUM ANALYZE task", "VACUUM ANALYZE message", "VACUUM ANALYZE event")
}
