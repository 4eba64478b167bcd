package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/agent-taskbay/taskbay/internal/command"
)

// Snapshot is a copy of a SQLite database as it was at one instant.
type Snapshot struct {
	*DB
	Schema int64 // the version of its schema
}

// SnapshotSQLite copies the database file in dir into the directory to, beside the
// server that may be using it: the copy is read in one transaction, which holds up no
// writer. The copy's schema is left as it is; one that is newer than this program
// knows is an error that says so. The caller closes the copy.
func SnapshotSQLite(ctx context.Context, dir, to string) (*Snapshot, error) {
	from, err := openPool(filepath.Join(dir, FileName), 1)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(to, FileName)
	_, err = from.ExecContext(ctx, "VACUUM INTO ?", file)
	if err := errors.Join(err, from.Close()); err != nil {
		return nil, fmt.Errorf("copy the database: %w", err)
	}
	copied, err := openPool(file, 1, "_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	schema, err := newSchema(ctx, sqliteDialect(), copied)
	if err == nil && schema.has > schema.knows {
		err = schema.Check()
	}
	if err != nil {
		return nil, errors.Join(err, copied.Close())
	}
	db := &DB{
		dialect: sqliteDialect(), writer: copied, reader: copied, now: time.Now, knows: schema.knows,
		closers: []func() error{copied.Close},
	}
	return &Snapshot{DB: db, Schema: schema.has}, nil
}

// SchemaVersion is the schema version that this program needs.
func SchemaVersion() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	if err != nil {
		return 0, err
	}
	var last int64
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return 0, err
		}
		last = max(last, version)
	}
	return last, nil
}

// CheckFile has SQLite look through the whole file. What is wrong with it is an error.
func (db *DB) CheckFile(ctx context.Context) error {
	return db.View(ctx, func(tx *Tx) error {
		found, err := collect(tx, scanString, "PRAGMA integrity_check(5)")
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0] != "ok" {
			return fmt.Errorf("SQLite says: %s", strings.Join(found, "; "))
		}
		return nil
	})
}

// restorer owns, for one statement, what a restored database was about to send.
const restorer = "restored from a copy"

// DoubtCommands implements command.RestoreTx. A command that is due is taken to be on
// its way first, as no other becomes uncertain.
func (tx *Tx) DoubtCommands(problem string) ([]command.Record, error) {
	_, err := tx.exec("UPDATE command SET status = 'dispatching', owner = ? WHERE status = 'pending'", restorer)
	var ids []string
	if err == nil {
		ids, err = collect(tx, scanString, "UPDATE command SET status = 'uncertain', error = ?, owner = '', updated_us = ? WHERE status = 'dispatching' RETURNING id",
			problem, us(tx.now))
	}
	if err != nil {
		return nil, fmt.Errorf("make uncertain what was about to be sent: %w", err)
	}
	return tx.touchCommands(ids)
}

// Workers implements command.RestoreTx.
func (tx *Tx) Workers() (int, error) {
	var n int
	if err := tx.row("SELECT COUNT(*) FROM worker_lease WHERE expires_us > " + tx.dialect.clock).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the processes that work: %w", err)
	}
	return n, nil
}

// Tasks counts the tasks.
func (tx *Tx) Tasks() (n int64, err error) {
	if err := tx.row("SELECT COUNT(*) FROM task WHERE merged_into IS NULL").Scan(&n); err != nil {
		return 0, fmt.Errorf("count the tasks: %w", err)
	}
	return n, nil
}
