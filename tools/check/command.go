package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// command returns a program that ends, with all it started, when ctx does. Its
// input is empty. It does not mind whose the source tree is, as git does.
func command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	return cmd
}

// output runs a program in dir and returns what it printed. The error of one that
// fails is what it said.
func output(ctx context.Context, dir, program string, arguments ...string) (string, error) {
	cmd := command(ctx, program, arguments...)
	cmd.Dir = dir
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		said := shorten(withoutDownloads(out.String() + complaints.String()))
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return out.String(), nil
}

// everywhere runs a program in the project's root and in its tools.
func everywhere(ctx context.Context, program string, arguments ...string) error {
	var errs []error
	for _, dir := range []string{".", "tools", "test/interop/go-agent-v03"} {
		_, err := output(ctx, dir, program, arguments...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// withoutDownloads leaves out what Go says of each module that it fetches.
func withoutDownloads(said string) string {
	var kept strings.Builder
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "go: downloading ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

const (
	firstLines = 80 // enough for the message of a failure or the top of a panic
	lastLines  = 20
)

// shorten leaves the middle out of a long text.
func shorten(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	out := len(lines) - firstLines - lastLines
	if out <= 1 {
		return strings.Join(lines, "\n")
	}
	shown := append(lines[:firstLines:firstLines], fmt.Sprintf("... %d lines ...", out))
	return strings.Join(append(shown, lines[len(lines)-lastLines:]...), "\n")
}
