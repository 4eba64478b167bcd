package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzStream sends arbitrary events, and what was let through is a stream that the
// clients take, whatever was asked for.
func FuzzStream(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed, uint8(40), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, legacy bool) {
		var out bytes.Buffer
		s := newStream(&out, func() error { return nil }, legacy)
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		for range n {
			before := out.Len()
			err := s.Send(g.event())
			var violation *ViolationError
			if err != nil && !errors.As(err, &violation) {
				t.Fatal(err)
			}
			if err != nil && s.Ended() && out.Len() != before {
				t.Fatal("something was sent after the end")
			}
		}
		if !s.Ended() {
			if err := s.Send(RunError{Message: "It stops here."}); err != nil {
				t.Fatalf("a run can always fail: %v", err)
			}
		}
		if why := clientRules(out.Bytes(), legacy); why != "" {
			t.Errorf("the clients reject it: %s", why)
		}
	})
}

// generator makes events, good ones and bad ones.
type generator struct{ *rand.Rand }

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

func (g generator) id() string { return pick(g, "a", "b", "a", "b", "") }

func (g generator) raw() json.RawMessage {
	return pick(g, json.RawMessage(`{"n":9007199254740993}`), json.RawMessage("{\n \"x\" : \"a\\r\\nb\u2028\"}"), json.RawMessage(`{}`),
		json.RawMessage(`[]`), json.RawMessage(`null`), json.RawMessage(`true`), json.RawMessage(`"text"`), json.RawMessage(`{`), nil, json.RawMessage(``))
}

func (g generator) patches() []Patch {
	return pick(g, nil, []Patch{{Op: "add", Path: "/parts/-", Value: g.raw()}}, []Patch{{Op: pick(g, "remove", "replace"), Path: pick(g, "x", "/x"), Value: g.raw()}})
}

func (g generator) outcome() *Outcome {
	i := Interrupt{ID: g.id(), Reason: pick(g, "input_required", ""), Message: pick(g, "", "Which?"), ResponseSchema: g.raw(), Metadata: g.raw()}
	return pick(g, nil, &Outcome{Type: OutcomeSuccess}, &Outcome{Type: OutcomeCancelled}, &Outcome{Type: "other"},
		&Outcome{Type: OutcomeInterrupt}, &Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{i}}, &Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{i, i}},
		&Outcome{Type: OutcomeSuccess, Interrupts: []Interrupt{i}})
}

func (g generator) event() Event {
	role := pick(g, RoleAssistant, RoleAssistant, RoleUser, "agent", "tool", "")
	switch g.IntN(24) {
	case 0, 1, 2:
		return RunStarted{ThreadID: g.id(), RunID: g.id(), ProtocolVersion: "1.0"}
	case 3:
		return RunFinished{ThreadID: g.id(), RunID: g.id(), Outcome: g.outcome(), Result: g.raw(), Metadata: g.raw()}
	case 4:
		return RunError{Message: pick(g, "", "", "", "Bad."), Code: pick(g, "", "a2a_task_failed")}
	case 5, 6, 7:
		return TextStart{MessageID: g.id(), Role: role, Metadata: g.raw()}
	case 8, 9, 10:
		return TextContent{MessageID: g.id(), Delta: pick(g, "", "x", "a\r\nb", "\x00\xff")}
	case 11, 12:
		return TextEnd{MessageID: g.id()}
	case 13, 14:
		return StateSnapshot{Snapshot: g.raw()}
	case 15:
		return StateDelta{Delta: g.patches()}
	case 16, 17:
		return MessagesSnapshot{Messages: pick(g, nil, []Message{}, []Message{{ID: g.id(), Role: role, Content: g.raw()}, {ID: g.id(), Role: role, Content: g.raw()}})}
	case 18, 19:
		return ActivitySnapshot{MessageID: g.id(), ActivityType: pick(g, "", "a2a.artifact"), Content: g.raw(), Replace: g.IntN(2) == 0}
	case 20, 21:
		return ActivityDelta{MessageID: g.id(), ActivityType: pick(g, "", "a2a.artifact"), Patch: g.patches()}
	}
	return Custom{Name: pick(g, "", "a2a.data"), Value: g.raw()}
}

func TestRunEndsOnceAndClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newStream(&out, func() error { return nil }, false)
	for _, e := range []Event{
		RunStarted{ThreadID: "t", RunID: "r"}, TextStart{MessageID: "m", Role: RoleAssistant}, TextContent{MessageID: "m", Delta: "x"},
		RunFinished{ThreadID: "t", RunID: "r", Outcome: &Outcome{Type: OutcomeSuccess}},
	} {
		if err := s.Send(e); err != nil {
			t.Fatalf("%s: %v", e.kind(), err)
		}
	}
	if err := s.Send(RunError{Message: "late"}); err == nil {
		t.Error("an event after the end was sent")
	}
	want := `data: {"type":"TEXT_MESSAGE_END","messageId":"m"}` + "\n\n" +
		`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}` + "\n\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("the stream ends with\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWhatIsTooLargeIsNotSent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newStream(&out, func() error { return nil }, false)
	if err := s.Send(RunStarted{ThreadID: "t", RunID: "r"}); err != nil {
		t.Fatal(err)
	}
	before := out.Len()
	if err := s.Send(StateSnapshot{Snapshot: json.RawMessage(`{"x":"` + strings.Repeat("y", maxEvent) + `"}`)}); err == nil || out.Len() != before {
		t.Errorf("%d bytes were sent, %v", out.Len()-before, err)
	}
	if err := s.Send(StateDelta{Delta: []Patch{{Op: "add", Path: "/x", Value: json.RawMessage("1")}}}); err == nil {
		t.Error("a state that the client never got is changed")
	}
}

func TestEveryDigitIsKept(t *testing.T) {
	t.Parallel()
	line, err := encode(Custom{Name: "n", Value: json.RawMessage(`{"b":9007199254740993,"a":1.50,"t":"<&>"}`)})
	if want := `{"type":"CUSTOM","name":"n","value":{"b":9007199254740993,"a":1.50,"t":"<&>"}}`; err != nil || string(line) != want {
		t.Errorf("encode: %s, %v; want %s", line, err, want)
	}
}

func TestLongTextGoesInPieces(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newStream(&out, func() error { return nil }, true)
	text := "x" + strings.Repeat("é", maxDelta)
	for _, e := range []Event{RunStarted{ThreadID: "t", RunID: "r"}, TextStart{MessageID: "m", Role: RoleAssistant}} {
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.appendText("m", text); err != nil {
		t.Fatal(err)
	}
	var got string
	for line := range strings.Lines(out.String()) {
		var e TextContent
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			got += e.Delta
		}
	}
	if got != text {
		t.Error("the pieces are another text")
	}
}
