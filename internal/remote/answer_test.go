package remote_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// oddTask has everything in it that a strict reader stumbles over.
const oddTask = `{"task": {"id":"t-1","contextId":7,"status":{"state":3,"timestamp":"2026-01-02T03:04:05"},"metadata":"m",` +
	`"artifacts":[null,{"parts":[null,{},{"data":null},{"text":"a","data":{"n":9007199254740993}},{"raw":"-_"},{"video":{}}]}],"future":1.10}}`

func TestAnswersThatAreRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, binding, operation string
		status                   int
		contentType, body        string
		want                     string // the payload
	}{
		{"task", remote.JSONRPC, "send", 200, "application/json", rpc(wholeTask), wholeTask},
		{"odd content", remote.JSONRPC, "send", 200, "application/json", rpc(oddTask), oddTask},
		{"odd content over REST", remote.HTTPJSON, "send", 200, "application/json", oddTask, oddTask},
		{"numeric ID", remote.JSONRPC, "send", 200, "application/json", `{"jsonrpc":"2.0","id":1,"result":` + wholeTask + `}`, wholeTask},
		{"no jsonrpc and null error", remote.JSONRPC, "send", 200, "application/json", `{"error":null,"result":` + wholeTask + `}`, wholeTask},
		{"no envelope", remote.JSONRPC, "send", 200, "application/json", wholeTask, wholeTask},
		{"envelope over REST", remote.HTTPJSON, "send", 200, "application/json", rpc(wholeTask), wholeTask},
		{"created", remote.HTTPJSON, "send", 201, "application/json", wholeTask, wholeTask},
		{"accepted", remote.JSONRPC, "send", 202, "application/json", rpc(wholeTask), wholeTask},
		{"type of A2A", remote.HTTPJSON, "send", 200, "application/a2a+json", wholeTask, wholeTask},
		{"no type", remote.JSONRPC, "send", 200, "", rpc(wholeTask), wholeTask},
		{"bare task", remote.JSONRPC, "send", 200, "application/json", rpc(bareTask), wholeTask},
		{"0.3 message", remote.JSONRPC, "send", 200, "application/json", rpc(`{"kind":"message","parts":[]}`), `{"message":{"kind":"message","parts":[]}}`},
		{"byte order mark", remote.JSONRPC, "send", 200, "application/json", "\xEF\xBB\xBF" + rpc(wholeTask), wholeTask},
		{"more behind it", remote.JSONRPC, "send", 200, "application/json", rpc(wholeTask) + "\nbye", wholeTask},
		{"not UTF-8", remote.JSONRPC, "send", 200, "application/json", rpc("{\"message\":{\"parts\":[{\"text\":\"\xff\"}]}}"), "{\"message\":{\"parts\":[{\"text\":\"\uFFFD\"}]}}"},
		{"get", remote.JSONRPC, "get", 200, "application/json", rpc(bareTask), wholeTask},
		{"get over REST", remote.HTTPJSON, "get", 200, "application/a2a+json", bareTask, wholeTask},
		{"get, wrapped", remote.JSONRPC, "get", 200, "application/json", rpc(wholeTask), wholeTask},
		{"cancel", remote.JSONRPC, "cancel", 200, "application/json", rpc(bareTask), wholeTask},
		{"task with a member called error", remote.HTTPJSON, "get", 200, "application/json", `{"id":"t","status":{},"error":{}}`, `{"task":{"id":"t","status":{},"error":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, answers(tt.status, tt.contentType, tt.body))
			got, err := operations[tt.operation](testContext(t), newClient(t, remote.Options{}), target(agent.URL, tt.binding))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want}, payloads(got)); diff != "" {
				t.Errorf("payload mismatch (-want +got):\n%s", diff)
			}
			if string(got[0].Raw) != tt.body {
				t.Errorf("raw = %q, want the body %q", got[0].Raw, tt.body)
			}
		})
	}
}

func TestAnswersThatAreErrors(t *testing.T) {
	t.Parallel()
	const (
		page    = "<!doctype html><title>Sign in</title>"
		aip     = `{"error":{"code":404,"status":"NOT_FOUND","message":"no t-1","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`
		rpcFail = `{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"no t-1","data":%s}}`
	)
	withData := func(data string) string { return strings.Replace(rpcFail, "%s", data, 1) }
	tests := []struct {
		name, binding string
		status        int
		contentType   string
		body          string
		want          remote.Error // its Message is a part of the real one
	}{
		{"data a list", remote.JSONRPC, 200, "application/json", withData(`[{"@type":"x"}]`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "It says: no t-1."}},
		{"data an object", remote.JSONRPC, 200, "application/json", withData(`{"reason":"gone"}`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: `no t-1 {"reason":"gone"}`}},
		{"data a text", remote.JSONRPC, 200, "application/json", withData(`"gone"`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: `no t-1 "gone"`}},
		{"error on 400", remote.JSONRPC, 400, "application/json", withData(`null`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "does not know this task"}},
		{"error on 500 and no type", remote.JSONRPC, 500, "", withData(`null`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "does not know this task"}},
		{"code of its own", remote.JSONRPC, 200, "application/json", `{"error":{"code":-32050,"message":"budget\u202e spent"}}`, remote.Error{Delivery: remote.Answered, Code: "JSON-RPC -32050", Message: "It says: budget spent."}},
		{"error as a result", remote.JSONRPC, 200, "application/json", rpc(`{"error":"task timed out"}`), remote.Error{Delivery: remote.Answered, Code: remote.CodeInternal, Message: "It says: task timed out."}},
		{"version", remote.JSONRPC, 200, "application/json", `{"error":{"code":-32009,"message":""}}`, remote.Error{Delivery: remote.Answered, Code: remote.CodeVersionNotSupported, Message: "does not speak this version"}},
		{"status object", remote.HTTPJSON, 404, "application/json", aip, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "no t-1"}},
		{"status object of the A2A type", remote.HTTPJSON, 404, "application/a2a+json", aip, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "no t-1"}},
		{"problem details", remote.HTTPJSON, 400, "application/problem+json", `{"type":"https://a2a-protocol.org/errors/task-not-cancelable","title":"Too late","detail":"It is done"}`, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotCancelable, Message: "It says: It is done."}},
		{"problem of no known type", remote.HTTPJSON, 400, "application/problem+json", `{"type":"about:blank","title":"Too late"}`, remote.Error{Delivery: remote.Answered, Code: "HTTP 400", Message: "It says: Too late."}},
		{"code and message alone", remote.HTTPJSON, 404, "application/json", `{"code":-32001,"message":"no t-1"}`, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "no t-1"}},
		{"detail of a framework", remote.HTTPJSON, 422, "application/json", `{"detail":[{"loc":["body"],"msg":"bad"}]}`, remote.Error{Delivery: remote.Answered, Code: "HTTP 422", Message: `"msg":"bad"`}},
		{"error a text", remote.HTTPJSON, 400, "application/json", `{"error":"nope"}`, remote.Error{Delivery: remote.Answered, Code: "HTTP 400", Message: "It says: nope."}},
		{"not found page", remote.HTTPJSON, 404, "text/html", page, remote.Error{Delivery: remote.Answered, Code: "HTTP 404", Message: "Nothing answers to this call at POST http"}},
		{"web page", remote.JSONRPC, 200, "text/html; charset=utf-8", page, remote.Error{Delivery: remote.Answered, Code: remote.CodeInvalidResponse, Message: "A web page answers"}},
		{"nothing", remote.JSONRPC, 200, "application/json", "", remote.Error{Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "with nothing"}},
		{"no content", remote.HTTPJSON, 204, "", "", remote.Error{Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "with nothing"}},
		{"JSON that breaks off", remote.JSONRPC, 200, "application/json", `{"jsonrpc":"2.0","result":{"task"`, remote.Error{Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "not JSON"}},
		{"nothing asked for", remote.JSONRPC, 200, "application/json", rpc(`{"hello":"world"}`), remote.Error{Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: `{"hello":"world"}`}},
		{"null result", remote.JSONRPC, 200, "application/json", rpc(`null`), remote.Error{Delivery: remote.Uncertain, Code: remote.CodeInvalidResponse, Message: "does not follow A2A"}},
		{"server error", remote.JSONRPC, 500, "text/plain", "boom", remote.Error{Delivery: remote.Answered, Code: "HTTP 500", Message: "500 Internal Server Error"}},
		{"server error without end", remote.JSONRPC, 500, "application/json", strings.Repeat("x", 30<<20), remote.Error{Delivery: remote.Answered, Code: "HTTP 500", Message: "500 Internal Server Error"}},
		{"too busy", remote.JSONRPC, 429, "text/html", page, remote.Error{Delivery: remote.Answered, Code: "HTTP 429", Message: "too busy"}},
		{"too early", remote.JSONRPC, 425, "text/html", page, remote.Error{Delivery: remote.Answered, Code: "HTTP 425", Message: "does not take this call now"}},
		{"request timeout", remote.HTTPJSON, 408, "text/html", page, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 408", Message: "not known"}},
		{"client closed request", remote.HTTPJSON, 499, "text/html", page, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 499", Message: "not known"}},
		{"unavailable", remote.HTTPJSON, 503, "text/plain", "upstream connect error or disconnect/reset before headers", remote.Error{Delivery: remote.Uncertain, Code: "HTTP 503", Message: "not known"}},
		{"unavailable in JSON", remote.JSONRPC, 503, "application/json", `{"message":"Service Unavailable","code":503}`, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 503", Message: "It says: Service Unavailable."}},
		{"unavailable in problem details", remote.HTTPJSON, 503, "application/problem+json", `{"type":"about:blank","title":"Down"}`, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 503", Message: "It says: Down."}},
		{"the agent's own error on 503", remote.JSONRPC, 503, "application/json", withData(`null`), remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "does not know this task"}},
		{"the agent's own code on 502", remote.JSONRPC, 502, "application/json", `{"jsonrpc":"2.0","id":"1","error":{"code":-32050,"message":"budget spent"}}`, remote.Error{Delivery: remote.Answered, Code: "JSON-RPC -32050", Message: "budget spent"}},
		{"the agent's own reason on 504", remote.HTTPJSON, 504, "application/json", aip, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotFound, Message: "no t-1"}},
		{"the agent's own error on 408", remote.HTTPJSON, 408, "application/problem+json", `{"type":"https://a2a-protocol.org/errors/task-not-cancelable","title":"Too late"}`, remote.Error{Delivery: remote.Answered, Code: remote.CodeTaskNotCancelable, Message: "Too late"}},
		{"content network", remote.JSONRPC, 524, "text/html", page, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 524", Message: "not known"}},
		{"bad gateway", remote.JSONRPC, 502, "text/html", page, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 502", Message: "not known"}},
		{"gateway timeout in JSON", remote.JSONRPC, 504, "application/json", `{"message":"Endpoint request timed out"}`, remote.Error{Delivery: remote.Uncertain, Code: "HTTP 504", Message: "It says: Endpoint request timed out."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, answers(tt.status, tt.contentType, tt.body))
			client := newClient(t, remote.Options{})
			for _, operation := range []string{"send", "stream"} {
				_, err := operations[operation](testContext(t), client, target(agent.URL, tt.binding))
				got := outcome(t, err)
				if got.Delivery != tt.want.Delivery || got.Code != tt.want.Code || !strings.Contains(got.Message, tt.want.Message) {
					t.Errorf("%s: %s %q %q, want %s %q %q", operation, got.Delivery, got.Code, got.Message, tt.want.Delivery, tt.want.Code, tt.want.Message)
				}
			}
			if n := len(agent.requests()); n != 2 {
				t.Errorf("the agent got %d requests, want 2", n)
			}
		})
	}
}

func TestAnswersWithHeadersThatMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		status   int
		header   http.Header
		delivery remote.Delivery
		message  string
		retry    time.Duration
	}{
		{"challenge", 401, http.Header{"Www-Authenticate": {`Bearer realm="a` + "\u202e" + `b"`, "Basic"}}, remote.Answered, `wants a credential (401 Unauthorized). It asks for: Bearer realm="ab", Basic.`, 0},
		{"long challenge", 403, http.Header{"Www-Authenticate": {strings.Repeat("x", 5000)}}, remote.Answered, "It asks for: " + strings.Repeat("x", 300) + "…", 0},
		{"no challenge", 401, nil, remote.Answered, "wants a credential", 0},
		{"busy, in seconds", 429, http.Header{"Retry-After": {"7"}}, remote.Answered, "429 Too Many Requests", 7 * time.Second},
		{"down, for ever", 503, http.Header{"Retry-After": {"999999999"}}, remote.Uncertain, "503 Service Unavailable", 24 * time.Hour},
		{"down, until the past", 503, http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, remote.Uncertain, "503 Service Unavailable", 0},
		{"busy, unreadable", 429, http.Header{"Retry-After": {"soon"}}, remote.Answered, "429 Too Many Requests", 0},
		{"redirect", 302, http.Header{"Location": {"http://169.254.169.254/"}}, remote.Answered, "redirect to http://169.254.169.254/, which is not followed", 0},
		{"redirect of a POST", 307, http.Header{"Location": {"/elsewhere"}}, remote.Answered, "redirect to /elsewhere", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range tt.header {
					w.Header()[name] = values
				}
				w.WriteHeader(tt.status)
			})
			_, err := newClient(t, remote.Options{}).Send(testContext(t), target(agent.URL, remote.JSONRPC), message())
			got := outcome(t, err)
			if got.Delivery != tt.delivery || !strings.Contains(got.Message, tt.message) || got.RetryAfter != tt.retry {
				t.Errorf("outcome = %+v, want %s, %q, retry after %s", got, tt.delivery, tt.message, tt.retry)
			}
			if n := len(agent.requests()); n != 1 {
				t.Errorf("the agent got %d requests, want 1", n)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	other := `{"id":"t-2","status":{"state":1}}`
	tests := []struct {
		name, body, token, next string
		tasks                   []string
	}{
		{"page", `{"tasks":[` + bareTask + `,` + other + `],"nextPageToken":"p2","totalSize":9}`, "", "p2", []string{wholeTask, `{"task":` + other + `}`}},
		{"no paging", `{"tasks":[` + other + `]}`, "", "", []string{`{"task":` + other + `}`}},
		{"repeated token", `{"tasks":[],"nextPageToken":"p1"}`, "p1", "", nil},
		{"nothing", `{}`, "", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, answers(200, "application/json", tt.body))
			page, err := newClient(t, remote.Options{}).List(testContext(t), target(agent.URL, remote.HTTPJSON), remote.ListRequest{ContextID: "c", PageToken: tt.token})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.tasks, payloads(page.Tasks)); diff != "" || page.Next != tt.next {
				t.Errorf("next = %q, want %q; tasks mismatch (-want +got):\n%s", page.Next, tt.next, diff)
			}
		})
	}
}
