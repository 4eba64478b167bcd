package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

// startHanging starts an agent that takes the first message of a task and says
// nothing to any later one, nor to questions how a task stands, until the test
// ends. It is told of cancels.
func startHanging(t *testing.T) (cardURL string, canceled <-chan string) {
	t.Helper()
	over := make(chan struct{})
	cancels := make(chan string, 10)
	var server *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Hanging","description":"hangs","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, server.URL)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ID      string
				Message struct{ MessageID, TaskID string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		answer := func(result string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
		}
		switch {
		case call.Method == "CancelTask":
			cancels <- call.Params.ID
			answer(fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_CANCELED"}}`, call.Params.ID))
		case call.Method == "SendMessage" && call.Params.Message.TaskID == "":
			answer(fmt.Sprintf(`{"task":{"id":"t-%s","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, call.Params.Message.MessageID))
		default:
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
	})
	server = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL + "/card.json", cancels
}

// TestAHangingAgentHoldsUpNobody has more sends and more tasks to ask about at an
// agent that hangs than it has room for.
func TestAHangingAgentHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	cardURL, canceled := startHanging(t) // ends first, so that the server need not wait for it
	hanging := s.Register(cardURL)
	var tasks []string
	for range 12 {
		tasks = append(tasks, s.Send(hanging.ID, map[string]any{"text": "go"}).TaskID)
	}
	for i, id := range tasks {
		body := map[string]any{"taskId": id, "text": "more"}
		if status := s.Call("POST", "/api/v1/agents/"+hanging.ID+"/commands", body, nil, "Idempotency-Key", fmt.Sprint("more-", i)); status != http.StatusAccepted {
			t.Fatalf("a send was answered with %d", status)
		}
	}
	healthy := s.Send(s.SampleAgent(demo.Slow).ID, map[string]any{"text": "go"})
	if healthy.Status != "succeeded" {
		t.Errorf("a send to another agent is %s", healthy.Status)
	}
	s.TaskIn(healthy.TaskID, "TASK_STATE_INPUT_REQUIRED")

	cancel := s.Send(hanging.ID, map[string]any{"action": "cancel", "taskId": tasks[0]})
	if cancel.Status != "succeeded" || len(canceled) != 1 {
		t.Errorf("the cancel is %s and reached the agent %d times, want it there while a send hangs", cancel.Status, len(canceled))
	}
}
