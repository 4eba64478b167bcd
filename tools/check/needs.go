package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A need is a program that some step or test cannot do without.
type need struct {
	programs []string // any one of them is enough
	packages []string // Debian's names for it
	why      string
}

var (
	chromium = need{[]string{"chromium", "chromium-browser", "google-chrome"}, []string{"chromium", "fonts-liberation"}, "the tests in a browser"}
	postgres = need{[]string{"initdb"}, []string{"postgresql"}, "the tests on PostgreSQL"}
	node     = need{[]string{"node"}, []string{"nodejs"}, "the tests with the JavaScript SDK"}
	npm      = need{[]string{"npm"}, []string{"npm"}, "the tests with the JavaScript SDK"}
	curl     = need{[]string{"curl"}, []string{"curl"}, "the examples of the API"}
	compiler = need{[]string{"gcc", "clang"}, []string{"gcc", "libc6-dev"}, "the race detector"}
)

// needs installs what is missing, if it may. That it may not is no failure, but
// nothing that needs it is checked.
func needs(ctx context.Context, c *check) error {
	var packages []string
	for _, n := range []need{chromium, postgres, node, npm, curl, compiler} {
		if missing(n) != "" {
			packages = append(packages, n.packages...)
		}
	}
	if len(packages) == 0 {
		return nil
	}
	names := strings.Join(packages, " ")
	if err := install(ctx, packages); err != nil {
		c.skip("what needs "+names+", which could not be installed", err)
		return nil
	}
	c.note = "installed " + names
	return nil
}

// missing returns a sentence if n is not there.
func missing(n need) string {
	for _, program := range n.programs {
		if _, err := find(program); err == nil {
			return ""
		}
	}
	return fmt.Sprintf("%s is missing, for %s (on Debian: apt-get install %s)",
		strings.Join(n.programs, " or "), n.why, strings.Join(n.packages, " "))
}

// find returns the path of a program, which need not be in PATH if it belongs to
// PostgreSQL: Debian hides all but psql, as there may be several versions.
func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	hidden, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	if len(hidden) == 0 {
		return "", err
	}
	return slices.Max(hidden), nil
}

func install(ctx context.Context, packages []string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return err
	}
	apt := []string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"}
	if os.Geteuid() != 0 {
		apt = append([]string{"sudo", "-n"}, apt...)
	}
	for _, arguments := range [][]string{{"update"}, append([]string{"install", "-y", "--no-install-recommends"}, packages...)} {
		line := append(slices.Clone(apt), arguments...)
		if _, err := output(ctx, ".", line[0], line[1:]...); err != nil {
			return err
		}
	}
	return nil
}
