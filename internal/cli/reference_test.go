package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

const referenceHead = `# Command line

<!-- Made from internal/cli by its test; run "go test ./internal/cli -run TestReference -update" to make it anew. -->

` + "`taskbay help`" + `, ` + "`taskbay help COMMAND`" + ` and ` + "`-h`" + ` with any command say the same. A command or flag that is nearly right is answered with the right one.

What a command is for goes to standard output and everything else to standard error. Every command ends with 0 when it did what it is for, 1 when it
failed, and 2 when the command line or an input cannot be read; where 1 means more, the command says so.
`

// TestReference makes docs/cli.md from the command line and compares it.
func TestReference(t *testing.T) {
	t.Parallel()
	const path = "../../docs/cli.md"
	var out bytes.Buffer
	out.WriteString(referenceHead)
	for _, command := range parser(t).Model.Leaves(true) {
		writeCommand(&out, command)
	}
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s is not what the command line says; run with -update (-want +got):\n%s", path, diff)
	}
}

func writeCommand(out *bytes.Buffer, command *kong.Node) {
	fmt.Fprintf(out, "\n## `taskbay %s`\n\n%s\n", command.Path(), command.Help)
	if command.Detail != "" {
		fmt.Fprintf(out, "\n%s\n", command.Detail)
	}
	fmt.Fprintf(out, "\n```text\ntaskbay %s\n```\n", command.Summary())
	if isServer(command) {
		fmt.Fprintf(out, "\nIts flags are in [configuration](configuration.md#taskbay-%s), as each can be set in other ways as well.\n", command.Name)
		return
	}
	separator := "\n"
	for _, argument := range command.Positional {
		fmt.Fprintf(out, "%s- `%s`: %s\n", separator, argument.Summary(), argument.Help)
		separator = ""
	}
	for _, flag := range command.Flags {
		fmt.Fprintf(out, "%s- `%s`: %s%s\n", separator, flagName(flag), flag.Help, flagRest(flag))
		separator = ""
	}
}

// isServer reports whether a command takes the options of a server, of which
// docs/configuration.md is made.
func isServer(command *kong.Node) bool {
	return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "log-level" })
}

func flagName(flag *kong.Flag) string {
	switch {
	case flag.Tag.Negatable != "":
		return "--[no-]" + flag.Name
	case !flag.IsBool():
		return "--" + flag.Name + "=" + flag.FormatPlaceHolder()
	}
	return "--" + flag.Name
}

// flagRest says where a flag's value comes from if it is not given.
func flagRest(flag *kong.Flag) string {
	var rest string
	if flag.HasDefault {
		rest += " Default: `" + flag.Default + "`."
	}
	if len(flag.Envs) > 0 {
		rest += " Also `" + strings.Join(flag.Envs, "`, `") + "`."
	}
	return rest
}

func parser(t *testing.T) *kong.Kong {
	t.Helper()
	p, err := cli.NewParser(t.Context(), cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDocumentedCommands parses every call of taskbay that the documentation
// shows, so that it names only commands and flags that there are.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	found := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, args := range documentedCalls(t, file) {
				found++
				if _, err := parser(t).Parse(cli.WithCommand(args)); err != nil {
					t.Errorf("%s shows taskbay %s: %v", file, strings.Join(args, " "), err)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d calls of taskbay were found", found)
	}
}

// documentedCalls returns the arguments of taskbay wherever a file calls it in a
// block of shell commands.
func documentedCalls(t *testing.T, file string) [][]string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	document := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		block, ok := n.(*ast.FencedCodeBlock)
		if !ok || string(block.Language(source)) != "sh" {
			continue
		}
		script, err := syntax.NewParser().Parse(bytes.NewReader(block.Lines().Value(source)), file)
		if err != nil {
			t.Errorf("a block of shell commands cannot be read: %v", err)
			continue
		}
		syntax.Walk(script, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok {
				if args, ok := argumentsOf(call); ok {
					calls = append(calls, args)
				}
			}
			return true
		})
	}
	return calls
}

// argumentsOf returns what a call gives to taskbay, however it is started.
func argumentsOf(call *syntax.CallExpr) ([]string, bool) {
	var words []string
	for _, word := range call.Args {
		words = append(words, word.Lit())
	}
	for _, start := range [][]string{{"taskbay"}, {"./taskbay"}, {"go", "run", "./cmd/taskbay"}} {
		if len(words) >= len(start) && cmp.Equal(words[:len(start)], start) {
			return words[len(start):], true
		}
	}
	return nil, false
}
