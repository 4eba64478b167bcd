package vault

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// FileName is the name of the file that holds the keys of a data directory.
const FileName = "vault.key"

const maxFile = 16 << 10

// Options name the keys of a vault. They are part of a server's options.
type Options struct {
	Keys   string `name:"vault-keys" env:"TASKBAY_VAULT_KEYS" placeholder:"ID:KEY,…" help:"Keys that the credentials of agents are encrypted with, each a name, a colon and 64 hexadecimal digits. Without any, one is made in the data directory. Others on this machine can read flags, so use the environment or the file."`
	Active string `name:"vault-active-key" env:"TASKBAY_VAULT_ACTIVE_KEY" placeholder:"ID" help:"Name of the vault key that new credentials are encrypted with. The first one if it is not set."`
}

// Ring returns the keys that the options give, or, if they give none, those of
// the data directory, where a key is made if there is none.
func (o Options) Ring(dataDir string) (*Ring, error) {
	if o.Keys != "" {
		ring, err := ParseRing(o.Keys, o.Active)
		if err != nil {
			return nil, fmt.Errorf("TASKBAY_VAULT_KEYS: %w", err)
		}
		return ring, nil
	}
	return openFile(filepath.Join(dataDir, FileName), o.Active)
}

// openFile reads a key file; one that is not there is made, with a random key.
// A file that is there is never written to. Of several processes that make it at
// once, one does, and all read what that one wrote.
func openFile(path, active string) (*Ring, error) {
	content, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFile(path); err != nil {
			return nil, fmt.Errorf("make %s: %w", path, err)
		}
		content, err = readFile(path)
	}
	if err != nil {
		return nil, err
	}
	ring, err := ParseRing(content, active)
	if err != nil {
		return nil, fmt.Errorf("%s: %w.\nTaskbay made this file once and never writes to it. Bring it back from a backup: without it, stored credentials cannot be read", path, err)
	}
	return ring, nil
}

func readFile(path string) (string, error) {
	file, err := os.Open(path) // in the data directory that the person named
	if err != nil {
		return "", err
	}
	content, err := readPrivate(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	return string(content), nil
}

// readPrivate reads a file that only its owner may read.
func readPrivate(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file.Name())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s may be read by others (its mode is %04o), and it holds the keys of all stored credentials.\nIf nobody had the chance to, make it yours alone: chmod 600 %s", file.Name(), mode, file.Name())
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s is larger than a file of keys", file.Name())
	}
	return content, err
}

// makeFile makes a key file that appears whole or not at all: it is written
// beside its place, and linked there unless something has come there meanwhile.
func makeFile(path string) error {
	name := make([]byte, 4)
	key := make([]byte, keySize)
	for _, b := range [][]byte{name, key} {
		_, _ = rand.Read(b) // never fails
	}
	draft := path + "." + hex.EncodeToString(name)
	err := writeFile(draft, fmt.Appendf(nil, "local-%x:%x\n", name, key))
	if err == nil {
		err = os.Link(draft, path)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if removed := os.Remove(draft); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

func writeFile(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // in the data directory that the person named
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncDir makes sure that a new name in a directory outlives a power cut.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	dir, err := os.Open(path) // the data directory that the person named
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
