package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
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

// How soon a server that no longer answers is given up. Work that takes long is not
// cut short by it: a server that lives confirms what it receives.
const (
	connectTimeout = 10 * time.Second
	peerTimeout    = 20 * time.Second
)

// dial connects to the server so that its silent end is noticed.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: peerTimeout / 2, Interval: peerTimeout / 4, Count: 2},
		Control:         noticeSilence,
	}
	return d.DialContext(ctx, network, address)
}

func openPostgresPool(config *pgx.ConnConfig) *sql.DB {
	config.DialFunc = dial
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
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
		away:  awayPostgres,
	}
}

// awayPostgres tells a server that cannot be reached, is starting or stopping, takes
// no more connections, or is read-only, as a standby is, from everything else that
// goes wrong.
func awayPostgres(err error) string {
	var connect *pgconn.ConnectError
	var network *net.OpError
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && (strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "53")),
		e == nil && (pgconn.SafeToRetry(err) || errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)):
		return "The database does not answer."
	case e != nil && e.Code == "25006":
		return "The database takes no writes just now."
	}
	return ""
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
