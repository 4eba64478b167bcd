package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// agent is an A2A agent over JSON-RPC that counts what reaches it, and tells the
// test when something did.
type agent struct {
	*httptest.Server
	received chan string // message IDs, as they arrive; the agent waits until it is taken
	answered chan string // message IDs, once their answer has left

	mu     sync.Mutex
	counts map[string]int    // by message ID
	states map[string]string // by task ID
}

func startAgent(t *testing.T) *agent {
	a := &agent{received: make(chan string), answered: make(chan string, 10_000), counts: map[string]int{}, states: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", a.card)
	mux.HandleFunc("POST /rpc", a.call)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

func (a *agent) cardURL() string { return a.URL + "/card.json" }

func (a *agent) card(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"name":"Counter","description":"counts","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],
		"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, a.URL)
}

func (a *agent) call(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct{ MessageID string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	task := "task-" + call.Params.Message.MessageID
	if call.Method == "GetTask" {
		task = call.Params.ID
	} else {
		a.mu.Lock()
		a.counts[call.Params.Message.MessageID]++
		a.mu.Unlock()
		select {
		case a.received <- call.Params.Message.MessageID:
		case <-r.Context().Done(): // the process that called was killed
			return
		}
	}
	body := fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`, task)
	if call.Method != "GetTask" {
		body = `{"task":` + body + `}`
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, body)
	if call.Method != "GetTask" {
		a.answered <- call.Params.Message.MessageID
	}
}

// next waits until another message of the batch has arrived. Those of a process
// that was killed meanwhile may still come.
func (a *agent) next(batch []*sent) *sent {
	for messageID := range a.received {
		for _, s := range batch {
			if s.messageID == messageID {
				return s
			}
		}
	}
	return nil
}

// count is how often a message reached the agent.
func (a *agent) count(messageID string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[messageID]
}
