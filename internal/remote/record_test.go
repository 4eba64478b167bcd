package remote_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// recorder keeps records.
type recorder struct {
	mu      sync.Mutex
	records []remote.Record
}

func (r *recorder) record(record remote.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, record)
}

// kinds returns the records in short, and checks that they are of one exchange.
func (r *recorder) kinds(t *testing.T, operation string) []string {
	t.Helper()
	var kinds []string
	for _, record := range r.records {
		if record.Exchange != r.records[0].Exchange || record.Operation != operation || record.At.IsZero() {
			t.Errorf("record %+v is not of this exchange", record)
		}
		kinds = append(kinds, string(record.Kind))
	}
	return kinds
}

func TestRecordUnary(t *testing.T) {
	t.Parallel()
	const body = ` {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x","data":{"n":1.10}}} `
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "session=hunter2")
		w.Header().Set("X-Trace", "7")
		w.Header().Set("X-Auth-Token", "hunter2")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	})
	var r recorder
	client := newClient(t, remote.Options{Record: r.record})
	_, err := client.Send(testContext(t), target(agent.URL, remote.JSONRPC), message())
	if err == nil {
		t.Fatal("no error, want one")
	}
	if diff := cmp.Diff([]string{"request", "response", "end"}, r.kinds(t, "SendMessage")); diff != "" {
		t.Fatalf("records mismatch (-want +got):\n%s", diff)
	}
	request, response, end := r.records[0], r.records[1], r.records[2]
	if got := agent.requests()[0]; string(request.Body) != got.Body || request.Method != "POST" || request.URL != agent.URL || request.AgentID != "agent-1" {
		t.Errorf("request = %+v, want what the agent got: %+v", request, got)
	}
	if response.Status != 400 || string(response.Body) != body {
		t.Errorf("response = %d %q, want the agent's bytes", response.Status, response.Body)
	}
	for name, want := range map[string]string{"Set-Cookie": "[redacted]", "X-Auth-Token": "[redacted]", "X-Trace": "7"} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if end.Err == "" {
		t.Error("the end has no error, want one")
	}
}

func TestRecordStream(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, streams("id: 7\nevent: note\ndata: "+rpc(working)+"\n\n", "data: "+rpc(completed)))
	var r recorder
	client := newClient(t, remote.Options{Record: r.record})
	if _, err := operations["stream"](testContext(t), client, target(agent.URL, remote.JSONRPC)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"request", "response", "event", "event", "end"}, r.kinds(t, "SendStreamingMessage")); diff != "" {
		t.Fatalf("records mismatch (-want +got):\n%s", diff)
	}
	first, second := r.records[2], r.records[3]
	if first.EventID != "7" || first.EventType != "note" || string(first.Body) != rpc(working) || first.Unterminated {
		t.Errorf("first event = %+v", first)
	}
	if string(second.Body) != rpc(completed) || !second.Unterminated {
		t.Errorf("second event = %+v, want it unterminated", second)
	}
	if r.records[4].Err != "" {
		t.Errorf("end = %q, want no error", r.records[4].Err)
	}
}

func TestRecordFailures(t *testing.T) {
	t.Parallel()
	var r recorder
	client := newClient(t, remote.Options{Record: r.record})
	_, _ = client.Get(testContext(t), target("http://"+closedPort(t), remote.HTTPJSON), "t-1", nil)
	if diff := cmp.Diff([]string{"request", "end"}, r.kinds(t, "GetTask")); diff != "" {
		t.Fatalf("records mismatch (-want +got):\n%s", diff)
	}
	if end := r.records[1]; !strings.Contains(end.Err, "connection refused") {
		t.Errorf("end = %q, want why", end.Err)
	}
}
