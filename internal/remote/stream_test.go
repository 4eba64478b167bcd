package remote_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

func TestStreamsThatAreRead(t *testing.T) {
	t.Parallel()
	folded := strings.ReplaceAll(rpc(working), `"contextId"`, "\ndata: \"contextId\"")
	tests := []struct {
		name, binding string
		pieces        []string
		want          []string
	}{
		{"two events", remote.JSONRPC, []string{rpcEvent(working), rpcEvent(completed)}, []string{working, completed}},
		{"over REST", remote.HTTPJSON, []string{"data: " + working + "\n\n", "data: " + completed + "\n\n"}, []string{working, completed}},
		{"no envelope", remote.JSONRPC, []string{"data: " + working + "\n\n"}, []string{working}},
		{"no final blank line", remote.JSONRPC, []string{rpcEvent(working), "data: " + rpc(completed)}, []string{working, completed}},
		{"no final blank line, line ended", remote.JSONRPC, []string{"data: " + rpc(completed) + "\n"}, []string{completed}},
		{"CRLF, torn apart", remote.JSONRPC, []string{"data: " + rpc(working) + "\r", "\n\r", "\n", "data:" + rpc(completed) + "\r\n\r\n"}, []string{working, completed}},
		{"CR alone", remote.JSONRPC, []string{"data: " + rpc(working) + "\r\r", "data: " + rpc(completed) + "\r\r"}, []string{working, completed}},
		{"all fields, data in lines", remote.JSONRPC, []string{"event: message\nid: 7\nretry: 1000\ndata: " + folded + "\n\n"}, []string{strings.ReplaceAll(working, `"contextId"`, "\n\"contextId\"")}},
		{"comments", remote.JSONRPC, []string{": hi\n\n:\n", ": again\n" + rpcEvent(working), ":\n\n"}, []string{working}},
		{"byte order mark", remote.JSONRPC, []string{"\xEF\xBB\xBF" + rpcEvent(working)}, []string{working}},
		{"done mark", remote.JSONRPC, []string{rpcEvent(working), "data: [DONE]\n\n", rpcEvent(completed)}, []string{working}},
		{"empty events", remote.JSONRPC, []string{"data:\n\n", "data: \n\n", rpcEvent(working)}, []string{working}},
		{"unknown kind", remote.JSONRPC, []string{rpcEvent(`{"progressUpdate":{"n":1.10}}`), rpcEvent(working)}, []string{`{"progressUpdate":{"n":1.10}}`, working}},
		{"odd content", remote.JSONRPC, []string{rpcEvent(oddTask), rpcEvent(working)}, []string{oddTask, working}},
		{"not JSON", remote.HTTPJSON, []string{"data: wait <b>\n\n", "data: " + working + "\n\n"}, []string{`"wait \u003cb\u003e"`, working}},
		{"0.3 kinds", remote.JSONRPC, []string{rpcEvent(`{"kind":"status-update","taskId":"t"}`)}, []string{`{"statusUpdate":{"kind":"status-update","taskId":"t"}}`}},
		{"event named error that is none", remote.JSONRPC, []string{"event: error\n" + rpcEvent(working)}, []string{working}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, streams(tt.pieces...))
			client := newClient(t, remote.Options{})
			for _, operation := range []string{"stream", "subscribe"} {
				got, err := operations[operation](testContext(t), client, target(agent.URL, tt.binding))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, payloads(got)); diff != "" {
					t.Errorf("%s: payloads mismatch (-want +got):\n%s", operation, diff)
				}
			}
		})
	}
}

func TestStreamsThatFail(t *testing.T) {
	t.Parallel()
	fail := func(data string) string {
		return `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"not now","data":` + data + "}}\n\n"
	}
	tests := []struct {
		name     string
		pieces   []string
		seen     int
		delivery remote.Delivery
		code     string
		message  string
	}{
		{"error first", []string{fail(`{"a":1}`)}, 0, remote.Answered, remote.CodeUnsupportedOperation, `not now {"a":1}`},
		{"error later", []string{rpcEvent(working), fail(`"x"`)}, 1, remote.Answered, remote.CodeUnsupportedOperation, `not now "x"`},
		{"error as a result", []string{rpcEvent(working), rpcEvent(`{"error":"task timed out"}`)}, 1, remote.Answered, remote.CodeInternal, "task timed out"},
		{"error of REST", []string{`data: {"error":{"code":404,"message":"gone","details":[{"reason":"TASK_NOT_FOUND"}]}}` + "\n\n"}, 0, remote.Answered, remote.CodeTaskNotFound, "gone"},
		{"event named error", []string{rpcEvent(working), "event: error\ndata: {\"message\":\"overloaded\"}\n\n"}, 1, remote.Answered, remote.CodeInternal, "overloaded"},
		{"event named error, a text", []string{"event: error\ndata: overloaded\n\n"}, 0, remote.Answered, remote.CodeInternal, "overloaded"},
		{"nothing said", []string{": hello\n\n"}, 0, remote.Uncertain, remote.CodeInvalidResponse, "without saying anything"},
		{"no bytes", nil, 0, remote.Uncertain, remote.CodeInvalidResponse, "without saying anything"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, streams(tt.pieces...))
			got, err := operations["stream"](testContext(t), newClient(t, remote.Options{}), target(agent.URL, remote.JSONRPC))
			e := outcome(t, err)
			if len(got) != tt.seen || e.Delivery != tt.delivery || e.Code != tt.code || !strings.Contains(e.Message, tt.message) {
				t.Errorf("%d events and %+v, want %d and %s %s %q", len(got), e, tt.seen, tt.delivery, tt.code, tt.message)
			}
		})
	}
}

func TestAnswersInThePlaceOfAStream(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, contentType, body string
		want                    []string
		code                    string // of the error behind it
	}{
		{"one answer", "application/json", rpc(wholeTask), []string{wholeTask}, ""},
		{"one answer that calls itself a stream", "text/event-stream", rpc(wholeTask), []string{wholeTask}, ""},
		{"an error", "application/json", `{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"no"}}`, nil, remote.CodeUnsupportedOperation},
		{"a list", "application/json", "[" + working + "," + completed + "]", []string{working, completed}, remote.CodeInvalidResponse},
		{"an empty list", "application/json", "[]", nil, remote.CodeInvalidResponse},
		{"a stream without a type", "", rpcEvent(working), []string{working}, ""},
		{"a stream as text", "text/plain", ": hi\n\n" + rpcEvent(working), []string{working}, ""},
		{"JSON as text", "text/plain", rpc(wholeTask), []string{wholeTask}, ""},
		{"a page", "text/html", "<html>", nil, remote.CodeInvalidResponse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil // or net/http would add one
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			got, err := operations["subscribe"](testContext(t), newClient(t, remote.Options{}), target(agent.URL, remote.JSONRPC))
			if diff := cmp.Diff(tt.want, payloads(got)); diff != "" {
				t.Errorf("payloads mismatch (-want +got):\n%s", diff)
			}
			if tt.code == "" {
				if err != nil {
					t.Errorf("error = %v, want none", err)
				}
			} else if e := outcome(t, err); e.Code != tt.code || e.Delivery != remote.Answered {
				t.Errorf("outcome = %+v, want answered with %s", e, tt.code)
			}
		})
	}
}

func TestStreamLargeEvent(t *testing.T) {
	t.Parallel()
	large := `{"artifactUpdate":{"taskId":"t-1","artifact":{"artifactId":"a","parts":[{"text":"` + strings.Repeat("x", 11<<20) + `"}]}}}`
	agent := newAgent(t, streams(rpcEvent(working), rpcEvent(large), rpcEvent(completed)))

	got, err := operations["stream"](testContext(t), newClient(t, remote.Options{}), target(agent.URL, remote.JSONRPC))
	if err != nil || len(got) != 3 || string(got[1].Payload) != large {
		t.Errorf("%d events and %v, want all three", len(got), err)
	}

	small := newClient(t, remote.Options{Limits: remote.Limits{Response: 1 << 20}})
	got, err = operations["stream"](testContext(t), small, target(agent.URL, remote.JSONRPC))
	e := outcome(t, err)
	if len(got) != 1 || !errors.Is(err, remote.ErrTooLarge) || e.Delivery != remote.Answered || !strings.Contains(e.Message, "event is larger than 1 MiB") {
		t.Errorf("%d events and %+v, want the first one and too large", len(got), e)
	}
}

func TestStreamCompressedUnasked(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		out := gzip.NewWriter(w)
		_, _ = io.WriteString(out, rpcEvent(working))
		_ = out.Close()
	})
	got, err := operations["stream"](testContext(t), newClient(t, remote.Options{}), target(agent.URL, remote.JSONRPC))
	if err != nil || len(got) != 1 {
		t.Errorf("%d events and %v, want one", len(got), err)
	}
	if encoding := agent.requests()[0].Header.Get("Accept-Encoding"); encoding != "" {
		t.Errorf("Accept-Encoding = %q, want none", encoding)
	}
}

func TestStreamArrivesEventByEvent(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{working, completed} {
			_, _ = io.WriteString(w, rpcEvent(event))
			w.(http.Flusher).Flush()
			select {
			case <-proceed:
			case <-r.Context().Done():
				return
			}
		}
	})
	client := newClient(t, remote.Options{})
	for _, err := range client.Stream(testContext(t), target(agent.URL, remote.JSONRPC), message()) {
		if err != nil {
			t.Fatal(err)
		}
		proceed <- struct{}{} // the agent waits for this after each event
	}
}

func TestStreamIsLeft(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		streams(rpcEvent(working))(w, r)
		<-r.Context().Done()
		gone <- struct{}{}
	})
	client := newClient(t, remote.Options{})
	to := target(agent.URL, remote.JSONRPC)

	for _, err := range client.Stream(testContext(t), to, message()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	<-gone

	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var last error
	for _, err := range client.Stream(ctx, to, message()) {
		last = err
		cancel()
	}
	if e := outcome(t, last); !errors.Is(last, context.Canceled) || e.Delivery != remote.Answered {
		t.Errorf("outcome = %+v, want answered and canceled", e)
	}
	<-gone
}

func TestStreamWithoutStreaming(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", rpc(wholeTask)))
	to := target(agent.URL, remote.JSONRPC)
	to.Streaming = false
	client := newClient(t, remote.Options{})
	got, err := operations["stream"](testContext(t), client, to)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d events and %v, want one", len(got), err)
	}
	if method := jsonMember(t, agent.requests()[0].Body, "method"); string(method) != `"SendMessage"` {
		t.Errorf("method = %s, want SendMessage", method)
	}
	_, err = operations["subscribe"](testContext(t), client, to)
	if e := outcome(t, err); e.Delivery != remote.NotSent || e.Code != remote.CodeUnsupportedOperation {
		t.Errorf("outcome = %+v, want not sent, unsupported", e)
	}
}

func TestSilenceIsNoticed(t *testing.T) {
	t.Parallel()
	const soon = time.Second // long enough to connect, and for the head of an answer, on a machine with much to do
	idle := remote.Limits{Idle: soon}
	silentAfter := func(pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if len(pieces) > 0 {
				streams(pieces...)(w, r)
			}
			<-r.Context().Done()
		}
	}
	halfAnswer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	tests := []struct {
		name      string
		operation string
		limits    remote.Limits
		handle    http.HandlerFunc
		is        error
		delivery  remote.Delivery
		message   string
	}{
		{"send, no head", "send", remote.Limits{Send: soon}, silentAfter(), remote.ErrTimeout, remote.Uncertain, "did not begin to answer within 1s"},
		{"get, no head", "get", remote.Limits{Headers: soon}, silentAfter(), remote.ErrTimeout, remote.Uncertain, "did not begin to answer"},
		{"stream, no head", "stream", remote.Limits{Idle: soon}, silentAfter(), remote.ErrTimeout, remote.Uncertain, "did not begin to answer"},
		{"send, half a body", "send", remote.Limits{Body: soon}, halfAnswer, remote.ErrTimeout, remote.Uncertain, "did not complete its answer within 1s"},
		{"stream, no event", "stream", idle, silentAfter(""), remote.ErrIdle, remote.Uncertain, "silent for 1s"},
		{"stream, then nothing", "stream", idle, silentAfter(rpcEvent(working)), remote.ErrIdle, remote.Answered, "silent for 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, tt.handle)
			_, err := operations[tt.operation](testContext(t), newClient(t, remote.Options{Limits: tt.limits}), target(agent.URL, remote.JSONRPC))
			e := outcome(t, err)
			if !errors.Is(err, tt.is) || e.Delivery != tt.delivery || !strings.Contains(e.Message, tt.message) {
				t.Errorf("outcome = %+v, want %s, %v, %q", e, tt.delivery, tt.is, tt.message)
			}
		})
	}
}
