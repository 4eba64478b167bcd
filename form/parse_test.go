package form_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

func TestIsMediaType(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		form.MediaType:                              true,
		strings.ToUpper(form.MediaType):             true,
		form.MediaType + "; charset=utf-8":          true,
		" " + form.MediaType + " ;x":                true,
		form.MediaType + "x":                        false,
		"application/json":                          false,
		"":                                          false,
		"text/plain; x=" + form.MediaType:           false,
		"application/vnd.agent-taskbay.form":        false,
		"application/vnd.agent-taskbay.form+json+x": false,
	}
	for mediaType, want := range tests {
		if got := form.IsMediaType(mediaType); got != want {
			t.Errorf("IsMediaType(%q) = %v, want %v", mediaType, got, want)
		}
	}
}

func TestParseNotJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, definition, says string }{
		{"empty", "", "unexpected end"},
		{"cut", `{"schema":`, "unexpected end"},
		{"position", `{"schema":x}`, "at byte 11"},
		{"two values", `{} {}`, "at byte 4"},
		{"byte order mark", "\ufeff{}", "byte order mark"},
		{"not UTF-8", "{\"title\":\"\xff\"}", "UTF-8"},
		{"too deep", strings.Repeat("[", 20_000), "depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reasons := form.Inspect([]byte(tt.definition)).Reasons
			if len(reasons) != 1 || reasons[0].Path != "" || !strings.Contains(reasons[0].Message, tt.says) {
				t.Errorf("reasons = %v, want one at the root that says %q", reasons, tt.says)
			}
		})
	}
}

func TestParseDeep(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":[`, 4_000) + strings.Repeat(`]}`, 4_000)
	definition := `{"x":` + deep + `,"schema":{"type":"object","properties":{"a":{"type":"string","x":` + deep + `}}}}`
	if f := mustParse(t, []byte(definition)); len(f.Fields) != 1 {
		t.Errorf("%d fields, want 1", len(f.Fields))
	}
}

func TestParseRepeatedMembers(t *testing.T) {
	t.Parallel()
	definition := `{"title":"first","schema":0,"title":"last","schema":{"type":"object","properties":{
		"a":{"type":"string","title":"first"},"b":{"type":"array"},"a":{"type":"number","maximum":1,"maximum":2},"b":{"type":"boolean"}}}}`
	want := &form.Form{Title: "last", SubmitLabel: "Submit", Fields: []form.Field{
		{Key: "a", Kind: form.Number, Label: "a", Maximum: "2"},
		{Key: "b", Kind: form.Boolean, Label: "b"},
	}}
	if diff := cmp.Diff(want, mustParse(t, []byte(definition))); diff != "" {
		t.Errorf("form mismatch (-want +got):\n%s", diff)
	}
}

func TestParseEscapedNames(t *testing.T) {
	t.Parallel()
	definition := `{"\u0073chema":{"typ\u0065":"\u006fbject","properties":{"\u0061":{"type":"str\u0069ng","title":"\ud83d\ude00 \ud800"}}}}`
	f := mustParse(t, []byte(definition))
	if got := f.Fields[0]; got.Key != "a" || got.Label != "😀 \ufffd" {
		t.Errorf("field %q labelled %q, want a labelled 😀 and U+FFFD", got.Key, got.Label)
	}
}

func TestParseNames(t *testing.T) {
	t.Parallel()
	definition := `{"Schema":1,"schema":{"type":"object","Properties":{},"properties":{"a":{"type":"string","Title":"no"}}}}`
	if f := mustParse(t, []byte(definition)); f.Fields[0].Label != "a" {
		t.Errorf("label %q comes of a member in other letter case", f.Fields[0].Label)
	}
}

func TestParseLengths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		number           string
		minimum, maximum *int
	}{
		{"0", new(0), new(0)},
		{"-0", new(0), new(0)},
		{"-0.5", nil, nil},
		{"0.999", new(0), new(0)},
		{"1.5e1", new(15), new(15)},
		{"9999.9", new(9999), new(9999)},
		{"10000", new(10_000), new(10_000)},
		{"10001", new(10_001), new(10_000)},
		{"1e300", new(math.MaxInt32), new(10_000)},
		{"1e-300", new(0), new(0)},
		{"1e400", nil, nil},
		{`"5"`, nil, nil},
		{"null", nil, nil},
	}
	for _, tt := range tests {
		f := mustParse(t, around("", "", fmt.Sprintf(`{"type":"string","minLength":%s,"maxLength":%[1]s}`, tt.number)))
		want := form.Field{Key: "a", Kind: form.Text, Label: "a", MinLength: tt.minimum, MaxLength: tt.maximum,
			Multiline: tt.maximum != nil && *tt.maximum > 200}
		if diff := cmp.Diff(want, f.Fields[0]); diff != "" {
			t.Errorf("lengths of %s mismatch (-want +got):\n%s", tt.number, diff)
		}
	}
}

func TestParseKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	const long = "123456789012345678901234567890.12345678901234567890e-1"
	f := mustParse(t, around("", "", `{"type":"number","minimum":-`+long+`,"maximum":`+long+`,"default":`+long+`}`))
	want := form.Field{Key: "a", Kind: form.Number, Label: "a", Minimum: "-" + long, Maximum: long, Default: form.Decimal(long)}
	if diff := cmp.Diff(want, f.Fields[0]); diff != "" {
		t.Errorf("field mismatch (-want +got):\n%s", diff)
	}
	if got, want := f.Initial()["a"].Text(), "12345678901234567890123456789.01234567890123456789"; got != want {
		t.Errorf("initial text %s, want %s", got, want)
	}
}

func TestParseIgnoresWhatIsNotFinite(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e309", "-1e309", "1e999999999999", "1e-9999999999999999999", "1e99999999999999999999"} {
		f := mustParse(t, around("", "", fmt.Sprintf(`{"type":"number","minimum":%s,"default":%[1]s}`, number)))
		if diff := cmp.Diff(form.Field{Key: "a", Kind: form.Number, Label: "a"}, f.Fields[0]); diff != "" {
			t.Errorf("field with %s mismatch (-want +got):\n%s", number, diff)
		}
	}
}

func TestFieldLookUp(t *testing.T) {
	t.Parallel()
	f := ofEveryKind()
	if got := f.Field("choice"); got != &f.Fields[4] {
		t.Errorf(`Field("choice") = %v`, got)
	}
	if got := f.Field("none"); got != nil {
		t.Errorf(`Field("none") = %v, want nil`, got)
	}
	if label, ok := f.Field("choice").OptionLabel("y"); label != "Y" || !ok {
		t.Errorf(`OptionLabel("y") = %q, %v`, label, ok)
	}
	if label, ok := f.Field("choice").OptionLabel("Y"); label != "" || ok {
		t.Errorf(`OptionLabel("Y") = %q, %v, want none`, label, ok)
	}
}

func TestReportJSON(t *testing.T) {
	t.Parallel()
	report := form.Inspect([]byte(`{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`))
	const want = `{"accepted":true,"form":{"title":"Agent request","submitLabel":"Submit","fields":` +
		`[{"key":"a","kind":"text","label":"a","required":false,"multiline":false}]},"reasons":[],"advice":[]}`
	if got := marshal(t, report); string(got) != want {
		t.Errorf("report = %s, want %s", got, want)
	}
	const rejected = `{"accepted":false,"reasons":[{"path":"/schema","message":"schema is missing; it must be an object."}],"advice":[]}`
	if got := marshal(t, form.Inspect([]byte("{}"))); string(got) != rejected {
		t.Errorf("report = %s, want %s", got, rejected)
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	plain := map[form.Decimal]string{
		"10": "10", "1e1": "10", "0.50": "0.5", "-0": "0", "1E-7": "0.0000001", "-12.5e-1": "-1.25", "1e401": "1e401", "x": "x", "": "",
		"1e-396": "0." + strings.Repeat("0", 395) + "1", "-1e-398": "-1e-398", "12e-399": "12e-399",
	}
	for number, want := range plain {
		if got := number.String(); got != want {
			t.Errorf("%q as text = %q, want %q", string(number), got, want)
		}
	}
	for _, bad := range []string{`"1"`, "null", "+1", "01", ".5", "5.", "1 2", "1\n", "NaN", ""} {
		var number form.Decimal
		if err := number.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q is read as the number %q", bad, string(number))
		}
		if _, err := json.Marshal(form.Decimal(bad)); err == nil {
			t.Errorf("%q is written as a number", bad)
		}
	}
}
