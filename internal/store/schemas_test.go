package store

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

type silent struct{}

func (silent) Publish(...string) {}
func (silent) PublishAll()       {}

// TestSchemasAreTheSame compares every column of the two databases.
func TestSchemasAreTheSame(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lite, err := OpenSQLite(ctx, t.TempDir(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lite.Close() }()
	postgres, err := OpenPostgres(ctx, postgrestest.URL(t), silent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = postgres.Close() }()
	columns := func(db *DB, query string) (all []string) {
		t.Helper()
		err := db.View(ctx, func(tx *Tx) (err error) {
			all, err = collect(tx, func(s scanner) (string, error) {
				var table, column, kind string
				var required bool
				err := s.Scan(&table, &column, &kind, &required)
				return fmt.Sprintf("%s.%s %s required=%v", table, column, kinds.Replace(strings.ToUpper(kind)), required), err
			}, query)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		return all
	}
	inLite := columns(lite, `SELECT m.name, c.name, c.type, c."notnull" = 1 OR c.pk > 0 FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'goose%'`)
	inPostgres := columns(postgres, `SELECT table_name, column_name, data_type, is_nullable = 'NO' FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT LIKE 'goose%'`)
	if diff := cmp.Diff(inLite, inPostgres); diff != "" || len(inLite) < 50 {
		t.Errorf("columns of SQLite (-) and PostgreSQL (+):\n%s", diff)
	}
}

var kinds = strings.NewReplacer("BYTEA", "BLOB")

func TestMigrationsComeInPairs(t *testing.T) {
	t.Parallel()
	lite, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lite {
		if _, err := fs.Stat(migrations, strings.Replace(name, "sqlite", "postgres", 1)); err != nil {
			t.Errorf("%s has no counterpart: %v", name, err)
		}
	}
}
