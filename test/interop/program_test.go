package interop

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"testing"
)

// runProgram starts an agent that prints so many URLs, a line each, as soon as it
// is there, and that ends with its standard input. input is what it reads first.
func runProgram(t *testing.T, command *exec.Cmd, input string, urls int) []string {
	t.Helper()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := command.Wait(); err != nil || t.Failed() {
			t.Logf("the agent ended with %v and said:\n%s", err, &complaints)
		}
	})
	if _, err := io.WriteString(stdin, input); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var printed []string
	for len(printed) < urls && lines.Scan() {
		printed = append(printed, lines.Text())
	}
	if len(printed) < urls {
		t.Fatal("the agent did not start")
	}
	return printed
}
