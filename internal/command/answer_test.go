package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

const done = `{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_COMPLETED"}}}`

func TestTheSameQuestionInReplyToItsAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, asking := range map[string]string{
		"under the same ID":                    question,
		"without an ID, in the same second":    strings.NewReplacer(`"messageId":"q",`, "", `"state":`, `"timestamp":"2026-01-01T10:00:00Z","state":`).Replace(question),
		"without a word, and with no question": `{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			b.remote.says(asking)
			id := b.send(command.Body{Text: "start"}).TaskID
			for range 2 {
				asked := b.task(id)
				body := command.Body{TaskID: id, Text: "seven"}
				if asked.Question != nil {
					body = answer(asked, `{"n":1}`)
					body.Answers = asked.Question.MessageID
				}
				b.remote.says(asking)
				b.send(body)
				again := b.task(id)
				if !again.NeedsYou || (again.Question == nil) != (asked.Question == nil) {
					t.Fatalf("needs you %v, question %+v; want it asked again", again.NeedsYou, again.Question)
				}
			}
		})
	}
}

func TestWhoAnsweredIsToldEvenIfTheTaskHasEnded(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	b.remote.says(done)
	b.send(answer(asked, `{"n":1}`))
	_, err := b.submit(newID(), answer(asked, `{"n":2}`))
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), b.person.Name+" answered this question already") {
		t.Errorf("a second answer got %v, want a conflict that names who answered", err)
	}
}

func TestAnotherVersionOfAnAnswerUnderItsKey(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	hold := make(chan struct{})
	b.remote.answers = append(b.remote.answers, func() (remote.Observation, error) {
		<-hold
		return observation(done), nil
	})
	first, err := b.submit("key", answer(asked, `{"n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	other := func(want string) {
		t.Helper()
		_, err := b.submit("key", answer(asked, `{"n":2}`))
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), b.person.Name) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "This one was not sent.") {
			t.Errorf("another version got %v, want a conflict that says that the first one %s", err, want)
		}
	}
	other("is being sent")
	close(hold)
	if _, err := b.service.Wait(context.Background(), b.person, first.ID, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	other("was sent")
}

func TestAMessageIDNamesOneMessage(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.says(question)
	first := b.send(command.Body{Text: "start", MessageID: "mine"})
	for name, body := range map[string]command.Body{
		"on the same task": {TaskID: first.TaskID, Text: "more", MessageID: "mine"},
		"on a new one":     {Text: "start again", MessageID: "mine"},
	} {
		if _, err := b.submit(newID(), body); fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
	b.remote.says(done)
	if c := b.send(command.Body{TaskID: first.TaskID, Text: "more", MessageID: "another"}); c.Status != command.Succeeded {
		t.Errorf("another message ID: %s, want succeeded", c.Status)
	}
}

func TestAFormIsDrawnForInputAlone(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.says(strings.Replace(question, "INPUT_REQUIRED", "AUTH_REQUIRED", 1))
	got := b.task(b.send(command.Body{Text: "start"}).TaskID)
	if got.Question == nil || got.Question.Form != nil || len(got.Question.NotForm) != 1 || len(got.Messages[1].NotForm) != 1 {
		t.Fatalf("the question is %+v, want its form shown as data, with the reason", got.Question)
	}
	b.remote.says(done)
	if c := b.send(command.Body{TaskID: got.ID, Answers: "q", Text: "I signed in"}); c.Status != command.Succeeded {
		t.Errorf("an answer in free text is %s, want succeeded", c.Status)
	}
}

func TestAQuestionWhoseMessageIsLostKeepsItsTaskReadable(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	if err := b.db.Exec(context.Background(), "UPDATE task SET question_sha256 = 'lost' WHERE id = ?", asked.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.task(asked.ID); got.Question != nil || !got.NeedsYou {
		t.Errorf("question %+v, needs you %v; want a question without a word", got.Question, got.NeedsYou)
	}
	b.remote.says(done)
	if c := b.send(command.Body{TaskID: asked.ID, Answers: "q", Text: "seven"}); c.Status != command.Succeeded {
		t.Errorf("an answer is %s, want succeeded", c.Status)
	}
}
