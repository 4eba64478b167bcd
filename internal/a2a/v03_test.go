package a2a_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// TestV03Event has a row for everything that A2A 0.3 writes otherwise than 1.0.
func TestV03Event(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		v        a2a.V03
		in, want string
	}{
		{
			"task", a2a.V03JSONRPC,
			`{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"Where?"}]}},"history":[{"kind":"message","role":"user","messageId":"u","parts":[]}],"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}],"later":1}`,
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"role":"ROLE_AGENT","messageId":"m","parts":[{"text":"Where?"}]}},"history":[{"role":"ROLE_USER","messageId":"u","parts":[]}],"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}],"later":1}}`,
		},
		{
			"status update", a2a.V03JSONRPC,
			`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"canceled"},"final":true}`,
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELED"},"final":true}}`,
		},
		{
			"artifact update", a2a.V03JSONRPC,
			`{"kind":"artifact-update","taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"kind":"data","data":{"n":9007199254740993}}]}}`,
			`{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[{"data":{"n":9007199254740993}}]}}}`,
		},
		{
			"a form is known by its metadata", a2a.V03JSONRPC,
			`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"title":"x"},"metadata":{"mediaType":"application/vnd.agent-taskbay.form+json","k":1}}]}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"title":"x"},"metadata":{"mediaType":"application/vnd.agent-taskbay.form+json","k":1},"mediaType":"application/vnd.agent-taskbay.form+json"}]}}`,
		},
		{
			"files", a2a.V03JSONRPC,
			`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"file","file":{"bytes":"aGk=","mimeType":"text/plain","name":"hi.txt"}},{"kind":"file","file":{"uri":"https://example.com/x","size":3}}]}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"raw":"aGk=","mediaType":"text/plain","filename":"hi.txt"},{"url":"https://example.com/x","file":{"size":3}}]}}`,
		},
		{
			"data that is no object", a2a.V03JSONRPC,
			`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true,"k":1}}]}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":[1,2],"metadata":{"k":1}}]}}`,
		},
		{
			"what is not known stays", a2a.V03JSONRPC,
			`{"kind":"message","messageId":"m","role":"narrator","parts":[{"kind":"surface","surface":1},7],"status":"x"}`,
			`{"message":{"messageId":"m","role":"narrator","parts":[{"kind":"surface","surface":1},7],"status":"x"}}`,
		},
		{
			"an unknown state stays", a2a.V03JSONRPC,
			`{"kind":"task","id":"t","status":{"state":"paused-v2"}}`,
			`{"task":{"id":"t","status":{"state":"paused-v2"}}}`,
		},
		{"no event", a2a.V03JSONRPC, `{"error":"x"}`, `{"error":"x"}`},
		{
			"content of HTTP+JSON", a2a.V03HTTPJSON,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"x"},{"data":{"data":{"title":"x"}},"metadata":{"mediaType":"application/json"}},{"file":{"fileWithBytes":"YUdrPQ==","mimeType":"text/plain","name":"hi.txt"}},{"file":{"fileWithUri":"https://example.com/x"}}]}}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"},{"data":{"title":"x"},"metadata":{"mediaType":"application/json"},"mediaType":"application/json"},{"raw":"aGk=","mediaType":"text/plain","filename":"hi.txt"},{"url":"https://example.com/x"}]}}`,
		},
		{
			"HTTP+JSON as JSON-RPC writes it", a2a.V03HTTPJSON,
			`{"kind":"task","id":"t","status":{"state":"completed","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"data":1}}]}}}`,
			`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"data":1}}]}}}}`,
		},
		{
			"bytes in base64 once", a2a.V03HTTPJSON,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"file":{"fileWithBytes":"/////w=="}}]}}`,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"raw":"/////w=="}]}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.v.Event(raw(tt.in))
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("event mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestV03Message(t *testing.T) {
	t.Parallel()
	message := a2a.Message{
		MessageID: "m", ContextID: "c", TaskID: "t", Role: a2a.RoleUser,
		Parts: []a2a.Part{
			{Text: new("hi"), MediaType: "text/plain"}, {Text: new("# hi"), MediaType: "text/markdown"},
			{Data: raw(`{"n":1.10}`), MediaType: "application/json", Metadata: raw(`{"k":1}`)}, {Data: raw(`[1]`)},
			{Raw: []byte("hi"), MediaType: "text/plain", Filename: "hi.txt"}, {URL: "https://example.com/x"},
		},
		Metadata: raw(`{"k":1.0}`), Extensions: []string{"urn:x"}, ReferenceTaskIDs: []string{"t0"},
	}
	for v, want := range map[a2a.V03]string{
		a2a.V03JSONRPC: `{"kind":"message","messageId":"m","contextId":"c","taskId":"t","role":"user","parts":[` +
			`{"kind":"text","text":"hi"},{"kind":"text","text":"# hi","metadata":{"mediaType":"text/markdown"}},` +
			`{"kind":"data","data":{"n":1.10},"metadata":{"k":1,"mediaType":"application/json"}},{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}},` +
			`{"kind":"file","file":{"bytes":"aGk=","mimeType":"text/plain","name":"hi.txt"}},{"kind":"file","file":{"uri":"https://example.com/x"}}` +
			`],"metadata":{"k":1.0},"extensions":["urn:x"],"referenceTaskIds":["t0"]}`,
		a2a.V03HTTPJSON: `{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_USER","content":[` +
			`{"text":"hi"},{"text":"# hi","metadata":{"mediaType":"text/markdown"}},` +
			`{"data":{"data":{"n":1.10}},"metadata":{"k":1,"mediaType":"application/json"}},{"data":{"data":{"value":[1]}},"metadata":{"data_part_compat":true}},` +
			`{"file":{"fileWithBytes":"YUdrPQ==","mimeType":"text/plain","name":"hi.txt"}},{"file":{"fileWithUri":"https://example.com/x"}}` +
			`],"metadata":{"k":1.0},"extensions":["urn:x"],"referenceTaskIds":["t0"]}`,
	} {
		got, err := v.Message(message)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("message mismatch (-want +got):\n%s", diff)
		}
	}
}

func TestV03MessageThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]a2a.Message{
		"data":     {Parts: []a2a.Part{{Data: raw(`{`)}}},
		"kind":     {Parts: []a2a.Part{{Unknown: raw(`{}`)}}},
		"bytes":    {Parts: []a2a.Part{{Artifact: &a2a.Blob{}}}},
		"content":  {Parts: []a2a.Part{{}}},
		"metadata": {Metadata: raw(`[]`)},
	} {
		if got, err := a2a.V03JSONRPC.Message(m); err == nil {
			t.Errorf("%s: message = %s, want an error", name, got)
		}
	}
}

// FuzzV03Event: whatever an agent says stays JSON, and what is sent to an agent of
// 0.3 reads back as it was.
func FuzzV03Event(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"task","id":"t","status":{"state":"working"}}`, `{"message":{"content":[{"data":{"data":null}}]}}`,
		`{"kind":"message","parts":[{"kind":"file","file":{"bytes":""}},null,[],{"kind":"data"}],"parts":1}`,
		`{"status":{},"kind":"status-update","metadata":{"mediaType":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) || !utf8.Valid(in) || rawjson.Depth(in) > a2a.MaxDepth {
			return
		}
		for _, v := range []a2a.V03{a2a.V03JSONRPC, a2a.V03HTTPJSON} {
			out := v.Event(in)
			if !json.Valid(out) {
				t.Fatalf("Event(%s) = %s, which is not JSON", in, out)
			}
			a2a.DecodeEvent(out)
		}
		message := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{{Data: in}}}
		for _, v := range []a2a.V03{a2a.V03JSONRPC, a2a.V03HTTPJSON} {
			sent, err := v.Message(message)
			if err != nil {
				t.Fatal(err)
			}
			event, _ := a2a.DecodeEvent(v.Event(a2a.Wrap("message", sent)))
			if got := event.Message.Parts[0].Data; string(got) != string(bytes.TrimSpace(in)) {
				t.Errorf("%d: data = %s, want %s", v, got, in)
			}
		}
	})
}
