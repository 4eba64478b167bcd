package app_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestRemoveAgent removes an agent whose task waits, and adds it again.
func TestRemoveAgent(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{
		"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": postgrestest.URL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRemoveAgent(t, apptest.Start(t, apptest.Options{SampleAgents: true, DatabaseURL: database(t)}))
		})
	}
}

func testRemoveAgent(t *testing.T, s *apptest.Server) {
	bot := s.SampleAgent(demo.Form)
	path := "/api/v1/agents/" + bot.ID
	credential := map[string]any{"kind": "bearer", "secret": "canary-of-removal", "origins": []string{strings.TrimSuffix(s.SampleCardURL(demo.Form), "/form/card.json")}}
	if status := s.Call("PUT", path+"/credential", credential, nil); status != 200 {
		t.Fatalf("the credential is answered %d", status)
	}
	started := s.Send(bot.ID, map[string]any{"text": "deploy"})
	waiting := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	answer := map[string]any{
		"taskId": started.TaskID, "answers": waiting.Question.MessageID,
		"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2,"dryRun":false}`), "mediaType": "application/json"}},
	}
	listed := func() bool {
		t.Helper()
		var list struct{ Items []apptest.Agent }
		s.Call("GET", "/api/v1/agents", nil, &list)
		return slices.ContainsFunc(list.Items, func(a apptest.Agent) bool { return a.ID == bot.ID })
	}

	if status, _ := s.Post("/agents/"+bot.ID+"/remove", nil); status != 303 {
		t.Fatalf("removing it is answered %d", status)
	}
	if status := s.Call("DELETE", path, nil, nil); status != 200 {
		t.Errorf("removing it twice is answered %d", status)
	}
	if listed() {
		t.Error("the list still has it")
	}
	var removed struct{ RemovedAt string }
	if s.Call("GET", path, nil, &removed); removed.RemovedAt == "" {
		t.Error("it does not say when it was removed")
	}
	var credentialNow json.RawMessage
	if s.Call("GET", path+"/credential", nil, &credentialNow); !strings.Contains(string(credentialNow), `"revoked"`) {
		t.Errorf("its credential is %s, want it revoked", credentialNow)
	}
	page := s.Page("/agents/" + bot.ID)
	if !strings.Contains(page, "This agent was removed") || !strings.Contains(page, "Add it again") || strings.Contains(page, "Start task") {
		t.Error("its page does not say that it was removed, or offers to start a task")
	}
	for name, status := range map[string]int{
		"a command": s.Call("POST", path+"/commands", answer, nil, "Idempotency-Key", "while removed"),
		"discovery": s.Call("POST", path+"/discover", nil, nil),
	} {
		if status != 409 {
			t.Errorf("%s is answered %d, want 409", name, status)
		}
	}
	if got := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED"); len(got.Messages) != len(waiting.Messages) || got.Question != nil {
		t.Errorf("its task has %d messages and the question %+v, want %d and none", len(got.Messages), got.Question, len(waiting.Messages))
	}
	if page := s.Page("/tasks/" + started.TaskID); !strings.Contains(page, "The agent was removed.") || strings.Contains(page, "<textarea") || strings.Contains(page, "Cancel task") {
		t.Error("the page of its task does not say so, or offers to send something")
	}
	if page := s.Page("/tasks?needs=you"); strings.Contains(page, started.TaskID) {
		t.Error("its task still waits for people")
	}

	status, _ := s.Post("/agents", url.Values{"cardUrl": {s.SampleCardURL(demo.Form)}})
	if status != 303 || strings.Contains(s.Page("/agents/"+bot.ID), "This agent was removed") || !listed() {
		t.Errorf("adding it again is answered %d; listed: %t", status, listed())
	}
	if page := s.Page("/tasks?needs=you"); !strings.Contains(page, started.TaskID) {
		t.Error("its task does not wait for people again")
	}
	if status := s.Call("PUT", path+"/credential", credential, nil); status != 200 {
		t.Errorf("a new credential is answered %d", status)
	}
	if c := s.Send(bot.ID, answer); c.Status != "succeeded" {
		t.Errorf("the answer after that is %s: %s", c.Status, c.Error)
	}
	s.TaskIn(started.TaskID, "TASK_STATE_COMPLETED")
}
