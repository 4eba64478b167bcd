package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// streamer is an agent that tells how its one task goes on streams only: whoever
// asks is told that it is at work, and only a stream that the test lets go on
// says that it is completed.
type streamer struct {
	*httptest.Server
	opened chan string   // the method of each stream, as it is opened
	finish chan struct{} // closed: streams go on to the end
}

func startStreamer(t *testing.T) *streamer {
	s := &streamer{opened: make(chan string, 100), finish: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Streamer","description":"streams","version":"1","capabilities":{"streaming":true},"defaultInputModes":[],
			"defaultOutputModes":[],"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, s.URL)
	})
	mux.HandleFunc("POST /rpc", s.call)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *streamer) call(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	task := func(state string) string {
		return fmt.Sprintf(`{"id":"the-task","contextId":"c","status":{"state":"TASK_STATE_%s"}}`, state)
	}
	if call.Method == "GetTask" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, task("WORKING"))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(state string) {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"task\":%s}}\n\n", call.ID, task(state))
		w.(http.Flusher).Flush()
	}
	say("WORKING")
	s.opened <- call.Method
	select {
	case <-s.finish:
		say("COMPLETED")
	case <-r.Context().Done():
	}
}

func (s *streamer) next(t *testing.T) string {
	t.Helper()
	select {
	case method := <-s.opened:
		return method
	case <-time.After(time.Minute):
		t.Fatal("no stream was opened")
		return ""
	}
}

// TestStreamOfAKilledWorker kills the worker that follows a task's stream: another
// one follows it again, without sending anything again.
func TestStreamOfAKilledWorker(t *testing.T) {
	a := startStreamer(t)
	at := place{DataDir: t.TempDir(), DatabaseURL: postgrestest.URL(t)}
	server := start(t, at)
	at.WorkOnly = true
	victim := start(t, at)
	agentID := server.register(a.URL + "/card.json")
	message := newMessages(1)[0]
	if err := server.submit(agentID, message); err != nil {
		t.Fatal(err)
	}
	if method := a.next(t); method != "SendStreamingMessage" {
		t.Fatalf("the first stream is of %s", method)
	}
	if status := server.settled(message.commandID); status != "succeeded" {
		t.Fatalf("the command is %s", status)
	}
	start(t, at)
	victim.kill()
	if method := a.next(t); method != "SubscribeToTask" {
		t.Errorf("the stream was taken over with %s, want SubscribeToTask", method)
	}
	close(a.finish)
	server.completed(t, message)
}

// completed waits until the command's task is completed.
func (p *process) completed(t *testing.T, s *sent) {
	t.Helper()
	c, err := p.api.Command(t.Context(), s.commandID, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := p.api.WaitTask(ctx, c.TaskID, func(t client.Task) bool { return t.State == "TASK_STATE_COMPLETED" }); err != nil {
		t.Fatal(err)
	}
}
