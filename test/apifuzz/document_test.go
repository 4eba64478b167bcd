package apifuzz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is the OpenAPI document: what to ask, and what may be answered.
type document struct {
	operations []operation
	schemas    map[string]schema
	answers    map[string]*jsonschema.Schema // by operation, status and media type
}

type operation struct {
	ID, Method, Path string
	Parameters       []parameter
	Body             *schema                    // nil if it takes none
	Responses        map[string]map[string]bool // media types by status
}

type parameter struct {
	Name, In string
	Schema   schema
}

// schema is a JSON Schema, as far as values are made of it.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Enum       []string          `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
}

// kind is the type of a schema's values; "" for any.
func (s schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, name := range t {
			if name, ok := name.(string); ok && name != "null" {
				return name
			}
		}
	}
	return ""
}

type content map[string]struct {
	Schema schema `json:"schema"`
}

func readDocument(t *testing.T) *document {
	t.Helper()
	raw, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []parameter
			RequestBody *struct{ Content content }
			Responses   map[string]struct{ Content content }
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	d := &document{schemas: in.Components.Schemas, answers: make(map[string]*jsonschema.Schema)}
	for path, item := range in.Paths {
		for method, found := range item {
			o := operation{ID: found.OperationID, Method: strings.ToUpper(method), Path: path, Parameters: found.Parameters, Responses: make(map[string]map[string]bool)}
			if found.RequestBody != nil {
				body := found.RequestBody.Content["application/json"].Schema
				o.Body = &body
			}
			for status, response := range found.Responses {
				o.Responses[status] = make(map[string]bool)
				for mediaType := range response.Content {
					o.Responses[status][mediaType] = true
					at := fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/%s/schema", pointer(path), method, status, pointer(mediaType))
					compiled, err := compiler.Compile(at)
					if err != nil {
						t.Fatal(err)
					}
					d.answers[o.ID+" "+status+" "+mediaType] = compiled
				}
			}
			d.operations = append(d.operations, o)
		}
	}
	slices.SortFunc(d.operations, func(a, b operation) int { return cmp.Compare(a.ID, b.ID) })
	return d
}

// pointer writes a name as a JSON Pointer in a fragment has it.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

// resolve follows a reference.
func (d *document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.schemas[name]
	}
	return s
}
