package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

func noPause(ctx context.Context) error { return ctx.Err() }

// serve starts the sample agents.
func serve(t *testing.T, pause func(context.Context) error) *demo.Agents {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	agents, err := demo.New("http://"+server.Listener.Addr().String(), demo.Options{Pause: pause})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = agents
	server.Start()
	t.Cleanup(server.Close)
	return agents
}

// The shapes of A2A 1.0 as far as the tests look at them. Data stays as it was
// on the wire.
type (
	part struct {
		Text      string          `json:"text"`
		Data      json.RawMessage `json:"data"`
		MediaType string          `json:"mediaType"`
	}
	message struct {
		MessageID  string   `json:"messageId"`
		TaskID     string   `json:"taskId"`
		ContextID  string   `json:"contextId"`
		Role       string   `json:"role"`
		Extensions []string `json:"extensions"`
		Parts      []part   `json:"parts"`
	}
	status struct {
		State   string  `json:"state"`
		Message message `json:"message"`
	}
	artifact struct {
		ArtifactID string `json:"artifactId"`
		Name       string `json:"name"`
		Parts      []part `json:"parts"`
	}
	task struct {
		ID        string     `json:"id"`
		ContextID string     `json:"contextId"`
		Status    status     `json:"status"`
		Artifacts []artifact `json:"artifacts"`
		History   []message  `json:"history"`
	}
	event struct {
		Task         *task    `json:"task"`
		Message      *message `json:"message"`
		StatusUpdate *struct {
			TaskID string `json:"taskId"`
			Status status `json:"status"`
		} `json:"statusUpdate"`
		ArtifactUpdate *struct {
			Artifact  artifact `json:"artifact"`
			Append    bool     `json:"append"`
			LastChunk bool     `json:"lastChunk"`
		} `json:"artifactUpdate"`
	}
)

// wire speaks one binding to one agent.
type wire struct {
	t       *testing.T
	base    string // of the agent
	binding string // JSONRPC or HTTP+JSON
}

// both runs a test over both bindings.
func both(t *testing.T, variant string, test func(t *testing.T, w wire)) {
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			agents := serve(t, noPause)
			test(t, wire{t, strings.TrimSuffix(agents.CardURL(variant), "/card.json"), binding})
		})
	}
}

// post sends a request in the way of the binding. path is that of HTTP+JSON.
func (w wire) post(method, path, params string) *http.Response {
	w.t.Helper()
	url, body := w.base+"/rest"+path, params
	if w.binding == "JSONRPC" {
		url, body = w.base+"/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":%q,"params":%s}`, method, params)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	return response
}

// open takes the result out of its JSON-RPC envelope, if it has one.
func (w wire) open(body []byte, result any) error {
	if w.binding == "JSONRPC" {
		var envelope struct {
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			return err
		}
		if envelope.Error != nil {
			return fmt.Errorf("%s", envelope.Error)
		}
		body = envelope.Result
	}
	return json.Unmarshal(body, result)
}

func (w wire) call(method, path, params string, result any) error {
	w.t.Helper()
	response := w.post(method, path, params)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return w.open(body, result)
}

// messageOf is a message with one part, on a task or, with "", on none.
func messageOf(taskID, part string) string {
	on := ""
	if taskID != "" {
		on = fmt.Sprintf(`"taskId":%q,`, taskID)
	}
	return fmt.Sprintf(`{"message":{"messageId":%q,%s"role":"ROLE_USER","parts":[%s]}}`, uuid.NewString(), on, part)
}

func text(s string) string { return fmt.Sprintf(`{"text":%q}`, s) }

func data(s string) string { return fmt.Sprintf(`{"data":%s,"mediaType":"application/json"}`, s) }

func (w wire) send(taskID, part string) event {
	w.t.Helper()
	var e event
	if err := w.call("SendMessage", "/message:send", messageOf(taskID, part), &e); err != nil {
		w.t.Fatalf("SendMessage: %v", err)
	}
	return e
}

// sendTask sends a message that is answered with a task.
func (w wire) sendTask(taskID, part string) *task {
	w.t.Helper()
	e := w.send(taskID, part)
	if e.Task == nil {
		w.t.Fatalf("SendMessage(%s) brought no task", part)
	}
	return e.Task
}

func (w wire) cancel(taskID string) (*task, error) {
	w.t.Helper()
	var result task
	err := w.call("CancelTask", "/tasks/"+taskID+":cancel", fmt.Sprintf(`{"id":%q}`, taskID), &result)
	return &result, err
}

// stream sends a message and hands every event to watch, which says whether to
// go on.
func (w wire) stream(taskID, part string, watch func(event) bool) {
	w.t.Helper()
	response := w.post("SendStreamingMessage", "/message:stream", messageOf(taskID, part))
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		w.t.Fatalf("Content-Type = %q", got)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		raw, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		var e event
		if err := w.open(bytes.TrimSpace(raw), &e); err != nil {
			w.t.Fatalf("event %s: %v", raw, err)
		}
		if !watch(e) {
			return
		}
	}
	if err := lines.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// question checks that a task waits with a prompt and a form, and returns both.
func question(t *testing.T, got status) (prompt string, definition json.RawMessage) {
	t.Helper()
	if got.State != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatalf("state = %s, want TASK_STATE_INPUT_REQUIRED", got.State)
	}
	parts := got.Message.Parts
	if len(parts) != 2 || parts[0].Text == "" || parts[1].MediaType != form.MediaType {
		t.Fatalf("parts = %+v, want a prompt and a form", parts)
	}
	if got.Message.MessageID == "" || got.Message.Role != "ROLE_AGENT" {
		t.Errorf("message %q of %s, want one with an ID and of the agent", got.Message.MessageID, got.Message.Role)
	}
	return parts[0].Text, parts[1].Data
}

// outcome checks that a task has come to an end and returns its last words.
func outcome(t *testing.T, got status, state string) string {
	t.Helper()
	if got.State != state {
		t.Fatalf("state = %s, want %s; message %+v", got.State, state, got.Message)
	}
	if len(got.Message.Parts) != 1 {
		t.Fatalf("status message has %d parts, want 1", len(got.Message.Parts))
	}
	return got.Message.Parts[0].Text
}
