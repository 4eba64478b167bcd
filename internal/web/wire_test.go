package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/wire"
)

// fakeWire has the exchanges of one agent and task.
type fakeWire struct {
	exchanges []wire.Exchange
	events    []wire.Event
	refusal   wire.Exchange
}

func (f *fakeWire) OfAgent(context.Context, access.Principal, string) (wire.Page, error) {
	return wire.Page{Items: f.exchanges, Total: len(f.exchanges)}, nil
}

func (f *fakeWire) OfTask(context.Context, access.Principal, string) (wire.Page, error) {
	return wire.Page{Items: f.exchanges, Total: len(f.exchanges) + 7}, nil
}

func (f *fakeWire) Get(_ context.Context, _ access.Principal, id string) (wire.Exchange, []wire.Event, error) {
	for _, e := range f.exchanges {
		if e.ID == id {
			return e, f.events, nil
		}
	}
	return wire.Exchange{}, nil, fault.New(fault.NotFound, "There is no such exchange.")
}

func (f *fakeWire) Refusal(context.Context, access.Principal, string) (wire.Exchange, bool, error) {
	return f.refusal, f.refusal.Refused(), nil
}

func sampleExchanges() []wire.Exchange {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return []wire.Exchange{
		{
			ID: "second", AgentID: formAgent, Operation: "SendStreamingMessage", Binding: "JSONRPC", Version: "1.0",
			Method: "POST", URL: "https://agents.example.com/rpc", RequestHeader: http.Header{"Authorization": {"[redacted]"}, "A2a-Version": {"1.0"}},
			RequestBody: []byte(`{"b":1.10,"a":"<script>it's</script>"}`), RequestSize: 38,
			Status: 200, ResponseHeader: http.Header{"Content-Type": {"text/event-stream"}}, Events: 3,
			StartedAt: at, AnsweredAt: at.Add(20 * time.Millisecond), EndedAt: at.Add(1500 * time.Millisecond),
		},
		{ID: "first", AgentID: formAgent, Operation: "GetTask", Error: "The agent was not called. <b>", StartedAt: at, EndedAt: at},
	}
}

func TestWirePages(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.wire = fakeWire{exchanges: sampleExchanges(), events: []wire.Event{
		{Number: 1, Body: []byte(`{"x":"<i>"}`), Size: 11}, {Number: 2, Type: "error", Body: []byte("half"), Size: 900},
	}}
	for _, base := range []string{"/agents/" + formAgent + "/wire", "/tasks/" + plainTask + "/wire"} {
		page := c.get(t, base).wants(http.StatusOK)
		if got := len(page.all(".exchange")); got != 2 || page.has(".exchange-body") {
			t.Errorf("%s has %d exchanges, or one is unfolded", base, got)
		}
		if got := page.text("#exchange-first .chip"); got != "No answer" {
			t.Errorf("%s: a call that was not made is %q", base, got)
		}
		open := page.attr("#exchange-second .exchange-link", "href")
		if !strings.HasPrefix(open, base+"?open=second#") {
			t.Fatalf("%s: the exchange unfolds at %q", base, open)
		}
		open, _, _ = strings.Cut(open, "#") // which a browser keeps to itself
		page = c.get(t, open).wants(http.StatusOK)
		body := page.text("#exchange-second")
		for _, want := range []string{
			"Authorization: [redacted]", `"b": 1.10`, "<script>it's</script>", "answered after 20 ms, ended after 1.5 s", "3 events",
			"The first 4 of 900 bytes", "2 of 3 events; no more are kept.", `-H 'Authorization: '"$AUTHORIZATION"`, `it'\''s`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the exchange does not say %q:\n%s", base, want, body)
			}
		}
		if strings.Contains(page.body, "<script>it") {
			t.Errorf("%s: what the agent sent is markup", base)
		}
	}
	if got := c.get(t, "/tasks/"+plainTask+"/wire").text(".exchanges"); !strings.Contains(got, "#9") || !strings.Contains(got, "#8") {
		t.Errorf("the exchanges are numbered otherwise: %q", got)
	}
	c.get(t, "/agents/nobody/wire").wants(http.StatusNotFound)
	c.get(t, "/tasks/nothing/wire").wants(http.StatusNotFound)
}

func TestRefusedAgent(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.wire.refusal = wire.Exchange{Status: 401, Error: "The agent wants a credential (401 Unauthorized). It asks for: Bearer.", StartedAt: time.Now()}
	note := c.get(t, "/agents/"+formAgent).wants(http.StatusOK).text(".warnings .note-warning")
	if !strings.Contains(note, "refused the last call") || !strings.Contains(note, "It asks for: Bearer.") || !strings.Contains(note, "Set a credential") {
		t.Errorf("note = %q, want what the agent asks for", note)
	}
}

// TestEqualChecksAreFolded: the polls of a quiet task are one line, which holds them all
// and opens with the one that is looked at.
func TestEqualChecksAreFolded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	list := sampleExchanges()[:1]
	for i := range 14 {
		started := at.Add(-time.Duration(i) * time.Minute)
		list = append(list, wire.Exchange{
			ID: fmt.Sprint("check-", i), Operation: "GetTask", Status: 200, Outcome: "same", StartedAt: started, AnsweredAt: started.Add(time.Second), EndedAt: started.Add(time.Second),
		})
	}
	c.wire = fakeWire{exchanges: list}
	base := "/tasks/" + plainTask + "/wire"
	page := c.get(t, base).wants(http.StatusOK)
	if got := page.text(".exchange-run summary"); !strings.Contains(got, "#21 to #8") || !strings.Contains(got, "14 checks with the same answer, 1 Mar 2026, 11:47 UTC to 1 Mar 2026, 12:00 UTC") {
		t.Errorf("the checks are %q", got)
	}
	if page.has(".exchange-run details[open]") || len(page.all(".exchange-run .exchange")) != 14 || len(page.all(".exchange")) != 15 {
		t.Error("the run is open, or has not all of them, or others too")
	}
	page = c.get(t, base+"?open=check-3").wants(http.StatusOK)
	if !page.has(".exchange-run details[open]") || !page.has("#exchange-check-3 .exchange-body") {
		t.Error("the run of the check that is looked at is folded")
	}
}
