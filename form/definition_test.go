package form_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

func TestDefinition(t *testing.T) {
	t.Parallel()
	built := form.Form{
		Title: "Deployment <details>",
		Fields: []form.Field{
			{Key: "env", Kind: form.Choice, Required: true, Options: []form.Option{{Value: "staging", Label: "Staging"}, {Value: ""}}},
			{Key: "replicas", Kind: form.Integer, Minimum: "1", Maximum: "10", Default: 2},
			{Key: "share", Kind: form.Number, Default: 0.1},
			{Key: "note", Kind: form.Text, MinLength: new(0), MaxLength: new(200), Multiline: true},
			{Key: "dryRun", Kind: form.Boolean, Default: false},
		},
	}
	definition, err := built.Definition()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"title":"Deployment <details>","order":["env","replicas","share","note","dryRun"],` +
		`"schema":{"type":"object","required":["env"],"properties":{` +
		`"env":{"type":"string","enum":["staging",""],"enumNames":["Staging",""]},` +
		`"replicas":{"type":"integer","minimum":1,"maximum":10,"default":2},` +
		`"share":{"type":"number","default":0.1},` +
		`"note":{"type":"string","format":"multiline","minLength":0,"maxLength":200},` +
		`"dryRun":{"type":"boolean","default":false}}}}`
	if diff := cmp.Diff(want, string(definition)); diff != "" {
		t.Errorf("Definition() mismatch (-want +got):\n%s", diff)
	}
}

func TestDefinitionDefaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value any
		want  form.Decimal
	}{
		{5, "5"}, {int8(-5), "-5"}, {uint64(math.MaxUint64), "18446744073709551615"},
		{0.1, "0.1"}, {float32(0.1), "0.1"}, {1e21, "1000000000000000000000"},
		{json.Number("1e2"), "1e2"}, {form.Decimal("0.10"), "0.10"},
	}
	for _, tt := range tests {
		f := form.Form{Fields: []form.Field{{Key: "a", Kind: form.Number, Default: tt.value}}}
		definition, err := f.Definition()
		if err != nil {
			t.Errorf("default %v: %v", tt.value, err)
			continue
		}
		if got := mustParse(t, definition).Fields[0].Default; got != tt.want {
			t.Errorf("default %v (%[1]T) becomes %v, want %v", tt.value, got, tt.want)
		}
	}
}

func TestDefinitionOfEveryAcceptedVector(t *testing.T) {
	t.Parallel()
	for _, tc := range vectors(t, "definitions.json") {
		f, err := form.Parse(tc.Definition)
		if err != nil {
			continue
		}
		definition, err := f.Definition()
		if err != nil {
			t.Errorf("%s: Definition() error = %v", tc.Name, err)
			continue
		}
		if diff := cmp.Diff(f, mustParse(t, definition)); diff != "" {
			t.Errorf("%s: form mismatch (-want +got):\n%s", tc.Name, diff)
		}
	}
}

func TestDefinitionErrors(t *testing.T) {
	t.Parallel()
	const a = "/schema/properties/a"
	tests := []struct {
		name  string
		field form.Field
		path  string
	}{
		{"no kind", form.Field{}, a + "/type"},
		{"unknown kind", form.Field{Kind: "date"}, a + "/type"},
		{"long label", form.Field{Kind: form.Text, Label: strings.Repeat("x", 121)}, a + "/title"},
		{"long description", form.Field{Kind: form.Text, Description: strings.Repeat("x", 2_001)}, a + "/description"},
		{"required boolean", form.Field{Kind: form.Boolean, Required: true}, a + "/required"},
		{"default of another kind", form.Field{Kind: form.Text, Default: 5}, a + "/default"},
		{"default that is no option", form.Field{Kind: form.Choice, Options: []form.Option{{Value: "x"}}, Default: "y"}, a + "/default"},
		{"default that is nothing", form.Field{Kind: form.Text, Default: []string{"x"}}, a + "/default"},
		{"default that is not finite", form.Field{Kind: form.Number, Default: math.Inf(1)}, a + "/default"},
		{"bound that is not finite", form.Field{Kind: form.Number, Maximum: "1e400"}, a + "/maximum"},
		{"bound that is no number", form.Field{Kind: form.Number, Minimum: "one"}, a + "/minimum"},
		{"bound that ends the document", form.Field{Kind: form.Number, Minimum: `1}`}, a + "/minimum"},
		{"bound on a text", form.Field{Kind: form.Text, Minimum: "1"}, a + "/minimum"},
		{"length on a number", form.Field{Kind: form.Number, MaxLength: new(3)}, a + "/maxLength"},
		{"length over the limit", form.Field{Kind: form.Text, MaxLength: new(form.MaxText + 1)}, a + "/maxLength"},
		{"negative length", form.Field{Kind: form.Text, MinLength: new(-1)}, a + "/minLength"},
		{"lines on a number", form.Field{Kind: form.Number, Multiline: true}, a + "/format"},
		{"options on a number", form.Field{Kind: form.Number, Options: []form.Option{{Value: "x"}}}, a + "/type"},
		{"choice without options", form.Field{Kind: form.Choice}, a + "/type"},
		{"bytes that are not UTF-8", form.Field{Kind: form.Text, Label: "\xff"}, a + "/title"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.field.Key = "a"
			f := form.Form{Fields: []form.Field{tt.field}}
			definition, err := f.Definition()
			var rejected *form.RejectedError
			if !errors.As(err, &rejected) || definition != nil {
				t.Fatalf("Definition() = %s, %v; want a rejection", definition, err)
			}
			if !hasPath(rejected.Reasons, tt.path) {
				t.Errorf("no reason at %s in %v", tt.path, rejected.Reasons)
			}
		})
	}
}

func TestDefinitionErrorsOfTheForm(t *testing.T) {
	t.Parallel()
	text := func(key string) form.Field { return form.Field{Key: key, Kind: form.Text} }
	tests := []struct {
		name string
		form form.Form
		path string
	}{
		{"no fields", form.Form{}, "/schema/properties"},
		{"a key twice", form.Form{Fields: []form.Field{text("a"), text("a")}}, "/schema/properties/a"},
		{"a bad key", form.Form{Fields: []form.Field{text("a b")}}, "/schema/properties/a b"},
		{"a long title", form.Form{Title: strings.Repeat("x", 121), Fields: []form.Field{text("a")}}, "/title"},
		{"a long submit label", form.Form{SubmitLabel: strings.Repeat("x", 41), Fields: []form.Field{text("a")}}, "/submitLabel"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.form.Definition()
			var rejected *form.RejectedError
			if !errors.As(err, &rejected) || !hasPath(rejected.Reasons, tt.path) {
				t.Errorf("Definition() error = %v, want a reason at %s", err, tt.path)
			}
		})
	}
}

func TestFormJSON(t *testing.T) {
	t.Parallel()
	f := ofEveryKind()
	const want = `{"title":"Kinds","submitLabel":"Send","fields":[` +
		`{"key":"text","kind":"text","label":"Text","required":false,"default":"a\r\nb","maxLength":20,"multiline":false},` +
		`{"key":"number","kind":"number","label":"Number","required":false,"default":2.50,"minimum":-0.5,"maximum":1e3},` +
		`{"key":"integer","kind":"integer","label":"Integer","required":false,"default":1e2,"minimum":0.5},` +
		`{"key":"boolean","kind":"boolean","label":"Boolean","required":false,"default":true},` +
		`{"key":"choice","kind":"choice","label":"Choice","required":false,"default":"y","options":[{"value":"x","label":"X"},{"value":"y","label":"Y"}]}]}`
	got := marshal(t, f)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON mismatch (-want +got):\n%s", diff)
	}
	var decoded form.Form
	if err := json.Unmarshal(got, &decoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*f, decoded); diff != "" {
		t.Errorf("form changes on its way through JSON (-want +got):\n%s", diff)
	}
}

func TestRejectedError(t *testing.T) {
	t.Parallel()
	_, err := form.Parse([]byte(`{"schema":{"type":"x","properties":{"\u001b":1}}}`))
	want := `form definition rejected: The schema's type must be "object" (at "/schema/type"), and 2 more`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}
