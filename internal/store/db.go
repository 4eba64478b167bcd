// Package store keeps the console's record in SQL, in SQLite or PostgreSQL. It
// knows the nouns' types and implements the interfaces that they declare; the
// nouns do not know it. The statements are written once, by hand, with bound
// arguments; a dialect holds what differs.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Publisher is told which topics changed, after the change is committed.
type Publisher interface {
	Publish(topics ...string)
	// PublishAll says that anything may have changed.
	PublishAll()
}

// DB is the database. On SQLite one writer's transactions follow each other and
// several readers are not held up by it; on PostgreSQL transactions run side by
// side and lock the tasks that they change.
type DB struct {
	dialect dialect
	writer  *sql.DB
	reader  *sql.DB // the same as writer on PostgreSQL
	live    Publisher
	now     func() time.Time
	knows   int64          // the schema version that this program needs
	closers []func() error // in the order in which they are called
	failed  atomic.Pointer[failedWrite]
}

// Close closes the database.
func (db *DB) Close() error {
	var errs []error
	for _, closer := range db.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Update runs f in a transaction that may write, and commits it if f returns
// nil. After the commit the topics that f signalled are published. f must use
// nothing but its Tx for data, must not wait for anything else, and may be run
// again from its start if other transactions were in the way.
func (db *DB) Update(ctx context.Context, f func(*Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := db.run(ctx, db.writer, nil, f)
		if err == nil || attempt == maxAttempts || !db.dialect.again(err) {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// maxAttempts is how often a transaction is run before it is given up.
const maxAttempts = 8

// pause waits before the next attempt: a little longer, and at random so that
// those who were in each other's way no longer are.
func pause(ctx context.Context, attempt int) error {
	wait(ctx, rand.N(time.Millisecond<<attempt))
	return ctx.Err()
}

// View runs f in a transaction that reads one state of the database.
func (db *DB) View(ctx context.Context, f func(*Tx) error) error {
	return db.run(ctx, db.reader, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.oneState}, f)
}

// Exec runs one statement in a transaction of its own: for tests that break in,
// past everything that the nouns may do.
func (db *DB) Exec(ctx context.Context, statement string, args ...any) error {
	return db.Update(ctx, func(tx *Tx) error {
		_, err := tx.exec(statement, args...)
		return err
	})
}

// run is transact, with an error of the kind fault.Unavailable if the database is
// away.
func (db *DB) run(ctx context.Context, pool *sql.DB, options *sql.TxOptions, f func(*Tx) error) error {
	err := db.transact(ctx, pool, options, f)
	if err == nil || ctx.Err() != nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	why := db.dialect.away(err)
	if why == "" {
		return err
	}
	if options == nil {
		db.failed.Store(&failedWrite{time.Now(), why})
	}
	if errors.Is(err, errCommit) {
		return fault.Wrap(err, fault.Unavailable, "%s It may or may not have kept what was asked for: look before you try again.", why)
	}
	return fault.Wrap(err, fault.Unavailable, "%s Nothing was changed: try again in a moment.", why)
}

// errCommit marks an error that leaves open whether the transaction took place.
var errCommit = errors.New("commit")

func (db *DB) transact(ctx context.Context, pool *sql.DB, options *sql.TxOptions, f func(*Tx) error) error {
	sqlTx, err := pool.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := &Tx{ctx: ctx, tx: sqlTx, dialect: &db.dialect, writes: options == nil, now: db.now().UTC().Truncate(time.Microsecond), topics: map[string]struct{}{}}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(sqlTx.Rollback()))
	}
	if err := sqlTx.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
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
	ctx     context.Context
	tx      *sql.Tx
	dialect *dialect
	writes  bool
	now     time.Time
	topics  map[string]struct{}
	deed    string // the ID of its first entry on the trail; "" if it has none
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
	result, err := tx.tx.ExecContext(tx.ctx, tx.dialect.rebind(query), bound(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// bound is args without NUL characters, which a TEXT cannot hold everywhere. They
// come from hostile agents and mean nothing; bytes keep theirs.
func bound(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok && strings.ContainsRune(s, 0) {
			args[i] = strings.ReplaceAll(s, "\x00", "\uFFFD")
		}
	}
	return args
}

// places are the parentheses for n values, at least one.
func places(n int) string { return "(?" + strings.Repeat(", ?", n-1) + ")" }

// forUpdate is what ends a SELECT of rows that the transaction goes on to change.
// It locks them for this transaction where others run side by side.
func (tx *Tx) forUpdate() string {
	if tx.writes {
		return tx.dialect.forUpdate
	}
	return ""
}

// skipLocked is what ends a SELECT of work to claim: rows that another worker is
// claiming just now are left out.
func (tx *Tx) skipLocked() string { return tx.dialect.skipLocked }

// execOne is exec for a statement that must change exactly one row.
func (tx *Tx) execOne(query string, args ...any) error {
	n, err := tx.exec(query, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows changed instead of one", n)
	}
	return err
}

func (tx *Tx) row(query string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(tx.ctx, tx.dialect.rebind(query), bound(args)...)
}

// collect runs a query and returns what scan makes of each row.
func collect[T any](tx *Tx, scan func(scanner) (T, error), query string, args ...any) (items []T, err error) {
	rows, err := tx.tx.QueryContext(tx.ctx, tx.dialect.rebind(query), bound(args)...)
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
