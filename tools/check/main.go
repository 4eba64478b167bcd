// Check is the project's one check: it formats, vets, lints, generates and tests
// everything there is. ./check in the root builds and runs it.
//
// It prints a line a step, and what is wrong under the step that found it. What
// it needs and does not find (Chromium, PostgreSQL, Node.js, curl, a C compiler) it
// installs with apt where it may; PostgreSQL it then starts for itself, in a
// temporary directory. What it could not check it says at the end. With
// TASKBAY_CHECK=all that is a failure.
//
// The exit code is 0 if all is well, otherwise 1.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// A step looks at one thing. An error is what is wrong, in lines for a person.
type step struct {
	name string
	run  func(ctx context.Context, c *check) error
}

var steps = []step{
	{"needs", needs},
	{"tree", tree},
	{"gofmt", gofmt},
	{"tidy", tidy},
	{"generate", generate},
	{"vet", vet},
	{"lint", lint},
	{"javascript", javascript},
	{"test tools", testTools},
	{"test races", testRaces},
	{"test", testProject},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok := run(ctx)
	stop()
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context) bool {
	c := &check{all: os.Getenv("TASKBAY_CHECK") == "all"}
	begin := time.Now()
	var failed []string
	for _, s := range steps {
		if !c.do(ctx, s) {
			failed = append(failed, s.name)
		}
		if ctx.Err() != nil {
			fmt.Println("\nInterrupted.")
			return false
		}
	}
	return c.conclude(failed, time.Since(begin))
}

// check is one run of all the steps.
type check struct {
	all     bool     // nothing may be skipped
	skipped []string // what was not checked, and why
	note    string   // what the running step wants to say on its line
}

func (c *check) skip(what string, why any) {
	c.skipped = append(c.skipped, fmt.Sprintf("%s: %v", what, why))
}

func (c *check) do(ctx context.Context, s step) bool {
	fmt.Printf("%-12s", s.name)
	begin, before := time.Now(), len(c.skipped)
	c.note = ""
	err := s.run(ctx, c)
	verdict := "ok"
	switch {
	case err != nil:
		verdict = "FAIL"
	case len(c.skipped) > before:
		verdict = "skips"
	}
	fmt.Printf("%-6s%6.1fs  %s\n", verdict, time.Since(begin).Seconds(), c.note)
	if err != nil {
		fmt.Println(indent(err.Error()))
	}
	return err == nil
}

// conclude says how it went, and returns whether all is well.
func (c *check) conclude(failed []string, took time.Duration) bool {
	if len(c.skipped) > 0 {
		fmt.Printf("\nNOT CHECKED:\n%s\n", indent(strings.Join(c.skipped, "\n")))
	}
	if c.all && len(c.skipped) > 0 {
		failed = append(failed, "nothing skipped (TASKBAY_CHECK=all)")
	}
	if len(failed) > 0 {
		fmt.Printf("\nFAILED after %s: %s\n", took.Round(time.Second), strings.Join(failed, ", "))
		return false
	}
	fmt.Printf("\nAll is well, after %s.\n", took.Round(time.Second))
	return true
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
