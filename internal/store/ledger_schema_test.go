package store

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestLedgerOutlivesItsRebuild: what the ledger had before pushes were a source is there
// after, byte for byte, and still cannot be changed; and so it is on the way back.
func TestLedgerOutlivesItsRebuild(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lite, err := OpenSQLite(ctx, t.TempDir(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	postgres, err := OpenPostgres(ctx, postgrestest.URL(t), silent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]*DB{"SQLite": lite, "PostgreSQL": postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() { _ = db.Close() }()
			schema, err := newSchema(ctx, db.dialect, db.writer)
			if err != nil {
				t.Fatal(err)
			}
			exec := func(statement string, args ...any) {
				t.Helper()
				if err := db.Exec(ctx, statement, args...); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			if _, err := schema.provider.DownTo(ctx, 9); err != nil {
				t.Fatalf("DownTo: %v", err)
			}
			exec("INSERT INTO agent (id, organisation_id, card_url, name, health_status, refresh_us, created_us, updated_us) VALUES ('a', 'o', 'u', 'n', 'unknown', 0, 0, 0)")
			exec("INSERT INTO task (id, organisation_id, agent_id, kind, state, title, title_search, created_us, updated_us) VALUES ('t', 'o', 'a', 'task', 's', '', '', 0, 0)")
			insert := func(id, source string) {
				t.Helper()
				exec("INSERT INTO event (id, task_id, source, source_key, raw, sha256, received_us) VALUES (?, 't', ?, ?, ?, 'd', 7)", id, source, id, []byte("\x00raw "+id))
			}
			insert("e-1", "stream")
			if _, err := schema.provider.Up(ctx); err != nil {
				t.Fatalf("Up: %v", err)
			}
			exec("INSERT INTO event (id, task_id, source, source_key, raw, sha256, received_us, number) VALUES ('e-2', 't', 'push', 'e-2', ?, 'd', 8, 2)", []byte("\x00raw e-2"))
			assertLedger(t, db, "e-1 stream \x00raw e-1", "e-2 push \x00raw e-2")
			if _, err := schema.provider.DownTo(ctx, 9); err != nil {
				t.Fatalf("DownTo: %v", err)
			}
			assertLedger(t, db, "e-1 stream \x00raw e-1", "e-2 poll \x00raw e-2")
		})
	}
}

// assertLedger fails the test unless the ledger has these events, and keeps them.
func assertLedger(t *testing.T, db *DB, want ...string) {
	t.Helper()
	ctx := context.Background()
	err := db.View(ctx, func(tx *Tx) error {
		got, err := collect(tx, func(s scanner) (string, error) {
			var id, source string
			var raw []byte
			err := s.Scan(&id, &source, &raw)
			return id + " " + source + " " + string(raw), err
		}, "SELECT id, source, raw FROM event ORDER BY id")
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("the ledger has %q, want %q", got, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"UPDATE event SET source_key = 'x'", "DELETE FROM event"} {
		if err := db.Exec(ctx, statement); err == nil {
			t.Errorf("%s is not refused", statement)
		}
	}
}
