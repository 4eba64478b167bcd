package agui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// FuzzFollow follows tasks with arbitrary histories, from their start and from
// anywhere in between. What is sent is a stream that the clients take, and leaves the
// client with every word of the agent, each once.
func FuzzFollow(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(seed%30), seed%2 == 0, seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8, legacy, attach bool) {
		h := newHistory(seed, int(steps%40))
		if attach {
			for range h.IntN(h.steps + 1) {
				h.step()
			}
		}
		var out bytes.Buffer
		fo := h.follower(&out, legacy, attach)
		if err := fo.follow(context.Background()); err != nil {
			t.Fatalf("follow: %v\n%s", err, &out)
		}
		if why := clientRules(out.Bytes(), legacy); why != "" {
			t.Fatalf("the clients reject it: %s\n%s", why, &out)
		}
		if strings.Contains(out.String(), customWarning) {
			t.Errorf("something was left out:\n%s", &out)
		}
		got := messagesOf(t, out.Bytes())
		if diff := cmp.Diff(h.words(), got); diff != "" {
			t.Errorf("the client has (-want +got):\n%s\n%s", diff, &out)
		}
	})
}

// TestFollowEndsWithAccess has a client lose sight of its task while nothing happens
// on it.
func TestFollowEndsWithAccess(t *testing.T) {
	t.Parallel()
	h := newHistory(1, 10)
	h.gone = true
	var out bytes.Buffer
	f := h.follower(&out, false, false)
	f.principal.OrganisationID = "acme"
	if err := f.follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"type":"RUN_ERROR"`) || !strings.Contains(out.String(), "There is no such task.") {
		t.Errorf("the run does not end:\n%s", &out)
	}
	if want := []string{live.TaskTopic("task"), live.AccessTopic("acme")}; !slices.Equal(h.watched, want) {
		t.Errorf("it is woken by %q, want %q", h.watched, want)
	}
}

// scripted is a task whose history goes on a step each time that it is asked for what
// changed. It stands for all services of a follower.
type scripted struct {
	generator
	Tx
	t     task.Task
	seq   int64
	steps int
	ready chan struct{}

	watched []string // topics
	gone    bool     // the client sees it no longer
}

func newHistory(seed uint64, steps int) *scripted {
	ready := make(chan struct{})
	close(ready) // there is always news
	h := &scripted{generator: generator{rand.New(rand.NewPCG(seed, 2))}, steps: steps, ready: ready}
	h.t = task.Task{ID: "task", RemoteTaskID: "remote", AgentID: "agent", Kind: task.KindTask, State: a2a.StateSubmitted, Version: 1}
	h.add(task.Message{Role: a2a.RoleUser, ID: "m", Parts: []a2a.Part{a2a.TextPart("Go.")}, Delivery: &task.Delivery{CommandID: "command", Status: "succeeded"}})
	return h
}

func (h *scripted) add(m task.Message) {
	h.seq++
	m.Seq, m.Version = h.seq, h.t.Version
	h.t.Messages = append(h.t.Messages, m)
}

func (h *scripted) parts() []a2a.Part {
	text := pick(h.generator, "", "Hello.\r\n", "ünï", "x")
	blob := &a2a.Blob{SHA256: strings.Repeat("a", 64), Size: 3}
	all := []a2a.Part{a2a.TextPart(text), {Data: json.RawMessage(`{"n":9007199254740993}`)}, {URL: "https://x.example/"}, {Artifact: blob, Filename: "f"}, {Unknown: json.RawMessage(`{"odd":null}`)}}
	h.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+h.IntN(3)]
}

// step lets something happen.
func (h *scripted) step() {
	h.steps--
	h.t.Version++
	if h.t.State.Terminal() {
		return
	}
	h.t.NeedsYou, h.t.Question = false, nil
	switch h.IntN(9) {
	case 0, 1:
		h.add(task.Message{Role: pick(h.generator, a2a.RoleAgent, a2a.RoleUser), ID: pick(h.generator, "m", "n"), Parts: h.parts()})
	case 2:
		h.t.State = pick(h.generator, a2a.StateWorking, a2a.StateSubmitted, "odd", a2a.StateUnspecified)
	case 3:
		h.t.ContextID = "context"
	case 4:
		h.seq++
		h.t.Artifacts = append(h.t.Artifacts, task.Artifact{Seq: h.seq, Version: h.t.Version, ID: fmt.Sprint(h.seq), Name: "Report", Parts: h.parts()})
	case 5, 6, 7:
		h.change()
	case 8:
		for i := range h.t.Messages { // as when a command is settled
			h.t.Messages[i].Version = h.t.Version
		}
	}
	if h.steps <= 0 {
		h.finish()
	}
}

// change lets an artifact grow, be replaced or be complete.
func (h *scripted) change() {
	if len(h.t.Artifacts) == 0 {
		return
	}
	a := &h.t.Artifacts[h.IntN(len(h.t.Artifacts))]
	a.Version = h.t.Version
	last := len(a.Parts) - 1
	switch h.IntN(5) {
	case 0, 1:
		if text := a.Parts[last].Text; text != nil {
			more := *text + pick(h.generator, "", "more", "é\n")
			parts := append([]a2a.Part{}, a.Parts...)
			parts[last].Text, a.Parts = &more, parts
		}
	case 2:
		a.Parts = append(append([]a2a.Part{}, a.Parts...), h.parts()...)
	case 3:
		a.Parts = h.parts()
	case 4:
		a.Complete = !a.Complete
	}
}

func (h *scripted) finish() {
	h.t.State = pick(h.generator, a2a.StateCompleted, a2a.StateFailed, a2a.StateCanceled, a2a.StateRejected, a2a.StateInputRequired, a2a.StateAuthRequired)
	if h.t.State.Waiting() {
		h.t.NeedsYou = true
		if h.IntN(2) == 0 {
			h.t.Question = &task.Question{MessageID: "q", Prompt: pick(h.generator, "", "Which?"), FormPart: -1}
		}
	}
}

func (h *scripted) Get(context.Context, access.Principal, string) (task.Task, error) {
	return h.copied(0), nil
}

func (h *scripted) Changes(_ context.Context, _ access.Principal, _ string, since int64) (task.Delta, error) {
	if h.gone {
		return task.Delta{}, fault.New(fault.NotFound, "There is no such task.")
	}
	for range 1 + h.IntN(3) {
		h.step()
	}
	return task.Delta{Since: since, Task: h.copied(since)}, nil
}

func (h *scripted) copied(since int64) task.Task {
	t := h.t
	t.Messages, t.Artifacts = nil, nil
	for _, m := range h.t.Messages {
		if m.Version > since {
			t.Messages = append(t.Messages, m)
		}
	}
	for _, a := range h.t.Artifacts {
		if a.Version > since {
			t.Artifacts = append(t.Artifacts, a)
		}
	}
	return t
}

func (h *scripted) Watch(topics ...string) (<-chan struct{}, func()) {
	h.watched = append(h.watched, topics...)
	return h.ready, func() {}
}

func (h *scripted) Now() time.Time { return time.Unix(0, 0) }

func (h *scripted) TaskHead(string) (task.Head, task.Owner, error) {
	return task.Head{TaskID: h.t.ID, State: h.t.State, Question: task.Asked{MessageID: questionOf(h.t).MessageID, Number: 1}}, task.Owner{}, nil
}

func (h *scripted) KeepInterrupt(a Asked) (Asked, error) { return a, nil }

func (h *scripted) follower(out *bytes.Buffer, legacy, attach bool) *follower {
	update := func(_ context.Context, f func(Tx) error) error { return f(h) }
	run := Run{ID: "run", ThreadID: "thread", Number: 1, Key: "r", TaskID: h.t.ID, CommandID: "command"}
	f := &follower{
		Service: &Service{Update: update, View: update, Tasks: h, Live: h, NewID: func() string { return "i" }, Log: slog.New(slog.DiscardHandler)},
		input:   Input{ThreadID: "t", RunID: "r", State: json.RawMessage(`{"a2a":1,"mine":1.50}`)}, files: func(sha256 string) string { return "http://console/" + sha256[:4] },
		stream: newStream(out, func() error { return nil }, legacy),
	}
	if !legacy {
		f.input.ProtocolVersion = "1.0"
	}
	f.history = history{thread: Thread{ID: "thread"}, runs: []Run{run}, said: []Said{{MessageID: "c1", RunID: "run", Plain: true, Content: []Content{{Type: "text", Text: "Go."}}}}}
	f.run, f.do, f.accepted = f.history.last(), actSend, true
	if attach {
		f.do, f.accepted = actFollow, false
	}
	return f
}

// words are what the agent has said and made, by the IDs that clients get.
func (h *scripted) words() map[string]string {
	words := map[string]string{}
	files := func(sha256 string) string { return "http://console/" + sha256[:4] }
	for _, m := range h.t.Messages {
		if text := textOf(m.Parts, files); m.Role == a2a.RoleAgent && text != "" {
			words[entryID(h.t.ID, m.Seq)] = text
		}
	}
	for _, a := range h.t.Artifacts {
		if text := textOf(a.Parts, files); text != "" {
			words[entryID(h.t.ID, a.Seq)] = text
		}
	}
	return words
}

// messagesOf is what a client has of the agent at the end of a stream.
func messagesOf(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type, MessageID, Delta string
			Messages               []struct {
				ID, Role string
				Content  json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
			t.Fatal(err)
		}
		switch e.Type {
		case "TEXT_MESSAGE_CONTENT":
			texts[e.MessageID] += e.Delta
		case "MESSAGES_SNAPSHOT":
			texts = map[string]string{}
			for _, m := range e.Messages {
				if m.Role == RoleAssistant {
					var text string
					if err := json.Unmarshal(m.Content, &text); err != nil {
						t.Fatal(err)
					}
					texts[m.ID] = text
				}
			}
		}
	}
	return texts
}
