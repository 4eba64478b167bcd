package remote_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// everyWay runs a test over all ways to speak to an agent.
func everyWay(t *testing.T, test func(t *testing.T, way agenttest.Way)) {
	t.Helper()
	for _, way := range agenttest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			test(t, way)
		})
	}
}

// targetBy returns how to reach what is at an address in one of the ways.
func targetBy(way agenttest.Way, url string) remote.Target {
	to := target(url, way.Binding)
	to.Interface.ProtocolVersion = way.Version
	return to
}

// serveSDKAgent serves an agent on the official SDK and returns how to reach it.
func serveSDKAgent(t *testing.T, way agenttest.Way) (*agenttest.Agent, remote.Target) {
	t.Helper()
	agent := agenttest.Serve(t, way, true)
	to := targetBy(way, agent.Interface.URL)
	if !way.Legacy() {
		to.Interface.Tenant = agenttest.Tenant
	}
	return agent, to
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

// asked starts a task and returns the question in its last event.
func asked(t *testing.T, client *remote.Client, to remote.Target, request remote.SendRequest) a2a.Event {
	t.Helper()
	events, err := collect(client.Stream(testContext(t), to, request))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "status TASK_STATE_INPUT_REQUIRED"}
	if diff := cmp.Diff(want, states(events)); diff != "" {
		t.Fatalf("events mismatch (-want +got):\n%s", diff)
	}
	last, problems := a2a.DecodeEvent(events[2].Payload)
	if len(problems) > 0 {
		t.Errorf("problems: %v, want none", problems)
	}
	return last
}

func TestSDKAgentAsksAndCompletes(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		agent, to := serveSDKAgent(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)

		request := message()
		request.Message.Extensions = []string{"urn:example:a", "urn:example:b"}
		request.Metadata = []byte(`{"k":"v"}`)
		last := asked(t, client, to, request)
		question := last.StatusUpdate.Status.Message.Parts[1]
		if f, err := form.Parse(question.Data); question.MediaType != form.MediaType || err != nil || f.Title != "Deployment" {
			t.Errorf("form part = %s %s: %v", question.MediaType, question.Data, err)
		}

		reply := message(a2a.DataPart([]byte(`{"environment":"staging","replicas":2}`), "application/json"))
		reply.Message.TaskID, reply.Message.ContextID = last.TaskID(), last.ContextID()
		done, err := one(client.Send(ctx, to, reply))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"task TASK_STATE_COMPLETED"}, states(done)); diff != "" {
			t.Errorf("reply mismatch (-want +got):\n%s", diff)
		}
		tenant := to.Interface.Tenant
		want := []string{
			fmt.Sprintf(`extensions [urn:example:a urn:example:b] tenant %q metadata map[k:v]`, tenant),
			fmt.Sprintf(`extensions [] tenant %q metadata map[]`, tenant),
			`answer map[environment:staging replicas:2] as application/json`,
		}
		if diff := cmp.Diff(want, agent.Notes()); diff != "" {
			t.Errorf("what the agent saw mismatch (-want +got):\n%s", diff)
		}
	})
}

func TestSDKAgentFinishedTask(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		events, err := collect(client.Stream(ctx, to, message(a2a.TextPart(agenttest.SayReport))))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"task TASK_STATE_SUBMITTED", "status TASK_STATE_WORKING", "artifact", "artifact", "artifact", "status TASK_STATE_COMPLETED"}
		if diff := cmp.Diff(want, states(events)); diff != "" {
			t.Fatalf("events mismatch (-want +got):\n%s", diff)
		}
		first, _ := a2a.DecodeEvent(events[0].Payload)

		none := 0
		stands, err := one(client.Get(ctx, to, first.TaskID(), &none))
		if err != nil || states(stands)[0] != "task TASK_STATE_COMPLETED" {
			t.Errorf("Get = %v, %v", states(stands), err)
		}
		// The reply is first: the SDK answers it once the task's run is over. Until then,
		// which is a moment after its last event, it takes subscriptions to it.
		reply := message()
		reply.Message.TaskID, reply.Message.ContextID = first.TaskID(), first.ContextID()
		_, err = client.Send(ctx, to, reply)
		if e := outcome(t, err); e.Delivery != remote.Answered || e.Code != remote.CodeInvalidParams {
			t.Errorf("reply on a finished task = %+v", e)
		}
		_, err = client.Cancel(ctx, to, first.TaskID())
		if e := outcome(t, err); e.Code != remote.CodeTaskNotCancelable || e.Delivery != remote.Answered {
			t.Errorf("Cancel of a finished task = %+v", e)
		}
		_, err = collect(client.Subscribe(ctx, to, first.TaskID()))
		if e := outcome(t, err); e.Delivery != remote.Answered || e.Code != remote.CodeTaskNotFound {
			t.Errorf("Subscribe to a finished task = %+v", e)
		}
	})
}

func TestSDKAgentWithoutTask(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		got, err := one(newClient(t, remote.Options{}).Send(testContext(t), to, message(a2a.TextPart(agenttest.SayMessage))))
		if err != nil || states(got)[0] != "message" {
			t.Errorf("Send = %v, %v, want a message", states(got), err)
		}
	})
}

func TestSDKAgentCanceledWhileSubscribed(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		started, err := client.Send(ctx, to, message(a2a.TextPart(agenttest.SayWork)))
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

func TestSDKAgentUnknownTask(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		for _, name := range []string{"get", "cancel", "subscribe"} {
			_, err := operations[name](ctx, client, to)
			if e := outcome(t, err); e.Code != remote.CodeTaskNotFound || e.Delivery != remote.Answered {
				t.Errorf("%s of an unknown task = %+v, want %s", name, e, remote.CodeTaskNotFound)
			}
		}
	})
}

func TestSDKAgentLists(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		_, to := serveSDKAgent(t, way)
		client, ctx := newClient(t, remote.Options{}), testContext(t)
		page, err := client.List(ctx, to, remote.ListRequest{})
		if way == (agenttest.Way{Binding: remote.JSONRPC, Version: "0.3"}) {
			if e := outcome(t, err); e.Code != remote.CodeUnsupportedOperation || e.Delivery != remote.NotSent {
				t.Errorf("List = %+v, want that it is not sent: there is no such method", e)
			}
			return
		}
		if err != nil || len(page.Tasks) != 0 || page.Next != "" {
			t.Errorf("List = %+v, %v, want an empty page", page, err)
		}
		one := asked(t, client, to, message())
		asked(t, client, to, message())
		for contextID, want := range map[string]int{"": 2, one.ContextID(): 1} {
			page, err := client.List(ctx, to, remote.ListRequest{ContextID: contextID, Brief: true})
			if err != nil || len(page.Tasks) != want {
				t.Fatalf("List of context %q = %+v, %v, want %d tasks", contextID, page, err, want)
			}
			if got := states(page.Tasks)[0]; got != "task TASK_STATE_INPUT_REQUIRED" {
				t.Errorf("listed %s, want that it waits", got)
			}
		}
	})
}
