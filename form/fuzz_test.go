package form_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

// oddDefinitions are seeds that JSON files of cases cannot hold.
var oddDefinitions = []string{
	"", " ", "{", "\xff", "\ufeff{}", `{"schema":{}}{}`,
	`{"schema":{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"number"}}}}`,
	`{"schema":{"type":"object","properties":{"a":{"enum":["\ud800","\udfff","\ud83d\ude00"]}}}}`,
	`{"schema":{"type":"object","properties":{"a":{"type":"number","minimum":1e999999999,"maximum":-1e-999999999}}}}`,
	`{"schema":{"type":"object","properties":{"a":{"type":"integer","minimum":0.1,"maximum":0.9,"default":1e-400}}}}`,
	`{"schema":{"type":"object","properties":{"a":{"type":"string","minLength":1e300,"maxLength":1e-300}}}}`,
	`{"schema":{"type":"object","properties":{"a":{"type":"string","title":"pаypal.com\u202e"}}}}`,
	strings.Repeat(`{"schema":`, 2_000) + strings.Repeat(`}`, 2_000),
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"definitions.json", "submissions.json", "reported.json"} {
		for _, tc := range vectors(f, file) {
			f.Add([]byte(tc.Definition))
		}
	}
	for _, definition := range oddDefinitions {
		f.Add([]byte(definition))
	}
	f.Fuzz(func(t *testing.T, definition []byte) {
		report := form.Inspect(definition)
		checkParseAgrees(t, definition, report)
		out := marshal(t, report)
		if most := 128<<10 + 40*len(definition); len(out) > most {
			t.Errorf("a report of %d bytes on a definition of %d", len(out), len(definition))
		}
		if report.Reasons == nil || report.Advice == nil {
			t.Error("a report has null for an empty list")
		}
		if report.Accepted != (len(report.Reasons) == 0) || report.Accepted != (report.Form != nil) {
			t.Errorf("accepted %v with form %v and reasons %v", report.Accepted, report.Form, report.Reasons)
		}
		if report.Accepted {
			checkAccepted(t, definition, report.Form)
		}
	})
}

// checkAccepted checks what holds for every form that is drawn.
func checkAccepted(t *testing.T, definition []byte, f *form.Form) {
	t.Helper()
	var decoded form.Form
	if err := json.Unmarshal(marshal(t, f), &decoded); err != nil {
		t.Fatalf("the form's JSON cannot be read: %v", err)
	}
	if diff := cmp.Diff(*f, decoded); diff != "" {
		t.Errorf("the form changes on its way through JSON (-want +got):\n%s", diff)
	}

	again, err := f.Definition()
	if err != nil {
		t.Fatalf("Definition() error = %v", err)
	}
	if diff := cmp.Diff(f, mustParse(t, again)); diff != "" {
		t.Errorf("the form changes on its way through a definition (-want +got):\n%s", diff)
	}

	var plain struct {
		Schema struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(definition, &plain); err != nil {
		return // members that differ in letter case only confuse encoding/json
	}
	if len(plain.Schema.Properties) < len(f.Fields) {
		t.Errorf("%d fields of %d properties", len(f.Fields), len(plain.Schema.Properties))
	}
	entries := f.Initial()
	if len(entries) != len(f.Fields) {
		t.Errorf("%d entries for %d fields", len(entries), len(f.Fields))
	}
}

func FuzzCheck(f *testing.F) {
	for _, tc := range vectors(f, "submissions.json") {
		f.Add([]byte(tc.Definition), marshal(f, tc.Typed))
	}
	for _, tc := range vectors(f, "reported.json") {
		f.Add([]byte(tc.Definition), marshal(f, tc.Entered))
	}
	anyNumber := []byte(`{"schema":{"type":"object","properties":{"v":{"type":"number","minimum":-1e300}}}}`)
	for _, typed := range []string{
		"1e308", "1e-400", "-0.0e5", "1e-999999999999999999", "1e-9999999999999999999", "+.5e+07",
		"." + strings.Repeat("1", 63), "." + strings.Repeat("1", 59) + "e-99",
	} {
		f.Add(anyNumber, marshal(f, form.Entries{"v": form.Typed(typed)}))
	}
	f.Fuzz(func(t *testing.T, definition, entered []byte) {
		drawn, err := form.Parse(definition)
		var entries form.Entries
		if err != nil || json.Unmarshal(entered, &entries) != nil {
			return
		}
		answer, errs := drawn.Check(entries)
		if (answer == nil) == (len(errs) == 0) {
			t.Fatalf("answer %s with errors %v", answer, errs)
		}
		if answer == nil {
			return
		}
		if !json.Valid(answer) {
			t.Fatalf("answer is not JSON: %q", answer)
		}
		if most := 1_000 + 6*len(entered) + (len(drawn.Fields) * 500); len(answer) > most {
			t.Errorf("an answer of %d bytes for %d entered", len(answer), len(entered))
		}
		back, errs := drawn.ReadAnswer(answer)
		if len(errs) > 0 {
			t.Fatalf("ReadAnswer(%s) = %v, want no errors", answer, errs)
		}
		if again, errs := drawn.Check(back); !bytes.Equal(answer, again) {
			t.Errorf("answer %s becomes %s %v when read and sent again", answer, again, errs)
		}
	})
}

func FuzzCheckAnswer(f *testing.F) {
	for _, tc := range vectors(f, "submissions.json") {
		if tc.Submission != nil {
			f.Add([]byte(tc.Definition), []byte(tc.Submission))
		}
	}
	f.Fuzz(func(t *testing.T, definition, answer []byte) {
		drawn, err := form.Parse(definition)
		if err != nil {
			return
		}
		entries, errs := drawn.ReadAnswer(answer)
		if len(errs) > 2*form.MaxFields {
			t.Errorf("%d errors", len(errs))
		}
		if len(errs) > 0 {
			return
		}
		again, errs := drawn.Check(entries)
		if len(errs) > 0 {
			t.Fatalf("Check of what was read from %s: %v", answer, errs)
		}
		if diff := cmp.Diff(exact(t, answer), exact(t, again)); diff != "" {
			t.Errorf("a valid answer is not what Check gives (-answer +check):\n%s", diff)
		}
	})
}

// FuzzDecimal compares with exact rational numbers.
func FuzzDecimal(f *testing.F) {
	for _, pair := range [][2]string{
		{"1", "2"}, {"-0.5", "5e-1"}, {"1e400", "1"}, {"9007199254740993", "9007199254740992"},
		{"0.30", "0.3"}, {"-1e-300", "0"}, {"1.7976931348623157e308", "1.7976931348623159e308"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := rational(a), rational(b)
		if x == nil || y == nil {
			return
		}
		if got, want := form.Decimal(a).Compare(form.Decimal(b)), x.Cmp(y); got != want {
			t.Errorf("%s compared with %s = %d, want %d", a, b, got, want)
		}
		if got, want := form.Decimal(a).IsWhole(), x.IsInt(); got != want {
			t.Errorf("%s is whole = %v, want %v", a, got, want)
		}
		text := form.Decimal(a).String()
		if z, ok := new(big.Rat).SetString(text); !ok || z.Cmp(x) != 0 || !json.Valid([]byte(text)) {
			t.Errorf("%s is written as %s", a, text)
		}
	})
}

// rational returns the value of a short JSON number that is finite, or nil.
func rational(s string) *big.Rat {
	var number form.Decimal
	if len(s) > 100 || json.Unmarshal([]byte(s), &number) != nil || string(number) != s {
		return nil
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(exponent) > 4 {
		return nil
	}
	if _, err := json.Number(s).Float64(); err != nil {
		return nil
	}
	value, _ := new(big.Rat).SetString(s)
	return value
}
