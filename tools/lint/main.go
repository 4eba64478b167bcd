// Lint holds the project's checks for go vet -vettool: known ones from elsewhere,
// and the project's own taste. Each is here for a reason, which stands beside it.
// The code has no marks to silence them: a check that needs exceptions is mended
// or left out here.
package main

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
)

// leftOut are checks of the sets below that are not used, with the reason.
var leftOut = map[string]string{
	"SA5008": "the command line repeats the set tag, as its library wants it",
	"ST1000": "commands and test packages need no package comment",
	"ST1003": "knows no initialism of A2A's JSON",
	"ST1005": "a message for a person may be a sentence",
	"ST1018": "a test may hold words of a language whose writing joins letters invisibly",
	"ST1020": "a comment may begin with another word than the name",
	"ST1021": "as ST1020",
	"ST1022": "as ST1020",
}

func main() {
	errcheck.DefaultExcludedSymbols = append(errcheck.DefaultExcludedSymbols, droppable...)
	checks := []*analysis.Analyzer{
		notInTests(errcheck.Analyzer), // an error that is dropped is a lie told later
		errorlint.NewAnalyzer(),       // errors are wrapped, so == and type assertions miss them
		nilness.Analyzer,              // what can only panic
		size, imports, names, sleep, start,
	}
	for _, set := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, check := range set {
			if leftOut[check.Analyzer.Name] == "" {
				checks = append(checks, check.Analyzer)
			}
		}
	}
	for i, check := range checks {
		checks[i] = handWritten(check)
	}
	unitchecker.Main(append(checks, markup)...)
}

// droppable are functions whose errors may be dropped.
var droppable = []string{
	// What was only read has nothing left to fail.
	"(io.Closer).Close", "(io.ReadCloser).Close", "(net.Conn).Close",
	// A reader that went away has nobody to tell.
	"(net/http.ResponseWriter).Write",
	"fmt.Fprint(net/http.ResponseWriter)", "fmt.Fprintf(net/http.ResponseWriter)", "fmt.Fprintln(net/http.ResponseWriter)",
	// Hashes do not fail.
	"fmt.Fprintf(hash.Hash)",
}

// handWritten is for all but what looks into generated files too.
func handWritten(check *analysis.Analyzer) *analysis.Analyzer {
	return filtered(check, func(file *ast.File, _ string) bool { return !ast.IsGenerated(file) })
}

// notInTests is for checks of what a test notices anyway.
func notInTests(check *analysis.Analyzer) *analysis.Analyzer {
	return filtered(check, func(_ *ast.File, name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

// filtered returns a check that speaks only of files that keep wants.
func filtered(check *analysis.Analyzer, keep func(file *ast.File, name string) bool) *analysis.Analyzer {
	out := *check
	out.Run = func(pass *analysis.Pass) (any, error) {
		inner := *pass
		inner.Report = func(d analysis.Diagnostic) {
			if file := fileOf(pass, d.Pos); file == nil || keep(file, pass.Fset.Position(d.Pos).Filename) {
				pass.Report(d)
			}
		}
		return check.Run(&inner)
	}
	return &out
}

func fileOf(pass *analysis.Pass, pos token.Pos) *ast.File {
	for _, file := range pass.Files {
		if file.FileStart <= pos && pos < file.FileEnd {
			return file
		}
	}
	return nil
}
