package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// received is a request as a fake agent got it.
type received struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// fakeAgent is an HTTP server that keeps what it got.
type fakeAgent struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
}

func newAgent(t *testing.T, handle http.HandlerFunc) *fakeAgent {
	t.Helper()
	agent := &fakeAgent{}
	agent.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		agent.mu.Lock()
		agent.got = append(agent.got, received{r.Method, r.URL.RequestURI(), r.Header, string(body)})
		agent.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(agent.Close)
	return agent
}

func (a *fakeAgent) requests() []received {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]received(nil), a.got...)
}

// answers returns a handler that always gives this answer.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// streams returns a handler that answers with these bytes as a stream, flushing
// after each.
func streams(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
}

// bindings runs a test over those that are text over HTTP.
func bindings(t *testing.T, test func(t *testing.T, binding string)) {
	t.Helper()
	for _, binding := range []string{remote.JSONRPC, remote.HTTPJSON} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			test(t, binding)
		})
	}
}

func newClient(t *testing.T, o remote.Options) *remote.Client {
	t.Helper()
	client := remote.New(o)
	t.Cleanup(client.Close)
	return client
}

func target(url, binding string) remote.Target {
	return remote.Target{AgentID: "agent-1", Interface: remote.Interface{URL: url, Binding: binding, ProtocolVersion: "1.0"}, Streaming: true}
}

func message(parts ...a2a.Part) remote.SendRequest {
	if len(parts) == 0 {
		parts = []a2a.Part{a2a.TextPart("hello")}
	}
	return remote.SendRequest{Message: a2a.Message{MessageID: "m-1", Role: a2a.RoleUser, Parts: parts}}
}

// operations are the calls that tests make alike.
var operations = map[string]func(context.Context, *remote.Client, remote.Target) ([]remote.Observation, error){
	"send": func(ctx context.Context, c *remote.Client, t remote.Target) ([]remote.Observation, error) {
		return one(c.Send(ctx, t, message()))
	},
	"stream": func(ctx context.Context, c *remote.Client, t remote.Target) ([]remote.Observation, error) {
		return collect(c.Stream(ctx, t, message()))
	},
	"subscribe": func(ctx context.Context, c *remote.Client, t remote.Target) ([]remote.Observation, error) {
		return collect(c.Subscribe(ctx, t, "t-1"))
	},
	"get": func(ctx context.Context, c *remote.Client, t remote.Target) ([]remote.Observation, error) {
		return one(c.Get(ctx, t, "t-1", nil))
	},
	"cancel": func(ctx context.Context, c *remote.Client, t remote.Target) ([]remote.Observation, error) {
		return one(c.Cancel(ctx, t, "t-1"))
	},
}

func one(o remote.Observation, err error) ([]remote.Observation, error) {
	if err != nil {
		return nil, err
	}
	return []remote.Observation{o}, nil
}

func collect(events func(func(remote.Observation, error) bool)) ([]remote.Observation, error) {
	var observations []remote.Observation
	for o, err := range events {
		if err != nil {
			return observations, err
		}
		observations = append(observations, o)
	}
	return observations, nil
}

func payloads(observations []remote.Observation) []string {
	var all []string
	for _, o := range observations {
		all = append(all, string(o.Payload))
	}
	return all
}

// outcome returns an error as the outcome that it has to be.
func outcome(t *testing.T, err error) *remote.Error {
	t.Helper()
	var e *remote.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v (%T), want a *remote.Error", err, err)
	}
	return e
}

// rpc returns a JSON-RPC response with this result.
func rpc(result string) string { return `{"jsonrpc":"2.0","id":"1","result":` + result + `}` }

// rpcEvent returns it as an event of a stream.
func rpcEvent(result string) string { return "data: " + rpc(result) + "\n\n" }

const (
	working   = `{"statusUpdate":{"taskId":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	completed = `{"statusUpdate":{"taskId":"t-1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`
	wholeTask = `{"task":{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	bareTask  = `{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`
)

// jsonMember returns a member of a JSON object, by a path of names.
func jsonMember(t *testing.T, document string, path ...string) json.RawMessage {
	t.Helper()
	current := json.RawMessage(document)
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(current, &object); err != nil {
			t.Fatalf("%s is not an object: %v", current, err)
		}
		current = object[name]
	}
	return current
}

// testContext ends with the test, or when something hangs.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
