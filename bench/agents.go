package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// agents are A2A agents in one process that do nothing but answer: so what is
// measured is not theirs.
type agents struct {
	url       string
	streaming bool // they offer streams, and do not end them
	server    *http.Server
	failed    chan error

	mu       sync.Mutex
	arrived  []time.Time               // of messages
	awaiting map[string]chan time.Time // by messageId
}

// startAgents serves n agents on a free port of this machine.
func startAgents(n int, streaming bool) (*agents, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &agents{url: "http://" + listener.Addr().String(), streaming: streaming, failed: make(chan error, 1), awaiting: map[string]chan time.Time{}}
	mux := http.NewServeMux()
	for i := range n {
		mux.HandleFunc(fmt.Sprintf("GET /%d/card.json", i), a.card(i))
		mux.HandleFunc(fmt.Sprintf("POST /%d/rpc", i), a.call)
	}
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { a.failed <- a.server.Serve(listener) }()
	return a, nil
}

// Close ends the agents, and every call of them.
func (a *agents) Close() error {
	err := a.server.Close()
	if served := <-a.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func cardURL(agentsURL string, i int) string { return fmt.Sprintf("%s/%d/card.json", agentsURL, i) }

func (a *agents) card(i int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Agent %d","description":"answers","version":"1","capabilities":{"streaming":%t},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/%d/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, i, a.streaming, a.url, i)
	}
}

// expect tells when a message arrives.
func (a *agents) expect(messageID string) <-chan time.Time {
	arrives := make(chan time.Time, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.awaiting[messageID] = arrives
	return arrives
}

// received is how many messages have arrived since the agents started, and when
// the last one did.
func (a *agents) received() (n int, last time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n = len(a.arrived); n > 0 {
		last = a.arrived[n-1]
	}
	return n, last
}

func (a *agents) arrives(messageID string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrived = append(a.arrived, at)
	if c := a.awaiting[messageID]; c != nil {
		c <- at
		delete(a.awaiting, messageID)
	}
}

func (a *agents) call(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct{ MessageID string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "this is not JSON", http.StatusBadRequest)
		return
	}
	state, taskID := "COMPLETED", "task-"+call.Params.Message.MessageID
	if a.streaming {
		state = "WORKING"
	}
	if call.Method == "GetTask" {
		taskID = call.Params.ID
	}
	result := fmt.Sprintf(`{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"}}`, taskID, state)
	if call.Method != "GetTask" {
		a.arrives(call.Params.Message.MessageID, at)
		result = `{"task":` + result + `}`
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
	if strings.HasSuffix(call.Method, "StreamingMessage") || call.Method == "SubscribeToTask" {
		hold(w, r, answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// signOfLife is how often a quiet stream says that it is there.
const signOfLife = 20 * time.Second

// hold answers with a stream of one event that stays open.
func hold(w http.ResponseWriter, r *http.Request, first string) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	tick := time.NewTicker(signOfLife)
	defer tick.Stop()
	for text := "data: " + first + "\n\n"; ; text = ": here\n\n" {
		if _, err := fmt.Fprint(w, text); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
