package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// FormDefinition is a definition to check.
type FormDefinition struct {
	Definition json.RawMessage `json:"definition" doc:"The definition as an agent would send it; at most 1 MiB."`
}

// FormEntries is a definition and what stands in the controls of its form.
type FormEntries struct {
	Definition json.RawMessage `json:"definition" doc:"The definition as an agent would send it; at most 1 MiB."`
	Entered    json.RawMessage `json:"entered" doc:"An object by field key: a text as typed, true or false, the value of the option chosen, or null for none. It is taken on top of the initial values."`
}

// FormVerdict is what would be sent, or what is wrong.
type FormVerdict struct {
	Submission json.RawMessage `json:"submission,omitempty" doc:"The data of the one part that would be sent; there if nothing is wrong."`
	Errors     form.Errors     `json:"errors,omitempty" doc:"What is wrong, by field key."`
}

type (
	checkForm struct {
		Body body[FormDefinition]
	}
	answerForm struct {
		Body body[FormEntries]
	}
	reportOut struct {
		Body form.Report
	}
	verdictOut struct {
		Body FormVerdict
	}
)

func (s *server) registerForms(api huma.API) {
	tags := []string{"Forms"}
	huma.Register(api, needs(access.NeedRead, withBody(huma.Operation{
		OperationID: "check-form", Method: http.MethodPost, Path: "/forms/check", Tags: tags,
		Summary:     "Check a form definition",
		Description: "Whether it is drawn, why not, and what has no effect in it; as taskbay form check says.",
		Responses:   failures(api, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType),
	})), handle(s, "check-form", s.checkForm))
	huma.Register(api, needs(access.NeedRead, withBody(huma.Operation{
		OperationID: "answer-form", Method: http.MethodPost, Path: "/forms/answer", Tags: tags,
		Summary:     "Check what is entered in a form",
		Description: "The submission, or what is wrong with each field; as taskbay form answer says. 422 with the reasons if the definition is rejected.",
		Responses:   failures(api, wrongBody()...),
	})), handle(s, "answer-form", s.answerForm))
}

func (s *server) checkForm(_ context.Context, _ access.Principal, in *checkForm) (*reportOut, error) {
	wanted, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if wanted.Definition == nil {
		return nil, invalid("/definition", "Give the definition to check.")
	}
	return &reportOut{Body: form.Inspect(wanted.Definition)}, nil
}

func (s *server) answerForm(_ context.Context, _ access.Principal, in *answerForm) (*verdictOut, error) {
	wanted, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	if wanted.Definition == nil {
		return nil, invalid("/definition", "Give the definition of the form.")
	}
	drawn, err := form.Parse(wanted.Definition)
	if err != nil {
		return nil, rejected(err)
	}
	var entered form.Entries
	if wanted.Entered != nil {
		if err := json.Unmarshal(wanted.Entered, &entered); err != nil {
			return nil, invalid("/entered", "Must be an object of texts, true, false and null.")
		}
	}
	submission, faults := drawn.Check(drawn.Initial().With(entered))
	return &verdictOut{Body: FormVerdict{Submission: submission, Errors: faults}}, nil
}

// rejected returns why there is no form to answer, with pointers into the body.
func rejected(err error) error {
	var why *form.RejectedError
	if !errors.As(err, &why) {
		return err
	}
	fields := make([]fault.Field, 0, len(why.Reasons))
	for _, reason := range why.Reasons {
		fields = append(fields, fault.Field{Location: "/definition" + reason.Path, Message: reason.Message})
	}
	return fault.WithFields("The definition is rejected, so there is no form to answer.", fields)
}
