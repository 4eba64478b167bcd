package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/form"
)

type formCommands struct {
	Check  formCheck  `cmd:"" help:"Say whether a form definition is drawn, why not, and what has no effect in it."`
	Answer formAnswer `cmd:"" help:"Say what would be sent for what stands in a form's controls, or what is wrong."`
	Fill   formFill   `cmd:"" help:"Ask the questions of a form here and print the answer."`
}

// maxInput bounds a file or standard input, in bytes. Definitions over 1 MiB are
// read, to be rejected with the reason.
const maxInput = 16 << 20

// readInput reads a file, or standard input for "-", that must be JSON. Every
// error ends with the exit code for what cannot be read.
func readInput(name string, s Streams) ([]byte, error) {
	raw, err := readAll(name, s)
	name = inputName(name)
	switch {
	case err != nil:
		return nil, &failure{exitUsage, err}
	case len(raw) > maxInput:
		return nil, &failure{exitUsage, fmt.Errorf("%s is over 16 MiB", name)}
	case !utf8.Valid(raw):
		return nil, &failure{exitUsage, fmt.Errorf("%s is not UTF-8 text", name)}
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return nil, &failure{exitUsage, notJSON(name, raw, err)}
	}
	return raw, nil
}

// inputName is how messages call a file, or "-".
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// readAll reads a file, or standard input for "-", up to a byte more than
// maxInput. The byte order mark that some editors begin a file with is left out.
func readAll(name string, s Streams) ([]byte, error) {
	if name == "-" {
		raw, err := io.ReadAll(io.LimitReader(s.In, maxInput+1))
		return withoutMark(raw), err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxInput+1))
	return withoutMark(raw), errors.Join(err, file.Close())
}

func withoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\uFEFF")) }

// notJSON says where the text stops being JSON.
func notJSON(name string, raw []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("%s is not JSON: %w", name, err)
	}
	before := raw[:min(int(syntax.Offset), len(raw))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%s is not JSON: %w (line %d, column %d)", name, err, line, column)
}

// readForm reads a definition and returns its form. A rejected one ends with the
// given code, its reasons told on standard error.
func readForm(name string, rejectedCode int, s Streams) (*form.Form, error) {
	raw, err := readInput(name, s)
	if err != nil {
		return nil, err
	}
	report := form.Inspect(raw)
	if report.Accepted {
		return report.Form, nil
	}
	p := painter(s.Err)
	text := fmt.Sprintf("%s: the form is %s.\n\n", inputName(name), p.bad("rejected")) + notes("Reasons", report.Reasons, p)
	if _, err := io.WriteString(s.Err, text); err != nil {
		return nil, err
	}
	return nil, &failure{code: rejectedCode}
}

// printJSON prints v with its digits and member order, on one line or indented.
func printJSON(w io.Writer, v any, indent bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}
