package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const module = "github.com/agent-taskbay/taskbay/"

const (
	maxFunction = 80  // lines; a longer one does more than its name says
	maxFile     = 500 // lines; a longer one holds more than its name says
)

// size keeps functions and files to what can be read at once. Tests are tables
// and may be longer.
var size = notInTests(&analysis.Analyzer{
	Name: "size",
	Doc:  "functions of at most 80 lines, files of at most 500",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			if n := lines(pass, file.FileStart, file.FileEnd); n > maxFile {
				pass.Reportf(file.Name.Pos(), "the file has %d lines, over %d", n, maxFile)
			}
			for _, declaration := range file.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := lines(pass, function.Pos(), function.End()); n > maxFunction {
					pass.Reportf(function.Name.Pos(), "%s has %d lines, over %d", function.Name.Name, n, maxFunction)
				}
			}
		}
		return nil, nil
	},
})

func lines(pass *analysis.Pass, from, to token.Pos) int {
	return pass.Fset.Position(to).Line - pass.Fset.Position(from).Line + 1
}

// A rule says who may import what. Both are prefixes; users are paths within the
// module.
type rule struct {
	imported, why string
	users         []string
}

var rules = []rule{
	{"github.com/a2aproject/a2a-go", "internal/remote is what speaks A2A; the sample agents speak it from the other side",
		[]string{"internal/remote", "internal/demo", "test/interop", "bench"}},
	{"modernc.org/sqlite", "internal/store is what speaks SQL", []string{"internal/store"}},
	{"github.com/jackc/pgx", "internal/store is what speaks SQL", []string{"internal/store"}},
	{"github.com/pressly/goose", "internal/store is what migrates", []string{"internal/store"}},
	{"github.com/prometheus/", "internal/telemetry is what measures; others tell it by interfaces of theirs", []string{"internal/telemetry"}},
	{"go.opentelemetry.io/otel/sdk", "internal/telemetry is what sends traces", []string{"internal/telemetry"}},
	{"go.opentelemetry.io/otel/exporters", "internal/telemetry is what sends traces", []string{"internal/telemetry"}},
	{"gocloud.dev", "internal/artifact is where bytes are kept", []string{"internal/artifact"}},
	{"github.com/aws/", "internal/artifact is where bytes are kept", []string{"internal/artifact"}},
	{"github.com/danielgtaylor/huma", "the API alone is made with it", []string{"internal/api"}},
	{"github.com/a-h/templ", "the pages alone are made with it", []string{"internal/web"}},
	{"github.com/alecthomas/kong", "the command line alone is made with it", []string{"internal/cli", "internal/config"}},
	{"charm.land/", "the command line alone asks in a terminal", []string{"internal/cli"}},
	{module + "internal/web", "pages are what is outermost", []string{"internal/web", "internal/app", "bench"}},
	{module + "internal/api", "the API is what is outermost", []string{"internal/api", "internal/app", "bench"}},
	{module + "internal/cli", "the command line is what is outermost", []string{"internal/cli", "cmd"}},
	{module + "internal/app", "a whole server is made by commands and by tests of it", []string{"internal/app", "internal/cli", "bench"}},
	{module + "internal/store", "nouns declare what they need of it; app hands it to them", []string{"internal/store", "internal/app", "internal/cli", "bench"}},
	{module + "internal/", "the form package is for agents too, and stands alone",
		[]string{"internal", "cmd", "bench"}},
	{"log", "a logger is handed in (log/slog)", []string{"tools"}},
	{"io/ioutil", "it is gone", nil},
}

// imports keeps the arrows between packages pointing inward, and each library in
// the one place that wraps it. Tests bring together what they need.
var imports = notInTests(&analysis.Analyzer{
	Name: "imports",
	Doc:  "who may import what",
	Run: func(pass *analysis.Pass) (any, error) {
		user, ours := strings.CutPrefix(strings.TrimSuffix(pass.Pkg.Path(), "_test")+"/", module)
		if !ours || strings.HasSuffix(pass.Pkg.Name(), "test") { // apptest and its like
			return nil, nil
		}
		for _, file := range pass.Files {
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return nil, err
				}
				for _, r := range rules {
					if r.covers(path) && !r.allows(user) {
						pass.Reportf(spec.Pos(), "%s must not import %s: %s", strings.TrimSuffix(user, "/"), path, r.why)
					}
				}
			}
		}
		return nil, nil
	},
})

func (r rule) covers(path string) bool {
	return path == r.imported || strings.Contains(r.imported, "/") && strings.HasPrefix(path, r.imported)
}

func (r rule) allows(user string) bool {
	for _, allowed := range r.users {
		if strings.HasPrefix(user, allowed+"/") {
			return true
		}
	}
	return false
}

// sleep keeps time out of tests: they wait for what happens.
var sleep = &analysis.Analyzer{
	Name: "sleep",
	Doc:  "no test waits for time to pass",
	Run: func(pass *analysis.Pass) (any, error) {
		for use, object := range pass.TypesInfo.Uses {
			function, ok := object.(*types.Func)
			if ok && function.FullName() == "time.Sleep" {
				pass.Reportf(use.Pos(), "time.Sleep: wait for what is to happen, or for a timer that a context can end")
			}
		}
		return nil, nil
	},
}

// start keeps packages from doing things by being imported.
var start = &analysis.Analyzer{
	Name: "start",
	Doc:  "no init functions",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
					pass.Reportf(function.Pos(), "init: whoever needs it calls it")
				}
			}
		}
		return nil, nil
	},
}

// nameless are names that say nothing of what a package holds.
var nameless = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "lib"}

// names keeps packages named for what they hold.
var names = &analysis.Analyzer{
	Name: "names",
	Doc:  "no package is named for nothing",
	Run: func(pass *analysis.Pass) (any, error) {
		if slices.Contains(nameless, pass.Pkg.Name()) {
			pass.Reportf(pass.Files[0].Name.Pos(), "package %s: name it for what it holds", pass.Pkg.Name())
		}
		return nil, nil
	},
}

// markup keeps what is not escaped out of the pages. It looks into generated
// files, as that is where the pages are.
var markup = &analysis.Analyzer{
	Name: "markup",
	Doc:  "no text goes into a page as it is",
	Run: func(pass *analysis.Pass) (any, error) {
		for use, object := range pass.TypesInfo.Uses {
			function, ok := object.(*types.Func)
			if ok && slices.Contains(unescaped, function.FullName()) {
				pass.Reportf(use.Pos(), "%s does not escape: an agent may have written it", function.FullName())
			}
		}
		return nil, nil
	},
}

var unescaped = []string{"github.com/a-h/templ.Raw", "github.com/a-h/templ.SafeScript", "github.com/a-h/templ.SafeScriptInline"}
