package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func testTools(ctx context.Context, c *check) error {
	return goTest(ctx, c, "tools", nil, "./...")
}

// testRaces tests the packages with the race detector. Tests of the whole program
// from outside, and of how much memory a hostile agent can take, would take many
// times as long with it, so they are left to testProject.
func testRaces(ctx context.Context, c *check) error {
	if why := missing(compiler); why != "" {
		c.skip("data races", why)
		return nil
	}
	return withPostgres(ctx, c, func(environment []string) error {
		return goTest(ctx, c, ".", append(environment, "CGO_ENABLED=1"), "-race", "./form/...", "./internal/...", "./cmd/...")
	})
}

// testProject tests the rest, and without a C compiler everything.
func testProject(ctx context.Context, c *check) error {
	packages := []string{"./docs/...", "./test/...", "./internal/remote"}
	if missing(compiler) != "" {
		packages = []string{"./..."}
	}
	return withPostgres(ctx, c, func(environment []string) error {
		return goTest(ctx, c, ".", environment, packages...)
	})
}

// withPostgres runs tests on a PostgreSQL of our own unless TASKBAY_TEST_POSTGRES
// names one.
func withPostgres(ctx context.Context, c *check, test func(environment []string) error) error {
	if os.Getenv("TASKBAY_TEST_POSTGRES") != "" {
		return test(nil)
	}
	if why := missing(postgres); why != "" {
		c.skip("PostgreSQL", why)
		return test(nil)
	}
	url, stop, err := startPostgres(ctx)
	if err != nil {
		return fmt.Errorf("PostgreSQL does not start: %w", err)
	}
	defer stop()
	return test([]string{"TASKBAY_TEST_POSTGRES=" + url})
}

// goTest runs the tests of packages of the module in dir; flags may go before the
// packages. Vet was a step of its own.
func goTest(ctx context.Context, c *check, dir string, environment []string, packages ...string) error {
	cmd := command(ctx, "go", append([]string{"test", "-json", "-vet=off"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, environment...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r, err := readReport(stdout)
	ended := cmd.Wait()
	c.note = r.summary()
	for _, s := range r.skips {
		c.skip(s.what, s.why)
	}
	if failure := r.failure(); failure != nil {
		return failure
	}
	if err := cmp.Or(err, ended); err != nil {
		return fmt.Errorf("go test: %w\n%s", err, shorten(withoutDownloads(complaints.String())))
	}
	return nil
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// place is a test, or with no Test its package.
type place struct{ Package, Test string }

func (p place) String() string { return strings.TrimSpace(p.Package + " " + p.Test) }

type skipped struct{ what, why string }

// report is what a run of go test had to say.
type report struct {
	passed, packages int
	skips            []skipped
	output           map[place]string // of what has not passed
	failed           []place
	builds           map[string]string // what the compiler said, by import path
}

// readReport reads the output of go test -json to its end.
func readReport(from io.Reader) (*report, error) {
	r := &report{output: make(map[place]string), builds: make(map[string]string)}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil { // a program that speaks past the test
				e = event{Action: "output", Output: string(line)}
			}
			r.add(e)
		}
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, err
		}
	}
}

func (r *report) add(e event) {
	at := place{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[at] += e.Output
	case "build-output":
		r.builds[e.ImportPath] += e.Output
	case "pass":
		delete(r.output, at)
		if e.Test == "" {
			r.packages++
		} else {
			r.passed++
		}
	case "skip":
		if e.Test != "" { // a package is skipped that has no tests
			r.skips = append(r.skips, skipped{at.String(), reason(r.output[at])})
		}
		delete(r.output, at)
	case "fail":
		r.failed = append(r.failed, at)
	}
}

// reason picks what t.Skip was told out of the output of a test.
func reason(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

func (r *report) summary() string {
	return fmt.Sprintf("%d tests in %d packages passed, %d skipped, %d failed",
		r.passed, r.packages, len(r.skips), len(r.failures()))
}

// failures returns the innermost places that failed: not the tests and packages
// that failed because a test in them did.
func (r *report) failures() []place {
	var inner []place
	for _, at := range r.failed {
		if !slices.ContainsFunc(r.failed, func(other place) bool { return at.contains(other) }) {
			inner = append(inner, at)
		}
	}
	return inner
}

func (p place) contains(other place) bool {
	if p.Package != other.Package || p == other {
		return false
	}
	return p.Test == "" || strings.HasPrefix(other.Test, p.Test+"/")
}

// failure returns what is to be read when something failed, or nil.
func (r *report) failure() error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(r.builds)) {
		errs = append(errs, errors.New(shorten(r.builds[path])))
	}
	for _, at := range r.failures() {
		errs = append(errs, fmt.Errorf("FAIL %s\n%s", at, indent(shorten(r.output[at]))))
	}
	return errors.Join(errs...)
}
