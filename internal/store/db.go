// Package store keeps the console's record in SQL. It knows the nouns' types and
// implements the interfaces that they declare; the nouns do not know it. The
// statements are written once, by hand, with bound arguments.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations
var migrations embed.FS

// Publisher is told which topics changed, after the change is committed.
type Publisher interface {
	Publish(topics ...string)
}

// DB is the database: one writer, whose transactions follow each other, and
// several readers that it does not hold up.
type DB struct {
	writer *sql.DB
	reader *sql.DB
	live   Publisher
	now    func() time.Time
}

// readers is how many reads run at once.
const readers = 4

// OpenSQLite opens the database file in dir, makes it if it is not there, and
// brings its schema up to date. A file with a newer schema than this program
// knows is an error that says so.
func OpenSQLite(ctx context.Context, dir string, live Publisher) (*DB, error) {
	file := filepath.Join(dir, "taskbay.db")
	if err := makePrivate(file); err != nil {
		return nil, err
	}
	writer, err := openPool(file, 1, "_txlock=immediate", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, writer); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	reader, err := openPool(file, readers, "_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &DB{writer: writer, reader: reader, live: live, now: time.Now}, nil
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

func migrate(ctx context.Context, pool *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	has, knows, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if has > knows {
		return fmt.Errorf("the database has schema version %d, but this taskbay knows only up to %d: start a newer taskbay", has, knows)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	return nil
}

// Close closes the database.
func (db *DB) Close() error { return errors.Join(db.reader.Close(), db.writer.Close()) }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Update runs f in a transaction that may write, and commits it if f returns
// nil. After the commit the topics that f signalled are published. f must use
// nothing but its Tx for data, and must not wait for anything else.
func (db *DB) Update(ctx context.Context, f func(*Tx) error) error {
	return db.run(ctx, db.writer, nil, f)
}

// View runs f in a transaction that reads one state of the database.
func (db *DB) View(ctx context.Context, f func(*Tx) error) error {
	return db.run(ctx, db.reader, &sql.TxOptions{ReadOnly: true}, f)
}

// Exec runs one statement in a transaction of its own: for tests that break in,
// past everything that the nouns may do.
func (db *DB) Exec(ctx context.Context, statement string, args ...any) error {
	return db.Update(ctx, func(tx *Tx) error {
		_, err := tx.exec(statement, args...)
		return err
	})
}

func (db *DB) run(ctx context.Context, pool *sql.DB, options *sql.TxOptions, f func(*Tx) error) error {
	sqlTx, err := pool.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := &Tx{ctx: ctx, tx: sqlTx, now: db.now().UTC().Truncate(time.Microsecond), topics: map[string]struct{}{}}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(sqlTx.Rollback()))
	}
	if err := sqlTx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if len(tx.topics) > 0 {
		topics := make([]string, 0, len(tx.topics))
		for t := range tx.topics {
			topics = append(topics, t)
		}
		db.live.Publish(topics...)
	}
	return nil
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// For gives a noun Update or View with the transaction as the interface T that
// the noun declares. *Tx must implement T.
func For[T any](run func(context.Context, func(*Tx) error) error) func(context.Context, func(T) error) error {
	return func(ctx context.Context, f func(T) error) error {
		return run(ctx, func(tx *Tx) error { return f(any(tx).(T)) })
	}
}

// Tx is one transaction. Its time stands still.
type Tx struct {
	ctx    context.Context
	tx     *sql.Tx
	now    time.Time
	topics map[string]struct{}
}

// Now is the time of the transaction.
func (tx *Tx) Now() time.Time { return tx.now }

// Signal publishes the topics once the transaction is committed.
func (tx *Tx) Signal(topics ...string) {
	for _, t := range topics {
		tx.topics[t] = struct{}{}
	}
}

func (tx *Tx) exec(query string, args ...any) (rows int64, err error) {
	result, err := tx.tx.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// execOne is exec for a statement that must change exactly one row.
func (tx *Tx) execOne(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows changed instead of one", n)
	}
	return err
}

func (tx *Tx) row(query string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(tx.ctx, query, args...)
}

// collect runs a query and returns what scan makes of each row.
func collect[T any](tx *Tx, scan func(scanner) (T, error), query string, args ...any) (items []T, err error) {
	rows, err := tx.tx.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, rows.Err()
}

type scanner interface {
	Scan(dest ...any) error
}

// micros is a time in the database: microseconds since 1970, NULL for zero.
type micros struct{ time.Time }

// Scan reads a BIGINT or NULL.
func (m *micros) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		m.Time = time.Time{}
	case int64:
		m.Time = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("a time is stored as %T", src)
	}
	return nil
}

// us is the time as a bound argument.
func us(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// isUnique reports whether err is the breach of a unique constraint.
func isUnique(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
