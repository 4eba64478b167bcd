package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/command"
)

// CommandBody is what to send to an agent.
type CommandBody struct {
	Action    string      `json:"action,omitempty" enum:"send,cancel" default:"send"`
	Text      string      `json:"text,omitempty" doc:"Becomes the first text/plain part."`
	Parts     []SendPart  `json:"parts,omitempty" nullable:"false" doc:"A send has text or a part."`
	TaskID    string      `json:"taskId,omitempty" doc:"Local ID of the task that is replied to or canceled; left out to start a new one."`
	ContextID string      `json:"contextId,omitempty" doc:"To start a task in a context of the agent that exists."`
	Tenant    string      `json:"tenant,omitempty"`
	MessageID string      `json:"messageId,omitempty" doc:"The A2A messageId; made if left out."`
	Answers   string      `json:"answers,omitempty" doc:"messageId of the question that this answers. If the question is a form, the one data part must be a valid answer to it."`
	SkillID   string      `json:"skillId,omitempty" doc:"The skill that a new task is held to, of an agent whose card lists it and the skill routing extension. Whoever may send by single skills only has to name one. What follows on the task keeps it."`
	Config    *SendConfig `json:"config,omitempty"`
}

// SendConfig tunes a send (A2A 1.0, SendMessageConfiguration).
type SendConfig struct {
	HistoryLength       *int            `json:"historyLength,omitempty" minimum:"0"`
	AcceptedOutputModes []string        `json:"acceptedOutputModes,omitempty" nullable:"false"`
	ReferenceTaskIDs    []string        `json:"referenceTaskIds,omitempty" nullable:"false" doc:"The agent's own task IDs."`
	Extensions          []string        `json:"extensions,omitempty" nullable:"false" doc:"URIs to activate on top of those that Taskbay understands."`
	Metadata            json.RawMessage `json:"metadata,omitempty" doc:"An object."`
}

type (
	submitCommand struct {
		ID   string `path:"id" doc:"Local ID of the agent."`
		Key  string `header:"Idempotency-Key" required:"true" minLength:"1" maxLength:"255" doc:"The same key with the same content returns the same command, and sends nothing again."`
		Body body[CommandBody]
	}
	readCommand struct {
		ID   string `path:"id" doc:"ID of the command."`
		Wait int    `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for it to settle."`
	}
	commandPath struct {
		ID string `path:"id" doc:"ID of the command."`
	}
	commandOut struct {
		Body Command
	}
	acceptedOut struct {
		Location string `header:"Location"`
		Body     Command
	}
)

func (s *server) registerCommands(api huma.API) {
	tags := []string{"Commands"}
	huma.Register(api, needs(access.NeedOperate, withBody(huma.Operation{
		OperationID: "submit-command", Method: http.MethodPost, Path: "/agents/{id}/commands", Tags: tags,
		Summary:       "Send to an agent, or cancel a task",
		Description:   "Accepted for good once it is answered: it is sent at most once, and never lost. 409 if the question is answered, the task has moved on, or the key was used for something else; 422 with a fault for each field if a form's answer is not valid.",
		DefaultStatus: http.StatusAccepted,
		Responses:     failures(api, wrongBody(http.StatusNotFound, http.StatusConflict)...),
	})), handle(s, "submit-command", s.submitCommand))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-command", Method: http.MethodGet, Path: "/commands/{id}", Tags: tags,
		Summary: "Read a command, or wait for it", Responses: failures(api, http.StatusNotFound),
	}), handle(s, "get-command", s.getCommand))
	huma.Register(api, needs(access.NeedOperate, huma.Operation{
		OperationID: "resend-command", Method: http.MethodPost, Path: "/commands/{id}/resend", Tags: tags,
		Summary:       "Send an uncertain command again",
		Description:   "A person's own decision: the agent may get it twice. It goes out under the same A2A messageId. 409 if its outcome is known by now, or the task has moved on.",
		DefaultStatus: http.StatusAccepted, Responses: failures(api, http.StatusNotFound, http.StatusConflict),
	}), handle(s, "resend-command", s.resendCommand))
}

func (s *server) submitCommand(ctx context.Context, p access.Principal, in *submitCommand) (*acceptedOut, error) {
	wanted, err := in.Body.decode()
	if err != nil {
		return nil, err
	}
	content, err := wanted.content()
	if err != nil {
		return nil, err
	}
	c, err := s.Commands.Submit(ctx, p, in.ID, in.Key, content)
	if err != nil {
		return nil, err
	}
	return &acceptedOut{Location: prefix + "/commands/" + c.ID, Body: commandShape(c)}, nil
}

func (s *server) getCommand(ctx context.Context, p access.Principal, in *readCommand) (*commandOut, error) {
	read := s.Commands.Get
	if in.Wait > 0 {
		read = func(ctx context.Context, p access.Principal, id string) (command.Command, error) {
			return s.Commands.Wait(ctx, p, id, time.Duration(in.Wait)*time.Second)
		}
	}
	c, err := read(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &commandOut{Body: commandShape(c)}, nil
}

func (s *server) resendCommand(ctx context.Context, p access.Principal, in *commandPath) (*commandOut, error) {
	c, err := s.Commands.Resend(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &commandOut{Body: commandShape(c)}, nil
}

// content returns what the command service takes; fault.Invalid for a body that
// says nothing to do.
func (b CommandBody) content() (command.Body, error) {
	action := command.Action(b.Action)
	switch {
	case action != "" && action != command.Send && action != command.Cancel:
		return command.Body{}, invalid("/action", "Must be send or cancel.")
	case action == command.Cancel && b.TaskID == "":
		return command.Body{}, invalid("/taskId", "Name the task to cancel.")
	case action != command.Cancel && b.Text == "" && len(b.Parts) == 0:
		return command.Body{}, invalid("/text", "A send has text or a part.")
	}
	parts, err := contents(b.Parts)
	if err != nil {
		return command.Body{}, err
	}
	config, err := b.Config.content()
	if err != nil {
		return command.Body{}, err
	}
	return command.Body{
		Action: action, Text: b.Text, Parts: parts, TaskID: b.TaskID, ContextID: b.ContextID,
		Tenant: b.Tenant, MessageID: b.MessageID, Answers: b.Answers, SkillID: b.SkillID, Config: config,
	}, nil
}

func (c *SendConfig) content() (command.Config, error) {
	if c == nil {
		return command.Config{}, nil
	}
	if c.HistoryLength != nil && *c.HistoryLength < 0 {
		return command.Config{}, invalid("/config/historyLength", "Must be 0 or more.")
	}
	if c.Metadata != nil && c.Metadata[0] != '{' {
		return command.Config{}, invalid("/config/metadata", "Must be an object.")
	}
	return command.Config{
		HistoryLength: c.HistoryLength, AcceptedOutputModes: c.AcceptedOutputModes,
		ReferenceTaskIDs: c.ReferenceTaskIDs, Extensions: c.Extensions, Metadata: c.Metadata,
	}, nil
}
