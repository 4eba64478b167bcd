// Command go-agent-v03 is an agent on the official Go SDK of A2A 0.3, in the version
// that its go.mod pins: the console's own module needs a later one. It prints the URL
// of its card and ends with its standard input.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
)

// plan is what the test wants the agent to do, as the first line of its input.
var plan struct {
	SayMessage, SayWork, SayReport string   // what makes it answer so
	Report                         []string // the pieces of its artifact
	Definition                     json.RawMessage
	MediaType, Extension           string // of a form
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if err := json.NewDecoder(os.Stdin).Decode(&plan); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(bot{}, a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))))
	mux.Handle("/card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		ProtocolVersion: "0.3.0", Name: "Go agent of A2A 0.3", Description: "Asks where to deploy.", Version: "1",
		URL: url + "/rpc", PreferredTransport: a2a.TransportProtocolJSONRPC,
		Capabilities:      a2a.AgentCapabilities{Streaming: true, PushNotifications: true, Extensions: []a2a.AgentExtension{{URI: plan.Extension}}},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}, Skills: []a2a.AgentSkill{},
	}))
	go func() { _ = http.Serve(listener, mux) }() // until the process ends
	fmt.Println(url + "/card.json")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// bot does what the agent of agenttest does.
type bot struct{}

// Execute implements a2asrv.AgentExecutor.
func (bot) Execute(ctx context.Context, in *a2asrv.RequestContext, queue eventqueue.Queue) error {
	t := turn{in, func(e a2a.Event) error { return queue.Write(ctx, e) }}
	text, _ := in.Message.Parts[0].(a2a.TextPart)
	switch {
	case text.Text == plan.SayMessage:
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
	case plan.SayWork:
		return t.work(ctx)
	case plan.SayReport:
		return t.report()
	}
	return t.ask()
}

// Cancel implements a2asrv.AgentExecutor.
func (bot) Cancel(ctx context.Context, in *a2asrv.RequestContext, queue eventqueue.Queue) error {
	return turn{in, func(e a2a.Event) error { return queue.Write(ctx, e) }}.status(a2a.TaskStateCanceled, true)
}

// turn is one message and what the agent says to it.
type turn struct {
	*a2asrv.RequestContext
	say func(a2a.Event) error
}

func (t turn) status(state a2a.TaskState, final bool, parts ...a2a.Part) error {
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
func (t turn) work(ctx context.Context) error {
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
func (t turn) ask() error {
	var definition map[string]any
	if err := json.Unmarshal(plan.Definition, &definition); err != nil {
		return err
	}
	question := a2a.DataPart{Data: definition, Metadata: map[string]any{"mediaType": plan.MediaType}}
	return t.status(a2a.TaskStateInputRequired, true, a2a.TextPart{Text: "Where should I deploy it?"}, question)
}

func (t turn) answered(answer a2a.Part) error {
	data, _ := answer.(a2a.DataPart)
	if data.Metadata["mediaType"] != "application/json" {
		return t.status(a2a.TaskStateFailed, true, a2a.TextPart{Text: "The answer has no media type."})
	}
	text := fmt.Sprintf("Deploying %v to %v.", data.Data["replicas"], data.Data["environment"])
	return t.status(a2a.TaskStateCompleted, true, a2a.TextPart{Text: text})
}

func (t turn) report() error {
	id := a2a.NewArtifactID()
	for i, piece := range plan.Report {
		event := a2a.NewArtifactUpdateEvent(t, id, a2a.TextPart{Text: piece})
		event.Append, event.LastChunk = i > 0, i == len(plan.Report)-1
		if err := t.say(event); err != nil {
			return err
		}
	}
	return t.status(a2a.TaskStateCompleted, true, a2a.TextPart{Text: "done"})
}
