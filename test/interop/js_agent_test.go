package interop

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// oldestNode is the oldest major version of Node.js that the SDK runs on.
const oldestNode = 20

// manifest are the files that decide what npm installs.
var manifest = []string{"package.json", "package-lock.json", ".npmrc"}

// jsAgent is where the agent in js-agent is.
type jsAgent struct {
	card, legacyCard string // the URLs of its card, and of that for A2A 0.3
}

// startJSAgent runs the agent in js-agent until the test ends. Without Node.js the test is skipped, or fails if
// TASKBAY_CHECK is "all".
func startJSAgent(t *testing.T) jsAgent {
	t.Helper()
	modules, err := installJSAgent()
	if err != nil {
		skip(t, err)
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := copyFile("js-agent/agent.mjs", filepath.Join(dir, "agent.mjs")); err != nil {
		t.Fatal(err)
	}
	cards := runProgram(t, exec.Command("node", filepath.Join(dir, "agent.mjs")), "", 2)
	return jsAgent{card: cards[0], legacyCard: cards[1]}
}

// skip ends a test that lacks something, as a failure where nothing may be
// skipped.
func skip(t *testing.T, reason error) {
	t.Helper()
	if os.Getenv("TASKBAY_CHECK") == "all" {
		t.Fatal(reason)
	}
	t.Skipf("SKIPPED: %v", reason)
}

// installJSAgent returns the folder of the agent's packages.
var installJSAgent = sync.OnceValues(func() (string, error) { return installed("js-agent") })

// installed returns the folder of the packages that a manifest names, which it
// installs at the first use of each lock file. Installations are never changed, so
// that any number of test runs may share them.
func installed(dir string) (modules string, err error) {
	if err := checkNode(); err != nil {
		return "", err
	}
	sum, err := digest(dir, manifest)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	home := filepath.Join(cache, "agent-taskbay", "interop", dir+"-"+sum)
	modules = filepath.Join(home, "node_modules")
	if _, err := os.Stat(modules); !errors.Is(err, fs.ErrNotExist) {
		return modules, err
	}
	return modules, install(dir, home)
}

// install fills a folder beside home and moves it there when it is complete.
func install(dir, home string) error {
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(home), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, name := range manifest {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(work, name)); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts")
	npm.Dir = work
	if said, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci could not install the packages of %s (is there a network?): %w\n%s", dir, err, said)
	}
	if err := os.Rename(work, home); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func checkNode() error {
	const advice = "install Node.js 20 or later with npm (on Debian: apt-get install nodejs npm)"
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: %s", program, advice)
		}
	}
	said, err := exec.Command("node", "--version").Output()
	if err != nil {
		return fmt.Errorf("node does not run: %w", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(said), "v"), ".")
	if version, err := strconv.Atoi(major); err != nil || version < oldestNode {
		return fmt.Errorf("node is %s: %s", strings.TrimSpace(string(said)), advice)
	}
	return nil
}

func digest(dir string, names []string) (string, error) {
	hash := sha256.New()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
