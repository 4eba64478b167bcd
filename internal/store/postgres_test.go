package store_test

import (
	"context"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
	"github.com/agent-taskbay/taskbay/internal/store/storetest"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, live store.Publisher) *store.DB {
		return openPostgres(t, postgrestest.URL(t), live)
	})
}

func openPostgres(t *testing.T, url string, live store.Publisher) *store.DB {
	t.Helper()
	db, err := store.OpenPostgres(context.Background(), url, live, true)
	if err != nil {
		t.Fatalf("OpenPostgres: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}
