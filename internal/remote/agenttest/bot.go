package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/agent-taskbay/taskbay/form"
)

// What an agent is told to do. Anything else lets it ask where to deploy, with a
// form, and complete on the answer.
const (
	SayMessage = "message" // answer without a task
	SayWork    = "work"    // work until canceled
	SayReport  = "report"  // write an artifact in three pieces, and complete
)

// Report is the artifact that SayReport brings, by its pieces.
func Report() []string { return []string{"Checking out.\n", "Building.\n", "Rolling out.\n"} }

// Definition is the form that the agent asks with.
const Definition = `{
	"title": "Deployment", "order": ["environment", "replicas"],
	"schema": {"type": "object", "required": ["environment"], "properties": {
		"environment": {"title": "Environment", "enum": ["staging", "production"]},
		"replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 10}
	}}
}`

// bot is what the agent does.
type bot struct{ agent *Agent }

// Execute implements a2asrv.AgentExecutor.
func (b *bot) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if extensions, ok := a2asrv.ExtensionsFrom(ctx); ok {
			b.agent.note("extensions %v tenant %q metadata %v", extensions.RequestedURIs(), in.Tenant, in.Metadata)
		}
		t := turn{in, yield}
		said := in.Message.Parts[0]
		switch {
		case said.Text() == SayMessage:
			yield(sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart("no task needed")), nil)
		case in.StoredTask != nil:
			b.answered(t, said)
		case !t.begin(): // the server has gone
		case said.Text() == SayWork:
			<-ctx.Done()
		case said.Text() == SayReport:
			_ = t.report() && t.status(sdk.TaskStateCompleted, sdk.NewTextPart("done"))
		default:
			t.ask()
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (b *bot) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		turn{in, yield}.status(sdk.TaskStateCanceled)
	}
}

// answered completes the task with an answer to the form.
func (b *bot) answered(t turn, answer *sdk.Part) {
	mediaType := answer.MediaType
	if mediaType == "" {
		mediaType, _ = answer.Metadata["mediaType"].(string) // A2A 0.3
	}
	b.agent.note("answer %v as %s", answer.Data(), mediaType)
	values, _ := answer.Data().(map[string]any)
	t.status(sdk.TaskStateCompleted, sdk.NewTextPart(fmt.Sprintf("Deploying %v to %v.", values["replicas"], values["environment"])))
}

// turn is one message and what the agent says to it.
type turn struct {
	*a2asrv.ExecutorContext
	yield func(sdk.Event, error) bool
}

// begin starts a task.
func (t turn) begin() bool {
	return t.yield(sdk.NewSubmittedTask(t, t.Message), nil) && t.status(sdk.TaskStateWorking)
}

func (t turn) status(state sdk.TaskState, parts ...*sdk.Part) bool {
	var message *sdk.Message
	if len(parts) > 0 {
		message = sdk.NewMessageForTask(sdk.MessageRoleAgent, t, parts...)
	}
	return t.yield(sdk.NewStatusUpdateEvent(t, state, message), nil)
}

// ask asks with the form. Its part says its media type where A2A 1.0 has it, and
// where an agent of 0.3 does.
func (t turn) ask() bool {
	var definition map[string]any
	if err := json.Unmarshal([]byte(Definition), &definition); err != nil {
		return t.yield(nil, err)
	}
	question := sdk.NewDataPart(definition)
	question.MediaType = form.MediaType
	question.Metadata = map[string]any{"mediaType": form.MediaType}
	return t.status(sdk.TaskStateInputRequired, sdk.NewTextPart("Where should I deploy it?"), question)
}

func (t turn) report() bool {
	id := sdk.NewArtifactID()
	for i, piece := range Report() {
		event := sdk.NewArtifactUpdateEvent(t, id, sdk.NewTextPart(piece))
		event.Append, event.LastChunk = i > 0, i == len(Report())-1
		if !t.yield(event, nil) {
			return false
		}
	}
	return true
}
