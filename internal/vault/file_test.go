package vault_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/vault"
)

func localRing(t *testing.T, dir string) *vault.Ring {
	t.Helper()
	r, err := vault.Options{}.Ring(dir)
	if err != nil {
		t.Fatalf("Ring() error = %v", err)
	}
	return r
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, vault.FileName)
	sealed := seal(t, localRing(t, dir), canary)
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode(); mode != 0o600 {
		t.Errorf("the key file has mode %o, want 600", mode)
	}
	if got, err := localRing(t, dir).Open(owner, sealed); err != nil || string(got) != canary {
		t.Errorf("after a restart, Open() = %q, %v; want the content", got, err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(made) {
		t.Errorf("the key file changed (%v)", err)
	}
	if fromOptions, err := (vault.Options{Keys: string(made)}).Ring(t.TempDir()); err != nil {
		t.Errorf("the content of a key file is no list of keys: %v", err)
	} else if _, err := fromOptions.Open(owner, sealed); err != nil {
		t.Errorf("the content of a key file as an option does not open what the file opens: %v", err)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("the directory holds %v, want the key file alone", names)
	}
}

func TestKeyFilesDiffer(t *testing.T) {
	t.Parallel()
	if one, two := localRing(t, t.TempDir()), localRing(t, t.TempDir()); one.Active() == two.Active() {
		t.Errorf("two keys are named %q", one.Active())
	}
}

func TestManyMakeOneKeyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const many = 16
	active := make([]string, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			if r, err := (vault.Options{}).Ring(dir); err != nil {
				t.Errorf("Ring() error = %v", err)
			} else {
				active[i] = r.Active()
			}
		})
	}
	all.Wait()
	for _, id := range active {
		if id != active[0] {
			t.Errorf("processes have different keys: %v", active)
		}
	}
	if diff := cmp.Diff([]string{vault.FileName}, files(t, dir)); diff != "" {
		t.Errorf("files mismatch (-want +got):\n%s", diff)
	}
}

func TestKeysFromOptionsNeedNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := vault.Options{Keys: one + "," + two, Active: "two"}.Ring(dir)
	if err != nil || r.Active() != "two" {
		t.Errorf("Ring() = %v, %v; want two to be active", r, err)
	}
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("the directory holds %v, want nothing", names)
	}
	if _, err := (vault.Options{Keys: "nonsense"}).Ring(dir); err == nil || !strings.Contains(err.Error(), "TASKBAY_VAULT_KEYS") {
		t.Errorf("Ring() error = %v, want one that names the variable", err)
	}
}

func TestKeyFileRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	tests := map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"others may read": {one, 0o644, "chmod 600"},
		"the group may":   {one, 0o640, "chmod 600"},
		"others may even": {one, 0o602, "chmod 600"},
		"empty":           {"", 0o600, "Bring it back from a backup"},
		"half a key":      {one[:20], 0o600, "Bring it back from a backup"},
		"too large":       {strings.Repeat("x", 17<<10), 0o600, "larger than a file of keys"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, vault.FileName)
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tc.mode); err != nil {
				t.Fatal(err)
			}
			_, err := vault.Options{}.Ring(dir)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Ring() error = %v, want one that names the file and contains %q", err, tc.want)
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != tc.content {
				t.Errorf("the file changed (%v)", err)
			}
		})
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, vault.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (vault.Options{}).Ring(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("Ring() error = %v, want to hear that it is not a file", err)
	}
	if _, err := (vault.Options{}).Ring(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a key was made in a directory that is not there")
	}
}

func TestKeyFileOfSeveralKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, vault.FileName), []byte(two+"\n"+one+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := localRing(t, dir).Active(); got != "two" {
		t.Errorf("active is %q, want the first", got)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
