package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// unfinished is the name of a file in a data directory in which a restore is under way
// and neither the old data is whole nor the new one.
const unfinished = "restore.unfinished"

// checkFinished says what to do about a restore that was broken off between the old
// data and the new one.
func checkFinished(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, unfinished)); err == nil {
		return fmt.Errorf("a restore into %s was broken off while it put the data in its place.\nRun it again: taskbay restore FILE --force; what was there before is in the directories before-restore-…", dir)
	}
	return nil
}

// hasRecord returns an error unless a server on SQLite has run in the directory.
func hasRecord(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, store.FileName)); errors.Is(err, fs.ErrNotExist) {
		if err := checkFinished(dir); err != nil {
			return err
		}
		return fmt.Errorf("there is no Taskbay in %s.\nStart one, or name its directory with --data-dir; that of the demo is ~/.taskbay-demo", dir)
	}
	return nil
}

// place is a data directory into which a record is restored.
type place struct {
	dir  string
	keys bool     // the record brings keys
	old  []string // names of what is there and goes aside
}

// record is what a data directory has of a record, in the order in which it is put
// there: without the database, there is none.
var record = [...]string{artifact.Dir, vault.FileName, store.FileName}

// look finds what is in the directory. Without force that must be no data.
func (p *place) look(force bool) error {
	for _, name := range []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm", artifact.Dir, vault.FileName, unfinished} {
		_, err := os.Stat(filepath.Join(p.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist), name == vault.FileName && !p.keys: // keys that are there stay
		case err != nil:
			return err
		default:
			p.old = append(p.old, name)
		}
	}
	if len(p.old) > 0 && !force {
		return fmt.Errorf("there is data in %s: %s is there.\nName another directory with --data-dir, or give --force, which moves what is there aside and deletes nothing", p.dir, p.old[0])
	}
	return nil
}

// take moves what is in the directory aside and puts what is in stage in its place. It
// returns where the old data is; "" if there was none. If it fails, the old data is
// back in its place; if the machine does, no server starts before a restore was done.
func (p *place) take(stage string) (aside string, err error) {
	mark := filepath.Join(p.dir, unfinished)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return "", fmt.Errorf("begin to put the data in its place: %w", err)
	}
	var moved moves
	aside, err = p.move(stage, &moved)
	if err != nil {
		err = errors.Join(fmt.Errorf("put the data in its place: %w", err), moved.back())
		if len(moved) > 0 {
			return "", err // not all of it could be moved back
		}
		aside = ""
	}
	return aside, errors.Join(err, os.Remove(mark))
}

// move makes the moves, and their names durable.
func (p *place) move(stage string, moved *moves) (aside string, err error) {
	dirs := []string{stage, p.dir}
	if len(p.old) > 0 {
		aside = filepath.Join(p.dir, "before-restore-"+time.Now().UTC().Format("20060102T150405.000Z"))
		if err := os.Mkdir(aside, 0o700); err != nil {
			return "", err
		}
		dirs = append(dirs, aside)
	}
	if err := syncNames(dirs...); err != nil {
		return "", err
	}
	for _, name := range p.old {
		if name == unfinished {
			continue
		}
		if err := moved.rename(filepath.Join(p.dir, name), filepath.Join(aside, name)); err != nil {
			return "", err
		}
	}
	for _, name := range record {
		from := filepath.Join(stage, name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := moved.rename(from, filepath.Join(p.dir, name)); err != nil {
			return "", err
		}
	}
	return aside, syncNames(dirs...)
}

// moves are renames that can be undone.
type moves [][2]string

func (m *moves) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	*m = append(*m, [2]string{from, to})
	return nil
}

// back undoes them, the last one first, until one cannot be undone.
func (m *moves) back() error {
	for len(*m) > 0 {
		last := (*m)[len(*m)-1]
		if err := os.Rename(last[1], last[0]); err != nil {
			return err
		}
		*m = (*m)[:len(*m)-1]
	}
	return nil
}

// syncNames makes the names in directories durable.
func syncNames(dirs ...string) error {
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return nil
	}
	for _, path := range dirs {
		dir, err := os.Open(path) // the data directory that the person named, or one in it
		if err != nil {
			return err
		}
		if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
			return fmt.Errorf("make names durable: %w", err)
		}
	}
	return nil
}
