package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// takes takes an observation in.
func (b *bench) takes(taskID string, source task.Source, key, payload string, asked, received time.Time) task.Outcome {
	b.Helper()
	return b.ingest(task.Observed{
		TaskID: taskID, Source: source, SourceKey: key, Asked: asked,
		Observation: remote.Observation{Raw: []byte(payload), Payload: json.RawMessage(payload), Received: received},
	})
}

// sees takes in what a check saw that was asked for at a time and answered at once.
func (b *bench) sees(taskID, payload string, at time.Time) task.Outcome {
	b.Helper()
	return b.takes(taskID, task.SourcePoll, newID(), payload, at, at)
}

func stands(taskID, state string) string {
	return fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_%s"}}}`, taskID, state)
}

func waits(taskID, question string) string {
	return fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
		"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":"Which?"}]}}}}`, taskID, question)
}

// testSights: what a check sees is no news only if it is what was heard last.
func testSights(b *bench) {
	id, _ := b.task("t")
	now := time.Now()
	for i, step := range []struct {
		state     string
		duplicate bool
	}{{"WORKING", false}, {"WORKING", true}, {"SUBMITTED", false}, {"WORKING", false}, {"SUBMITTED", false}, {"SUBMITTED", true}} {
		now = now.Add(time.Second)
		outcome := b.sees(id, stands(id, step.state), now)
		if outcome.Duplicate != step.duplicate || outcome.Head.State != a2a.State("TASK_STATE_"+step.state) {
			b.Errorf("sight %d: duplicate %v, state %s; want %v, %s", i, outcome.Duplicate, outcome.Head.State, step.duplicate, step.state)
		}
	}
	b.hears(id, "s/0", working(id))
	if outcome := b.sees(id, stands(id, "SUBMITTED"), now.Add(time.Second)); outcome.Head.State != a2a.StateSubmitted {
		b.Errorf("after an event the same sight as before it left the task %s, want submitted", outcome.Head.State)
	}
}

func testAStaleSightIsSeenAgain(b *bench) {
	id, _ := b.task("t")
	asked := time.Now()
	b.takes(id, task.SourceReply, "c", stands(id, "WORKING"), time.Time{}, asked.Add(time.Second))
	late := b.takes(id, task.SourcePoll, newID(), waits(id, "q"), asked, asked.Add(3*time.Second))
	if late.Head.State != a2a.StateWorking {
		b.Errorf("what was asked before the reply came made the task %s", late.Head.State)
	}
	if b.sees(id, waits(id, "q"), asked.Add(5*time.Second)); b.record(id).Task.State != a2a.StateInputRequired {
		b.Errorf("the task is %s, want the question that every later check sees", b.record(id).Task.State)
	}
}

// answered makes a task whose question is answered by a command that the agent got.
func (b *bench) answered() (taskID string, r command.Record) {
	b.Helper()
	taskID, agentID := b.task("t")
	b.hears(taskID, "s/0", waits(taskID, "q"))
	r = b.newCommand(taskID, agentID)
	r.Answers, r.QuestionNumber = "q", 1
	b.update(func(tx *store.Tx) error {
		if err := b.accept(tx, r); err != nil {
			return err
		}
		return tx.SetAnsweredBy(taskID, r.Command.ID)
	})
	b.claim("w1")
	b.settle(r.Command.ID, "w1", command.Succeeded)
	return taskID, r
}

// testAskedAgain: the same question counts as asked again once the agent has had
// the answer, and only then.
func testAskedAgain(b *bench) {
	later := time.Now().Add(time.Minute)
	for name, test := range map[string]struct {
		hears func(taskID string, r command.Record)
		open  bool
	}{
		"by the reply": {func(id string, r command.Record) {
			b.takes(id, task.SourceReply, r.Command.ID, waits(id, "q"), time.Time{}, time.Now())
		}, true},
		"by the reply to something else": {func(id string, _ command.Record) {
			b.takes(id, task.SourceReply, newID(), waits(id, "q"), time.Time{}, time.Now())
		}, false},
		"at the start of the answer's stream": {func(id string, r command.Record) {
			b.takes(id, task.SourceStream, task.EventKey(r.Command.ID, 0), waits(id, "q"), time.Time{}, time.Now())
		}, false},
		"later in the answer's stream": {func(id string, r command.Record) {
			b.takes(id, task.SourceStream, task.EventKey(r.Command.ID, 0), waits(id, "q"), time.Time{}, time.Now())
			b.takes(id, task.SourceStream, task.EventKey(r.Command.ID, 1), waits(id, "q"), time.Time{}, time.Now())
		}, true},
		"seen at once": {func(id string, _ command.Record) { b.sees(id, waits(id, "q"), time.Now()) }, false},
		"seen at once and later": {func(id string, _ command.Record) {
			b.sees(id, waits(id, "q"), time.Now())
			b.sees(id, waits(id, "q"), later)
		}, true},
		"seen while a stream is followed": {func(id string, _ command.Record) {
			b.update(func(tx *store.Tx) error {
				_, err := tx.ClaimStream(id, "w1")
				return err
			})
			b.sees(id, waits(id, "q"), later)
		}, false},
	} {
		id, r := b.answered()
		test.hears(id, r)
		got := b.record(id)
		number := int64(1)
		if test.open {
			number = 2
		}
		if open := got.AnsweredBy == ""; open != test.open || got.Task.NeedsYou != test.open || got.Question.Number != number {
			b.Errorf("%s: open %v, number %d; want %v, %d", name, open, got.Question.Number, test.open, number)
		}
	}
}

// testQuestionUnderAUsersID: an agent that asks under the ID of the message that it
// got is understood, and what cannot be found is told as such.
func testQuestionUnderAUsersID(b *bench) {
	for name, role := range map[string]string{"as itself": "ROLE_AGENT", "in the person's name": "ROLE_USER"} {
		id, agentID := b.task("t")
		r := b.command(id, agentID)
		asking := fmt.Sprintf(`{"task":{"id":"remote-%s","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",
			"message":{"messageId":%q,"role":%q,"parts":[{"text":"Which?"}]}},
			"history":[{"messageId":%[2]q,"role":"ROLE_USER","parts":[{"text":"hello"}],"metadata":{"mine":1}}]}}`, id, r.Command.MessageID, role)
		b.hears(id, "s/0", asking)
		asked := b.record(id).Question
		b.view(func(tx *store.Tx) error {
			question, err := tx.Message(id, asked.MessageID, asked.Digest)
			if err != nil || question.Message.Role != a2a.RoleAgent || *question.Message.Parts[0].Text != "Which?" {
				b.Errorf("%s: the question is %+v, %v; want the agent's", name, question, err)
			}
			all, err := tx.Messages(id, 0)
			if len(all) != 2 {
				b.Errorf("%s: messages %+v, want Ann's and the question", name, all)
			}
			return err
		})
	}
	id, _ := b.task("t")
	err := b.db.View(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Message(id, "gone", "x")
		return err
	})
	if fault.KindOf(err) != fault.NotFound {
		b.Errorf("a message that there is none of: %v, want not found", err)
	}
}

func testMessageIDs(b *bench) {
	id, agentID := b.task("t")
	other := b.taskOf(agentID, "other")
	r := b.command(id, agentID)
	b.hears(other, "s/0", fmt.Sprintf(`{"task":{"id":"remote-%s","status":{"state":"TASK_STATE_WORKING"},
		"history":[{"messageId":"theirs","role":"ROLE_USER","parts":[]},{"messageId":"agents","role":"ROLE_AGENT","parts":[]}]}}`, other))
	b.view(func(tx *store.Tx) error {
		for _, test := range []struct {
			agentID, taskID, messageID string
			want                       bool
		}{
			{agentID, id, r.Command.MessageID, true}, {agentID, other, r.Command.MessageID, true}, {newID(), newID(), r.Command.MessageID, false},
			{agentID, id, "new", false}, {agentID, other, "theirs", true}, {agentID, other, "agents", false},
		} {
			if used, err := tx.MessageIDUsed(test.agentID, test.taskID, test.messageID); used != test.want || err != nil {
				b.Errorf("MessageIDUsed(%+v) = %v, %v", test, used, err)
			}
		}
		return nil
	})
}
