package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// startGoV03Agent runs an agent on the official Go SDK of A2A 0.3, until the test
// ends, and returns the URL of its card.
func startGoV03Agent(t *testing.T) (cardURL string) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(v03Bot{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))))
	path := "/" + uuid.NewString() + ".json"
	mux.Handle(path, a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		ProtocolVersion: string(a2a.Version), Name: "Go agent of A2A 0.3", Description: "Asks where to deploy.", Version: "1",
		URL: server.URL + "/rpc", PreferredTransport: a2a.TransportProtocolJSONRPC,
		Capabilities:      a2a.AgentCapabilities{Streaming: true, PushNotifications: true, Extensions: []a2a.AgentExtension{{URI: form.URI}}},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}, Skills: []a2a.AgentSkill{},
	}))
	return server.URL + path
}

// v03Bot does what the agent of agenttest does.
type v03Bot struct{}

// Execute implements a2asrv.AgentExecutor.
func (v03Bot) Execute(ctx context.Context, in *a2asrv.RequestContext, queue eventqueue.Queue) error {
	t := v03Turn{in, func(e a2a.Event) error { return queue.Write(ctx, e) }}
	text, _ := in.Message.Parts[0].(a2a.TextPart)
	switch {
	case text.Text == agenttest.SayMessage:
		return t.say(a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: "no task needed"}))
	case in.StoredTask != nil:
		return t.answered(in.Message.Parts[0])
	}
	if err := t.say(a2a.NewSubmittedTask(in, in.Message)); err != nil {
		return err
	}
	if err := t.status(a2a.TaskStateWorking, false); err != nil {
		return err
	}
	switch text.Text {
	case agenttest.SayWork:
		return t.work(ctx)
	case agenttest.SayReport:
		return t.report()
	}
	return t.ask()
}

// Cancel implements a2asrv.AgentExecutor.
func (v03Bot) Cancel(ctx context.Context, in *a2asrv.RequestContext, queue eventqueue.Queue) error {
	return v03Turn{in, func(e a2a.Event) error { return queue.Write(ctx, e) }}.status(a2a.TaskStateCanceled, true)
}

// v03Turn is one message and what the agent says to it.
type v03Turn struct {
	*a2asrv.RequestContext
	say func(a2a.Event) error
}

func (t v03Turn) status(state a2a.TaskState, final bool, parts ...a2a.Part) error {
	var message *a2a.Message
	if len(parts) > 0 {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	}
	update := a2a.NewStatusUpdateEvent(t, state, message)
	update.Final = final
	return t.say(update)
}

// work says from time to time that it works, until it is canceled: who subscribes is
// told nothing else before something happens.
func (t v03Turn) work(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := t.status(a2a.TaskStateWorking, false); err != nil {
				return err
			}
		}
	}
}

// ask asks with the form, which a client of 0.3 knows by its metadata.
func (t v03Turn) ask() error {
	var definition map[string]any
	if err := json.Unmarshal([]byte(agenttest.Definition), &definition); err != nil {
		return err
	}
	question := a2a.DataPart{Data: definition, Metadata: map[string]any{"mediaType": form.MediaType}}
	return t.status(a2a.TaskStateInputRequired, true, a2a.TextPart{Text: "Where should I deploy it?"}, question)
}

func (t v03Turn) answered(answer a2a.Part) error {
	data, _ := answer.(a2a.DataPart)
	if data.Metadata["mediaType"] != "application/json" {
		return t.status(a2a.TaskStateFailed, true, a2a.TextPart{Text: "The answer has no media type."})
	}
	text := fmt.Sprintf("Deploying %v to %v.", data.Data["replicas"], data.Data["environment"])
	return t.status(a2a.TaskStateCompleted, true, a2a.TextPart{Text: text})
}

func (t v03Turn) report() error {
	id := a2a.NewArtifactID()
	for i, piece := range agenttest.Report() {
		event := a2a.NewArtifactUpdateEvent(t, id, a2a.TextPart{Text: piece})
		event.Append, event.LastChunk = i > 0, i == len(agenttest.Report())-1
		if err := t.say(event); err != nil {
			return err
		}
	}
	return t.status(a2a.TaskStateCompleted, true, a2a.TextPart{Text: "done"})
}
