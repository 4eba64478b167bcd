// Lint is the project's set of checks for go vet -vettool. Each is here for a
// reason, which stands beside it; there are no exceptions in the code, so a check
// that needs them is left out or mended.
package main

import (
	"slices"

	"github.com/kisielk/errcheck/errcheck"
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
)

// without lists what is left out of a set, and why.
var without = map[string]string{
	"ST1000": "main packages and test packages need no package comment",
	"ST1003": "does not know the initialisms of A2A's JSON",
	"ST1005": "a message to a person may be two sentences",
	"ST1020": "a comment need not begin with the name in every case",
	"ST1021": "as ST1020",
	"ST1022": "as ST1020",
	"SA1019": "nothing is marked deprecated without a date; go fix does the rest",
}

func main() {
	checks := []*analysis.Analyzer{
		errcheck.Analyzer,       // a dropped error is a lie told later
		errorlint.NewAnalyzer(), // errors are wrapped, so == and type assertions miss them
		bodyclose.Analyzer,      // a response left open is a connection lost
		nilness.Analyzer,        // what can only panic
		unusedwrite.Analyzer,    // a field set on a copy
	}
	for _, set := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, check := range set {
			if _, left := without[check.Analyzer.Name]; !left {
				checks = append(checks, check.Analyzer)
			}
		}
	}
	unitchecker.Main(slices.Clip(checks)...)
}
