package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileName is the name of the database file in a data directory.
const FileName = "taskbay.db"

// readers is how many reads run at once.
const readers = 4

// OpenSQLite opens the database file in dir, makes it if it is not there, and
// brings its schema up to date. A file with a newer schema than this program
// knows is an error that says so.
func OpenSQLite(ctx context.Context, dir string, live Publisher) (*DB, error) {
	return openSQLite(ctx, dir, live, (*Schema).Up)
}

// OpenSQLiteAsIs is OpenSQLite for what works beside a server that may be running: a
// file with another schema than this program needs is an error that says so.
func OpenSQLiteAsIs(ctx context.Context, dir string, live Publisher) (*DB, error) {
	return openSQLite(ctx, dir, live, func(s *Schema, _ context.Context) error { return s.Check() })
}

func openSQLite(ctx context.Context, dir string, live Publisher, fit func(*Schema, context.Context) error) (*DB, error) {
	file := filepath.Join(dir, FileName)
	if err := makePrivate(file); err != nil {
		return nil, err
	}
	writer, err := openPool(file, 1, "_txlock=immediate", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	schema, err := newSchema(ctx, sqliteDialect(), writer)
	if err == nil {
		err = fit(schema, ctx)
	}
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	reader, err := openPool(file, readers, "_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &DB{
		dialect: sqliteDialect(), writer: writer, reader: reader, live: live, now: time.Now, knows: schema.knows,
		closers: []func() error{reader.Close, writer.Close},
	}, nil
}

func sqliteDialect() dialect {
	return dialect{
		name:     goose.DialectSQLite3,
		folder:   "sqlite",
		clock:    "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
		rebind:   func(query string) string { return query },
		isUnique: isUniqueSQLite,
		again:    func(error) bool { return false }, // one writer: nobody is in its way
		away:     awaySQLite,
	}
}

func isUniqueSQLite(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// awaySQLite tells a disk that is full or fails, and a file that another program
// holds, from everything else that goes wrong.
func awaySQLite(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return "The disk that the database is on is full."
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return "The database's file cannot be read or written."
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "Another program holds the database."
	}
	return ""
}

// makePrivate makes the file for its owner alone if it is not there. The files
// that SQLite puts beside it get the same mode.
func makePrivate(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return f.Close()
}

func openPool(file string, conns int, options ...string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=busy_timeout(5000)&_pragma=cache_size(-16384)"
	for _, o := range options {
		dsn += "&" + o
	}
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}
