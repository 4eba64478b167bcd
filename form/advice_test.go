package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

// around puts members of the definition and of its schema around one field called a.
func around(definition, schema, field string) []byte {
	return fmt.Appendf(nil, `{%s"schema":{%s"type":"object","properties":{"a":%s}}}`, definition, schema, field)
}

const aText = `{"type":"string"}`

func TestAdvice(t *testing.T) {
	t.Parallel()
	inField := func(field string) []byte { return around("", "", field) }
	const a = "/schema/properties/a"
	tests := []struct {
		name       string
		definition []byte
		path       string
		says       string
	}{
		// Members without effect.
		{"unknown member", around(`"theme":"dark",`, "", aText), "/theme", "no effect"},
		{"near miss", around(`"submit_label":"Go",`, "", aText), "/submit_label", `"submitLabel"`},
		{"other name", around(`"label":"Go",`, "", aText), "/label", `"title"`},
		{"misplaced", around(`"required":["a"],`, "", aText), "/required", "inside schema"},
		{"name with a slash", around(`"a/b":1,`, "", aText), "/a~1b", "no effect"},
		{"repeated", around(`"title":"x","title":"y",`, "", aText), "/title", "more than once"},
		{"title in schema", around("", `"title":"x",`, aText), "/schema/title", "beside schema"},
		{"reference", around("", `"$ref":"x",`, aText), "/schema/$ref", "not followed"},
		{"closed", around("", `"additionalProperties":false,`, aText), "/schema/additionalProperties", "no effect"},
		{"combined", around("", `"allOf":[],`, aText), "/schema/allOf", "not combined"},
		{"repeated schema member", around("", `"type":"array",`, aText), "/schema/type", "more than once"},
		{"repeated field", []byte(`{"schema":{"type":"object","properties":{"a":0,"a":{"type":"string"}}}}`), a, "more than once"},
		{"pattern", inField(`{"type":"string","pattern":"(a+)+"}`), a + "/pattern", "never run"},
		{"required in field", inField(`{"type":"string","required":true}`), a + "/required", "schema.required"},
		{"near miss in field", inField(`{"type":"string","maxlength":3}`), a + "/maxlength", `"maxLength"`},
		{"labels by another name", inField(`{"enum":["x"],"enumLabels":["X"]}`), a + "/enumLabels", `"enumNames"`},
		{"label", inField(`{"type":"string","label":"A"}`), a + "/label", `"title"`},
		{"repeated in field", inField(`{"type":"string","type":"string"}`), a + "/type", "more than once"},
		{"minimum on text", inField(`{"type":"string","minimum":1}`), a + "/minimum", "minLength"},
		{"length on number", inField(`{"type":"number","maxLength":1}`), a + "/maxLength", "maximum"},
		{"format on boolean", inField(`{"type":"boolean","format":"multiline"}`), a + "/format", "no effect on a boolean"},
		{"length on choice", inField(`{"enum":["x"],"minLength":1}`), a + "/minLength", "no effect on a choice"},
		{"labels without enum", inField(`{"type":"string","enumNames":["X"]}`), a + "/enumNames", "enum"},
		{"enum that is no array", inField(`{"type":"string","enum":"x"}`), a + "/enum", "array"},
		{"format", inField(`{"type":"string","format":"email"}`), a + "/format", `"email"`},
		{"format of another type", inField(`{"type":"string","format":7}`), a + "/format", "a number"},
		{"type beside enum", inField(`{"type":"integer","enum":["1"]}`), a + "/type", "beside enum"},

		// Names of fields.
		{"order that is no array", around(`"order":"a",`, "", aText), "/order", "array"},
		{"unknown in order", around(`"order":["a","aa"],`, "", aText), "/order/1", `"aa"`},
		{"repeated in order", around(`"order":["a","a"],`, "", aText), "/order/1", "second time"},
		{"number in order", around(`"order":[1],`, "", aText), "/order/0", "a number"},
		{"required that is no array", around("", `"required":true,`, aText), "/schema/required", "array"},
		{"unknown in required", around("", `"required":["b"],`, aText), "/schema/required/0", `"b"`},
		{"repeated in required", around("", `"required":["a","a"],`, aText), "/schema/required/1", "second time"},
		{"null in required", around("", `"required":[null],`, aText), "/schema/required/0", "null"},
		{"required boolean", around("", `"required":["a"],`, `{"type":"boolean"}`), "/schema/required/0", "never required"},
		{"misspelt name", []byte(`{"order":["replica"],"schema":{"type":"object","properties":{"replicas":{"type":"string"}}}}`), "/order/0", `Did you mean "replicas"?`},

		// Lengths and bounds.
		{"length of another type", inField(`{"type":"string","minLength":"1"}`), a + "/minLength", "a string"},
		{"negative length", inField(`{"type":"string","minLength":-1}`), a + "/minLength", "negative"},
		{"length beyond range", inField(`{"type":"string","maxLength":1e400}`), a + "/maxLength", "beyond"},
		{"fractional length", inField(`{"type":"string","maxLength":5.9}`), a + "/maxLength", "down to 5"},
		{"long length", inField(`{"type":"string","maxLength":10001}`), a + "/maxLength", "10000"},
		{"lengths that exclude each other", inField(`{"type":"string","minLength":3,"maxLength":2}`), a + "/minLength", "above maxLength"},
		{"length beyond the limit", inField(`{"type":"string","minLength":10001}`), a + "/minLength", "at most 10000"},
		{"no length", inField(`{"type":"string","maxLength":0}`), a + "/maxLength", "Nothing"},
		{"bound of another type", inField(`{"type":"number","minimum":"1"}`), a + "/minimum", "Write 1 without quotes"},
		{"bound beyond range", inField(`{"type":"number","maximum":1e309}`), a + "/maximum", "beyond"},
		{"bounds that exclude each other", inField(`{"type":"number","minimum":2,"maximum":1.5}`), a + "/minimum", "above maximum"},
		{"no whole number between", inField(`{"type":"integer","minimum":2.1,"maximum":2.9}`), a + "/minimum", "whole number"},
		{"no whole number below zero", inField(`{"type":"integer","minimum":-0.9,"maximum":-0.1}`), a + "/minimum", "whole number"},

		// Defaults.
		{"null default", inField(`{"type":"string","default":null}`), a + "/default", "leave it out"},
		{"default of another type", inField(`{"type":"string","default":5}`), a + "/default", "a number"},
		{"quoted number", inField(`{"type":"integer","default":"5"}`), a + "/default", "Write 5 without quotes"},
		{"quoted boolean", inField(`{"type":"boolean","default":"true"}`), a + "/default", "Write true without quotes"},
		{"default beyond range", inField(`{"type":"number","default":-1e400}`), a + "/default", "beyond"},
		{"default below", inField(`{"type":"number","minimum":0.5,"default":0}`), a + "/default", "At least 0.5"},
		{"default with a fraction", inField(`{"type":"integer","default":0.5}`), a + "/default", "whole"},
		{"default of many digits", inField(`{"type":"number","default":0.` + strings.Repeat("1", 65) + `}`), a + "/default", "64 characters"},
		{"short default", inField(`{"type":"string","minLength":3,"default":"x"}`), a + "/default", "At least 3"},
		{"long default", inField(`{"type":"string","maxLength":1,"default":"xy"}`), a + "/default", "At most 1"},
		{"longest default", inField(`{"type":"string","default":"` + strings.Repeat("x", 10_001) + `"}`), a + "/default", "At most 10000"},
		{"lines in a single line", inField(`{"type":"string","default":"x\ny"}`), a + "/default", "multiline"},
		{"blank default", around("", `"required":["a"],`, `{"type":"string","default":"  "}`), a + "/default", "white space"},
		{"default that is no option", inField(`{"enum":["staging"],"default":"stagin"}`), a + "/default", `"staging"`},
		{"list as default", inField(`{"enum":["x"],"default":["x"]}`), a + "/default", "an array"},

		// Choices.
		{"repeated value", inField(`{"enum":["x","y","x"]}`), a + "/enum/2", "option 1"},
		{"twin with an invisible character", inField(`{"enum":["x","x\u200b"]}`), a + "/enum/1", "looks like that of option 1"},
		{"twin with another space", inField(`{"enum":["x y","x\u00a0y"]}`), a + "/enum/1", "looks like that of option 1"},
		{"labels of another length", inField(`{"enum":["x","y"],"enumNames":["X"]}`), a + "/enumNames", "no effect"},
		{"labels that are no array", inField(`{"enum":["x"],"enumNames":"X"}`), a + "/enumNames", "a string"},
		{"number as label", inField(`{"enum":["x"],"enumNames":[1]}`), a + "/enumNames/0", "a number"},
		{"empty label", inField(`{"enum":["x"],"enumNames":[""]}`), a + "/enumNames/0", "empty"},
		{"labels that read the same", inField(`{"enum":["x","y"],"enumNames":["X","X "]}`), a + "/enumNames/1", "option 1"},
		{"value that reads as nothing", inField(`{"enum":["\u200b"]}`), a + "/enum/0", "reads as nothing"},
		{"line break in a value", inField(`{"enum":["x\ny"]}`), a + "/enum/0", "line breaks"},

		// Texts.
		{"empty title", around(`"title":"",`, "", aText), "/title", `"Agent request"`},
		{"title of another type", around(`"title":1,`, "", aText), "/title", "a number"},
		{"long title", around(`"title":"`+strings.Repeat("é", 121)+`",`, "", aText), "/title", "cut after 120"},
		{"long description", around(`"description":"`+strings.Repeat("x", 2_001)+`",`, "", aText), "/description", "cut after 2000"},
		{"long submit label", around(`"submitLabel":"`+strings.Repeat("x", 41)+`",`, "", aText), "/submitLabel", "cut after 40"},
		{"empty label of a field", inField(`{"type":"string","title":""}`), a + "/title", `"a"`},
		{"title that reads as nothing", around(`"title":" \u200b ",`, "", aText), "/title", "reads as nothing"},
		{"title of two lines", around(`"title":"x\ny",`, "", aText), "/title", "one line"},
		{"direction override", around(`"description":"\u202egpj.exe",`, "", aText), "/description", "U+202E right-to-left override"},
		{"control character", inField(`{"type":"string","default":"\u001b[31m"}`), a + "/default", "U+001B escape"},
		{"half a surrogate pair", inField(`{"enum":["\ud800"]}`), a + "/enum/0", "U+FFFD"},
		{"markup", inField(`{"type":"string","description":"Read <a href=x>this</a>"}`), a + "/description", "Markup"},
		{"deceptive host", inField(`{"type":"string","default":"https://раypal.com/login"}`), a + "/default", "раypal.com"},
		{"same labels", []byte(`{"schema":{"type":"object","properties":{"a":{"type":"string","title":"X"},"b":{"type":"string","title":"X"}}}}`), "/schema/properties/b/title", `"a"`},

		// Rejected definitions.
		{"rejected", inField(`{"$ref":"#/x"}`), a + "/$ref", "not followed"},
		{"beside a rejected field", around(`"theme":1,`, "", `{"type":"array"}`), "/theme", "no effect"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			advice := form.Inspect(tt.definition).Advice
			for _, note := range advice {
				if note.Path == tt.path && strings.Contains(note.Message, tt.says) {
					return
				}
			}
			t.Errorf("no advice at %s that says %q in %v", tt.path, tt.says, advice)
		})
	}
}

func TestNoAdvice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		definition []byte
	}{
		{"thirty fields", thirtyFields()},
		{"every keyword", []byte(`{"title":"Deployment","description":"Where to?\nAnd how?","submitLabel":"Deploy",
			"order":["b","a"],"schema":{"type":"object","required":["a","c"],"properties":{
			"a":{"type":"string","title":"A","description":"x < y","default":"","minLength":0,"maxLength":10000,"format":"multiline"},
			"b":{"type":"integer","minimum":1,"maximum":1.5,"default":1.0},
			"c":{"type":"string","enum":["","x"],"enumNames":["None","X"],"default":""},
			"d":{"type":"number","minimum":-0.5,"maximum":0.5,"default":0},
			"e":{"type":"boolean","default":false},
			"f":{"type":"string","format":"multiline","default":"x\r\ny\tz"}}}}`)},
		{"emoji", around(`"title":"👨‍👩‍👧 ❤️ 1️⃣ 🏳️‍🌈",`, "", aText)},
		{"Hebrew, Arabic and Persian", around(`"title":"שלום مرحبا می‌خواهم",`, "", aText)},
		{"Hindi", around(`"title":"क्‍ष",`, "", aText)},
		{"hosts in one script", around(`"description":"пример.рф, データ.example, münchen.example, 例え.jp",`, "", aText)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report := form.Inspect(tt.definition)
			if !report.Accepted || len(report.Advice) > 0 {
				t.Errorf("reasons %v, advice %v; want none", report.Reasons, report.Advice)
			}
		})
	}
}

func TestAdviceIsLimited(t *testing.T) {
	t.Parallel()
	definition := around(strings.Repeat(`"x":1,`, 1_000), "", aText)
	advice := form.Inspect(definition).Advice
	if len(advice) != 201 {
		t.Fatalf("%d notes, want 200 and one that counts the rest", len(advice))
	}
	if last := advice[200]; !strings.Contains(last.Message, "800 more") {
		t.Errorf("last note %q does not count the rest", last.Message)
	}
}
