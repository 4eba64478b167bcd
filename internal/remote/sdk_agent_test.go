package remote_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// asker is an agent that asks where to deploy, and completes on the answer. With
// the text "message" it answers without a task, with "work" it works until it is
// canceled.
type asker struct {
	mu   sync.Mutex
	seen []string // what it was given: extensions, tenant, metadata, answer
}

func (a *asker) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, fmt.Sprintf(format, args...))
}

func (a *asker) notes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

func (a *asker) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		if extensions, ok := a2asrv.ExtensionsFrom(ctx); ok {
			a.note("extensions %v tenant %q metadata %v", extensions.RequestedURIs(), in.Tenant, in.Metadata)
		}
		first := in.Message.Parts[0]
		if first.Text() == "message" {
			yield(sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart("no task needed")), nil)
			return
		}
		if in.StoredTask == nil && !yield(sdk.NewSubmittedTask(in, in.Message), nil) {
			return
		}
		update := func(state sdk.TaskState, parts ...*sdk.Part) bool {
			var message *sdk.Message
			if len(parts) > 0 {
				message = sdk.NewMessageForTask(sdk.MessageRoleAgent, in, parts...)
			}
			return yield(sdk.NewStatusUpdateEvent(in, state, message), nil)
		}
		switch {
		case first.Text() == "work":
			if update(sdk.TaskStateWorking) {
				<-ctx.Done()
			}
		case in.StoredTask == nil:
			question := sdk.NewDataPart(map[string]any{"title": "Deploy"})
			question.MediaType = "application/vnd.agent-taskbay.form+json"
			question.Metadata = map[string]any{"mediaType": question.MediaType} // for A2A 0.3
			_ = update(sdk.TaskStateWorking) && yield(sdk.NewArtifactEvent(in, sdk.NewTextPart("plan")), nil) &&
				update(sdk.TaskStateInputRequired, sdk.NewTextPart("Where?"), question)
		default:
			mediaType := first.MediaType
			if mediaType == "" {
				mediaType, _ = first.Metadata["mediaType"].(string)
			}
			a.note("answer %v as %s", first.Data(), mediaType)
			update(sdk.TaskStateCompleted, sdk.NewTextPart("done"))
		}
	}
}

func (a *asker) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		yield(sdk.NewStatusUpdateEvent(in, sdk.TaskStateCanceled, nil), nil)
	}
}

// spoken is one of the ways to speak to an agent.
type spoken struct{ binding, version string }

var everyWay = []spoken{
	{remote.JSONRPC, "1.0"}, {remote.HTTPJSON, "1.0"}, {remote.GRPC, "1.0"},
	{remote.JSONRPC, "0.3"}, {remote.HTTPJSON, "0.3"},
}

func (s spoken) legacy() bool   { return s.version == "0.3" }
func (s spoken) overGRPC() bool { return s.binding == remote.GRPC }
func (s spoken) String() string { return s.binding + " " + s.version }

func (s spoken) target(url string) remote.Target {
	to := target(url, s.binding)
	to.Interface.ProtocolVersion = s.version
	return to
}

// everyBinding runs a test over all of them.
func everyBinding(t *testing.T, test func(t *testing.T, way spoken)) {
	t.Helper()
	for _, way := range everyWay {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			test(t, way)
		})
	}
}

// serveAsker serves an asker and returns how to reach it.
func serveAsker(t *testing.T, way spoken) (*asker, remote.Target) {
	t.Helper()
	agent := &asker{}
	handler := a2asrv.NewHandler(agent,
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
	)
	to := way.target("")
	switch way {
	case spoken{remote.GRPC, "1.0"}:
		to.Interface.URL = serveGRPC(t, a2agrpc.NewHandler(handler))
	case spoken{remote.JSONRPC, "1.0"}:
		to.Interface.URL = serveHTTP(t, a2asrv.NewJSONRPCHandler(handler))
	case spoken{remote.HTTPJSON, "1.0"}:
		to.Interface.URL = serveHTTP(t, a2asrv.NewTenantRESTHandler("/{*}", handler))
	case spoken{remote.JSONRPC, "0.3"}:
		to.Interface.URL = serveHTTP(t, a2av0.NewJSONRPCHandler(handler))
	case spoken{remote.HTTPJSON, "0.3"}:
		to.Interface.URL = serveHTTP(t, a2av0.NewRESTHandler(handler))
	}
	if !way.legacy() {
		to.Interface.Tenant = "acme"
	}
	return agent, to
}

func serveHTTP(t *testing.T, handler http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/base", handler))
	t.Cleanup(server.Close)
	return server.URL + "/base"
}

// states returns the states that events tell of, and "message" for messages.
func states(observations []remote.Observation) []string {
	var all []string
	for _, o := range observations {
		switch event, _ := a2a.DecodeEvent(o.Payload); {
		case event.Task != nil:
			all = append(all, "task "+string(event.Task.Status.State))
		case event.StatusUpdate != nil:
			all = append(all, "status "+string(event.StatusUpdate.Status.State))
		case event.ArtifactUpdate != nil:
			all = append(all, "artifact")
		case event.Message != nil:
			all = append(all, "message")
		default:
			all = append(all, "unknown")
		}
	}
	return all
}

func TestSDKAgentAsksAndCompletes(t *testing.T) {
	t.Parallel()
	everyBinding(t, func(t *testing.T, way spoken) {
		agent, to := serveAsker(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)

		request := message()
		request.Message.Extensions = []string{"urn:example:a", "urn:example:b"}
		request.Metadata = []byte(`{"k":"v"}`)
		asked, err := collect(client.Stream(ctx, to, request))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "artifact", "status TASK_STATE_INPUT_REQUIRED"}
		if diff := cmp.Diff(want, states(asked)); diff != "" {
			t.Fatalf("events mismatch (-want +got):\n%s", diff)
		}
		last, problems := a2a.DecodeEvent(asked[3].Payload)
		if len(problems) > 0 {
			t.Errorf("problems: %v, want none", problems)
		}
		form := last.StatusUpdate.Status.Message.Parts[1]
		if form.MediaType != "application/vnd.agent-taskbay.form+json" || string(form.Data) != `{"title":"Deploy"}` {
			t.Errorf("form part = %s %s", form.MediaType, form.Data)
		}

		reply := message(a2a.DataPart([]byte(`{"env":"prod"}`), "application/json"))
		reply.Message.TaskID, reply.Message.ContextID = last.TaskID(), last.ContextID()
		done, err := one(client.Send(ctx, to, reply))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"task TASK_STATE_COMPLETED"}, states(done)); diff != "" {
			t.Errorf("reply mismatch (-want +got):\n%s", diff)
		}
		tenant := to.Interface.Tenant
		wantNotes := []string{
			fmt.Sprintf(`extensions [urn:example:a urn:example:b] tenant %q metadata map[k:v]`, tenant),
			fmt.Sprintf(`extensions [] tenant %q metadata map[]`, tenant),
			`answer map[env:prod] as application/json`,
		}
		if diff := cmp.Diff(wantNotes, agent.notes()); diff != "" {
			t.Errorf("what the agent saw mismatch (-want +got):\n%s", diff)
		}

		none := 0
		stands, err := one(client.Get(ctx, to, last.TaskID(), &none))
		if err != nil || states(stands)[0] != "task TASK_STATE_COMPLETED" {
			t.Errorf("Get = %v, %v", states(stands), err)
		}
		_, err = client.Cancel(ctx, to, last.TaskID())
		if e := outcome(t, err); e.Code != remote.CodeTaskNotCancelable || e.Delivery != remote.Answered {
			t.Errorf("Cancel of a finished task = %+v", e)
		}
		_, err = collect(client.Subscribe(ctx, to, last.TaskID()))
		if e := outcome(t, err); e.Delivery != remote.Answered || e.Code == "" {
			t.Errorf("Subscribe to a finished task = %+v", e)
		}
	})
}

func TestSDKAgentWithoutTask(t *testing.T) {
	t.Parallel()
	everyBinding(t, func(t *testing.T, way spoken) {
		_, to := serveAsker(t, way)
		got, err := one(newClient(t, remote.Options{}).Send(testContext(t), to, message(a2a.TextPart("message"))))
		if err != nil || states(got)[0] != "message" {
			t.Errorf("Send = %v, %v, want a message", states(got), err)
		}
	})
}

func TestSDKAgentCanceledWhileSubscribed(t *testing.T) {
	t.Parallel()
	everyBinding(t, func(t *testing.T, way spoken) {
		_, to := serveAsker(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		started, err := client.Send(ctx, to, message(a2a.TextPart("work")))
		if err != nil {
			t.Fatal(err)
		}
		event, _ := a2a.DecodeEvent(started.Payload)
		canceled := false
		var seen []remote.Observation
		for o, err := range client.Subscribe(ctx, to, event.TaskID()) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, o)
			if !canceled {
				canceled = true
				if _, err := client.Cancel(ctx, to, event.TaskID()); err != nil {
					t.Errorf("Cancel: %v", err)
				}
			}
		}
		if got := states(seen); got[len(got)-1] != "status TASK_STATE_CANCELED" {
			t.Errorf("events = %v, want canceled at the end", got)
		}
	})
}

func TestSDKAgentErrors(t *testing.T) {
	t.Parallel()
	everyBinding(t, func(t *testing.T, way spoken) {
		_, to := serveAsker(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		for _, name := range []string{"get", "cancel", "subscribe"} {
			_, err := operations[name](ctx, client, to)
			if e := outcome(t, err); e.Code != remote.CodeTaskNotFound || e.Delivery != remote.Answered {
				t.Errorf("%s of an unknown task = %+v, want %s", name, e, remote.CodeTaskNotFound)
			}
		}
		// The SDK's own store lists for callers it knows only, and A2A 0.3 lists over
		// HTTP+JSON only.
		want := remote.Error{Delivery: remote.Answered, Code: remote.CodeUnauthenticated}
		if way == (spoken{remote.JSONRPC, "0.3"}) {
			want = remote.Error{Delivery: remote.NotSent, Code: remote.CodeUnsupportedOperation}
		}
		_, err := client.List(ctx, to, "", "")
		if e := outcome(t, err); e.Code != want.Code || e.Delivery != want.Delivery {
			t.Errorf("List = %+v, want %s, %s", e, want.Delivery, want.Code)
		}
	})
}
