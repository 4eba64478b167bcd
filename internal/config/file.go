package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// File is the path of a file that holds options as one JSON object, such as
// {"listen": "127.0.0.1:8080", "open": false}.
type File string

// BeforeResolve reads the file and lets it answer for every option that neither
// a flag nor the environment sets. A member that names no option is an error.
func (File) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path, _ := ctx.FlagValue(trace.Flag).(File)
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(expandHome(string(path)))
	if err != nil {
		return fmt.Errorf("the file of options cannot be read: %w", err)
	}
	values, err := decodeOptions(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	known := optionNames(ctx.Model.Node)
	for name := range values {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s: no option is called %q; there are: %s", path, name, strings.Join(known, ", "))
		}
	}
	ctx.AddResolver(fileResolver(values))
	return nil
}

func decodeOptions(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\uFEFF")))) // which some editors put there
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil {
		return nil, fmt.Errorf("is no JSON object of options: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("holds more than one JSON object")
	}
	return values, nil
}

func fileResolver(values map[string]any) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, env := range flag.Envs {
			if _, set := os.LookupEnv(env); set {
				return nil, nil
			}
		}
		return values[flag.Name], nil
	})
}

// optionNames returns the names of the options that a file may set: those of
// node and of every command below it that the environment can set too.
func optionNames(node *kong.Node) []string {
	var names []string
	for _, flag := range node.Flags {
		if len(flag.Envs) > 0 && flag.Name != "config" {
			names = append(names, flag.Name)
		}
	}
	for _, child := range node.Children {
		names = append(names, optionNames(child)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
