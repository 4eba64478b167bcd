package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// TestEveryBinding does the main job over every binding that the console speaks,
// with an agent whose card offers no other, with streams and without.
func TestEveryBinding(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	for _, way := range agenttest.Ways() {
		for name, streaming := range map[string]bool{"": true, " without streams": false} {
			t.Run(way.String()+name, func(t *testing.T) {
				agent := agenttest.Serve(t, way, streaming)
				registered := s.Register(agent.CardURL)
				askAndAnswer(t, s, registered)
				stream(t, s, registered)
				talk(t, s, registered)
				for _, note := range agent.Notes() {
					if strings.HasPrefix(note, "answer") && note != "answer map[environment:staging replicas:2] as application/json" {
						t.Errorf("the agent got the %s", note)
					}
				}
			})
		}
	}
}

func askAndAnswer(t *testing.T, s *apptest.Server, agent apptest.Agent) {
	t.Helper()
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
		"parts": []any{map[string]any{"data": json.RawMessage(`{"environment":"staging","replicas":2}`), "mediaType": "application/json"}},
	})
	if answer.Status != "succeeded" {
		t.Fatalf("the answer is %s: %s", answer.Status, answer.Error)
	}
	done := s.TaskIn(started.TaskID, "TASK_STATE_COMPLETED")
	if got, want := apptest.LastText(done), "Deploying 2 to staging."; got != want {
		t.Errorf("the agent said %q, want %q", got, want)
	}
}

// stream lets the agent bring an artifact in pieces.
func stream(t *testing.T, s *apptest.Server, agent apptest.Agent) {
	t.Helper()
	started := s.Send(agent.ID, map[string]any{"text": agenttest.SayReport})
	done := s.TaskIn(started.TaskID, "TASK_STATE_COMPLETED")
	got := ""
	for _, artifact := range done.Artifacts {
		for _, part := range artifact.Parts {
			got += apptest.Text(part)
		}
	}
	if want := strings.Join(agenttest.Report(), ""); got != want {
		t.Errorf("the artifact is %q, want %q", got, want)
	}
}

// talk has a conversation without a task.
func talk(t *testing.T, s *apptest.Server, agent apptest.Agent) {
	t.Helper()
	sent := s.Send(agent.ID, map[string]any{"text": agenttest.SayMessage})
	if sent.Status != "succeeded" {
		t.Fatalf("the message is %s: %s", sent.Status, sent.Error)
	}
	s.TaskWhere(sent.TaskID, "that has an answer", func(t apptest.Task) bool { return apptest.LastText(t) == "no task needed" })
}
