// Package postgrestest gives tests a PostgreSQL database of their own.
package postgrestest

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// serverURL is where tests find PostgreSQL unless TASKBAY_TEST_POSTGRES says
// otherwise. The user must be allowed to make schemas.
const serverURL = "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable"

// URL returns the URL of an empty schema that is dropped at the end of the test.
// Without a PostgreSQL server the test is skipped.
func URL(t testing.TB) string {
	t.Helper()
	server, err := url.Parse(cmp.Or(os.Getenv("TASKBAY_TEST_POSTGRES"), serverURL))
	if err != nil {
		t.Fatalf("TASKBAY_TEST_POSTGRES is no URL")
	}
	schema := "taskbay_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := run(server.String(), "CREATE SCHEMA "+schema); err != nil {
		t.Skipf("no PostgreSQL to test on: %v", err)
	}
	t.Cleanup(func() {
		if err := run(server.String(), "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop the test's schema: %v", err)
		}
	})
	query := server.Query()
	query.Set("search_path", schema)
	query.Set("connect_timeout", "60") // many tests share the server, and few cores
	server.RawQuery = query.Encode()
	return server.String()
}

func run(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
