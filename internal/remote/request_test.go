package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

const digits = `{"n":9007199254740993, "z":1.10, "a":1e400, "h":"<&>"}`

// TestDigits sends JSON that floating point and re-encoding would change, and gets
// it back, over both bindings, with and without a stream.
func TestDigits(t *testing.T) {
	t.Parallel()
	said := `{"message":{"messageId":"m-2","role":"ROLE_AGENT","parts":[{"data":` + digits + `}]}}`
	tests := []struct {
		binding, operation string
		handle             http.HandlerFunc
		path               []string // to the message in the request
	}{
		{remote.JSONRPC, "send", answers(200, "application/json", rpc(said)), []string{"params", "message"}},
		{remote.JSONRPC, "stream", streams(rpcEvent(said)), []string{"params", "message"}},
		{remote.HTTPJSON, "send", answers(200, "application/json", said), []string{"message"}},
		{remote.HTTPJSON, "stream", streams("data: " + said + "\n\n"), []string{"message"}},
	}
	for _, tt := range tests {
		t.Run(tt.binding+" "+tt.operation, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, tt.handle)
			client, ctx := newClient(t, remote.Options{}), testContext(t)
			request := message(a2a.DataPart([]byte(digits), "application/json"))
			request.Metadata = []byte(digits)
			request.Message.Metadata = []byte(digits)

			var got []remote.Observation
			var err error
			if tt.operation == "send" {
				got, err = one(client.Send(ctx, target(agent.URL, tt.binding), request))
			} else {
				got, err = collect(client.Stream(ctx, target(agent.URL, tt.binding), request))
			}
			if err != nil {
				t.Fatal(err)
			}
			event, _ := a2a.DecodeEvent(got[0].Payload)
			if data := string(event.Message.Parts[0].Data); data != digits {
				t.Errorf("received data = %s, want %s", data, digits)
			}
			body := agent.requests()[0].Body
			want, err := a2a.WireMessage(request.Message)
			if err != nil {
				t.Fatal(err)
			}
			if sent := jsonMember(t, body, tt.path...); string(sent) != string(want) {
				t.Errorf("sent message = %s, want %s", sent, want)
			}
			metadataPath := append(append([]string{}, tt.path[:len(tt.path)-1]...), "metadata")
			if sent := jsonMember(t, body, metadataPath...); string(sent) != digits {
				t.Errorf("sent metadata = %s, want %s", sent, digits)
			}
		})
	}
}

func TestRequestHeadersAndConfiguration(t *testing.T) {
	t.Parallel()
	bindings(t, func(t *testing.T, binding string) {
		agent := newAgent(t, answers(200, "application/json", wholeTask))
		client := newClient(t, remote.Options{UserAgent: "Agent-Taskbay/1.2"})
		history := 5
		request := message()
		request.HistoryLength = &history
		request.AcceptedOutputModes = []string{"text/plain"}
		request.Message.Extensions = []string{"urn:a", "urn:b"}
		if _, err := client.Send(testContext(t), target(agent.URL, binding), request); err != nil {
			t.Fatal(err)
		}
		got := agent.requests()[0]
		for name, want := range map[string][]string{
			"A2A-Version": {"1.0"}, "A2A-Extensions": {"urn:a", "urn:b"}, "User-Agent": {"Agent-Taskbay/1.2"},
			"Idempotency-Key": nil, "Accept": {"application/json"}, "Content-Type": {"application/json"},
		} {
			if diff := cmp.Diff(want, got.Header.Values(name)); diff != "" {
				t.Errorf("%s mismatch (-want +got):\n%s", name, diff)
			}
		}
		path := []string{"configuration"}
		if binding == remote.JSONRPC {
			path = []string{"params", "configuration"}
		}
		want := `{"acceptedOutputModes":["text/plain"],"returnImmediately":true,"historyLength":5}`
		if got := jsonMember(t, got.Body, path...); string(got) != want {
			t.Errorf("configuration = %s, want %s", got, want)
		}
	})
}

func TestEveryOperationSaysItsVersion(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(500, "", ""))
	client := newClient(t, remote.Options{})
	for name, operation := range operations {
		_, _ = operation(testContext(t), client, target(agent.URL, remote.HTTPJSON))
		got := agent.requests()
		if version := got[len(got)-1].Header.Get("A2A-Version"); version != "1.0" {
			t.Errorf("%s: A2A-Version = %q, want 1.0", name, version)
		}
		if extensions := got[len(got)-1].Header.Values("A2A-Extensions"); extensions != nil {
			t.Errorf("%s: A2A-Extensions = %q, want none", name, extensions)
		}
	}
}

// TestTaskIDsInPaths: an ID comes from the agent and must not reach another path.
func TestTaskIDsInPaths(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", bareTask))
	client := newClient(t, remote.Options{})
	to := target(agent.URL+"/base/", remote.HTTPJSON)
	for id, want := range map[string]string{
		"plain":        "/base/tasks/plain",
		"../x":         "/base/tasks/..%2Fx",
		"%2e%2e":       "/base/tasks/%252e%252e",
		"a?b#c&d":      "/base/tasks/a%3Fb%23c&d",
		"urn:task:1":   "/base/tasks/urn:task:1",
		"a b/ü%":       "/base/tasks/a%20b%2F%C3%BC%25",
		"t:cancel":     "/base/tasks/t:cancel",
		"//evil.test/": "/base/tasks/%2F%2Fevil.test%2F",
	} {
		if _, err := client.Get(testContext(t), to, id, nil); err != nil {
			t.Errorf("Get(%q): %v", id, err)
			continue
		}
		got := agent.requests()
		if path := got[len(got)-1].Path; path != want {
			t.Errorf("Get(%q) asked %s, want %s", id, path, want)
		}
	}
	before := len(agent.requests())
	for _, id := range []string{"", ".", ".."} {
		_, err := client.Cancel(testContext(t), to, id)
		if e := outcome(t, err); e.Delivery != remote.NotSent {
			t.Errorf("Cancel(%q) = %+v, want not sent", id, e)
		}
	}
	if after := len(agent.requests()); after != before {
		t.Errorf("the agent got %d requests, want none", after-before)
	}
}

func TestTenants(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", bareTask))
	client := newClient(t, remote.Options{})
	for tenant, want := range map[string]string{
		"acme":      "/acme/tasks/t-1",
		"a/b":       "/a/b/tasks/t-1",
		"a b?c":     "/a%20b%3Fc/tasks/t-1",
		"%2e%2e/x":  "/%252e%252e/x/tasks/t-1",
		"../secret": "",
		"a//b":      "",
	} {
		to := target(agent.URL, remote.HTTPJSON)
		to.Interface.Tenant = tenant
		_, err := client.Get(testContext(t), to, "t-1", nil)
		if want == "" {
			if e := outcome(t, err); e.Delivery != remote.NotSent {
				t.Errorf("tenant %q: %+v, want not sent", tenant, e)
			}
			continue
		}
		got := agent.requests()
		if path := got[len(got)-1].Path; err != nil || path != want {
			t.Errorf("tenant %q asked %s (%v), want %s", tenant, path, err, want)
		}
	}
	to := target(agent.URL, remote.JSONRPC)
	to.Interface.Tenant = "../secret"
	if _, err := client.Get(testContext(t), to, "t-1", nil); err != nil {
		t.Fatal(err)
	}
	got := agent.requests()
	if params := jsonMember(t, got[len(got)-1].Body, "params"); string(params) != `{"tenant":"../secret","id":"t-1"}` {
		t.Errorf("params = %s", params)
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", wholeTask))
	client := newClient(t, remote.Options{})
	badMetadata := message()
	badMetadata.Metadata = []byte("{")
	for name, request := range map[string]remote.SendRequest{
		"unknown part": message(a2a.Part{Unknown: []byte(`{}`)}),
		"bad data":     message(a2a.Part{Data: []byte(`{`)}),
		"bad metadata": badMetadata,
	} {
		_, err := client.Send(testContext(t), target(agent.URL, remote.JSONRPC), request)
		if e := outcome(t, err); e.Delivery != remote.NotSent {
			t.Errorf("%s: %+v, want not sent", name, e)
		}
	}
	if got := agent.requests(); len(got) > 0 {
		t.Errorf("the agent got %v, want nothing", got)
	}
}

// TestCallsAtOnce: calls that share a client do not mix up what they read.
func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		task := fmt.Sprintf(`{"task":{"id":%q,"status":{}}}`, r.Header.Get("A2A-Extensions"))
		if r.Header.Get("Accept") == "text/event-stream" {
			streams("data: "+task+"\n\n", "data: "+task+"\n\n")(w, r)
			return
		}
		_, _ = io.WriteString(w, task)
	})
	client := newClient(t, remote.Options{})
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			request := message()
			id := fmt.Sprintf("urn:%d", i)
			request.Message.Extensions = []string{id}
			to := target(agent.URL, []string{remote.JSONRPC, remote.HTTPJSON}[i%2])
			to.Streaming = i%3 > 0
			got, err := collect(client.Stream(testContext(t), to, request))
			if err != nil {
				t.Error(err)
			}
			for _, o := range got {
				if event, _ := a2a.DecodeEvent(o.Payload); event.TaskID() != id {
					t.Errorf("call %s got %s", id, o.Payload)
				}
			}
		})
	}
	group.Wait()
}

func TestInterfaceSpellings(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", bareTask))
	client := newClient(t, remote.Options{})
	for _, spelled := range []remote.Interface{
		{Binding: "JSONRPC", ProtocolVersion: "1"}, {Binding: "jsonrpc", ProtocolVersion: "1.0.0"},
		{Binding: "http+json", ProtocolVersion: "v1.1"}, {Binding: "HTTP+JSON"},
	} {
		spelled.URL = agent.URL
		if _, err := client.Get(testContext(t), remote.Target{Interface: spelled}, "t-1", nil); err != nil {
			t.Errorf("%+v: %v", spelled, err)
		}
	}
}
