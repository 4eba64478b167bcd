package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Call is a call that a fake agent got.
type Call struct {
	Method string          // as A2A 1.0 names it, such as SendMessage
	N      int             // how many of this method came before
	TaskID string          // that the call is about; "" for a first message
	Params json.RawMessage // as it came; over gRPC the JSON of the protocol buffers
}

// Say is what a fake agent answers. Its JSON is that of A2A 1.0; over the wire it
// goes as the binding has it.
type Say struct {
	Events []string         // each a StreamResponse; of a call that is answered once, the first
	Error  *Refusal         // after the events
	Hold   bool             // keep the stream open, until the console leaves or the test ends
	HTTP   http.HandlerFunc // in the place of all else; not over gRPC
}

// Refusal is an error of A2A.
type Refusal struct {
	Code    int // of JSON-RPC
	Message string
	Data    string // JSON; "" for none
}

// Fake is an agent that says what a test wants, over any binding.
type Fake struct {
	Interface remote.Interface
	CardURL   string

	t     testing.TB
	way   Way
	say   func(Call) Say
	asked chan remote.PushConfig // nil if its card says nothing of pushes
	ended chan struct{}

	mu    sync.Mutex
	calls []Call
}

// Play runs a fake agent until the test ends. Its card offers streams or does not.
func Play(t testing.TB, way Way, streaming bool, say func(Call) Say) *Fake {
	t.Helper()
	return (&Fake{t: t, way: way, say: say}).start(streaming)
}

// PlayPushing is Play of an agent whose card says that it pushes; what it is asked to
// push to comes from Asked. It pushes nothing by itself.
func PlayPushing(t testing.TB, way Way, streaming bool, say func(Call) Say) *Fake {
	t.Helper()
	return (&Fake{t: t, way: way, say: say, asked: make(chan remote.PushConfig, 64)}).start(streaming)
}

// Asked gets the push configurations that the agent was given.
func (f *Fake) Asked() <-chan remote.PushConfig { return f.asked }

// ask takes a push configuration, unless the test says something else.
func (f *Fake) ask(params []byte, say Say) Say {
	if say.Error != nil || say.HTTP != nil {
		return say
	}
	var request struct {
		Params struct{ TaskID, URL, Token string }
	}
	if err := json.Unmarshal(params, &request); err != nil {
		f.t.Errorf("a push configuration is no JSON: %v", err)
	}
	f.asked <- remote.PushConfig{TaskID: request.Params.TaskID, URL: request.Params.URL, Token: request.Params.Token}
	return Say{Events: []string{`{"id":"p-1","url":"` + request.Params.URL + `"}`}}
}

func (f *Fake) start(streaming bool) *Fake {
	t, way := f.t, f.way
	t.Helper()
	f.ended = make(chan struct{})
	f.Interface = remote.Interface{Binding: way.Binding, ProtocolVersion: way.Version}
	if way.OverGRPC() {
		f.Interface.URL = f.serveGRPC()
	} else {
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		f.Interface.URL = server.URL + "/base"
	}
	card := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(f.Card(streaming)))
	}))
	t.Cleanup(card.Close)
	t.Cleanup(func() { close(f.ended) })
	f.CardURL = card.URL + "/" + uuid.NewString() + ".json" // never that of an agent before it at the same port
	return f
}

// Card is the agent's card.
func (f *Fake) Card(streaming bool) string {
	const rest = `"name":"Fake","description":"d","version":"1","defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],` +
		`"capabilities":{"streaming":%t,"pushNotifications":%t,"extensions":[{"uri":%q}]}`
	if f.way.Legacy() {
		return fmt.Sprintf(`{"protocolVersion":"0.3.0","url":%q,"preferredTransport":%q,`+rest+`}`, f.Interface.URL, f.way.Binding, streaming, f.asked != nil, form.URI)
	}
	return fmt.Sprintf(`{"supportedInterfaces":[{"url":%q,"protocolBinding":%q,"protocolVersion":"1.0"}],`+rest+`}`, f.Interface.URL, f.way.Binding, streaming, f.asked != nil, form.URI)
}

// Calls returns the calls of a method, or all of them for "".
func (f *Fake) Calls(method string) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	if method == "" {
		return slices.Clone(f.calls)
	}
	return slices.DeleteFunc(slices.Clone(f.calls), func(c Call) bool { return c.Method != method })
}

// called notes a call and returns what to say to it.
func (f *Fake) called(method, taskID string, params []byte) Say {
	f.mu.Lock()
	c := Call{Method: method, TaskID: taskID, Params: params}
	for _, earlier := range f.calls {
		if earlier.Method == method {
			c.N++
		}
	}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	say := f.say(c)
	if method == "CreateTaskPushNotificationConfig" && f.asked != nil {
		return f.ask(params, say)
	}
	return say
}

// single returns the answer to a call that is answered once, in A2A 1.0: the event,
// or for a method about a task the task in it.
func single(method string, events []string) string {
	if len(events) == 0 {
		return "{}"
	}
	if method == "SendMessage" {
		return events[0]
	}
	var event struct{ Task json.RawMessage }
	if json.Unmarshal([]byte(events[0]), &event) == nil && event.Task != nil {
		return string(event.Task)
	}
	return events[0]
}

func streams(method string) bool {
	return method == "SendStreamingMessage" || method == "SubscribeToTask"
}
