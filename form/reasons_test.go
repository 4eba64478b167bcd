package form_test

import (
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

func TestReasons(t *testing.T) {
	t.Parallel()
	const a = "/schema/properties/a"
	withType := func(name string) string { return `{"type":"` + name + `"}` }
	tests := []struct{ name, field, path, says string }{
		{"no type", `{}`, a + "/type", "has no type"},
		{"reference", `{"$ref":"#/x"}`, a + "/type", "References are not followed"},
		{"combination", `{"anyOf":[]}`, a + "/type", "not combined"},
		{"list of types", `{"type":["string","null"]}`, a + "/type", "left out when empty"},
		{"type of another type", `{"type":7}`, a + "/type", "The type is a number"},
		{"object", withType("object"), a + "/type", "not nested"},
		{"array", withType("array"), a + "/type", "no lists"},
		{"null", withType("null"), a + "/type", "left out"},
		{"letter case", withType("STRING"), a + "/type", `Write "string".`},
		{"text", withType("text"), a + "/type", `Write "string", and say`},
		{"date and time", withType("date-time"), a + "/type", `Write "string", and say`},
		{"float", withType("float"), a + "/type", `Write "number"`},
		{"int", withType("int"), a + "/type", `Write "integer"`},
		{"bool", withType("bool"), a + "/type", `Write "boolean"`},
		{"select", withType("select"), a + "/type", "values in enum"},
		{"nothing known", withType("\\u001b[31m"), a + "/type", `"\x1b[31m" is unknown`},
		{"third option", `{"enum":["x","y",3]}`, a + "/enum", "number 3 is a number"},
		{"no option", `{"enum":[]}`, a + "/enum", "at least one"},
		{"field that is a string", `"string"`, a, "is a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reasons := form.Inspect(around("", "", tt.field)).Reasons
			if len(reasons) != 1 || reasons[0].Path != tt.path || !strings.Contains(reasons[0].Message, tt.says) {
				t.Errorf("reasons = %v, want one at %s that says %q", reasons, tt.path, tt.says)
			}
		})
	}
}

func TestEveryReason(t *testing.T) {
	t.Parallel()
	definition := `{"schema":{"type":"array","properties":{"1":{"type":"list"},"a":{"enum":[1]},"b":0,"toString":{"type":"string"}}}}`
	report := form.Inspect([]byte(definition))
	for _, path := range []string{
		"/schema/type", "/schema/properties/1", "/schema/properties/1/type", "/schema/properties/a/enum",
		"/schema/properties/b", "/schema/properties/toString",
	} {
		if !hasPath(report.Reasons, path) {
			t.Errorf("no reason at %s in %v", path, report.Reasons)
		}
	}
}

// TestWrappedDefinition gives what a definition stands in, or what stands in one.
func TestWrappedDefinition(t *testing.T) {
	t.Parallel()
	const definition = `{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`
	tests := map[string]struct{ given, says string }{
		"part":         {`{"mediaType":"application/vnd.agent-taskbay.form+json","data":` + definition + `}`, "This is the whole part; the definition is what is in its data."},
		"part of 0.3":  {`{"kind":"data","data":` + definition + `}`, "what is in its data."},
		"message":      {`{"role":"ROLE_AGENT","parts":[{"data":` + definition + `}]}`, "what is in the data of one of its parts."},
		"entry":        {`{"uri":"https://x.example","params":{"startForm":` + definition + `}}`, "in the startForm of its params."},
		"params":       {`{"startForm":` + definition + `}`, "in their startForm."},
		"schema":       {`{"type":"object","properties":{"a":{"type":"string"}}}`, `an object that has it: {"schema": …}.`},
		"text as data": {`{"data":"x"}`, "schema is missing; it must be an object."},
		"wrong schema": {`{"schema":7,"data":` + definition + `}`, "schema is a number; it must be an object."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reasons := form.Inspect([]byte(tt.given)).Reasons
			if len(reasons) != 1 || reasons[0].Path != "/schema" || !strings.HasSuffix(reasons[0].Message, tt.says) {
				t.Errorf("reasons = %v, want one at /schema that ends with %q", reasons, tt.says)
			}
		})
	}
}
