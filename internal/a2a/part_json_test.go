package a2a_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestPartJSONRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		part a2a.Part
		json string
	}{
		{"text", a2a.TextPart("a <b> & \"c\""), `{"text":"a <b> & \"c\"","mediaType":"text/plain"}`},
		{"empty text", text(""), `{"text":""}`},
		{"data", a2a.Part{Data: raw(`{"n":9007199254740993,"z":1.10,"a":1e400,"h":"<&>"}`), MediaType: "application/json", Metadata: raw(`{"b":1,"a":2}`)},
			`{"data":{"n":9007199254740993,"z":1.10,"a":1e400,"h":"<&>"},"mediaType":"application/json","metadata":{"b":1,"a":2}}`},
		{"null data", a2a.Part{Data: raw(`null`)}, `{"data":null}`},
		{"address", a2a.Part{URL: "https://example.com/?a=1&b=2", Filename: "x.png"}, `{"url":"https://example.com/?a=1&b=2","filename":"x.png"}`},
		{"artifact", a2a.Part{Artifact: &a2a.Blob{SHA256: digest, Size: 3}, MediaType: "image/png"}, `{"artifact":{"sha256":"` + digest + `","size":3},"mediaType":"image/png"}`},
		{"bytes", a2a.Part{Raw: []byte("hi")}, `{"raw":"aGk="}`},
		{"unknown", a2a.Part{Unknown: raw(`{"video":{"fps":30.0}}`)}, `{"unknown":{"video":{"fps":30.0}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var encoded bytes.Buffer
			encoder := json.NewEncoder(&encoded)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(tt.part); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(encoded.String()); got != tt.json {
				t.Errorf("encoded = %s\nwant      %s", got, tt.json)
			}
			var again a2a.Part
			if err := json.Unmarshal([]byte(tt.json), &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.part, again); diff != "" {
				t.Errorf("read again mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartJSONIsStrict(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, location string }{
		{`"x"`, ""},
		{`{}`, ""},
		{`{"mediaType":"text/plain"}`, ""},
		{`{"text":"a","data":1}`, ""},
		{`{"text":"a","text":"b"}`, ""},
		{`{"text":1}`, "/text"},
		{`{"text":null}`, "/text"},
		{`{"url":""}`, "/url"},
		{`{"raw":"*"}`, "/raw"},
		{`{"raw":5}`, "/raw"},
		{`{"text":"a","mediaType":["x"]}`, "/mediaType"},
		{`{"text":"a","mediaType":"a\r\nX-Header: b"}`, "/mediaType"},
		{`{"text":"a","filename":1}`, "/filename"},
		{`{"text":"a","metadata":[]}`, "/metadata"},
		{`{"text":"a","kind/of~":"text"}`, "/kind~1of~0"},
		{`{"artifact":{"sha256":"xyz","size":1}}`, "/artifact"},
		{`{"artifact":{"sha256":"` + digest + `","size":-1}}`, "/artifact"},
		{`{"artifact":{"sha256":"` + digest + `","size":1,"url":"x"}}`, "/artifact"},
		{`{"unknown":{},"mediaType":"x"}`, ""},
		{`{"data":` + strings.Repeat("[", 501) + strings.Repeat("]", 501) + `}`, "/data"},
	}
	for _, tt := range tests {
		t.Run(tt.in[:min(len(tt.in), 40)], func(t *testing.T) {
			t.Parallel()
			err := json.Unmarshal([]byte(tt.in), new(a2a.Part))
			var invalid *fault.Error
			if !errors.As(err, &invalid) || invalid.Kind != fault.Invalid || len(invalid.Fields) != 1 {
				t.Fatalf("error = %v, want an invalid fault with one field", err)
			}
			if got := invalid.Fields[0].Location; got != tt.location {
				t.Errorf("location = %q, want %q", got, tt.location)
			}
		})
	}
}

func TestWireMessage(t *testing.T) {
	t.Parallel()
	got, err := a2a.WireMessage(a2a.Message{
		MessageID: "m", ContextID: "c", TaskID: "t", Role: a2a.RoleUser,
		Parts: []a2a.Part{
			text("<ok>"),
			{Data: raw(`{ "n":9007199254740993, "z":1.10, "a":1e400, "h":"<" }`), MediaType: "application/json", Metadata: raw(`{"z":1,"a":2}`)},
			{URL: "https://example.com/a&b", Filename: "f"},
			{Raw: []byte("hi"), Artifact: &a2a.Blob{SHA256: digest, Size: 2}},
		},
		Metadata: raw(`{"k":1.0}`), Extensions: []string{"urn:a", "urn:b"}, ReferenceTaskIDs: []string{"t0"},
	})
	want := `{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_USER","parts":[` +
		`{"text":"<ok>"},` +
		`{"data":{ "n":9007199254740993, "z":1.10, "a":1e400, "h":"<" },"mediaType":"application/json","metadata":{"z":1,"a":2}},` +
		`{"url":"https://example.com/a&b","filename":"f"},{"raw":"aGk="}],` +
		`"metadata":{"k":1.0},"extensions":["urn:a","urn:b"],"referenceTaskIds":["t0"]}`
	if err != nil || string(got) != want {
		t.Errorf("WireMessage = %s, %v\nwant          %s", got, err, want)
	}
	for name, part := range map[string]a2a.Part{
		"unknown":         {Unknown: raw(`{}`)},
		"bytes elsewhere": {Artifact: &a2a.Blob{SHA256: digest}},
		"data not JSON":   {Data: raw(`{`)},
		"no content":      {MediaType: "text/plain"},
		"metadata":        {Text: text("x").Text, Metadata: raw(`[]`)},
	} {
		if _, err := a2a.WireMessage(a2a.Message{Parts: []a2a.Part{part}}); err == nil {
			t.Errorf("%s: no error, want one", name)
		}
	}
}

func TestStreamResponse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"task":{"id":"t"}}`:                   `{"task":{"id":"t"}}`,
		`{"id":"t","status":{"n":1.10}}`:        `{"task":{"id":"t","status":{"n":1.10}}}`,
		`{"kind":"status-update","taskId":"t"}`: `{"statusUpdate":{"kind":"status-update","taskId":"t"}}`,
		`{"progressUpdate":{}}`:                 `{"progressUpdate":{}}`,
		`{"error":"x"}`:                         `{"error":"x"}`,
		`[1]`:                                   `[1]`,
	} {
		if got := a2a.StreamResponse(raw(in)); string(got) != want {
			t.Errorf("StreamResponse(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]a2a.State{
		"TASK_STATE_WORKING": a2a.StateWorking, "task_state_working": a2a.StateWorking, "working": a2a.StateWorking,
		"input-required": a2a.StateInputRequired, "CANCELLED": a2a.StateCanceled, "cancelled": a2a.StateCanceled, "paused": "paused",
	} {
		if got := a2a.ParseState(in); got != want {
			t.Errorf("ParseState(%q) = %q, want %q", in, got, want)
		}
	}
}
