package cli_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// taskbay runs the command line to its end.
func taskbay(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return result{code, out.String(), errs.String()}
}

// file writes a file and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string
	}{
		"command nearly right":         {[]string{"bakup"}, `no command or argument bakup, did you mean "backup"?`},
		"command of a command":         {[]string{"form", "chekc"}, `did you mean "check"?`},
		"command nothing like":         {[]string{"bogus"}, "no command or argument bogus\nRun taskbay help"},
		"flag nearly right":            {[]string{"demo", "--no-opne"}, "unknown flag --no-opne"},
		"flag without a command":       {[]string{"--lisen=x"}, `did you mean "--listen"?`},
		"flag of a form command":       {[]string{"form", "check", "--jsn", "f"}, `did you mean "--json"?`},
		"half a command":               {[]string{"form"}, `expected one of "check", "answer", "fill"`},
		"no file":                      {[]string{"form", "check"}, `expected "<file>"`},
		"too much":                     {[]string{"version", "now"}, "no command or argument now"},
		"open to others":               {[]string{"--listen", ":80"}, "nobody signs in: whoever"},
		"both from standard input":     {[]string{"form", "answer", "-", "-"}, "only one"},
		"questions without a terminal": {[]string{"form", "fill", "-"}, "must be a file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := taskbay(t, "", tc.args...)
			if got.code != 2 || got.out != "" || !strings.HasPrefix(got.err, "taskbay: ") || !strings.Contains(got.err, tc.want) {
				t.Errorf("taskbay %q = %+v, want exit code 2 and %q on standard error", tc.args, got, tc.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	all := taskbay(t, "", "help")
	if all.code != 0 || all.err != "" {
		t.Fatalf("taskbay help = %+v, want exit code 0", all)
	}
	for _, command := range []string{"serve", "demo", "demo-agent", "form check", "form answer", "form fill", "version", "help"} {
		if !strings.Contains(all.out, "\n  "+command+" ") {
			t.Errorf("taskbay help lacks %s:\n%s", command, all.out)
		}
	}
	for _, same := range [][]string{{"--help"}, {"-h"}} {
		if diff := cmp.Diff(all, taskbay(t, "", same...), cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("taskbay %q differs from taskbay help (-want +got):\n%s", same, diff)
		}
	}
	one := taskbay(t, "", "help", "form", "check")
	if one.code != 0 || !strings.HasPrefix(one.out, "Usage: taskbay form check <file>") {
		t.Errorf("taskbay help form check = %+v, want the help of that command", one)
	}
	if serve := taskbay(t, "", "--no-open", "--help"); !strings.Contains(serve.out, "TASKBAY_LISTEN") {
		t.Errorf("taskbay --no-open --help = %+v, want the help of serve with its variables", serve)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if got := taskbay(t, "", args...); got.code != 0 || !strings.HasPrefix(got.out, "taskbay ") || !strings.Contains(got.out, "go1.") {
			t.Errorf("taskbay %q = %+v, want the version and that of Go", args, got)
		}
	}
}

// golden compares with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s mismatch; run with -update if it is meant (-want +got):\n%s", path, diff)
	}
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
