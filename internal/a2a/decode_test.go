package a2a_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func text(s string) a2a.Part { return a2a.Part{Text: &s} }

// paths returns where the problems are.
func paths(problems []a2a.Problem) []string {
	var at []string
	for _, p := range problems {
		at = append(at, p.Path)
	}
	return at
}

func TestDecodeWholeTask(t *testing.T) {
	t.Parallel()
	event, problems := a2a.DecodeEvent(raw(`{"task":{"id":"t1","contextId":"c1","future":{"x":1},
		"status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-02T03:04:05.678+02:00","message":
			{"messageId":"m2","role":"ROLE_AGENT","taskId":"t1","contextId":"c1","extensions":["urn:x"],
			 "parts":[{"text":"Where?"},{"data":{"n":9007199254740993, "z":1.10, "a":1e400},"mediaType":"application/json","metadata":{"k":1}}]}},
		"history":[{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"go"}],"referenceTaskIds":["t0"],"metadata":{"b":1,"a":2}}],
		"artifacts":[{"artifactId":"a1","name":"n","description":"d","extensions":["urn:y"],
			"parts":[{"url":"https://example.com/x","filename":"x","mediaType":"image/png"},{"raw":"aGk=","filename":"hi.txt"}],"metadata":{}}],
		"metadata":{"m":0}}}`))
	want := a2a.Event{Task: &a2a.Task{
		ID: "t1", ContextID: "c1",
		Status: a2a.Status{
			State:     a2a.StateInputRequired,
			Timestamp: time.Date(2026, 1, 2, 1, 4, 5, 678e6, time.UTC),
			Message: &a2a.Message{
				MessageID: "m2", ContextID: "c1", TaskID: "t1", Role: a2a.RoleAgent, Extensions: []string{"urn:x"},
				Parts: []a2a.Part{text("Where?"), {
					Data: raw(`{"n":9007199254740993, "z":1.10, "a":1e400}`), MediaType: "application/json", Metadata: raw(`{"k":1}`),
				}},
			},
		},
		History: []a2a.Message{{
			MessageID: "m1", Role: a2a.RoleUser, Parts: []a2a.Part{text("go")},
			ReferenceTaskIDs: []string{"t0"}, Metadata: raw(`{"b":1,"a":2}`),
		}},
		Artifacts: []a2a.Artifact{{
			ArtifactID: "a1", Name: "n", Description: "d", Extensions: []string{"urn:y"}, Metadata: raw(`{}`),
			Parts: []a2a.Part{
				{URL: "https://example.com/x", Filename: "x", MediaType: "image/png"},
				{Raw: []byte("hi"), Filename: "hi.txt"},
			},
		}},
		Metadata: raw(`{"m":0}`),
	}}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Errorf("event mismatch (-want +got):\n%s", diff)
	}
	if len(problems) > 0 {
		t.Errorf("problems: %v, want none", problems)
	}
}

func TestDecodeEventShapes(t *testing.T) {
	t.Parallel()
	message := &a2a.Message{MessageID: "m", Role: a2a.RoleAgent, Parts: []a2a.Part{text("x")}}
	task := &a2a.Task{ID: "t", Status: a2a.Status{State: a2a.StateWorking}}
	update := &a2a.StatusUpdate{TaskID: "t", Status: a2a.Status{State: a2a.StateCompleted}}
	chunk := &a2a.ArtifactUpdate{TaskID: "t", Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{text("x")}}, Append: true, LastChunk: true}
	tests := []struct {
		name, in string
		want     a2a.Event
		problems []string
	}{
		{"message", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, a2a.Event{Message: message}, nil},
		{"bare message", `{"messageId":"m","role":"agent","parts":[{"text":"x"}]}`, a2a.Event{Message: message}, nil},
		{"0.3 message", `{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"x"}]}`, a2a.Event{Message: message}, nil},
		{"bare task", `{"id":"t","status":{"state":"working"}}`, a2a.Event{Task: task}, nil},
		{"null beside it", `{"message":null,"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`, a2a.Event{Task: task}, nil},
		{"status update", `{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`, a2a.Event{StatusUpdate: update}, nil},
		{"bare status update", `{"taskId":"t","status":{"state":"completed"},"final":true}`, a2a.Event{StatusUpdate: update}, nil},
		{"0.3 status update", `{"kind":"status-update","taskId":"t","status":{"state":"completed"}}`, a2a.Event{StatusUpdate: update}, nil},
		{"artifact update", `{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":"true"}}`, a2a.Event{ArtifactUpdate: chunk}, nil},
		{"0.3 artifact update", `{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":true}`, a2a.Event{ArtifactUpdate: chunk}, nil},
		{"unknown kind", `{"progressUpdate":{"percent":5}}`, a2a.Event{Unknown: raw(`{"progressUpdate":{"percent":5}}`)}, []string{""}},
		{"task of a wrong type", `{"task":"t"}`, a2a.Event{Unknown: raw(`{"task":"t"}`)}, []string{""}},
		{"null", `null`, a2a.Event{Unknown: raw(`null`)}, []string{""}},
		{"not JSON", `oops <b>`, a2a.Event{Unknown: raw(`"oops <b>"`)}, []string{""}},
		{"empty", ``, a2a.Event{Unknown: raw(`""`)}, []string{""}},
		{"not UTF-8", "{\"x\":\"\xff\"}", a2a.Event{Unknown: raw("{\"x\":\"\uFFFD\"}")}, []string{"", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := a2a.DecodeEvent(raw(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("event mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, paths(problems)); diff != "" {
				t.Errorf("problem paths mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []a2a.Part
		problems []string // below /parts
	}{
		{"data null", `[{"data":null}]`, []a2a.Part{{Data: raw("null")}}, nil},
		{"empty object", `[{}]`, []a2a.Part{{Unknown: raw("{}")}}, []string{"/0"}},
		{"empty text", `[{"text":""}]`, []a2a.Part{text("")}, nil},
		{"all members written", `[{"text":"x","data":null,"url":null,"raw":null,"metadata":null}]`, []a2a.Part{text("x")}, nil},
		{"defaults written", `[{"text":"","raw":"","url":"","data":{"a":1}}]`, []a2a.Part{{Data: raw(`{"a":1}`)}}, nil},
		{
			"text and data", `[{"text":"x","data":[1],"mediaType":"application/json"}]`,
			[]a2a.Part{{Text: text("x").Text, MediaType: "application/json"}, {Data: raw("[1]"), MediaType: "application/json"}},
			[]string{"/0"},
		},
		{"unknown kind", `[{"video":{"fps":30}},{"text":"x"}]`, []a2a.Part{{Unknown: raw(`{"video":{"fps":30}}`)}, text("x")}, []string{"/0"}},
		{"text of a wrong type", `[{"text":{"a":1}}]`, []a2a.Part{{Unknown: raw(`{"text":{"a":1}}`)}}, []string{"/0/text", "/0"}},
		{"null part", `[null,{"text":"x"}]`, []a2a.Part{text("x")}, []string{"/0"}},
		{"bare string", `["x"]`, []a2a.Part{{Unknown: raw(`"x"`)}}, []string{"/0"}},
		{"not a list", `{"text":"x"}`, []a2a.Part{text("x")}, []string{""}},
		{"base64url", `[{"raw":"-_8"}]`, []a2a.Part{{Raw: []byte{0xfb, 0xff}}}, nil},
		{"base64 in lines", `[{"raw":"aGVs\nbG8="}]`, []a2a.Part{{Raw: []byte("hello")}}, nil},
		{"no bytes", `[{"raw":""}]`, []a2a.Part{{Raw: []byte{}}}, nil},
		{"not base64", `[{"raw":"a*"}]`, []a2a.Part{{Unknown: raw(`{"raw":"a*"}`)}}, []string{"/0/raw", "/0"}},
		{"0.3 file", `[{"kind":"file","file":{"bytes":"aGk","mimeType":"text/plain","name":"a.txt"}}]`, []a2a.Part{{Raw: []byte("hi"), MediaType: "text/plain", Filename: "a.txt"}}, nil},
		{"0.3 file by address", `[{"kind":"file","file":{"uri":"https://example.com/"}}]`, []a2a.Part{{URL: "https://example.com/"}}, nil},
		{"metadata of a wrong type", `[{"text":"x","metadata":"m"}]`, []a2a.Part{text("x")}, []string{"/0/metadata"}},
		{"labels cleaned", `[{"text":"x","mediaType":5,"filename":"a\nb"}]`, []a2a.Part{{Text: text("x").Text, MediaType: "5", Filename: "ab"}}, []string{"/0/mediaType", "/0/filename"}},
		{"digits kept", `[{"data": {"n" : 1.10,"m":12345678901234567890} }]`, []a2a.Part{{Data: raw(`{"n" : 1.10,"m":12345678901234567890}`)}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			message, problems := a2a.DecodeMessage(raw(`{"messageId":"m","role":"ROLE_AGENT","parts":` + tt.in + `}`))
			if diff := cmp.Diff(tt.want, message.Parts); diff != "" {
				t.Errorf("parts mismatch (-want +got):\n%s", diff)
			}
			var at []string
			for _, p := range problems {
				at = append(at, strings.TrimPrefix(p.Path, "/parts"))
			}
			if diff := cmp.Diff(tt.problems, at); diff != "" {
				t.Errorf("problem paths mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeSurvivesWrongTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     a2a.Task
		problems []string
	}{
		{
			"everything wrong", `{"id":7,"contextId":[],"status":"working","artifacts":null,"history":"x","metadata":1}`,
			a2a.Task{ID: "7", Status: a2a.Status{State: a2a.StateWorking}, History: []a2a.Message{{Role: a2a.RoleAgent}}},
			[]string{"/id", "/contextId", "/status", "/history", "/history", "/history", "/metadata"},
		},
		{
			"nulls in lists", `{"id":"t","artifacts":[null],"history":[null]}`,
			a2a.Task{ID: "t", Status: a2a.Status{State: a2a.StateUnspecified}},
			[]string{"/artifacts/0", "/history/0"},
		},
		{
			"IDs missing", `{"artifacts":[{}],"history":[{}]}`,
			a2a.Task{
				Status:    a2a.Status{State: a2a.StateUnspecified},
				Artifacts: []a2a.Artifact{{}}, History: []a2a.Message{{Role: a2a.RoleAgent}},
			},
			[]string{"/artifacts/0", "/history/0", ""},
		},
		{
			"unusable IDs", `{"id":"a\u0000b","contextId":"` + strings.Repeat("x", 1025) + `"}`,
			a2a.Task{Status: a2a.Status{State: a2a.StateUnspecified}},
			[]string{"/id", "/contextId", ""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := a2a.DecodeTask(raw(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("task mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, paths(problems)); diff != "" {
				t.Errorf("problem paths mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeStatus(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	tests := []struct {
		state, timestamp string
		want             a2a.Status
		problems         int
	}{
		{`"TASK_STATE_CANCELLED"`, `null`, a2a.Status{State: a2a.StateCanceled}, 0},
		{`"input-required"`, `"2026-05-06T07:08:09Z"`, a2a.Status{State: a2a.StateInputRequired, Timestamp: at}, 0},
		{`6`, `"2026-05-06T07:08:09"`, a2a.Status{State: a2a.StateInputRequired, Timestamp: at}, 0},
		{`"working"`, `"2026-05-06 09:08:09+02:00"`, a2a.Status{State: a2a.StateWorking, Timestamp: at}, 0},
		{`"working"`, `1778051289`, a2a.Status{State: a2a.StateWorking, Timestamp: at}, 0},
		{`"working"`, `1778051289000`, a2a.Status{State: a2a.StateWorking, Timestamp: at}, 0},
		{`"TASK_STATE_PAUSED_V2"`, `"yesterday"`, a2a.Status{State: "TASK_STATE_PAUSED_V2"}, 2},
		{`99`, `1e300`, a2a.Status{State: "99"}, 2},
		{`{}`, `{}`, a2a.Status{State: a2a.StateUnspecified}, 2},
		{`""`, `""`, a2a.Status{State: a2a.StateUnspecified}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.state+" "+tt.timestamp, func(t *testing.T) {
			t.Parallel()
			task, problems := a2a.DecodeTask(raw(fmt.Sprintf(`{"id":"t","status":{"state":%s,"timestamp":%s}}`, tt.state, tt.timestamp)))
			if diff := cmp.Diff(tt.want, task.Status); diff != "" {
				t.Errorf("status mismatch (-want +got):\n%s", diff)
			}
			if len(problems) != tt.problems {
				t.Errorf("problems: %v, want %d", problems, tt.problems)
			}
		})
	}
}

func TestDecodeRoles(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]a2a.Role{
		`"user"`: a2a.RoleUser, `"ROLE_USER"`: a2a.RoleUser, `1`: a2a.RoleUser,
		`"agent"`: a2a.RoleAgent, `"ROLE_AGENT"`: a2a.RoleAgent, `2`: a2a.RoleAgent, `"system"`: a2a.RoleAgent, `[]`: a2a.RoleAgent,
	} {
		message, _ := a2a.DecodeMessage(raw(`{"messageId":"m","parts":[],"role":` + in + `}`))
		if message.Role != want {
			t.Errorf("role %s = %q, want %q", in, message.Role, want)
		}
	}
}

func TestDecodeBounds(t *testing.T) {
	t.Parallel()
	t.Run("items", func(t *testing.T) {
		t.Parallel()
		in := `{"messageId":"m","parts":[` + strings.Repeat(`{"text":"x"},`, 30_000) + `{"text":"x"}]}`
		message, problems := a2a.DecodeMessage(raw(in))
		if len(message.Parts) != 20_000 {
			t.Errorf("%d parts, want 20000", len(message.Parts))
		}
		if diff := cmp.Diff([]string{"/parts/20000"}, paths(problems)); diff != "" {
			t.Errorf("problem paths mismatch (-want +got):\n%s", diff)
		}
	})
	t.Run("problems", func(t *testing.T) {
		t.Parallel()
		_, problems := a2a.DecodeMessage(raw(`{"messageId":"m","parts":[` + strings.Repeat(`{},`, 500) + `{}]}`))
		if len(problems) != 100 {
			t.Errorf("%d problems, want 100", len(problems))
		}
	})
	t.Run("depth costs only the part that has it", func(t *testing.T) {
		t.Parallel()
		deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
		message, _ := a2a.DecodeMessage(raw(`{"messageId":"m","role":"agent","parts":[{"data":` + deep + `},{"text":"x"}],"metadata":{"d":` + deep + `}}`))
		want := a2a.Message{MessageID: "m", Role: a2a.RoleAgent, Parts: []a2a.Part{{Unknown: raw(`{"omitted":"nested too deeply"}`)}, text("x")}}
		if diff := cmp.Diff(want, message); diff != "" {
			t.Errorf("message mismatch (-want +got):\n%s", diff)
		}
	})
	t.Run("depth beyond what JSON readers take", func(t *testing.T) {
		t.Parallel()
		event, problems := a2a.DecodeEvent(raw(strings.Repeat("[", 1_000_000)))
		if len(problems) == 0 || !json.Valid(event.Unknown) || len(event.Unknown) > 20_000 {
			t.Errorf("%d bytes kept with problems %v, want a short JSON string and a problem", len(event.Unknown), problems)
		}
	})
}

// FuzzDecodeEvent: whatever an agent sends, decoding it does not panic, and what
// comes out can be written as JSON, sent on and read again.
func FuzzDecodeEvent(f *testing.F) {
	for _, seed := range []string{
		`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"x"}]}},"history":[{"role":1,"parts":[{"raw":"aGk"}]}]}}`,
		`{"artifactUpdate":{"taskId":"t","artifact":{"parts":[{"data":{"n":1e400}},{"url":"u"},{"file":{"bytes":"-_"}}]},"append":"true"}}`,
		`{"statusUpdate":{"status":"x","taskId":5,"metadata":[]}}`, `{"kind":"message","parts":{"text":"a","data":null}}`, "\xff", `[`, `{"message":{"parts":[[],null,{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		event, _ := a2a.DecodeEvent(payload)
		if event.Unknown != nil && !json.Valid(event.Unknown) {
			t.Errorf("unknown event is not JSON: %q", event.Unknown)
		}
		for _, part := range partsOf(event) {
			encoded, err := json.Marshal(part)
			if err != nil {
				t.Fatalf("encode %+v: %v", part, err)
			}
			var again a2a.Part
			if err := json.Unmarshal(encoded, &again); err != nil {
				t.Fatalf("read %s again: %v", encoded, err)
			}
			if part.Unknown == nil {
				if wire, err := a2a.WireMessage(a2a.Message{Parts: []a2a.Part{part}}); err != nil || !json.Valid(wire) {
					t.Errorf("wire form %s: %v", wire, err)
				}
			}
		}
	})
}

func partsOf(e a2a.Event) []a2a.Part {
	var parts []a2a.Part
	add := func(m *a2a.Message) {
		if m != nil {
			parts = append(parts, m.Parts...)
		}
	}
	add(e.Message)
	if e.Task != nil {
		add(e.Task.Status.Message)
		for _, m := range e.Task.History {
			add(&m)
		}
		for _, a := range e.Task.Artifacts {
			parts = append(parts, a.Parts...)
		}
	}
	if e.StatusUpdate != nil {
		add(e.StatusUpdate.Status.Message)
	}
	if e.ArtifactUpdate != nil {
		parts = append(parts, e.ArtifactUpdate.Artifact.Parts...)
	}
	return parts
}

func BenchmarkDecodeEvent(b *testing.B) {
	part := `{"data":{"values":[` + strings.Repeat("1234,", 1000) + `5]}},`
	payload := raw(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[` +
		strings.Repeat(part, 200) + `{"text":"end"}]}]}}`)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		a2a.DecodeEvent(payload)
	}
}
