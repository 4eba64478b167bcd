package reported

import (
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

func messageCases() map[string]reportedCase {
	return map[string]reportedCase{
		"history-diverges": {ways: all(), play: questionTwice},
		"msg-no-id":        {ways: all(), play: messagesWithoutIDs},
		"int-as-float":     {ways: all(), play: integersAsFloats},
		"int-precision":    {ways: overHTTP(), play: everyDigit},
	}
}

func questionTwice(s scene) {
	twice := strings.Replace(taskAsking, `"contextId":"c-1","status"`, `"contextId":"c-1","history":[`+question+`],"status"`, 1)
	_, agent := s.agent(script{"SendStreamingMessage": events(twice)}.say)
	waits := s.product.TaskIn(s.start(agent), "TASK_STATE_INPUT_REQUIRED")
	if diff := cmp.Diff([]string{"Which one?", ""}, texts(waits)); diff != "" {
		s.Errorf("the parts of the one message (-want +got):\n%s", diff)
	}
}

func messagesWithoutIDs(s scene) {
	one := strings.Replace(agentSays("m", "one"), `"messageId":"m",`, "", 1)
	two := strings.Replace(agentSays("m", "two"), `"messageId":"m",`, "", 1)
	_, agent := s.agent(script{"SendStreamingMessage": events(submitted, one, two, completed)}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"one", "two"}, texts(done)); diff != "" {
		s.Errorf("messages (-want +got):\n%s", diff)
	}
}

// integersAsFloats is a form whose integers went through floating point.
func integersAsFloats(s scene) {
	floats := strings.Replace(asking, `"type":"integer","title":"Number"`, `"type":"integer","title":"Number","minimum":1.0,"maximum":10.0,"default":2.0`, 1)
	_, agent := s.agent(script{"SendStreamingMessage": events(submitted, floats)}.say)
	id := s.start(agent)
	waits := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	if waits.Question == nil || waits.Question.Form == nil {
		s.Fatalf("question %+v, want one with a form", waits.Question)
	}
	c := s.product.Send(agent.ID, map[string]any{"taskId": id, "answers": waits.Question.MessageID,
		"parts": []any{map[string]any{"data": map[string]any{"n": 3}, "mediaType": "application/json"}}})
	if c.Status != "succeeded" {
		s.Errorf("the answer is %s: %s", c.Status, c.Error)
	}
}

func everyDigit(s scene) {
	exact := strings.Replace(agentSays("m-1", "x"), `{"text":"x"}`, `{"data":{"rev":9007199254740993,"price":1.10}}`, 1)
	_, agent := s.agent(script{"SendStreamingMessage": events(submitted, exact, completed)}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	data := func(t apptest.Task) string {
		for _, m := range t.Messages {
			if m.Role == "agent" {
				return string(m.Parts[0].Data)
			}
		}
		return ""
	}
	for _, digits := range []string{`"rev":9007199254740993`, `"price":1.10`} {
		if got := data(done); !strings.Contains(got, digits) {
			s.Errorf("data = %s, want %s", got, digits)
		}
	}
}
