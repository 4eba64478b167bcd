package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

// ofEveryKind is a form with one field of each kind, all optional.
func ofEveryKind() *form.Form {
	return &form.Form{Title: "Kinds", SubmitLabel: "Send", Fields: []form.Field{
		{Key: "text", Kind: form.Text, Label: "Text", MaxLength: new(20), Default: "a\r\nb"},
		{Key: "number", Kind: form.Number, Label: "Number", Minimum: "-0.5", Maximum: "1e3", Default: form.Decimal("2.50")},
		{Key: "integer", Kind: form.Integer, Label: "Integer", Minimum: "0.5", Default: form.Decimal("1e2")},
		{Key: "boolean", Kind: form.Boolean, Label: "Boolean", Default: true},
		{Key: "choice", Kind: form.Choice, Label: "Choice", Options: []form.Option{{Value: "x", Label: "X"}, {Value: "y", Label: "Y"}}, Default: "y"},
	}}
}

func TestInitial(t *testing.T) {
	t.Parallel()
	want := form.Entries{
		"text":    form.Typed("a\r\nb"),
		"number":  form.Typed("2.50"),
		"integer": form.Typed("100"),
		"boolean": form.Ticked(true),
		"choice":  form.Chosen("y"),
	}
	if diff := cmp.Diff(want, ofEveryKind().Initial()); diff != "" {
		t.Errorf("Initial() mismatch (-want +got):\n%s", diff)
	}

	bare := ofEveryKind()
	for i := range bare.Fields {
		bare.Fields[i].Default = nil
	}
	want = form.Entries{
		"text": form.Typed(""), "number": form.Typed(""), "integer": form.Typed(""),
		"boolean": form.Ticked(false), "choice": {},
	}
	if diff := cmp.Diff(want, bare.Initial()); diff != "" {
		t.Errorf("Initial() without defaults mismatch (-want +got):\n%s", diff)
	}
}

func TestCheckKeepsFieldOrder(t *testing.T) {
	t.Parallel()
	f := ofEveryKind()
	answer, errs := f.Check(f.Initial())
	const want = `{"text":"a\nb","number":2.5,"integer":100,"boolean":true,"choice":"y"}`
	if string(answer) != want || len(errs) > 0 {
		t.Errorf("Check() = %s, %v, want %s", answer, errs, want)
	}
	_, errs = f.Check(form.Entries{"choice": form.Chosen("z"), "integer": form.Typed("x"), "text": form.Typed(strings.Repeat("x", 21))})
	const wantErrors = `{"text":"At most 20 characters","integer":"Enter a number","choice":"Choose one of the options"}`
	if got := marshal(t, errs); string(got) != wantErrors {
		t.Errorf("errors = %s, want %s", got, wantErrors)
	}
	if got := errs.Get("integer"); got != "Enter a number" {
		t.Errorf(`Get("integer") = %q`, got)
	}
	if got := errs.Get("boolean"); got != "" {
		t.Errorf(`Get("boolean") = %q, want none`, got)
	}
	if got, want := errs.Error(), `"text": At most 20 characters; "integer": Enter a number; "choice": Choose one of the options`; got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}

func TestCheckNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typed string
		want  string // the number sent, or the message
	}{
		{"1e308", "1" + strings.Repeat("0", 308)},
		{"-1.5E+2", "-150"},
		{"1e309", "Enter a number"},
		{"1.7976931348623157e308", "17976931348623157" + strings.Repeat("0", 292)},
		{"1.7976931348623159e308", "Enter a number"},
		{"5e-324", "0." + strings.Repeat("0", 323) + "5"},
		{"1e-400", "1e-400"},
		{"0.10e-999", "1e-1000"},
		{"1e-999999999999999999", "1e-999999999999999999"},
		{"0e999999999999999999999", "0"},
		{"-0.00", "0"},
		{strings.Repeat("9", 64), strings.Repeat("9", 64)},
		{strings.Repeat("9", 65), "Enter a number"},
		{" \u3000" + strings.Repeat("9", 64) + "\ufeff", strings.Repeat("9", 64)},
		{"\u00851", "Enter a number"},
		{"1\u200b", "Enter a number"},
		{".", "Enter a number"},
		{"+.e1", "Enter a number"},
		{"1e+", "Enter a number"},
		{"1e1.5", "Enter a number"},
		{"+-1", "Enter a number"},
		{"１", "Enter a number"},
	}
	f := &form.Form{Fields: []form.Field{{Key: "v", Kind: form.Number}}}
	for _, tt := range tests {
		answer, errs := f.Check(form.Entries{"v": form.Typed(tt.typed)})
		got := errs.Get("v")
		if got == "" {
			got = strings.TrimSuffix(strings.TrimPrefix(string(answer), `{"v":`), "}")
		}
		if got != tt.want {
			t.Errorf("%q becomes %s, want %s", tt.typed, got, tt.want)
		}
	}
}

func TestCheckBounds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		minimum, maximum form.Decimal
		typed, want      string
	}{
		{"equal in another notation", "1e1", "10.0", "10", ""},
		{"printed as a plain decimal", "1e3", "", "999.9", "At least 1000"},
		{"small bound printed plain", "", "1e-7", "1", "At most 0.0000001"},
		{"zeros not printed", "0.50", "", "0", "At least 0.5"},
		{"below zero", "", "-2", "-1.99999999999999999999999", "At most -2"},
		{"larger below zero", "-2", "", "-2.0000000000000000000001", "At least -2"},
		{"far apart", "-1e308", "1e308", "1e-308", ""},
		{"tiny against zero", "0", "", "-1e-999999999", "At least 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &form.Form{Fields: []form.Field{{Key: "v", Kind: form.Number, Minimum: tt.minimum, Maximum: tt.maximum}}}
			if _, errs := f.Check(form.Entries{"v": form.Typed(tt.typed)}); errs.Get("v") != tt.want {
				t.Errorf("message %q, want %q", errs.Get("v"), tt.want)
			}
		})
	}
}

func TestCheckWrongControl(t *testing.T) {
	t.Parallel()
	_, errs := ofEveryKind().Check(form.Entries{
		"text": form.Ticked(true), "number": form.Ticked(true), "integer": form.Ticked(false),
		"boolean": form.Typed("true"), "choice": form.Ticked(true),
	})
	want := form.Errors{
		{Key: "text", Message: "Enter a text"}, {Key: "number", Message: "Enter a number"}, {Key: "integer", Message: "Enter a number"},
		{Key: "boolean", Message: "Choose yes or no"}, {Key: "choice", Message: "Choose one of the options"},
	}
	if diff := cmp.Diff(want, errs); diff != "" {
		t.Errorf("errors mismatch (-want +got):\n%s", diff)
	}
}

func TestEntriesJSON(t *testing.T) {
	t.Parallel()
	const text = `{"a":"x\ud83d\ude00\"\\\n\u0000<","b":true,"c":null,"d":""}`
	var entries form.Entries
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		t.Fatal(err)
	}
	want := form.Entries{"a": form.Typed("x😀\"\\\n\x00<"), "b": form.Ticked(true), "c": {}, "d": form.Typed("")}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("entries mismatch (-want +got):\n%s", diff)
	}
	var again form.Entries
	if err := json.Unmarshal(marshal(t, entries), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, again); diff != "" {
		t.Errorf("entries change on their way through JSON (-want +got):\n%s", diff)
	}

	err := json.Unmarshal([]byte(`{"replicas":3}`), &entries)
	var entry form.Entry
	if entry.UnmarshalJSON([]byte(`"`)) == nil {
		t.Error("half a string is an entry")
	}
	if err == nil || !strings.Contains(err.Error(), `"replicas": an entry is a text, true, false or null, not a number; write it as it is typed: "3"`) {
		t.Errorf("error = %v, want one that names replicas and what an entry is", err)
	}
}

func TestEntriesOfNoObject(t *testing.T) {
	t.Parallel()
	for given, says := range map[string]string{
		`[]`: "the entries are an array; they must be an object", `"x"`: "are a string;", `7`: "are a number;", `true`: "are true;",
	} {
		var entries form.Entries
		if err := json.Unmarshal([]byte(given), &entries); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "json.") {
			t.Errorf("entries of %s = %v, want an error that says %q", given, err, says)
		}
	}
	var entries form.Entries
	if err := json.Unmarshal([]byte(`null`), &entries); err != nil || len(entries) > 0 {
		t.Errorf("entries of null = %v, %v; want none", entries, err)
	}
	if entries.UnmarshalJSON([]byte(`{`)) == nil {
		t.Error("half an object is entries")
	}
}

func TestUndeclared(t *testing.T) {
	t.Parallel()
	got := ofEveryKind().Undeclared(form.Entries{"text": {}, "texte": form.Typed("x"), "a/b": form.Ticked(true)})
	want := []form.Note{
		{Path: "/a~1b", Message: `There is no field "a/b", so its entry has no effect.`},
		{Path: "/texte", Message: `There is no field "texte", so its entry has no effect. Did you mean "text"?`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Undeclared() mismatch (-want +got):\n%s", diff)
	}
}

func TestEntriesWith(t *testing.T) {
	t.Parallel()
	initial := form.Entries{"a": form.Typed("1"), "b": form.Typed("2")}
	got := initial.With(form.Entries{"b": form.Typed("3"), "c": form.Ticked(true)})
	want := form.Entries{"a": form.Typed("1"), "b": form.Typed("3"), "c": form.Ticked(true)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("With() mismatch (-want +got):\n%s", diff)
	}
	if initial["b"].Text() != "2" {
		t.Error("With() changed its receiver")
	}
	if got := form.Entries(nil).With(nil); got == nil {
		t.Error("With() of nothing is nil, want empty entries")
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	if e := form.Chosen(""); e.IsNone() || e.Text() != "" {
		t.Error(`Chosen("") is no choice, want the empty choice`)
	}
	if e := (form.Entry{}); !e.IsNone() || e.On() {
		t.Error("the zero Entry is something")
	}
	if e := form.Ticked(true); !e.On() || e.IsNone() {
		t.Error("Ticked(true) is off or nothing")
	}
}
