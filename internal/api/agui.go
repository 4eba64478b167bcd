package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// RunAgentInput is what an AG-UI client sends to run an agent. What it has besides is
// left out.
type RunAgentInput struct {
	ThreadID        string          `json:"threadId" doc:"Of the client's own making; it means something for the caller and this agent alone."`
	RunID           string          `json:"runId" doc:"Of the client's own making. The same run again attaches to it."`
	ProtocolVersion string          `json:"protocolVersion,omitempty" doc:"As clients from 1.0 on send it."`
	State           json.RawMessage `json:"state,omitempty" doc:"An object; it comes back with the task under a2a."`
	Messages        []AGUIMessage   `json:"messages,omitempty" nullable:"false" doc:"The whole thread. Messages of the user that are new are sent."`
	Tools           json.RawMessage `json:"tools,omitempty" doc:"Named to the agent, and never called."`
	Context         json.RawMessage `json:"context,omitempty" doc:"For the agent, in the metadata of the message."`
	ForwardedProps  json.RawMessage `json:"forwardedProps,omitempty" doc:"For the agent, in the metadata of the message."`
	Resume          []AGUIResume    `json:"resume,omitempty" nullable:"false" doc:"Answers to interrupts."`
}

// AGUIMessage is one message of a thread.
type AGUIMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content,omitempty" doc:"A text, or parts: text, images, audio, video and documents."`
}

// AGUIResume answers an interrupt.
type AGUIResume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status" enum:"resolved,cancelled,answered,abandoned" doc:"The latter two are other names for the former."`
	Payload     json.RawMessage `json:"payload,omitempty" doc:"As the responseSchema of the interrupt has it."`
}

type (
	runAgent struct {
		ID string `path:"id" doc:"Local ID of the agent."`
	}
	cancelRun struct {
		ID       string `path:"id" doc:"Local ID of the agent."`
		RunID    string `path:"runId" doc:"The client's own ID of the run."`
		ThreadID string `query:"threadId" doc:"The client's own ID of the thread: needed for a run that only followed."`
	}
)

// AGUIEvent is one event of a run. What it has besides depends on its type.
type AGUIEvent struct {
	Type string `json:"type" doc:"Such as RUN_STARTED."`
}

// AGUICanceled says which task is being canceled.
type AGUICanceled struct {
	RunID     string `json:"runId"`
	TaskID    string `json:"taskId" format:"uuid"`
	CommandID string `json:"commandId" format:"uuid"`
}

func (s *server) registerAGUI(api huma.API) {
	tags := []string{"AG-UI"}
	if s.AGUI == nil {
		s.AGUI = aguiOff{}
	}
	huma.Register(api, needs(access.NeedOperate, huma.Operation{
		OperationID: "run-agent", Method: http.MethodPost, Path: "/agents/{id}/ag-ui", Tags: tags,
		Summary: "Run an agent for an AG-UI front end",
		Description: "Server-sent events of AG-UI until the run ends; a comment comes every 15 seconds when nothing else does. A client that goes away changes nothing: " +
			"the same run again attaches to it, and a new one with nothing new follows. 409 with the code run_active while a run of the thread goes on, and with " +
			"run_id_conflict for the ID of a run with other content.",
		Responses: withAnswer(api, refusals(api, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType), http.StatusOK,
			"AG-UI events; the data of each is one", "text/event-stream", reflect.TypeFor[AGUIEvent]()),
	}), handle(s, "run-agent", s.runAgent))
	// Only described: the adapter reads it, and answers what is wrong with it.
	api.OpenAPI().Paths["/agents/{id}/ag-ui"].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[RunAgentInput](), true, "")},
	}}
	huma.Register(api, needs(access.NeedOperate, huma.Operation{
		OperationID: "cancel-run", Method: http.MethodPost, Path: "/agents/{id}/ag-ui/runs/{runId}/cancel", Tags: tags,
		Summary:       "Cancel the task of an AG-UI run",
		Description:   "A command like any other: the run ends when the agent has canceled the task. That a client stops reading cancels nothing.",
		DefaultStatus: http.StatusAccepted,
		Responses: withAnswer(api, refusals(api, http.StatusNotFound, http.StatusConflict), http.StatusAccepted,
			"What is being canceled", "application/json", reflect.TypeFor[AGUICanceled]()),
	}), handle(s, "cancel-run", s.cancelRun))
}

// refusals describes errors as AG-UI clients read them. What stands before the adapter
// answers with problem documents.
func refusals(api huma.API, own ...int) map[string]*huma.Response {
	refusal := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[agui.Refusal](), true, "")
	out := failures(api, own...)
	for _, answer := range out {
		answer.Content["application/json"] = &huma.MediaType{Schema: refusal}
	}
	return out
}

// aguiOff answers where AG-UI front ends are not served.
type aguiOff struct{}

func (aguiOff) ServeRun(w http.ResponseWriter, _ *http.Request, _ access.Principal, _ string) {
	agui.Refuse(w, fault.New(fault.NotFound, "AG-UI front ends are not served here (--no-ag-ui)."))
}

func (o aguiOff) ServeCancel(w http.ResponseWriter, r *http.Request, p access.Principal, agentID, _, _ string) {
	o.ServeRun(w, r, p, agentID)
}

func (s *server) runAgent(_ context.Context, p access.Principal, in *runAgent) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		s.AGUI.ServeRun(w, r, p, in.ID)
	}}, nil
}

func (s *server) cancelRun(_ context.Context, p access.Principal, in *cancelRun) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		s.AGUI.ServeCancel(w, r, p, in.ID, in.RunID, in.ThreadID)
	}}, nil
}
