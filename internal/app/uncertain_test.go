package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// breaking is an agent that takes a message and then breaks the connection, for
// as long as the test wants, so that nobody knows whether it arrived.
type breaking struct {
	*httptest.Server

	mu       sync.Mutex
	breaks   bool
	forgets  bool     // it takes no notice of what it got while it broke
	received []string // message IDs of all sends
	held     []string // of those that it took notice of
}

func startBreaking(t *testing.T) *breaking {
	b := &breaking{breaks: true}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Breaker","description":"breaks","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, b.URL)
	})
	mux.HandleFunc("POST /rpc", b.call)
	b.Server = httptest.NewServer(mux)
	t.Cleanup(b.Close)
	return b
}

func (b *breaking) call(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct{ Message struct{ MessageID string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if call.Method == "SendMessage" {
		b.received = append(b.received, call.Params.Message.MessageID)
		if !b.breaks || !b.forgets {
			b.held = append(b.held, call.Params.Message.MessageID)
		}
		if b.breaks {
			panic(http.ErrAbortHandler)
		}
	}
	history := ""
	for i, id := range b.held {
		if i > 0 {
			history += ","
		}
		history += fmt.Sprintf(`{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"go"}]}`, id)
	}
	task := `{"id":"r","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"history":[` + history + `]}`
	result := map[string]string{
		"SendMessage": `{"task":` + task + `}`,
		"GetTask":     task,
		"ListTasks":   `{"tasks":[{"id":"r","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}],"nextPageToken":"","pageSize":50,"totalSize":1}`,
	}[call.Method]
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}

func (b *breaking) set(breaks, forgets bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.breaks, b.forgets = breaks, forgets
}

func (b *breaking) sends() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.received...)
}

func TestTheAgentIsAskedAboutAnUncertainMessage(t *testing.T) {
	t.Parallel()
	agent := startBreaking(t)
	s := apptest.Start(t, apptest.Options{})
	c := s.Send(s.Register(agent.URL+"/card.json").ID, map[string]any{"text": "go"})
	if c.Status != "uncertain" {
		t.Fatalf("the message is %s, want uncertain", c.Status)
	}
	if status := s.Call("POST", "/api/v1/tasks/"+c.TaskID+"/refresh", nil, nil); status != http.StatusAccepted {
		t.Fatalf("asking the agent was answered with %d", status)
	}
	s.TaskIn(c.TaskID, "TASK_STATE_WORKING")
	s.Call("GET", "/api/v1/commands/"+c.ID, nil, &c)
	if got := agent.sends(); c.Status != "succeeded" || len(got) != 1 {
		t.Errorf("the message is %s and was sent %d times, want it confirmed and sent once", c.Status, len(got))
	}
	if status := s.Call("POST", "/api/v1/commands/"+c.ID+"/resend", nil, nil); status != http.StatusConflict {
		t.Errorf("sending a confirmed message again was answered with %d, want 409", status)
	}
}

func TestAPersonSendsAnUncertainMessageAgain(t *testing.T) {
	t.Parallel()
	agent := startBreaking(t)
	agent.set(true, true)
	s := apptest.Start(t, apptest.Options{})
	c := s.Send(s.Register(agent.URL+"/card.json").ID, map[string]any{"text": "go"})
	s.Call("POST", "/api/v1/tasks/"+c.TaskID+"/refresh", nil, nil)
	s.Eventually("the agent shows no sign of the message", func() bool {
		var task struct {
			CheckError string `json:"checkError"`
		}
		s.Call("GET", "/api/v1/tasks/"+c.TaskID, nil, &task)
		return task.CheckError != ""
	})
	agent.set(false, false)
	if status := s.Call("POST", "/api/v1/commands/"+c.ID+"/resend", nil, nil); status != http.StatusAccepted {
		t.Fatalf("sending again was answered with %d", status)
	}
	s.TaskIn(c.TaskID, "TASK_STATE_WORKING")
	s.Call("GET", "/api/v1/commands/"+c.ID, nil, &c)
	got := agent.sends()
	if c.Status != "succeeded" || len(got) != 2 || got[0] != got[1] {
		t.Errorf("the message is %s and was sent as %v, want it sent twice under one ID", c.Status, got)
	}
}
