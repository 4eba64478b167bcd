package store_test

import (
	"context"
	"os"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, live store.Publisher) *store.DB {
		return openSQLite(t, t.TempDir(), live)
	})
}

func openSQLite(t *testing.T, dir string, live store.Publisher) *store.DB {
	t.Helper()
	db, err := store.OpenSQLite(context.Background(), dir, live)
	if err != nil {
		t.Fatalf("OpenSQLite: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func TestSQLiteOpensWhatItMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a b?c#d"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		db, err := store.OpenSQLite(context.Background(), dir, nil)
		if err != nil {
			t.Fatalf("OpenSQLite: %v", err)
		}
		if err := db.Ping(context.Background()); err != nil {
			t.Errorf("Ping: %v", err)
		}
		assertPrivate(t, dir)
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestSQLiteRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openSQLite(t, dir, nil)
	if err := db.Exec(context.Background(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenSQLite(context.Background(), dir, nil); err == nil {
		t.Error("a database with a newer schema was opened")
	}
}

// assertPrivate looks that nobody but the owner may read what is in the directory.
func assertPrivate(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o, want it for its owner alone", e.Name(), info.Mode().Perm())
		}
	}
}
