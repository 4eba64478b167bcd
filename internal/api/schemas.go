package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// The types below only describe, for the OpenAPI document, how types from
// elsewhere write themselves as JSON. A test holds them to it.
type (
	// Form is a form as it is drawn.
	formShape struct {
		Title       string       `json:"title"`
		Description string       `json:"description,omitempty"`
		SubmitLabel string       `json:"submitLabel"`
		Fields      []fieldShape `json:"fields" nullable:"false" doc:"In the order of drawing."`
	}
	fieldShape struct {
		Key         string          `json:"key"`
		Kind        string          `json:"kind" enum:"text,number,integer,boolean,choice"`
		Label       string          `json:"label"`
		Description string          `json:"description,omitempty"`
		Required    bool            `json:"required"`
		Default     json.RawMessage `json:"default,omitempty" doc:"A string, a number with every digit of the agent's, or true or false."`
		MinLength   int             `json:"minLength,omitempty"`
		MaxLength   int             `json:"maxLength,omitempty"`
		Multiline   bool            `json:"multiline,omitempty"`
		Minimum     float64         `json:"minimum,omitempty" doc:"Inclusive; with every digit of the agent's."`
		Maximum     float64         `json:"maximum,omitempty" doc:"Inclusive; with every digit of the agent's."`
		Options     []optionShape   `json:"options,omitempty" nullable:"false"`
	}
	optionShape struct {
		Value string `json:"value"`
		Label string `json:"label"`
	}
	noteShape struct {
		Path    string `json:"path" doc:"JSON Pointer into the definition."`
		Message string `json:"message"`
	}
	reportShape struct {
		Accepted bool        `json:"accepted" doc:"Whether the form is drawn."`
		Form     *formShape  `json:"form,omitempty"`
		Reasons  []noteShape `json:"reasons" nullable:"false" doc:"Why it is rejected."`
		Advice   []noteShape `json:"advice" nullable:"false" doc:"What has no effect or is doubtful."`
	}
	inputFault struct {
		Location string `json:"location" doc:"A JSON Pointer into the body, the key of a form's field, or a parameter such as query.limit."`
		Message  string `json:"message" doc:"What would be right."`
	}
)

// schemas returns a registry that describes the types of other packages by the
// shapes above.
func schemas() huma.Registry {
	names := map[string]string{
		"FormShape": "Form", "FieldShape": "Field", "OptionShape": "Option", "NoteShape": "Note",
		"ReportShape": "FormReport", "InputFault": "InputFault",
	}
	registry := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		if public, ok := names[name]; ok {
			return public
		}
		return name
	})
	registry.RegisterTypeAlias(reflect.TypeFor[form.Form](), reflect.TypeFor[formShape]())
	registry.RegisterTypeAlias(reflect.TypeFor[form.Note](), reflect.TypeFor[noteShape]())
	registry.RegisterTypeAlias(reflect.TypeFor[form.Report](), reflect.TypeFor[reportShape]())
	registry.RegisterTypeAlias(reflect.TypeFor[form.Errors](), reflect.TypeFor[map[string]string]())
	registry.RegisterTypeAlias(reflect.TypeFor[fault.Field](), reflect.TypeFor[inputFault]())
	registry.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[Problem]())
	return registry
}

// allowNull says of members that are another schema and always there that they may
// be null, where their types are pointers: huma cannot say so beside a reference.
func allowNull(registry huma.Registry) {
	for name, s := range registry.Map() {
		t := registry.TypeFromRef("#/components/schemas/" + name)
		for i := range t.NumField() {
			f := t.Field(i)
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			described := s.Properties[member]
			if f.Type.Kind() != reflect.Pointer || options != "" || described == nil || described.Ref == "" {
				continue
			}
			s.Properties[member] = &huma.Schema{
				AnyOf: []*huma.Schema{{Ref: described.Ref}, {Type: "null"}}, Description: described.Description,
			}
		}
	}
}

// failures describes the errors of an operation: its own, and those that any
// may have.
func failures(api huma.API, own ...int) map[string]*huma.Response {
	problem := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	out := make(map[string]*huma.Response)
	for _, status := range append(own, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError) {
		out[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{problemMediaType: {Schema: problem}},
		}
	}
	return out
}

// wrongBody are the statuses of an operation of its own, and those for a body that
// cannot be used.
func wrongBody(own ...int) []int {
	return append(own, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
}

// withAnswer adds an answer of a type that huma does not see by itself.
func withAnswer(api huma.API, responses map[string]*huma.Response, status int, description, mediaType string, t reflect.Type) map[string]*huma.Response {
	responses[strconv.Itoa(status)] = &huma.Response{
		Description: description,
		Content:     map[string]*huma.MediaType{mediaType: {Schema: api.OpenAPI().Components.Schemas.Schema(t, true, "")}},
	}
	return responses
}
