package api

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed reference.html
var referenceTemplate string

//go:embed reference.css
var referenceStyle []byte

// The page for people is made from the same document as openapi.json. It holds
// no script, and loads nothing but its own style.
type (
	reference struct {
		Title, Version, Description, Prefix string
		Groups                              []referenceGroup
		Schemas                             []referenceSchema
	}
	referenceGroup struct {
		Name, Description string
		Operations        []referenceOperation
	}
	referenceOperation struct {
		ID, Method, Path, Summary, Description string
		Parameters                             []referenceMember
		Body                                   referenceType
		Answers                                []referenceAnswer
	}
	referenceAnswer struct {
		Status, Description string
		Body                referenceType
	}
	referenceSchema struct {
		Name    string
		Members []referenceMember
	}
	referenceMember struct {
		Name, Where, Description string
		Type                     referenceType
		Required                 bool
	}
	// referenceType is a type in words, with the schema that it leads to, if any.
	referenceType struct {
		Text, Schema string
	}
)

// referencePage renders the page. It panics if the document cannot be shown,
// which is a fault of the program that shows at every start.
func referencePage(document *huma.OpenAPI) []byte {
	page := template.Must(template.New("reference").Parse(referenceTemplate))
	var out bytes.Buffer
	if err := page.Execute(&out, referenceOf(document)); err != nil {
		panic("api: the reference page cannot be made: " + err.Error())
	}
	return out.Bytes()
}

func referenceOf(document *huma.OpenAPI) reference {
	out := reference{
		Title: document.Info.Title, Version: document.Info.Version, Description: document.Info.Description, Prefix: prefix,
	}
	for _, tag := range document.Tags {
		group := referenceGroup{Name: tag.Name, Description: tag.Description}
		for _, path := range sortedKeys(document.Paths) {
			item := document.Paths[path]
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
				if op != nil && slices.Contains(op.Tags, tag.Name) {
					group.Operations = append(group.Operations, operationOf(op))
				}
			}
		}
		out.Groups = append(out.Groups, group)
	}
	schemas := document.Components.Schemas.Map()
	for _, name := range sortedKeys(schemas) {
		out.Schemas = append(out.Schemas, referenceSchema{Name: name, Members: membersOfSchema(schemas[name])})
	}
	return out
}

func operationOf(op *huma.Operation) referenceOperation {
	out := referenceOperation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
	}
	for _, p := range op.Parameters {
		out.Parameters = append(out.Parameters, referenceMember{
			Name: p.Name, Where: p.In, Description: p.Description, Type: typeOf(p.Schema), Required: p.Required,
		})
	}
	if op.RequestBody != nil {
		out.Body = contentType(op.RequestBody.Content)
	}
	for _, status := range sortedKeys(op.Responses) {
		answer := op.Responses[status]
		out.Answers = append(out.Answers, referenceAnswer{status, answer.Description, contentType(answer.Content)})
	}
	return out
}

func contentType(content map[string]*huma.MediaType) referenceType {
	for _, media := range content {
		return typeOf(media.Schema)
	}
	return referenceType{}
}

func membersOfSchema(s *huma.Schema) []referenceMember {
	var out []referenceMember
	for _, name := range sortedKeys(s.Properties) {
		member := s.Properties[name]
		out = append(out, referenceMember{
			Name: name, Description: member.Description, Type: typeOf(member), Required: slices.Contains(s.Required, name),
		})
	}
	return out
}

func typeOf(s *huma.Schema) referenceType {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return referenceType{Text: name, Schema: name}
	case len(s.AnyOf) > 0: // or null, as its description says
		return typeOf(s.AnyOf[0])
	case s.Type == huma.TypeArray:
		items := typeOf(s.Items)
		return referenceType{Text: "array of " + items.Text, Schema: items.Schema}
	case len(s.Enum) > 0:
		return referenceType{Text: enumText(s.Enum)}
	case s.Type == "":
		return referenceType{Text: "any JSON"}
	case s.Format != "" && s.Type == huma.TypeString:
		return referenceType{Text: s.Type + " (" + s.Format + ")"}
	}
	return referenceType{Text: s.Type}
}

func enumText(values []any) string {
	words := make([]string, 0, len(values))
	for _, v := range values {
		if word, ok := v.(string); ok {
			words = append(words, word)
		}
	}
	return strings.Join(words, " | ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
