package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

func start(t *testing.T) (*apptest.Server, *client.Client) {
	t.Helper()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	c, err := client.New(s.URL(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// must returns a value that was to come without an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// statusOf is the status of the problem that an error is; 0 if it is none.
func statusOf[T any](_ T, err error) int {
	var problem *client.Problem
	if errors.As(err, &problem) {
		return problem.Status
	}
	return 0
}

func TestAgentsOfAServer(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	_ = s.SampleAgent("form")
	agent := must[client.Agent](t)(c.RegisterAgent(ctx, s.SampleCardURL("form")))
	if agent.Health.Status != "reachable" || agent.Name != "Deploy bot" || len(agent.Card) == 0 || agent.CardFetchedAt == nil {
		t.Errorf("the agent is %+v", agent)
	}
	if again := must[client.Agent](t)(c.RegisterAgent(ctx, s.SampleCardURL("form"))); again.ID != agent.ID {
		t.Errorf("registering again made %s of %s", again.ID, agent.ID)
	}
	if p := must[client.Preview](t)(c.PreviewAgent(ctx, s.SampleCardURL("plain"))); p.Interface == nil || p.Agent.ID != "" || len(p.Attempts) == 0 {
		t.Errorf("the preview is %+v", p)
	}
	chosen := must[client.ChosenInterface](t)(c.Interface(ctx, agent.ID))
	if set := must[client.ChosenInterface](t)(c.SetInterface(ctx, agent.ID, *chosen.Interface)); !set.Pinned || *set.Interface != *chosen.Interface {
		t.Errorf("the interface is %+v, want it pinned", set)
	}
	if reset := must[client.ChosenInterface](t)(c.ResetInterface(ctx, agent.ID)); reset.Pinned {
		t.Error("the interface stays pinned")
	}
	if found := must[client.Agent](t)(c.DiscoverAgent(ctx, agent.ID)); !found.CardFetchedAt.After(*agent.CardFetchedAt) {
		t.Error("the card was not fetched again")
	}
	if gone := must[client.Agent](t)(c.RemoveAgent(ctx, agent.ID)); gone.RemovedAt == nil {
		t.Error("the agent was not removed")
	}
	for _, a := range must[[]client.Agent](t)(c.Agents(ctx)) {
		if a.ID == agent.ID {
			t.Error("the agent is listed still")
		}
	}
	if status := statusOf(c.Agent(ctx, "no-such-agent")); status != http.StatusNotFound {
		t.Errorf("an agent that is not there is %d", status)
	}
}

func TestWorkOfAServer(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	agent := s.SampleAgent("form").ID
	body := client.CommandBody{IdempotencyKey: "deploy", Text: "Deploy the billing service"}
	command := must[client.Command](t)(c.Submit(ctx, agent, body))
	if again := must[client.Command](t)(c.Submit(ctx, agent, body)); again.ID != command.ID {
		t.Errorf("the same key made %s of %s", again.ID, command.ID)
	}
	body.Text = "Deploy something else"
	if status := statusOf(c.Submit(ctx, agent, body)); status != http.StatusConflict {
		t.Errorf("the key with other content is %d", status)
	}
	command = must[client.Command](t)(c.WaitCommand(ctx, command.ID))
	if command.Status != "succeeded" || command.Result == nil {
		t.Errorf("the command is %+v", command)
	}
	if status := statusOf(c.Resend(ctx, command.ID)); status != http.StatusConflict {
		t.Errorf("sending again what arrived is %d", status)
	}
	task := must[client.Task](t)(c.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Question != nil }))
	if task.Question.Form == nil || len(task.Question.Form.Fields) == 0 || task.Ended() {
		t.Errorf("the question is %+v", task.Question)
	}
	if status := statusOf(c.Submit(ctx, agent, client.Answer(task, json.RawMessage(`{}`)))); status != http.StatusUnprocessableEntity {
		t.Errorf("an answer that does not fit is %d", status)
	}
	var last client.TaskEvent
	answered := false
	for e, err := range c.WatchTask(ctx, task.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if last = e; last.Task.Ended() {
			break
		}
		if !answered {
			answered = true
			_ = must[client.Command](t)(c.Submit(ctx, agent, client.Answer(task, json.RawMessage(`{"environment":"staging","replicas":3,"dryRun":false}`))))
		}
	}
	if last.Name != "change" || last.Task.State != "TASK_STATE_COMPLETED" {
		t.Errorf("the last event is %s of a task in %s", last.Name, last.Task.State)
	}
	_ = must[client.Task](t)(c.RefreshTask(ctx, task.ID))
	var list client.ExchangeList
	s.Eventually("the exchanges to be stored", func() bool {
		list = must[client.ExchangeList](t)(c.TaskExchanges(ctx, task.ID))
		return list.Total > 1
	})
	if must[client.ExchangeContent](t)(c.Exchange(ctx, list.Items[0].ID)).Exchange.ID != list.Items[0].ID {
		t.Errorf("the exchanges are %+v", list)
	}
	if list := must[client.ExchangeList](t)(c.AgentExchanges(ctx, agent)); list.Total < 2 {
		t.Errorf("the agent's exchanges are %+v", list)
	}
}

func TestTasksPageByPage(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	agent := s.SampleAgent("plain").ID
	want := make(map[string]bool)
	for i := range 7 {
		command := must[client.Command](t)(c.Submit(ctx, agent, client.CommandBody{Text: fmt.Sprintf("number %d of the kiwis", i)}))
		_ = must[client.Task](t)(c.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Ended() || t.Question != nil }))
		want[command.TaskID] = true
	}
	for task, err := range c.Tasks(ctx, client.TaskFilter{AgentID: agent, Text: "kiwis", PageSize: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if !want[task.ID] {
			t.Errorf("task %s comes twice, or is another one", task.ID)
		}
		delete(want, task.ID)
	}
	if len(want) > 0 {
		t.Errorf("tasks %v do not come", want)
	}
	if status := statusOf(c.TaskPage(ctx, client.TaskFilter{PageSize: 1000}, "")); status != http.StatusBadRequest {
		t.Errorf("a page that is too long is %d", status)
	}
}

// TestDownload gets the bytes of a file that an agent sent.
func TestDownload(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("kiwi "), 1000)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Ada","supportedInterfaces":[{"url":"http://%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, r.Host)
			return
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"1","result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},
			"artifacts":[{"artifactId":"a","parts":[{"raw":%q,"filename":"kiwis.txt","mediaType":"text/plain"}]}]}}}`, base64.StdEncoding.EncodeToString(content))
	}))
	t.Cleanup(agent.Close)
	_, c := start(t)
	ctx := t.Context()
	registered := must[client.Agent](t)(c.RegisterAgent(ctx, agent.URL+"/card.json"))
	command := must[client.Command](t)(c.Submit(ctx, registered.ID, client.CommandBody{Text: "Send it"}))
	task := must[client.Task](t)(c.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Ended() }))
	blob := task.Artifacts[0].Parts[0].Artifact
	download := must[*client.Download](t)(c.Download(ctx, blob.SHA256))
	defer func() { _ = download.Close() }()
	got := must[[]byte](t)(io.ReadAll(download))
	if !bytes.Equal(got, content) || download.Filename != "kiwis.txt" || download.Size != blob.Size {
		t.Errorf("%d bytes of %d as %q", len(got), download.Size, download.Filename)
	}
	other := sha256.Sum256([]byte("other"))
	if status := statusOf(c.Download(ctx, hex.EncodeToString(other[:]))); status != http.StatusNotFound {
		t.Errorf("bytes that are not there are %d", status)
	}
}

func TestSettingsOfAServer(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	agent := s.SampleAgent("plain").ID
	origin := strings.TrimSuffix(s.SampleCardURL("plain"), "/plain/card.json")
	set := must[client.Credential](t)(c.SetCredential(ctx, agent, client.CredentialInput{Kind: "bearer", Secret: "kiwi-kiwi-kiwi", Origins: []string{origin}}))
	have := must[client.AgentAccess](t)(c.AgentAccess(ctx, agent))
	if list := must[[]client.Credential](t)(c.Credentials(ctx)); len(list) != 1 || list[0].ID != set.ID || have.Credential == nil || have.Credential.ID != set.ID {
		t.Errorf("the credentials are %+v and %+v", list, have)
	}
	if gone := must[client.Credential](t)(c.RevokeCredential(ctx, agent)); !gone.Revoked {
		t.Error("the credential was not revoked")
	}
	if status := statusOf(c.SetCredential(ctx, agent, client.CredentialInput{Kind: "bearer"})); status != http.StatusUnprocessableEntity {
		t.Errorf("a credential without a secret is %d", status)
	}
	pin := must[client.Pin](t)(c.AddPin(ctx, client.PinInput{
		Origin: "https://agents.example.com", Key: `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		ExpiresAt: time.Now().Add(24 * time.Hour),
	}))
	if pins := must[[]client.Pin](t)(c.Pins(ctx)); len(pins) != 1 || pins[0].ID != pin.ID {
		t.Errorf("the pins are %+v", pins)
	}
	if left := must[[]client.Pin](t)(c.RemovePin(ctx, pin.ID)); len(left) != 0 {
		t.Errorf("the pins that are left are %+v", left)
	}
	_ = must[client.RetentionFound](t)(c.TryRetention(ctx, 90))
	_ = must[client.RetentionSetting](t)(c.SetRetention(ctx, 365))
	if kept := must[client.RetentionSetting](t)(c.Retention(ctx)); kept.Days != 365 || kept.SetBy == "" {
		t.Errorf("things are kept for %+v", kept)
	}
}

func TestFormsOfAServer(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	definition := json.RawMessage(`{"schema":{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":10000000000000000000000}}}}`)
	report := must[client.FormReport](t)(c.CheckForm(t.Context(), definition))
	if !report.Accepted || report.Form.Fields[0].Maximum != "10000000000000000000000" {
		t.Errorf("the report is %+v", report)
	}
	if v := must[client.FormVerdict](t)(c.AnswerForm(t.Context(), definition, json.RawMessage(`{"n":"0"}`))); v.Errors["n"] != "At least 1" {
		t.Errorf("the verdict is %+v", v)
	}
	if v := must[client.FormVerdict](t)(c.AnswerForm(t.Context(), definition, json.RawMessage(`{"n":"7"}`))); string(v.Submission) != `{"n":7}` {
		t.Errorf("the submission is %s", v.Submission)
	}
}
