package main

import (
	"net"
	"net/url"
	"os"
	"testing"
)

func TestStartPostgres(t *testing.T) {
	if why := missing(postgres); why != "" {
		t.Skip(why)
	}
	t.Setenv("TMPDIR", openTempDir(t))
	address, stop, err := startPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", server.Host)
	if err != nil {
		t.Error(err)
	} else if err := connection.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := net.Dial("tcp", server.Host); err == nil {
		t.Error("it still answers after stop")
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// openTempDir returns a directory that other users may pass through, as the
// server runs as one of them if we are root.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "taskbay-check-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
