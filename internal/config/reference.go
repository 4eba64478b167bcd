package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

const preamble = `# Configuration

<!-- Made from internal/config by its test; run "go test ./internal/config -update" to make it anew. -->

Every option can be given as a flag, as a variable of the environment, or in a
file; a flag goes before the environment, and the environment before the file.

The file is one JSON object and named by ` + "`--config`" + ` or ` + "`TASKBAY_CONFIG`" + `. Its
members are the names of the options without the dashes; one that is no option
is refused, so that a slip does not go unseen:

` + "```json" + `
{"listen": "127.0.0.1:8080", "open": true, "log-format": "json"}
` + "```" + `

A path may begin with ` + "`~/`" + `, wherever it is given: that is ` + "`$HOME`" + `, or the home directory
that the system has on record for you if ` + "`$HOME`" + ` is not set.
`

const afterword = `
## What is refused, and why

- An address that others can reach, unless people sign in: everyone who reaches it
  would act as you. For several people, see [sign-in](sign-in.md). For yourself on
  another machine, use a tunnel:
  ` + "`ssh -L 3002:127.0.0.1:3002 THE-MACHINE`" + `, then open http://127.0.0.1:3002 there.
- A data directory that another process has open. The message says which; give
  each process a directory of its own.
`

// Reference returns docs/configuration.md: every option of a server and of the
// demo, with its default, its variable and what it does.
func Reference() ([]byte, error) {
	var root struct {
		Serve Config `cmd:""`
		Demo  Demo   `cmd:""`
	}
	parser, err := kong.New(&root, Defaults(), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, fmt.Errorf("read the options: %w", err)
	}
	serve, demo := parser.Model.Children[0], parser.Model.Children[1]
	var out bytes.Buffer
	out.WriteString(preamble)
	out.WriteString("\n## `taskbay serve`\n\n")
	table(&out, serve.Flags, nil)
	out.WriteString("\n## `taskbay worker`\n\nTakes the same options, needs `--database-url`, and listens at `--metrics-listen` alone.\n")
	out.WriteString("\n## `taskbay demo`\n\nTakes the options of `taskbay serve`. These differ or come on top:\n\n")
	table(&out, differing(demo.Flags, serve.Flags), map[string]string{"open": "on in a terminal"})
	out.WriteString(afterword)
	return out.Bytes(), nil
}

// differing returns the flags that base has not, or has with another default or help.
func differing(flags, base []*kong.Flag) []*kong.Flag {
	same := make(map[string]bool)
	for _, f := range base {
		same[f.Name+"\x00"+f.Default+"\x00"+f.Help] = true
	}
	var out []*kong.Flag
	for _, f := range flags {
		if !same[f.Name+"\x00"+f.Default+"\x00"+f.Help] {
			out = append(out, f)
		}
	}
	return out
}

// table lists flags; otherwise holds defaults that the code finds out.
func table(out *bytes.Buffer, flags []*kong.Flag, otherwise map[string]string) {
	out.WriteString("| option | environment | default | what it does |\n| --- | --- | --- | --- |\n")
	for _, f := range flags {
		name := "--" + f.Name
		if f.Tag.Negatable != "" {
			name = "--[no-]" + f.Name
		}
		value := cmp.Or(otherwise[f.Name], defaultOf(f))
		fmt.Fprintf(out, "| `%s` | `%s` | %s | %s |\n", name, strings.Join(f.Envs, "`, `"), value, strings.ReplaceAll(f.Help, "|", "\\|"))
	}
}

func defaultOf(f *kong.Flag) string {
	switch {
	case f.IsBool() && f.Default == "true":
		return "on"
	case f.IsBool():
		return "off"
	case f.HasDefault:
		return "`" + f.Default + "`"
	}
	return "none"
}
