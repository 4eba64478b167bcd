package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// files returns the files that are committed or could be, but for links and what
// is deleted.
func files(ctx context.Context, patterns ...string) ([]string, error) {
	arguments := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)
	listed, err := output(ctx, ".", "git", arguments...)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimRight(listed, "\x00"), "\x00") {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

// nobody is the home in examples.
const nobody = "/home/you"

// unwanted is what no file may say, as it is true on one machine only.
var unwanted = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a path of somebody's machine", regexp.MustCompile(`(^|[\s"'=(:` + "`" + `])/(home|root|Users|work|workspaces)/`)},
	{"a package registry, which each machine chooses itself", regexp.MustCompile(`registry\.npmjs|registry\.yarnpkg|proxy\.golang\.org`)},
}

// tree looks for what does not belong in any file.
func tree(ctx context.Context, _ *check) error {
	names, err := files(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		number := 0
		for line := range strings.Lines(string(content)) {
			number++
			line = strings.ReplaceAll(line, nobody, "")
			for _, u := range unwanted {
				if u.pattern.MatchString(line) && filepath.ToSlash(name) != "tools/check/source.go" {
					errs = append(errs, fmt.Errorf("%s:%d: %s: %.100s", name, number, u.what, strings.TrimSpace(line)))
				}
			}
		}
	}
	return errors.Join(errs...)
}

func gofmt(ctx context.Context, _ *check) error {
	names, err := files(ctx, "*.go")
	if err != nil {
		return err
	}
	wrong, err := output(ctx, ".", "gofmt", append([]string{"-l"}, names...)...)
	if err == nil && wrong != "" {
		err = fmt.Errorf("not formatted; run gofmt -w on\n%s", wrong)
	}
	return err
}

func tidy(ctx context.Context, _ *check) error {
	return everywhere(ctx, "go", "mod", "tidy", "-diff")
}

// generate makes anew what is made from source. What it thereby changes was not
// up to date.
func generate(ctx context.Context, _ *check) error {
	before, err := contents(ctx)
	if err != nil {
		return err
	}
	if _, err := output(ctx, ".", "go", "generate", "./..."); err != nil {
		return err
	}
	after, err := contents(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for name, content := range after {
		if before[name] != content {
			errs = append(errs, fmt.Errorf("%s was not what go generate makes; it is now", name))
		}
	}
	return errors.Join(errs...)
}

// contents returns the content of each file.
func contents(ctx context.Context) (map[string]string, error) {
	names, err := files(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all[name] = string(content)
	}
	return all, nil
}

func vet(ctx context.Context, _ *check) error {
	return everywhere(ctx, "go", "vet", "./...")
}

func lint(ctx context.Context, _ *check) error {
	tool, err := filepath.Abs(filepath.Join(".cache", "lint"))
	if err != nil {
		return err
	}
	if _, err := output(ctx, "tools", "go", "build", "-buildvcs=false", "-o", tool, "./lint"); err != nil {
		return err
	}
	return everywhere(ctx, "go", "vet", "-vettool="+tool, "./...")
}

// javascript has Node.js read every module. It runs none: that is what the tests
// in a browser do.
func javascript(ctx context.Context, c *check) error {
	if why := missing(node); why != "" {
		c.skip("the syntax of the JavaScript modules", why)
		return nil
	}
	names, err := files(ctx, "*.js", "*.mjs")
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, parse(ctx, name))
	}
	return errors.Join(errs...)
}

// parse has Node.js read one file as a module, whatever its name ends with.
func parse(ctx context.Context, name string) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	cmd := command(ctx, "node", "--check", "--input-type=module", "-")
	cmd.Stdin = bytes.NewReader(source)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, shorten(string(said)))
	}
	return nil
}
