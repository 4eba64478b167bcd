package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// TestTaste runs the project's own checks on the packages in testdata, whose
// comments say what they must find there, and nothing else.
func TestTaste(t *testing.T) {
	t.Parallel()
	taste := &analysis.Analyzer{Name: "taste", Doc: "all of them", Run: func(pass *analysis.Pass) (any, error) {
		for _, check := range []*analysis.Analyzer{imports, names, sleep, start, markup} {
			if _, err := handWritten(check).Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
	analysistest.Run(t, analysistest.TestData(), taste,
		module+"form", module+"internal/task", module+"internal/remote", "helpers")
}

func TestSize(t *testing.T) {
	t.Parallel()
	function := func(lines int) string { return "func f() {" + strings.Repeat("\n", lines-1) + "}" }
	tests := []struct {
		name, file, source, want string
	}{
		{"the longest function", "a.go", function(maxFunction), ""},
		{"a longer function", "a.go", function(maxFunction + 1), "f has 81 lines, over 80"},
		{"a longer function of a test", "a_test.go", function(maxFunction + 1), ""},
		{"the longest file", "a.go", strings.Repeat("\n", maxFile-1), ""},
		{"a longer file", "a.go", strings.Repeat("\n", maxFile), "the file has 501 lines, over 500"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got string
			pass := &analysis.Pass{Fset: token.NewFileSet(), Report: func(d analysis.Diagnostic) { got += d.Message }}
			file, err := parser.ParseFile(pass.Fset, tc.file, "package a\n"+tc.source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			pass.Files = []*ast.File{file}
			if _, err := size.Run(pass); err != nil || got != tc.want {
				t.Errorf("size reported %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}
