package form_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agent-taskbay/taskbay/form"
)

// TestJSONSchema holds the published schema against every case: it takes what is drawn, and nothing
// else. What it cannot say, the size of the whole and JSON that is none, no case needs.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	schema := publishedSchema(t)
	var definitions [][]byte
	for _, file := range []string{"definitions.json", "submissions.json", "reported.json"} {
		for _, tc := range vectors(t, file) {
			definitions = append(definitions, tc.Definition)
		}
	}
	for _, text := range []string{aText, `{"type":"string","enum":"x"}`, `{"type":"array","enum":null}`, `{"type":"boolean","enum":{}}`, `{"enum":"x"}`} {
		definitions = append(definitions, around("", "", text))
	}
	definitions = append(definitions, thirtyFields())
	for _, definition := range definitions {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(definition))
		if err != nil {
			t.Fatalf("%.100s: %v", definition, err)
		}
		report := form.Inspect(definition)
		if err := schema.Validate(value); (err == nil) != report.Accepted {
			t.Errorf("%.200s: accepted = %v by the package, reasons %v; the schema says %v",
				definition, report.Accepted, report.Reasons, err)
		}
	}
}

func publishedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "form-definition.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
