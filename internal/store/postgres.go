package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// connections is how many connections to PostgreSQL one process holds at most,
// besides the one on which it listens.
const connections = 16

// OpenPostgres connects to the PostgreSQL database that url names, in pgx's
// notation. If migrate is set, it brings the schema up to date; otherwise a
// schema that is older or newer than this program needs is an error that says
// so. What other processes change is published on live as well.
func OpenPostgres(ctx context.Context, url string, live Publisher, migrate bool) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, badURL()
	}
	pool := openPostgresPool(config)
	schema, err := newSchema(ctx, postgresDialect(), pool)
	if err == nil && migrate {
		err = schema.Up(ctx)
	}
	if err == nil {
		err = schema.Check()
	}
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	relay, err := newRelay(ctx, config, pool, live)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &DB{
		dialect: postgresDialect(), writer: pool, reader: pool, live: relay, now: time.Now, knows: schema.knows,
		closers: []func() error{relay.Close, pool.Close},
	}, nil
}

// OpenPostgresSchema connects to the database that url names and reads which
// version its schema has. The caller closes it.
func OpenPostgresSchema(ctx context.Context, url string) (*Schema, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, badURL()
	}
	pool := openPostgresPool(config)
	schema, err := newSchema(ctx, postgresDialect(), pool)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	schema.close = pool.Close
	return schema, nil
}

// badURL does not quote the URL, nor pgx's error, which does: it holds a password.
func badURL() error {
	return errors.New("--database-url is none that PostgreSQL takes: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full")
}

func openPostgresPool(config *pgx.ConnConfig) *sql.DB {
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool
}

func postgresDialect() dialect {
	return dialect{
		name:       goose.DialectPostgres,
		folder:     "postgres",
		clock:      "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		oneState:   sql.LevelRepeatableRead,
		forUpdate:  " FOR UPDATE",
		skipLocked: " FOR UPDATE SKIP LOCKED",
		rebind:     numbered,
		isUnique:   func(err error) bool { return hasCode(err, "23505") },
		// A serialization failure or a deadlock is over by the next attempt. So is
		// a unique row that another transaction put there meanwhile: the next
		// attempt sees it where it looks before it writes.
		again: func(err error) bool { return hasCode(err, "40001", "40P01", "23505") },
	}
}

func hasCode(err error, codes ...string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code == code {
			return true
		}
	}
	return false
}
