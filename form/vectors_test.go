package form_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

// vector is one case of any file in testdata.
type vector struct {
	Name       string
	Definition json.RawMessage
	Accepted   *bool           // definitions.json
	Expect     json.RawMessage // the form drawn, where given
	Path       *string         // of one of the reasons, where it is rejected
	Typed      form.Entries    // submissions.json: all that stands in the controls
	Entered    form.Entries    // reported.json: changes to the initial values
	Rejected   bool
	Submission json.RawMessage
	Errors     map[string]string
}

func vectors(t testing.TB, file string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var cases []vector
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no cases", file)
	}
	return cases
}

func TestDefinitionVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range vectors(t, "definitions.json") {
		t.Run(tc.Name, func(t *testing.T) {
			t.Parallel()
			report := form.Inspect(tc.Definition)
			if report.Accepted != *tc.Accepted {
				t.Fatalf("accepted = %v, want %v; reasons %v", report.Accepted, *tc.Accepted, report.Reasons)
			}
			if tc.Expect != nil {
				if diff := cmp.Diff(exact(t, tc.Expect), exact(t, marshal(t, report.Form))); diff != "" {
					t.Errorf("form mismatch (-want +got):\n%s", diff)
				}
			}
			if tc.Path != nil && !hasPath(report.Reasons, *tc.Path) {
				t.Errorf("no reason at %q in %v", *tc.Path, report.Reasons)
			}
			checkParseAgrees(t, tc.Definition, report)
		})
	}
}

func TestSubmissionVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range vectors(t, "submissions.json") {
		t.Run(tc.Name, func(t *testing.T) {
			t.Parallel()
			f := mustParse(t, tc.Definition)
			checkOutcome(t, f, tc.Typed, tc)
		})
	}
}

func TestReportedVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range vectors(t, "reported.json") {
		t.Run(tc.Name, func(t *testing.T) {
			t.Parallel()
			f, err := form.Parse(tc.Definition)
			if tc.Rejected {
				var rejected *form.RejectedError
				if !errors.As(err, &rejected) {
					t.Fatalf("Parse() error = %v, want a rejection", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkOutcome(t, f, f.Initial().With(tc.Entered), tc)
		})
	}
}

// checkOutcome checks entries against a case's submission or errors, and the answer backwards.
func checkOutcome(t *testing.T, f *form.Form, entries form.Entries, tc vector) {
	t.Helper()
	answer, errs := f.Check(entries)
	if (tc.Submission == nil) == (tc.Errors == nil) {
		t.Fatal("the case has neither submission nor errors, or both")
	}
	if tc.Errors != nil {
		if answer != nil {
			t.Errorf("answer = %s, want none beside errors", answer)
		}
		got := map[string]string{}
		for _, fault := range errs {
			got[fault.Key] = fault.Message
		}
		if diff := cmp.Diff(tc.Errors, got); diff != "" {
			t.Errorf("errors mismatch (-want +got):\n%s", diff)
		}
		return
	}
	if len(errs) > 0 {
		t.Fatalf("errors = %v, want none", errs)
	}
	if diff := cmp.Diff(exact(t, tc.Submission), exact(t, answer)); diff != "" {
		t.Errorf("submission mismatch (-want +got):\n%s", diff)
	}
	for _, given := range []json.RawMessage{answer, tc.Submission} {
		if errs := f.CheckAnswer(given); len(errs) > 0 {
			t.Errorf("CheckAnswer(%.100s) = %v, want none", given, errs)
		}
	}
}

// checkParseAgrees checks that Parse says the same as a report.
func checkParseAgrees(t *testing.T, definition []byte, report form.Report) {
	t.Helper()
	f, err := form.Parse(definition)
	if diff := cmp.Diff(report.Form, f); diff != "" {
		t.Errorf("Parse and Inspect differ (-inspect +parse):\n%s", diff)
	}
	var reasons []form.Note
	var rejected *form.RejectedError
	if errors.As(err, &rejected) {
		reasons = rejected.Reasons
	}
	if !slices.Equal(reasons, report.Reasons) {
		t.Errorf("reasons of Parse %v, of Inspect %v", reasons, report.Reasons)
	}
}

func mustParse(t testing.TB, definition []byte) *form.Form {
	t.Helper()
	f, err := form.Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func hasPath(notes []form.Note, path string) bool {
	return slices.ContainsFunc(notes, func(note form.Note) bool { return note.Path == path })
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// exact decodes JSON for a comparison by value, numbers without going through floating point.
func exact(t testing.TB, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%.100s: %v", data, err)
	}
	return plainNumbers(value)
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return json.Number(form.Decimal(v).String())
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	}
	return value
}
