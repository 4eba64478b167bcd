package interop

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// TestConsoleAnswersAJSAgent does the main job against an agent on the official
// JavaScript SDK: over every binding, with streams and without.
func TestConsoleAnswersAJSAgent(t *testing.T) {
	card := startJSAgent(t).card
	s := apptest.Start(t, apptest.Options{})
	for _, binding := range []string{"JSONRPC", "HTTP+JSON", "GRPC"} {
		for _, streaming := range []bool{true, false} {
			name := binding
			if !streaming {
				name += " without streams"
			}
			t.Run(name, func(t *testing.T) {
				mainJob(t, s, s.Register(variant(t, card, binding, streaming)))
			})
		}
	}
}

func mainJob(t *testing.T, s *apptest.Server, agent apptest.Agent) {
	started := s.Send(agent.ID, map[string]any{"text": "deploy"})
	if started.Status != "succeeded" {
		t.Fatalf("the first message is %s: %s", started.Status, started.Error)
	}
	waiting := s.TaskIn(started.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if waiting.Question == nil || waiting.Question.Form == nil {
		t.Fatalf("question %+v, want one with a form", waiting.Question)
	}
	answer := s.Send(agent.ID, map[string]any{
		"taskId": started.TaskID, "answers": waiting.Question.MessageID,
		"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2,"dryRun":false}`), "mediaType": "application/json"}},
	})
	if answer.Status != "succeeded" {
		t.Fatalf("the answer is %s: %s", answer.Status, answer.Error)
	}
	done := s.TaskIn(started.TaskID, "TASK_STATE_COMPLETED")
	if got, want := apptest.LastText(done), "Deploying 2 replica(s) to staging."; got != want {
		t.Errorf("the agent said %q, want %q", got, want)
	}
	if len(done.Artifacts) == 0 {
		t.Error("the streamed artifact is missing")
	}
}

// variant serves the agent's card with one binding and with or without streams.
func variant(t *testing.T, cardURL, binding string, streaming bool) string {
	t.Helper()
	var card map[string]any
	if err := json.Unmarshal(fetch(t, cardURL), &card); err != nil {
		t.Fatal(err)
	}
	card["supportedInterfaces"] = slices.DeleteFunc(card["supportedInterfaces"].([]any), func(i any) bool {
		return i.(map[string]any)["protocolBinding"] != binding
	})
	card["capabilities"].(map[string]any)["streaming"] = streaming
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(card)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/card.json"
}
