package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// disk is a small file system of its own, which a test fills.
type disk struct {
	t    *testing.T
	path string
}

func newDisk(t *testing.T, megabytes int) disk {
	t.Helper()
	path := t.TempDir()
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=700", megabytes)); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: a full disk needs a file system that may be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk{t, path}
}

// fill takes what is left on the disk.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.path, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
}

func (d disk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.path, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// TestTheDiskIsFull: what cannot be kept is refused, the process says that it is not
// ready, and goes on by itself once there is room.
func TestTheDiskIsFull(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 24)
	agent := startFiles(t)
	s := apptest.Start(t, apptest.Options{DataDir: d.path, Log: slog.New(slog.DiscardHandler)})
	commands := "/api/v1/agents/" + s.Register(agent).ID + "/commands"
	if status, failing := ready(t, s, "/readyz"); status != http.StatusOK {
		t.Fatalf("before: %d, failing %v", status, failing)
	}
	d.fill()
	// What SQLite has taken from the disk before is used up first.
	n, long := 0, strings.Repeat("long ", 20_000)
	s.Eventually("503", func() bool {
		n++
		status := s.Call("POST", commands, map[string]any{"text": long}, nil, "Idempotency-Key", fmt.Sprint("full ", n))
		if status != http.StatusAccepted && status != http.StatusServiceUnavailable {
			t.Fatalf("a command is answered %d", status)
		}
		return status == http.StatusServiceUnavailable
	})
	s.Eventually("a server that is not ready", func() bool {
		status, failing := ready(t, s, "/readyz")
		return status == http.StatusServiceUnavailable && slices.Equal(failing, []string{"writes"})
	})
	if status, _, _ := get(t, s, "/tasks"); status != http.StatusOK {
		t.Errorf("reading is answered %d on a full disk", status)
	}
	d.free()
	s.Eventually("a server that is ready", func() bool {
		status, _ := ready(t, s, "/readyz")
		return status == http.StatusOK
	})
	for i := range n { // the refused one as well
		var c apptest.Command
		if status := s.Call("POST", commands, map[string]any{"text": long}, &c, "Idempotency-Key", fmt.Sprint("full ", i+1)); status != http.StatusAccepted {
			t.Fatalf("command %d again is answered %d", i+1, status)
		}
		s.TaskIn(c.TaskID, "TASK_STATE_COMPLETED")
	}
}

// TestThePlaceForFilesIsFull: an answer with a file waits until there is room for it,
// and everything else goes on.
func TestThePlaceForFilesIsFull(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 1)
	agent := startFiles(t)
	quick := startSlow(t)
	quick.answers <- struct{}{}
	s := apptest.Start(t, apptest.Options{Log: slog.New(slog.DiscardHandler), Change: func(c *config.Config) {
		c.Artifacts.URL = "file://" + d.path
	}})
	d.fill()
	var sent apptest.Command
	if status := s.Call("POST", "/api/v1/agents/"+s.Register(agent).ID+"/commands", map[string]any{"text": "go"}, &sent, "Idempotency-Key", "k"); status != http.StatusAccepted {
		t.Fatalf("the command is answered %d", status)
	}
	other := s.Send(s.Register(quick.URL+"/card.json").ID, map[string]any{"text": "without a file"})
	if other.Status != "succeeded" {
		t.Errorf("a command whose answer has no file is %s: %s", other.Status, other.Error)
	}
	if status, failing := ready(t, s, "/readyz"); status != http.StatusOK {
		t.Errorf("not ready: %v", failing)
	}
	if s.Call("GET", "/api/v1/commands/"+sent.ID, nil, &sent); sent.Status == "succeeded" {
		t.Error("the answer is kept, though its file is not")
	}
	d.free()
	s.TaskIn(sent.TaskID, "TASK_STATE_COMPLETED")
	if s.Call("GET", "/api/v1/commands/"+sent.ID, nil, &sent); sent.Status != "succeeded" {
		t.Errorf("the command is %s: %s", sent.Status, sent.Error)
	}
	if status, body, _ := get(t, s, "/artifacts/"+helloDigest); status != http.StatusOK || body != "hello" {
		t.Errorf("the file is answered %d %q", status, body)
	}
}
