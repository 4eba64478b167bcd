package reported

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func taskCases() map[string]reportedCase {
	return map[string]reportedCase{
		"art-final-overwrite":  {ways: all(), play: finalOverwrite, open: "earlier revisions are in the ledger alone"},
		"art-multi-part":       {ways: all(), play: partsApart, open: "text that is appended to text joins it; the pieces are in the ledger"},
		"unknown-task-creates": {ways: all(), play: forgottenTask},
		"get-stale":            {ways: all(), play: staleTask},
		"state-double-l":       {ways: overHTTP(), play: britishSpelling},
		"state-unknown":        {ways: overHTTP(), play: unknownState},
		"failed-text":          {ways: all(), play: failedWithReason},
		"asks-but-completed":   {ways: all(), play: asksButCompleted},
		"ctx-empty":            {ways: all(), play: emptyContext},
		"input-in-status-only": {ways: all(), play: questionInStatus},
		"reply-no-response":    {ways: all(), play: replyWithoutAnswer},
	}
}

func finalOverwrite(s scene) {
	_, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, chunk("A", false, false), chunk("B", true, false), chunk("C", false, true), completed),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"C"}, artifactTexts(done)); diff != "" || !done.Artifacts[0].Complete {
		s.Errorf("artifact (-want +got):\n%s", diff)
	}
}

func partsApart(s scene) {
	between := strings.Replace(chunk("x", true, false), `{"text":"x"}`, `{"data":{"n":1}}`, 1)
	_, agent := s.agent(script{
		"SendStreamingMessage": events(submitted, chunk("first", false, false), between, chunk("second", true, true), completed),
	}.say)
	done := s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if diff := cmp.Diff([]string{"first", "", "second"}, artifactTexts(done)); diff != "" {
		s.Errorf("parts (-want +got):\n%s", diff)
	}
}

// staleTask is told by GetTask later than the stream told of something newer: the
// product starts again in between, and checks every task then.
func staleTask(s scene) {
	dir := s.TempDir()
	s.product = apptest.Start(s, apptest.Options{DataDir: dir})
	asked := make(chan struct{}, 100)
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method == "GetTask" {
			asked <- struct{}{}
			return events(taskWorking)
		}
		return events(submitted, working, asking)
	})
	id := s.start(agent)
	s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	s.product.Stop()
	s.product = apptest.Start(s, apptest.Options{DataDir: dir})
	<-asked
	c := s.product.Send(agent.ID, map[string]any{"text": "go"}) // its answer comes after that of the check
	s.product.TaskIn(c.TaskID, "TASK_STATE_INPUT_REQUIRED")
	if still := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED"); still.Question == nil || still.Question.Form == nil {
		s.Errorf("question %+v, want the one with the form", still.Question)
	}
}

func britishSpelling(s scene) {
	canceled := strings.Replace(completed, "COMPLETED", "CANCELLED", 1)
	fake, agent := s.agent(script{"SendStreamingMessage": events(submitted, canceled)}.say)
	s.product.TaskIn(s.start(agent), "TASK_STATE_CANCELED")
	if n := len(fake.Calls("GetTask")); n > 0 {
		s.Errorf("the agent was asked %d times about a task that has ended", n)
	}
}

// unknownState is shown as the agent writes it, and the task is asked for.
func unknownState(s scene) {
	paused := func(event string) string {
		return strings.Replace(event, "TASK_STATE_WORKING", "TASK_STATE_PAUSED_V2", 1)
	}
	proceed := make(chan struct{})
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		if c.Method != "GetTask" {
			return events(submitted, paused(working))
		}
		select {
		case <-proceed:
			return events(taskCompleted)
		default:
			return events(paused(taskWorking))
		}
	})
	id := s.start(agent)
	s.product.TaskWhere(id, "in the unknown state", func(t apptest.Task) bool {
		return strings.EqualFold(strings.ReplaceAll(t.State, "-", "_"), strings.TrimPrefix("TASK_STATE_PAUSED_V2", s.unprefixed()))
	})
	close(proceed)
	s.product.TaskIn(id, "TASK_STATE_COMPLETED")
}

// unprefixed is what states of A2A 0.3 lack over JSON-RPC.
func (s scene) unprefixed() string {
	if s.way == legacyRPC {
		return "TASK_STATE_"
	}
	return ""
}

func failedWithReason(s scene) {
	failed := strings.Replace(completed, `"TASK_STATE_COMPLETED"`,
		`"TASK_STATE_FAILED","message":{"messageId":"m-1","taskId":"T","contextId":"c-1","role":"ROLE_AGENT","parts":[{"text":"quota exceeded"}]}`, 1)
	_, agent := s.agent(script{"SendStreamingMessage": events(submitted, failed)}.say)
	id := s.start(agent)
	s.product.TaskIn(id, "TASK_STATE_FAILED")
	page := get(s, s.product.URL()+"/tasks/"+id)
	if at := strings.Index(page, "quota exceeded"); at < 0 || !strings.Contains(page, "Failed") {
		s.Error("the page of the task does not say that it failed, and why")
	}
}

// asksButCompleted takes no reply on the task, and a new one in its context.
func asksButCompleted(s scene) {
	fake, agent := s.agent(script{"SendStreamingMessage": events(submitted, completed)}.say)
	id := s.start(agent)
	done := s.product.TaskIn(id, "TASK_STATE_COMPLETED")
	status := s.product.Call("POST", "/api/v1/agents/"+agent.ID+"/commands", map[string]any{"taskId": id, "text": "Both"}, nil, "Idempotency-Key", "reply")
	if status != http.StatusConflict && status != http.StatusUnprocessableEntity {
		s.Errorf("a reply on a finished task was answered with %d", status)
	}
	before := len(fake.Calls("SendStreamingMessage"))
	s.product.Send(agent.ID, map[string]any{"contextId": done.ContextID, "text": "Both"})
	calls := fake.Calls("SendStreamingMessage")
	if len(calls) != before+1 || calls[before].TaskID != "" || !strings.Contains(string(calls[before].Params), `"c-1"`) {
		s.Errorf("sent %+v, want one message in the context and on no task", calls[before:])
	}
}

// forgottenTask: the agent has lost the task and begins one under its ID, so that its
// history starts with the answer.
func forgottenTask(s scene) {
	messageID := regexp.MustCompile(`"messageId":\s*"([^"]+)"`)
	_, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		switch {
		case c.Method == "GetTask":
			return events(submitted)
		case c.TaskID == "":
			return events(submitted, asking)
		}
		last := messageID.FindSubmatch(c.Params)
		return events(fmt.Sprintf(`{"task":{"id":"T","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-02T03:04:09Z"},`+
			`"history":[{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"go on"}]}]}}`, last[1]))
	})
	id := s.start(agent)
	waits := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	if waits.HistoryLacks {
		s.Error("the history lacks something before it was shown")
	}
	s.product.Send(agent.ID, map[string]any{"taskId": id, "answers": waits.Question.MessageID,
		"parts": []any{map[string]any{"data": map[string]any{"n": 1}, "mediaType": "application/json"}}})
	if got := s.product.TaskIn(id, "TASK_STATE_COMPLETED"); !got.HistoryLacks {
		s.Error("nothing warns that the history lacks the first message")
	}
	if page := s.product.Page("/tasks/" + id); !strings.Contains(page, "lacks messages that it had got") {
		s.Error("the page does not warn")
	}
}

func emptyContext(s scene) {
	empty := strings.Replace(asking, `"contextId":"c-1","status"`, `"contextId":"","status"`, 1)
	fake, agent := s.agent(script{"SendStreamingMessage": events(submitted, strings.Replace(working, `"c-1"`, `""`, 1), empty)}.say)
	id := s.start(agent)
	waits := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	if waits.ContextID != "c-1" {
		s.Errorf("context %q, want c-1", waits.ContextID)
	}
	s.product.Send(agent.ID, map[string]any{"taskId": id, "answers": waits.Question.MessageID,
		"parts": []any{map[string]any{"data": map[string]any{"n": 1}, "mediaType": "application/json"}}})
	calls := fake.Calls("SendStreamingMessage")
	if last := calls[len(calls)-1]; last.TaskID != "T" || !strings.Contains(string(last.Params), `"c-1"`) {
		s.Errorf("the answer went as %s", last.Params)
	}
}

func questionInStatus(s scene) {
	_, agent := s.agent(script{"SendStreamingMessage": events(submitted, chunk("plan", false, true), asking)}.say)
	waits := s.product.TaskIn(s.start(agent), "TASK_STATE_INPUT_REQUIRED")
	if waits.Question == nil || waits.Question.Form == nil || waits.Question.Prompt != "Which one?" {
		s.Errorf("question %+v, want that of the status message", waits.Question)
	}
	if diff := cmp.Diff([]string{"plan"}, artifactTexts(waits)); diff != "" {
		s.Errorf("artifact (-want +got):\n%s", diff)
	}
}

// replyWithoutAnswer: headers, then silence.
func replyWithoutAnswer(s scene) {
	s = s.impatient()
	fake, agent := s.agent(func(c agenttest.Call) agenttest.Say {
		switch {
		case c.Method == "GetTask":
			return events(taskCompleted)
		case c.TaskID == "T":
			return agenttest.Say{Hold: true}
		}
		return events(submitted, asking)
	})
	id := s.start(agent)
	waits := s.product.TaskIn(id, "TASK_STATE_INPUT_REQUIRED")
	c := s.product.Send(agent.ID, map[string]any{"taskId": id, "answers": waits.Question.MessageID,
		"parts": []any{map[string]any{"data": map[string]any{"n": 1}, "mediaType": "application/json"}}})
	if c.Status != "uncertain" {
		s.Errorf("the answer is %s: %s, want its outcome unknown", c.Status, c.Error)
	}
	s.product.TaskIn(id, "TASK_STATE_COMPLETED")
	if n := len(fake.Calls("SendStreamingMessage")); n != 2 {
		s.Errorf("%d messages were sent, want the first and the answer once", n)
	}
}
