package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// TestJSAgent proves the agent itself, on the wire: whatever fails in a test of
// the console against it is then the console's fault.
func TestJSAgent(t *testing.T) {
	t.Parallel()
	cardURL := startJSAgent(t).card
	card, findings, err := agent.ParseCard(fetch(t, cardURL), cardURL)
	if err != nil || len(findings) > 0 {
		t.Fatalf("card: %v, %v", err, findings)
	}
	if len(card.Interfaces) != 3 || !card.Streaming {
		t.Fatalf("card: %+v", card)
	}
	assertStartForm(t, card)
	for _, i := range overHTTP(card) {
		t.Run(i.Binding, func(t *testing.T) {
			t.Parallel()
			w := wire{t, i}
			waiting := w.send("", `{"text":"Deploy the billing service"}`)
			assertDeploymentForm(t, waiting.Status)

			again := w.send(waiting.ID, `{"data":{"environment":"moon","replicas":1,"dryRun":false},"mediaType":"application/json"}`)
			assertDeploymentForm(t, again.Status)
			if again.Status.Message.MessageID == waiting.Status.Message.MessageID {
				t.Error("the second question has the ID of the first")
			}

			done := w.answer(waiting.ID, `{"environment":"production","replicas":3,"dryRun":false}`)
			want := "log: Checking out.\nBuilding.\nRolling out.\n; Deploying 3 replica(s) to production."
			if done != want {
				t.Errorf("the answer brought %q, want %q", done, want)
			}
		})
	}
}

func TestJSAgentCancels(t *testing.T) {
	t.Parallel()
	cardURL := startJSAgent(t).card
	card, _, err := agent.ParseCard(fetch(t, cardURL), cardURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range overHTTP(card) {
		t.Run(i.Binding, func(t *testing.T) {
			t.Parallel()
			w := wire{t, i}
			waiting := w.send("", `{"text":"Deploy"}`)
			var canceled task
			w.call("CancelTask", "/tasks/"+waiting.ID+":cancel", fmt.Sprintf(`{"id":%q}`, waiting.ID), &canceled)
			if canceled.Status.State != "TASK_STATE_CANCELED" {
				t.Errorf("state = %s, want TASK_STATE_CANCELED", canceled.Status.State)
			}
		})
	}
}

func assertStartForm(t *testing.T, card agent.Card) {
	t.Helper()
	extension, ok := card.Extension(form.URI)
	if !ok {
		t.Fatal("the form extension is not advertised")
	}
	var params struct{ StartForm json.RawMessage }
	if err := json.Unmarshal(extension.Params, &params); err != nil {
		t.Fatal(err)
	}
	f, err := form.Parse(params.StartForm)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"service", "priority"}, keys(f)); diff != "" {
		t.Errorf("start form (-want +got):\n%s", diff)
	}
}

func assertDeploymentForm(t *testing.T, s status) {
	t.Helper()
	if s.State != "TASK_STATE_INPUT_REQUIRED" || len(s.Message.Parts) != 2 {
		t.Fatalf("%s with %d parts, want a question with two", s.State, len(s.Message.Parts))
	}
	if got := s.Message.Parts[1].MediaType; got != form.MediaType {
		t.Errorf("media type %q, want %q", got, form.MediaType)
	}
	f, err := form.Parse(s.Message.Parts[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"environment", "replicas", "note", "dryRun"}, keys(f)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func keys(f *form.Form) []string {
	var list []string
	for _, field := range f.Fields {
		list = append(list, field.Key)
	}
	return list
}

// The shapes of A2A 1.0 as far as the tests look at them.
type (
	part struct {
		Text      string          `json:"text"`
		Data      json.RawMessage `json:"data"`
		MediaType string          `json:"mediaType"`
	}
	status struct {
		State   string `json:"state"`
		Message struct {
			MessageID string `json:"messageId"`
			Parts     []part `json:"parts"`
		} `json:"message"`
	}
	task struct {
		ID     string `json:"id"`
		Status status `json:"status"`
	}
	event struct {
		Task           task                     `json:"task"`
		StatusUpdate   *struct{ Status status } `json:"statusUpdate"`
		ArtifactUpdate *struct {
			Artifact struct{ Parts []part }
		} `json:"artifactUpdate"`
	}
)

// overHTTP returns the interfaces that wire can speak to.
func overHTTP(card agent.Card) []remote.Interface {
	return slices.DeleteFunc(slices.Clone(card.Interfaces), func(i remote.Interface) bool { return i.Binding == remote.GRPC })
}

// wire speaks to one interface of an agent, without an SDK.
type wire struct {
	t         *testing.T
	Interface remote.Interface
}

func (w wire) post(method, path, params string) io.Reader {
	w.t.Helper()
	url, body := w.Interface.URL+path, params
	if w.Interface.Binding == remote.JSONRPC {
		url, body = w.Interface.URL, fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":%q,"params":%s}`, method, params)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	return do(w.t, request)
}

// open reads a result, out of its JSON-RPC envelope if it has one.
func (w wire) open(body []byte, result any) {
	w.t.Helper()
	if w.Interface.Binding == remote.JSONRPC {
		var envelope struct{ Result, Error json.RawMessage }
		if err := json.Unmarshal(body, &envelope); err != nil || envelope.Error != nil {
			w.t.Fatalf("answer %s: %v", body, err)
		}
		body = envelope.Result
	}
	if err := json.Unmarshal(body, result); err != nil {
		w.t.Fatalf("result %s: %v", body, err)
	}
}

func (w wire) call(method, path, params string, result any) {
	w.t.Helper()
	body, err := io.ReadAll(w.post(method, path, params))
	if err != nil {
		w.t.Fatal(err)
	}
	w.open(body, result)
}

func messageOf(taskID, part string) string {
	on := ""
	if taskID != "" {
		on = fmt.Sprintf(`"taskId":%q,`, taskID)
	}
	return fmt.Sprintf(`{"message":{"messageId":%q,%s"role":"ROLE_USER","parts":[%s]}}`, uuid.NewString(), on, part)
}

func (w wire) send(taskID, part string) task {
	w.t.Helper()
	var e event
	w.call("SendMessage", "/message:send", messageOf(taskID, part), &e)
	return e.Task
}

// answer sends data by stream and returns the artifact and the last words of the
// agent.
func (w wire) answer(taskID, data string) string {
	w.t.Helper()
	part := fmt.Sprintf(`{"data":%s,"mediaType":"application/json"}`, data)
	lines := bufio.NewScanner(w.post("SendStreamingMessage", "/message:stream", messageOf(taskID, part)))
	log, words := "log: ", ""
	for lines.Scan() {
		raw, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		var e event
		w.open(bytes.TrimSpace(raw), &e)
		if e.ArtifactUpdate != nil {
			log += e.ArtifactUpdate.Artifact.Parts[0].Text
		}
		if e.StatusUpdate != nil && e.StatusUpdate.Status.State == "TASK_STATE_COMPLETED" {
			words = e.StatusUpdate.Status.Message.Parts[0].Text
		}
	}
	if err := lines.Err(); err != nil {
		w.t.Fatal(err)
	}
	return log + "; " + words
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(do(t, request))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func do(t *testing.T, request *http.Request) io.Reader {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", request.Method, request.URL, response.Status)
	}
	return response.Body
}
