package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// dataLock keeps a data directory for one process. The system lets go of it
// when the process ends, however it ends.
type dataLock struct {
	lock *flock.Flock
}

// lockData makes the directory if it is not there, and takes it. A directory that another process has is an error that names it.
func lockData(dir string, log *slog.Logger) (*dataLock, error) {
	if err := makeDataDir(dir, log); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the data directory %s: %w", dir, err)
	}
	if !got {
		return nil, fmt.Errorf("another taskbay%s is using %s.\nStop it first, or give this one a directory of its own with --data-dir", holder(lock.Path()), dir)
	}
	l := &dataLock{lock: lock}
	if err := os.WriteFile(lock.Path(), fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write the lock file: %w", err), l.release())
	}
	return l, nil
}

// makeDataDir makes the directory, for its owner alone, if it is not there. One
// that is there and open to others is used, with a warning: the files in it are
// its owner's alone, and a volume of a container is often open by no choice of
// the person's.
func makeDataDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make the data directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("cannot use the data directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		log.Warn("others on this machine can look into the data directory; chmod 700 makes it yours alone",
			slog.String("directory", dir), slog.String("mode", fmt.Sprintf("%04o", mode)))
	}
	return nil
}

// holder names the process that has the lock, as far as it said so.
func holder(path string) string {
	content, err := os.ReadFile(path) // the lock file of the data directory that the person named
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (l *dataLock) release() error { return l.lock.Unlock() }
