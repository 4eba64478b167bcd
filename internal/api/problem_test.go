package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// wantProblem checks that an answer is a problem document of this status.
func wantProblem(t *testing.T, response *http.Response, body []byte, status int) api.Problem {
	t.Helper()
	if response.StatusCode != status {
		t.Fatalf("status = %d, want %d; body %s", response.StatusCode, status, body)
	}
	if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %q, want application/problem+json", got)
	}
	var p api.Problem
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		t.Fatalf("no problem document: %v: %s", err, body)
	}
	if p.Type != "about:blank" || p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" {
		t.Errorf("problem = %+v, want type, title, status and detail", p)
	}
	return p
}

func TestUnknownAddresses(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{})
	tests := map[string]struct {
		method, path string
		status       int
		allow        string
	}{
		"no such address":   {"GET", "/api/v1/nothing", http.StatusNotFound, ""},
		"no such version":   {"GET", "/api/v2/agents", http.StatusNotFound, ""},
		"no such method":    {"DELETE", "/api/v1/agents", http.StatusMethodNotAllowed, "GET, HEAD, POST"},
		"only to post":      {"GET", "/api/v1/agents/x/commands", http.StatusMethodNotAllowed, "POST"},
		"only to read":      {"POST", "/api/v1/tasks/x", http.StatusMethodNotAllowed, "GET, HEAD"},
		"the description":   {"POST", "/api/v1/openapi.json", http.StatusMethodNotAllowed, "GET, HEAD"},
		"to trace":          {"TRACE", "/api/v1/agents", http.StatusMethodNotAllowed, "GET, HEAD, POST"},
		"nobody's method":   {"BREW", "/api/v1/tasks/x/events", http.StatusMethodNotAllowed, "GET, HEAD"},
		"above the version": {"POST", "/api", http.StatusNotFound, ""},
		"empty segment":     {"POST", "/api/v1//tasks", http.StatusNotFound, ""},
		"dots for an ID":    {"PUT", "/api/v1/agents/../interface", http.StatusNotFound, ""},
		"nothing to trace":  {"TRACE", "/api/v1/nothing", http.StatusNotFound, ""},
		"unknown resource":  {"GET", "/api/v1/agents/x", http.StatusNotFound, ""},
		"unknown task":      {"GET", "/api/v1/tasks/x", http.StatusNotFound, ""},
		"unknown stream":    {"GET", "/api/v1/tasks/x/events", http.StatusNotFound, ""},
		"unknown command":   {"GET", "/api/v1/commands/x?wait=1", http.StatusNotFound, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, body := call(t, tc.method, base+tc.path, "")
			wantProblem(t, response, body, tc.status)
			if got := response.Header.Get("Allow"); got != tc.allow {
				t.Errorf("Allow = %q, want %q", got, tc.allow)
			}
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{})
	const secret = "hunter2"
	tests := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		location           string
	}{
		"wait too long":        {"GET", "/api/v1/commands/" + commandID + "?wait=61", "", nil, 400, "query.wait"},
		"wait no number":       {"GET", "/api/v1/commands/" + commandID + "?wait=" + secret, "", nil, 400, "query.wait"},
		"page too large":       {"GET", "/api/v1/tasks?limit=101", "", nil, 400, "query.limit"},
		"query too long":       {"GET", "/api/v1/tasks?q=" + strings.Repeat(secret, 100), "", nil, 400, "query.q"},
		"state unknown":        {"GET", "/api/v1/tasks?state=" + secret, "", nil, 400, "query.state"},
		"parameter unknown":    {"GET", "/api/v1/tasks?stat=" + secret, "", nil, 400, "query.stat"},
		"no parameters there":  {"GET", "/api/v1/agents?limit=" + secret, "", nil, 400, "query.limit"},
		"parameter repeated":   {"GET", "/api/v1/tasks?limit=1&limit=2", "", nil, 400, "query.limit"},
		"parameters of no URL": {"GET", "/api/v1/tasks?limit=%zz" + secret, "", nil, 400, "query"},
		"key repeated":         {"POST", "/api/v1/agents/x/commands", `{"text":"x"}`, []string{"Idempotency-Key: " + secret, "Idempotency-Key: b"}, 400, "header.Idempotency-Key"},
		"member repeated":      {"POST", "/api/v1/agents", `{"cardUrl":"http://a.example","cardUrl":"` + secret + `"}`, nil, 400, "/cardUrl"},
		"repeated further in":  {"POST", "/api/v1/agents/x/commands", `{"text":"x","config":{"historyLength":1,"historyLength":2}}`, []string{"Idempotency-Key: k"}, 400, "/config/historyLength"},
		"no body":              {"POST", "/api/v1/agents", "", []string{"Content-Type: application/json"}, 400, ""},
		"no JSON":              {"POST", "/api/v1/agents", `{"cardUrl":` + secret, nil, 400, ""},
		"two values":           {"POST", "/api/v1/agents", `{} {}`, nil, 400, ""},
		"no text":              {"POST", "/api/v1/agents", "{\"cardUrl\":\"\xff" + secret + "\"}", nil, 400, ""},
		"no object":            {"POST", "/api/v1/agents", `"` + secret + `"`, nil, 400, ""},
		"null":                 {"POST", "/api/v1/agents", `null`, nil, 400, ""},
		"no address":           {"POST", "/api/v1/agents", `{}`, nil, 400, "/cardUrl"},
		"address of no text":   {"POST", "/api/v1/agents", `{"cardUrl":["` + secret + `"]}`, nil, 400, "/cardUrl"},
		"member unknown":       {"POST", "/api/v1/agents", `{"url":"` + secret + `"}`, nil, 400, "/url"},
		"member without end":   {"POST", "/api/v1/agents", `{"` + strings.Repeat("x", 200) + `":1}`, nil, 400, "/" + strings.Repeat("x", 100) + "…"},
		"other media type":     {"POST", "/api/v1/agents", `{"cardUrl":"x"}`, []string{"Content-Type: text/" + secret}, 415, ""},
		"no media type":        {"POST", "/api/v1/agents", `{"cardUrl":"x"}`, []string{"Content-Type: "}, 415, ""},
		"over 16 MiB":          {"POST", "/api/v1/agents", strings.Repeat(" ", 16<<20) + "{}", nil, 413, ""},
		"definition missing":   {"POST", "/api/v1/forms/check", `{}`, nil, 400, "/definition"},
		"no form to answer":    {"POST", "/api/v1/forms/answer", `{}`, nil, 400, "/definition"},
		"rejected definition":  {"POST", "/api/v1/forms/answer", `{"definition":{}}`, nil, 422, "/definition/schema"},
		"entries of no object": {"POST", "/api/v1/forms/answer", `{"definition":` + definition + `,"entered":["` + secret + `"]}`, nil, 400, "/entered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, body := call(t, tc.method, base+tc.path, tc.body, tc.headers...)
			p := wantProblem(t, response, body, tc.status)
			if tc.location == "" && len(p.Errors) > 0 || tc.location != "" && (len(p.Errors) != 1 || p.Errors[0].Location != tc.location) {
				t.Errorf("errors = %v, want location %q", p.Errors, tc.location)
			}
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("the problem repeats what was submitted: %s", body)
			}
		})
	}
}

func TestBodyOf16MiB(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{agent: deployer()})
	const body = `{"cardUrl":"http://127.0.0.1:9"}`
	response, got := call(t, "POST", base+"/api/v1/agents", strings.Repeat(" ", 16<<20-len(body))+body)
	wantJSON(t, response, got, http.StatusCreated, deployerJSON)
}

func TestManyFaults(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{})
	for _, body := range []string{
		`{"parts":[` + strings.Repeat(`{"x":1},`, 5000) + `{}]}`,
		`{"text":"a"` + manyMembers(5000) + `}`,
		`{"parts":[` + strings.Repeat(`{},`, 5000) + `{}]}`,
	} {
		response, got := call(t, "POST", base+"/api/v1/agents/"+agentID+"/commands", body, "Idempotency-Key: k")
		if p := wantProblem(t, response, got, http.StatusBadRequest); len(p.Errors) != 20 {
			t.Errorf("%d faults told, want 20", len(p.Errors))
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":1`, i)
	}
	return b.String()
}

func TestServiceFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err    error
		status int
		detail string
		fields []fault.Field
	}{
		"conflict":      {fault.New(fault.Conflict, "Ann has answered."), 409, "Ann has answered.", nil},
		"form":          {fault.WithFields("Some fields need correcting.", []fault.Field{{Location: "replicas", Message: "At most 10"}}), 422, "Some fields need correcting.", []fault.Field{{Location: "replicas", Message: "At most 10"}}},
		"wrapped":       {errors.Join(fault.Wrap(errors.New("dial tcp"), fault.Unavailable, "Try later.")), 503, "Try later.", nil},
		"internal":      {errors.New("secret: SELECT"), 500, "Something went wrong in Taskbay. The log of the server says what.", nil},
		"internal kind": {fault.New(fault.Internal, "secret"), 500, "Something went wrong in Taskbay. The log of the server says what.", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			base := setupLogged(t, &fakes{err: tc.err}, &log)
			response, body := call(t, "POST", base+"/api/v1/agents/"+agentID+"/commands", `{"text":"a"}`, "Idempotency-Key: k")
			p := wantProblem(t, response, body, tc.status)
			if diff := cmp.Diff(api.Problem{Type: "about:blank", Title: http.StatusText(tc.status), Status: tc.status, Detail: tc.detail, Errors: tc.fields}, p); diff != "" {
				t.Errorf("problem mismatch (-want +got):\n%s", diff)
			}
			if logged := strings.Contains(log.String(), "secret"); logged != (tc.status == 500) {
				t.Errorf("log = %q, want what is internal and nothing else", log.String())
			}
		})
	}
}

func TestARequestThatIsGivenUp(t *testing.T) {
	t.Parallel()
	stopping, stop := context.WithCancel(context.Background())
	stop()
	var log bytes.Buffer
	w := httptest.NewRecorder()
	handler(&fakes{err: stopping.Err()}, &log).ServeHTTP(w, httptest.NewRequestWithContext(stopping, http.MethodGet, "http://localhost/api/v1/tasks", nil))
	wantProblem(t, w.Result(), w.Body.Bytes(), http.StatusServiceUnavailable)
	if log.Len() > 0 {
		t.Errorf("log = %q, want nothing", log.String())
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	api.Refuse(w, httptest.NewRequest(http.MethodGet, "/api/v1/agents", nil), fault.New(fault.Forbidden, "Not from there."))
	if p := wantProblem(t, w.Result(), w.Body.Bytes(), http.StatusForbidden); p.Detail != "Not from there." {
		t.Errorf("detail = %q, want the fault's", p.Detail)
	}
}

type database struct{ err error }

func (d database) Ping(context.Context) error { return d.err }

func TestHealth(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	api.Health(database{}, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	wantJSON(t, w.Result(), w.Body.Bytes(), http.StatusOK, `{"status": "ok"}`)

	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodTrace, "BREW"} {
		w = httptest.NewRecorder()
		api.Health(database{}, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(method, "/healthz", nil))
		wantProblem(t, w.Result(), w.Body.Bytes(), http.StatusMethodNotAllowed)
		if got := w.Header().Get("Allow"); got != "GET, HEAD" {
			t.Errorf("%s: Allow = %q, want GET, HEAD", method, got)
		}
	}

	stopping, stop := context.WithCancel(context.Background())
	stop()
	var log bytes.Buffer
	w = httptest.NewRecorder()
	api.Health(database{stopping.Err()}, slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(w, httptest.NewRequestWithContext(stopping, http.MethodGet, "/healthz", nil))
	if w.Code != http.StatusServiceUnavailable || log.Len() > 0 {
		t.Errorf("while stopping: %d, log %q; want 503 and nothing in the log", w.Code, log.String())
	}

	w = httptest.NewRecorder()
	broken := database{errors.New("disk I/O error")}
	api.Health(broken, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if p := wantProblem(t, w.Result(), w.Body.Bytes(), http.StatusServiceUnavailable); strings.Contains(p.Detail, "disk") {
		t.Errorf("detail = %q, want nothing internal", p.Detail)
	}
}
