package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// kept is a Tx that keeps what is stored.
type kept struct {
	Tx
	changes []Change
	bounded []string
	err     error
}

func (k *kept) StoreExchange(c Change) error {
	k.changes = append(k.changes, c)
	return k.err
}

func (k *kept) KeepExchanges(agentID string, most int) error {
	k.bounded = append(k.bounded, fmt.Sprint(agentID, " ", most))
	return nil
}

func newRecorder(k *kept) *Recorder {
	return &Recorder{Update: func(_ context.Context, f func(Tx) error) error { return f(k) }, Log: slog.New(slog.DiscardHandler)}
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	k := &kept{}
	r := newRecorder(k)
	record := func(kind remote.RecordKind, body string) {
		r.Record(remote.Record{Exchange: "e", AgentID: "a", Labels: remote.Labels{TaskID: "t"}, Operation: "SendStreamingMessage", Kind: kind, At: time.Now(), Body: []byte(body), Method: "POST", Status: 200})
	}
	r.Record(remote.Record{Exchange: "other", Kind: remote.RecordRequest}) // of no agent that is registered
	record(remote.RecordRequest, "asked")
	r.Flush(t.Context())
	record(remote.RecordResponse, "")
	record(remote.RecordEvent, "one")
	record(remote.RecordEvent, "two")
	r.Flush(t.Context())
	r.Flush(t.Context()) // with nothing new
	record(remote.RecordEvent, "three")
	record(remote.RecordEnd, "")
	r.Flush(t.Context())
	if len(k.changes) != 3 || len(r.open) != 0 {
		t.Fatalf("%d changes were stored, and %d exchanges are open; want 3 and none", len(k.changes), len(r.open))
	}
	var events []string
	for _, c := range k.changes {
		for _, e := range c.New {
			events = append(events, string(e.Body))
		}
	}
	if len(k.bounded) != 3 || k.bounded[0] != "a 1000" {
		t.Errorf("the agent's exchanges were bounded by %q, want it with each change", k.bounded)
	}
	last := k.changes[2]
	if len(events) != 3 || events[2] != "three" || last.Events != 3 || last.TaskID != "t" || string(last.RequestBody) != "asked" || last.EndedAt.IsZero() || last.New[0].Number != 3 {
		t.Errorf("events %q, last change %+v", events, last)
	}
}

// TestRecorderIsBounded gives it more than it keeps: what is kept is bounded, and
// all of it is counted.
func TestRecorderIsBounded(t *testing.T) {
	t.Parallel()
	k := &kept{}
	r := newRecorder(k)
	large := bytes.Repeat([]byte("x"), MaxBody+1)
	r.Record(remote.Record{Exchange: "e", AgentID: "a", Kind: remote.RecordRequest, Body: large})
	for range 2000 {
		r.Record(remote.Record{Exchange: "e", AgentID: "a", Kind: remote.RecordEvent, Body: large})
	}
	for i := range 1000 {
		r.Record(remote.Record{Exchange: strconv.Itoa(i), AgentID: "a", Kind: remote.RecordRequest, Body: large})
	}
	if r.waiting > maxWaiting {
		t.Errorf("%d bytes wait, want at most %d", r.waiting, maxWaiting)
	}
	r.Flush(t.Context())
	for _, c := range k.changes {
		var sum int
		for _, e := range c.New {
			sum += len(e.Body)
		}
		if len(c.RequestBody) > MaxBody || c.RequestSize != int64(len(large)) || sum > maxExchange || len(c.New) > MaxEvents {
			t.Fatalf("an exchange keeps %d bytes of %d, and %d of %d events", len(c.RequestBody), c.RequestSize, sum, len(c.New))
		}
		if c.ID == "e" && c.Events != 2000 {
			t.Errorf("%d events were counted", c.Events)
		}
	}
}

func TestRecorderGoesOn(t *testing.T) {
	t.Parallel()
	k := &kept{err: errors.New("no space")}
	r := newRecorder(k)
	for range 3 {
		r.Record(remote.Record{Exchange: "e", AgentID: "a", Kind: remote.RecordEvent})
		r.Flush(t.Context())
	}
	if len(k.changes) != 3 {
		t.Errorf("%d attempts, want 3", len(k.changes))
	}
}

func TestCurl(t *testing.T) {
	t.Parallel()
	good := Exchange{
		Method: "POST", URL: "https://a.example/rpc?x=1&y", RequestBody: []byte(`{"a":"it's $HOME"}`), RequestSize: 18,
		RequestHeader: http.Header{"X-Api-Key": {"[redacted]"}, "Content-Type": {"application/json"}, "User-Agent": {"x"}, "Content-Length": {"18"}},
	}
	want := `curl -X POST 'https://a.example/rpc?x=1&y' \
  -H 'Content-Type: application/json' \
  -H 'X-Api-Key: '"$X_API_KEY" \
  --data-binary '{"a":"it'\''s $HOME"}'`
	if got := good.Curl(); got != want {
		t.Errorf("Curl() = %s\nwant %s", got, want)
	}
	if got := (Exchange{Method: "GET", URL: "https://a.example/card.json"}).Curl(); got != "curl https://a.example/card.json" {
		t.Errorf("Curl() of a card = %s", got)
	}
	for name, change := range map[string]func(*Exchange){
		"not sent": func(e *Exchange) { e.Method = "" }, "gRPC": func(e *Exchange) { e.Binding = "GRPC" },
		"cut": func(e *Exchange) { e.RequestSize++ }, "no text": func(e *Exchange) { e.RequestBody[0] = 0xff },
	} {
		e := good
		e.RequestBody = bytes.Clone(good.RequestBody)
		if change(&e); e.Curl() != "" {
			t.Errorf("%s: Curl() = %s, want none", name, e.Curl())
		}
	}
}
