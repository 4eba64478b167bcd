package main

import (
	"strings"
	"testing"
)

// A run with each kind of outcome, as go test -json prints it.
const outcomes = `{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestTable","Output":"=== RUN   TestTable\n"}
{"Action":"output","Package":"p","Test":"TestTable/bad","Output":"    p_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestTable/bad"}
{"Action":"pass","Package":"p","Test":"TestTable/good"}
{"Action":"fail","Package":"p","Test":"TestTable"}
{"Action":"output","Package":"p","Test":"TestLate","Output":"=== RUN   TestLate\n"}
{"Action":"output","Package":"p","Test":"TestLate","Output":"    p_test.go:9: no browser\n"}
{"Action":"output","Package":"p","Test":"TestLate","Output":"--- SKIP: TestLate (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestLate"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"none","Output":"?   \tnone\t[no test files]\n"}
{"Action":"skip","Package":"none"}
{"Action":"output","Package":"crash","Output":"panic: in TestMain\n"}
{"Action":"fail","Package":"crash"}
{"Action":"build-output","ImportPath":"broken","Output":"broken/b.go:1:1: expected package\n"}
{"Action":"build-fail","ImportPath":"broken"}
{"Action":"fail","Package":"broken","FailedBuild":"broken"}
{"Action":"pass","Package":"fine"}
`

func TestReport(t *testing.T) {
	t.Parallel()
	r, err := readReport(strings.NewReader(outcomes + "a program that speaks past the test"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.summary(), "2 tests in 1 packages passed, 1 skipped, 3 failed"; got != want {
		t.Errorf("summary() = %q, want %q", got, want)
	}
	if want := (skipped{"p TestLate", "p_test.go:9: no browser"}); len(r.skips) != 1 || r.skips[0] != want {
		t.Errorf("skips = %v, want %v", r.skips, want)
	}
	failure := r.failure()
	if failure == nil {
		t.Fatal("failure() = nil")
	}
	for text, want := range map[string]bool{
		"FAIL p TestTable/bad":           true,
		"p_test.go:7: got 1, want 2":     true,
		"panic: in TestMain":             true,
		"b.go:1:1: expected package":     true,
		"FAIL p TestTable\n":             false,
		"chatter":                        false,
		"TestLate":                       false,
		"[no test files]":                false,
		"FAIL p\n":                       false,
		"speaks past the test":           false,
		"FAIL broken":                    true,
		"broken/b.go:1:1: expected pack": true,
	} {
		if got := strings.Contains(failure.Error(), text); got != want {
			t.Errorf("the failure contains %q: %v, want %v; it is\n%s", text, got, want, failure)
		}
	}
}

func TestNoFailure(t *testing.T) {
	t.Parallel()
	r, err := readReport(strings.NewReader(`{"Action":"pass","Package":"p"}` + "\n"))
	if err != nil || r.failure() != nil {
		t.Errorf("readReport() = %v, %v; want no failure", r.failure(), err)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	few := strings.Repeat("line\n", firstLines+lastLines)
	if got, want := shorten(few), strings.TrimRight(few, "\n"); got != want {
		t.Errorf("shorten() cut %d lines", firstLines+lastLines)
	}
	got := strings.Split(shorten("first\n"+strings.Repeat("line\n", 1000)+"last\n"), "\n")
	if len(got) != firstLines+1+lastLines || got[0] != "first" || got[len(got)-1] != "last" {
		t.Errorf("shorten() = %d lines from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestConclude(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check  check
		failed []string
		want   bool
	}{
		"all is well":         {check{}, nil, true},
		"a step failed":       {check{}, []string{"vet"}, false},
		"a skip":              {check{skipped: []string{"x: y"}}, nil, true},
		"a skip that may not": {check{all: true, skipped: []string{"x: y"}}, nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.check.conclude(tc.failed, 0); got != tc.want {
				t.Errorf("conclude() = %v, want %v", got, tc.want)
			}
		})
	}
}
