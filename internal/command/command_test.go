package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/artifact/artifacttest"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
	"github.com/agent-taskbay/taskbay/internal/worker"
)

const card = `{"name":"Ada","description":"d","version":"1","supportedInterfaces":[{"url":"http://127.0.0.1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":%v,"extensions":[{"uri":"` + form.URI + `"}]},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}`

const question = `{"statusUpdate":{"taskId":"r","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT","parts":[
	{"text":"How many?"},
	{"data":{"schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","maximum":9}}}},"mediaType":"` + form.MediaType + `"}]}}}}`

// fakeAgent answers each call with what a test put in.
type fakeAgent struct {
	mu      sync.Mutex
	sent    []remote.SendRequest
	answers []func() (remote.Observation, error)
}

func (f *fakeAgent) says(payload string) {
	f.answers = append(f.answers, func() (remote.Observation, error) { return observation(payload), nil })
}

func (f *fakeAgent) fails(delivery remote.Delivery) {
	f.answers = append(f.answers, func() (remote.Observation, error) {
		return remote.Observation{}, &remote.Error{Delivery: delivery, Message: "It broke."}
	})
}

func observation(payload string) remote.Observation {
	return remote.Observation{Raw: []byte(payload), Payload: json.RawMessage(payload), Received: time.Now()}
}

func (f *fakeAgent) Send(_ context.Context, _ remote.Target, r remote.SendRequest) (remote.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, r)
	if len(f.answers) == 0 {
		return remote.Observation{}, errors.New("the test put no answer in")
	}
	answer := f.answers[0]
	f.answers = f.answers[1:]
	return answer()
}

func (f *fakeAgent) Stream(ctx context.Context, t remote.Target, r remote.SendRequest) iter.Seq2[remote.Observation, error] {
	return func(yield func(remote.Observation, error) bool) { yield(f.Send(ctx, t, r)) }
}

func (f *fakeAgent) Cancel(ctx context.Context, t remote.Target, id string) (remote.Observation, error) {
	return f.Send(ctx, t, remote.SendRequest{Message: a2a.Message{TaskID: id}})
}

func (f *fakeAgent) FetchCard(context.Context, string, string) (remote.CardFetch, error) {
	return remote.CardFetch{Raw: fmt.Appendf(nil, card, false), URL: "http://127.0.0.1/card.json"}, nil
}

func (f *fakeAgent) calls() []remote.SendRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]remote.SendRequest(nil), f.sent...)
}

// noObserver lets streams go.
type noObserver struct{}

func (noObserver) Follow(_ string, s command.Stream) { s.Stop() }
func (noObserver) Heard(task.Outcome)                {}

// bench is a command service on a database of its own, with an agent.
type bench struct {
	t       *testing.T
	db      *store.DB
	remote  *fakeAgent
	bytes   *fakeBytes
	service *command.Service
	agent   agent.Agent
	tasks   *task.Reader
	person  access.Principal
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func setUp(t *testing.T, change ...func(*command.Dispatcher)) *bench {
	t.Helper()
	hub := &live.Hub{}
	db, err := store.OpenSQLite(context.Background(), t.TempDir(), hub)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, db: db, remote: &fakeAgent{}, person: access.LocalOperator()}
	b.bytes = &fakeBytes{Keeper: artifacttest.Keeper(db, artifacttest.Memory(t), 10)}
	agents := &agent.Catalogue{
		Update: store.For[agent.Tx](db.Update), View: store.For[agent.Tx](db.View), Remote: b.remote, NewID: newID, Log: slog.New(slog.DiscardHandler),
	}
	dispatcher := &command.Dispatcher{
		Update: store.For[command.Tx](db.Update), Agents: agents, Remote: b.remote, Observer: noObserver{}, Bytes: b.bytes,
		NewID: newID, Live: hub, Owner: newID(), Poll: time.Minute, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(dispatcher)
	}
	b.service = &command.Service{
		Update: store.For[command.Tx](db.Update), View: store.For[command.Tx](db.View), Agents: agents, Bytes: b.bytes, NewID: newID, Live: hub,
	}
	b.tasks = &task.Reader{View: store.For[task.ReadTx](db.View), Agents: agents}
	if b.agent, _, err = agents.Register(context.Background(), b.person, "http://127.0.0.1/card.json"); err != nil {
		t.Fatal(err)
	}
	lease := &worker.Lease{
		Update: store.For[worker.Tx](db.Update), Owner: dispatcher.Owner, Alone: true,
		TakeOver: []func(context.Context) error{dispatcher.TakeOver}, Log: dispatcher.Log,
	}
	endLease, err := lease.Hold(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- dispatcher.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		endLease()
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

func (b *bench) submit(key string, body command.Body) (command.Command, error) {
	return b.service.Submit(context.Background(), b.person, b.agent.ID, key, body)
}

// send submits and waits until the command is settled.
func (b *bench) send(body command.Body) command.Command {
	b.t.Helper()
	c, err := b.submit(newID(), body)
	if err != nil {
		b.t.Fatalf("Submit: %v", err)
	}
	c, err = b.service.Wait(context.Background(), b.person, c.ID, 30*time.Second)
	if err != nil || !c.Status.Settled() {
		b.t.Fatalf("Wait: %+v, %v; want a settled command", c, err)
	}
	return c
}

func (b *bench) task(id string) task.Task {
	b.t.Helper()
	got, err := b.tasks.Get(context.Background(), b.person, id)
	if err != nil {
		b.t.Fatalf("task %s: %v", id, err)
	}
	return got
}

// asked starts a task that asks the question.
func (b *bench) asked() task.Task {
	b.t.Helper()
	b.remote.says(question)
	return b.task(b.send(command.Body{Text: "start"}).TaskID)
}

func answer(t task.Task, data string) command.Body {
	return command.Body{TaskID: t.ID, Answers: "q", Parts: []a2a.Part{a2a.DataPart(json.RawMessage(data), form.AnswerMediaType)}}
}

func TestSendActivatesWhatTheAgentAdvertises(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.says(question)
	b.send(command.Body{Text: "hello", Config: command.Config{Extensions: []string{"urn:mine", form.URI}}})
	got := b.remote.calls()[0].Message
	if len(got.Extensions) != 2 || got.Extensions[0] != form.URI || got.Extensions[1] != "urn:mine" {
		t.Errorf("extensions %v, want the advertised one and the caller's, once each", got.Extensions)
	}
	if got.MessageID == "" || got.Role != a2a.RoleUser || *got.Parts[0].Text != "hello" {
		t.Errorf("sent %+v, want a user's message of one text", got)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script    func(*fakeAgent)
		want      command.Status
		wantCalls int
	}{
		"answered":                {func(f *fakeAgent) { f.says(question) }, command.Succeeded, 1},
		"refused by the agent":    {func(f *fakeAgent) { f.fails(remote.Answered) }, command.Failed, 1},
		"may have arrived":        {func(f *fakeAgent) { f.fails(remote.Uncertain) }, command.Uncertain, 1},
		"not sent, then answered": {func(f *fakeAgent) { f.fails(remote.NotSent); f.says(question) }, command.Succeeded, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			test.script(b.remote)
			c := b.send(command.Body{Text: "hello"})
			if c.Status != test.want || len(b.remote.calls()) != test.wantCalls {
				t.Errorf("%s (%s) after %d calls, want %s after %d", c.Status, c.Error, len(b.remote.calls()), test.want, test.wantCalls)
			}
			if (c.Error == "") != (test.want == command.Succeeded) {
				t.Errorf("a command that %s has the error %q", c.Status, c.Error)
			}
			shown := b.task(c.TaskID)
			if got := shown.Messages[0].Delivery; got == nil || got.Status != string(test.want) {
				t.Errorf("the timeline shows %+v, want %s", got, test.want)
			}
		})
	}
}

// TestARefusalIsToldFromAFailure has the task tell whether the agent has what
// failed, for a message and for a cancel.
func TestARefusalIsToldFromAFailure(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	b.remote.fails(remote.Answered)
	b.send(answer(asked, `{"n":1}`))
	b.remote.fails(remote.Answered)
	b.send(command.Body{TaskID: asked.ID, Action: command.Cancel})
	b.remote.fails(remote.Uncertain)
	b.send(command.Body{TaskID: asked.ID, Action: command.Cancel})
	shown := b.task(asked.ID)
	sent := shown.Messages[len(shown.Messages)-1].Delivery
	if sent == nil || !sent.Refused || sent.Status != string(command.Failed) {
		t.Errorf("the answer shows %+v, want it failed and refused", sent)
	}
	if len(shown.Cancels) != 2 {
		t.Fatalf("the timeline shows the cancels %+v, want both", shown.Cancels)
	}
	if c := shown.Cancels[0]; !c.Delivery.Refused || c.Author != b.person.Name {
		t.Errorf("the first cancel is %+v, want it by %s and refused", c, b.person.Name)
	}
	if c := shown.Cancels[1]; c.Delivery.Refused || c.Delivery.Status != string(command.Uncertain) {
		t.Errorf("the second cancel is %+v, want its outcome unknown", c)
	}
}

func TestAFailedStartMayBeTriedAgainOnItsTask(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.fails(remote.Answered)
	failed := b.send(command.Body{Text: "one"})
	b.remote.says(question)
	again := b.send(command.Body{TaskID: failed.TaskID, Text: "two"})
	if again.TaskID != failed.TaskID || b.task(failed.TaskID).RemoteTaskID != "r" {
		t.Errorf("the second try belongs to %s, want %s, bound to the agent's task", again.TaskID, failed.TaskID)
	}
}

func TestAnUncertainStartIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.fails(remote.Uncertain)
	c := b.send(command.Body{Text: "one"})
	if _, err := b.submit("k", command.Body{TaskID: c.TaskID, Text: "two"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second message got %v, want a conflict", err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	b.remote.says(question)
	first, err := b.submit("key", command.Body{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.submit("key", command.Body{Text: "hello"})
	if err != nil || again.ID != first.ID || again.TaskID != first.TaskID {
		t.Errorf("the same key and content gave %+v, %v; want the first command", again, err)
	}
	if _, err := b.submit("key", command.Body{Text: "other"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the same key with other content gave %v, want a conflict", err)
	}
	for name, key := range map[string]string{"none": "", "too long": strings.Repeat("k", 256), "NUL": "a\x00"} {
		if _, err := b.submit(key, command.Body{Text: "hello"}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a key that is %s gave %v, want invalid", name, err)
		}
	}
}

func TestAnswerIsCheckedAgainstItsForm(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	for name, body := range map[string]command.Body{
		"a text":           {TaskID: asked.ID, Answers: "q", Text: "seven"},
		"two parts":        {TaskID: asked.ID, Answers: "q", Parts: []a2a.Part{a2a.TextPart("x"), a2a.DataPart(json.RawMessage(`{"n":1}`), "")}},
		"no media type":    {TaskID: asked.ID, Answers: "q", Parts: []a2a.Part{a2a.DataPart(json.RawMessage(`{"n":1}`), "")}},
		"another type":     {TaskID: asked.ID, Answers: "q", Parts: []a2a.Part{a2a.DataPart(json.RawMessage(`{"n":1}`), "text/plain")}},
		"a file name":      {TaskID: asked.ID, Answers: "q", Parts: []a2a.Part{{Data: json.RawMessage(`{"n":1}`), MediaType: form.AnswerMediaType, Filename: "a.json"}}},
		"metadata":         {TaskID: asked.ID, Answers: "q", Parts: []a2a.Part{{Data: json.RawMessage(`{"n":1}`), MediaType: form.AnswerMediaType, Metadata: json.RawMessage(`{}`)}}},
		"out of bounds":    answer(asked, `{"n":10}`),
		"nothing":          answer(asked, `{}`),
		"a text as number": answer(asked, `{"n":"1"}`),
	} {
		if _, err := b.submit(newID(), body); fault.KindOf(err) != fault.Unprocessable {
			t.Errorf("%s: %v, want unprocessable", name, err)
		}
	}
	if n := len(b.remote.calls()); n != 1 {
		t.Fatalf("%d calls, want that nothing but the start was sent", n)
	}
	b.remote.says(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	b.send(answer(asked, `{"n":9.0}`))
	sent := b.remote.calls()[1].Message
	if sent.TaskID != "r" || sent.ContextID != "c" || len(sent.Parts) != 1 || string(sent.Parts[0].Data) != `{"n":9.0}` || sent.Parts[0].MediaType != form.AnswerMediaType {
		t.Errorf("sent %+v, want exactly the one data part on the agent's task", sent)
	}
	shown := b.task(asked.ID).Messages[2]
	if shown.AnswerTo == nil || shown.Author != b.person.Name {
		t.Errorf("the timeline shows %+v, want the answer with its form and who sent it", shown)
	}
}

func TestASecondAnswerIsRefused(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	const people = 8
	b.remote.says(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_WORKING"}}}`)
	var all sync.WaitGroup
	results := make(chan error, people)
	for range people {
		all.Go(func() {
			_, err := b.submit(newID(), answer(asked, `{"n":1}`))
			results <- err
		})
	}
	all.Wait()
	close(results)
	accepted := 0
	for err := range results {
		switch {
		case err == nil:
			accepted++
		case fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), b.person.Name):
			t.Errorf("a second answer got %v, want a conflict that names who answered", err)
		}
	}
	if accepted != 1 {
		t.Errorf("%d answers were accepted, want 1", accepted)
	}
}

func TestAFailedAnswerOpensTheQuestionAgain(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	b.remote.fails(remote.Answered)
	b.send(answer(asked, `{"n":1}`))
	if got := b.task(asked.ID); got.Question == nil || !got.NeedsYou {
		t.Fatalf("the question is %+v, want it open again", got.Question)
	}
	b.remote.says(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	if c := b.send(answer(asked, `{"n":2}`)); c.Status != command.Succeeded {
		t.Errorf("the second try is %s, want succeeded", c.Status)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	asked := b.asked()
	b.remote.says(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	b.send(answer(asked, `{"n":1}`))
	tests := map[string]struct {
		body command.Body
		want fault.Kind
	}{
		"a message on a task that ended":  {command.Body{TaskID: asked.ID, Text: "x"}, fault.Conflict},
		"a cancel of a task that ended":   {command.Body{TaskID: asked.ID, Action: command.Cancel}, fault.Conflict},
		"a task that there is none of":    {command.Body{TaskID: newID(), Text: "x"}, fault.NotFound},
		"nothing to send":                 {command.Body{}, fault.Invalid},
		"a cancel of nothing":             {command.Body{Action: command.Cancel}, fault.Invalid},
		"another action":                  {command.Body{Action: "explode", Text: "x"}, fault.Invalid},
		"an answer without a task":        {command.Body{Answers: "q", Text: "x"}, fault.Invalid},
		"bytes that are named, not given": {command.Body{Parts: []a2a.Part{{Artifact: &a2a.Blob{}}}}, fault.Invalid},
		"too many parts":                  {command.Body{Parts: make([]a2a.Part, command.MaxParts+1)}, fault.Invalid},
		"a start form without one":        {command.Body{StartForm: true, Parts: []a2a.Part{a2a.DataPart(json.RawMessage(`{}`), "")}}, fault.Conflict},
	}
	for name, test := range tests {
		if _, err := b.submit(newID(), test.body); fault.KindOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	if _, err := b.service.Submit(context.Background(), b.person, newID(), "k", command.Body{Text: "x"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an agent that there is none of: %v, want not found", err)
	}
}

func TestTextsOfClosedQuestionsDiffer(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	answered, moved := b.asked(), task.Task{}
	b.remote.says(`{"statusUpdate":{"taskId":"r","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	b.send(answer(answered, `{"n":1}`))
	b.remote.says(strings.ReplaceAll(question, `"taskId":"r"`, `"taskId":"r2"`))
	moved = b.task(b.send(command.Body{Text: "start"}).TaskID)
	b.remote.says(`{"task":{"id":"r2","status":{"state":"TASK_STATE_CANCELED"}}}`)
	b.send(command.Body{TaskID: moved.ID, Action: command.Cancel})

	texts := map[string]string{}
	for name, body := range map[string]command.Body{
		"answered": answer(answered, `{"n":1}`), "canceled": answer(moved, `{"n":1}`), "not found": answer(task.Task{ID: newID()}, `{"n":1}`),
	} {
		_, err := b.submit(newID(), body)
		texts[fault.Public(err).Message] = name
	}
	if len(texts) != 3 {
		t.Errorf("texts %v, want three that differ", texts)
	}
}
