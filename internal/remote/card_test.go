package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

const card = `{"name":"Deployer","version":1.10,"supportedInterfaces":[]}`

// serveCard serves a card at one path, and 404 elsewhere.
func serveCard(path, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

func TestFetchCardPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ask, at string
		tried         []string
	}{
		{"well-known at the root", "", "/.well-known/agent-card.json", []string{"/.well-known/agent-card.json"}},
		{"well-known below the URL", "/agents/foo/", "/agents/foo/.well-known/agent-card.json", []string{"/agents/foo/.well-known/agent-card.json"}},
		{"well-known at the origin", "/agents/foo", "/.well-known/agent-card.json", []string{"/agents/foo/.well-known/agent-card.json", "/.well-known/agent-card.json"}},
		{
			"old name below the URL", "/a", "/a/.well-known/agent.json",
			[]string{"/a/.well-known/agent-card.json", "/.well-known/agent-card.json", "/a/.well-known/agent.json"},
		},
		{"old name at the root", "/", "/.well-known/agent.json", []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}},
		{
			"the URL itself", "/card", "/card",
			[]string{"/card/.well-known/agent-card.json", "/.well-known/agent-card.json", "/card/.well-known/agent.json", "/.well-known/agent.json", "/card"},
		},
		{"a card's URL", "/x/my-card.json", "/x/my-card.json", []string{"/x/my-card.json"}},
		{"escapes kept", "/a%2Fb/c%20d.JSON", "/a/b/c d.JSON", []string{"/a%2Fb/c%20d.JSON"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, serveCard(tt.at, card))
			got, err := newClient(t, remote.Options{}).FetchCard(testContext(t), "", " "+agent.URL+tt.ask+"\n")
			if err != nil {
				t.Fatal(err)
			}
			var tried []string
			for i, attempt := range got.Attempts {
				tried = append(tried, strings.TrimPrefix(attempt.URL, agent.URL))
				if last := i == len(got.Attempts)-1; last != (attempt.Problem == "") {
					t.Errorf("attempt %d of %d has problem %q", i+1, len(got.Attempts), attempt.Problem)
				}
			}
			if diff := cmp.Diff(tt.tried, tried); diff != "" {
				t.Errorf("attempts mismatch (-want +got):\n%s", diff)
			}
			if string(got.Raw) != card || got.URL != got.Attempts[len(got.Attempts)-1].URL {
				t.Errorf("card = %s from %s", got.Raw, got.URL)
			}
			for _, request := range agent.requests() {
				if request.Header.Get("A2A-Version") != "1.0" || request.Method != "GET" {
					t.Errorf("request = %+v, want a GET with A2A-Version", request)
				}
			}
		})
	}
}

func TestFetchCardProblems(t *testing.T) {
	t.Parallel()
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	}
	tests := []struct {
		name   string
		handle http.HandlerFunc
		code   string
		want   string
	}{
		{"page", answers(200, "text/html", "<html>secret</html>"), remote.CodeInvalidResponse, "A web page is there"},
		{"page of no type", answers(200, "", "\n<p>secret"), remote.CodeInvalidResponse, "A web page is there"},
		{"text", answers(200, "text/plain", "secret"), remote.CodeInvalidResponse, "not JSON"},
		{"nothing", answers(204, "", ""), remote.CodeInvalidResponse, "not JSON"},
		{"list", answers(200, "application/json", `["secret"]`), remote.CodeInvalidResponse, "not an object"},
		{"other JSON", answers(200, "application/json", `{"secret":1}`), remote.CodeInvalidResponse, "nothing of an agent card"},
		{"not found", answers(404, "text/html", "secret"), "HTTP 404", "Nothing is there (404 Not Found)"},
		{"credential", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(401)
		}, "HTTP 401", "It asks for: Bearer."},
		{"broken", answers(500, "text/plain", "secret"), "HTTP 500", "500 Internal Server Error"},
		{"gateway", answers(502, "text/plain", "secret"), "HTTP 502", "502 Bad Gateway"},
		{"redirect", redirect, "HTTP 302", "redirect to http://169.254.169.254/"},
		{"too large", answers(200, "application/json", `{"name":"`+strings.Repeat("x", 3<<20)+`"}`), "", "larger than 2 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, tt.handle)
			got, err := newClient(t, remote.Options{}).FetchCard(testContext(t), "", agent.URL+"/card.json")
			e := outcome(t, err)
			if e.Delivery != remote.Answered || e.Code != tt.code || !strings.Contains(e.Message, tt.want) {
				t.Errorf("outcome = %+v, want answered with %q, %q", e, tt.code, tt.want)
			}
			if strings.Contains(e.Error(), "secret") {
				t.Errorf("outcome tells what is there: %v", e)
			}
			if len(got.Attempts) != 1 || got.Attempts[0].Problem != e.Message || got.Raw != nil {
				t.Errorf("fetch = %+v, want one attempt with that problem", got)
			}
		})
	}
}

func TestFetchCardTellsTheBestReason(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/agent-card.json" {
			w.WriteHeader(401)
			return
		}
		http.NotFound(w, r)
	})
	got, err := newClient(t, remote.Options{}).FetchCard(testContext(t), "", agent.URL+"/a")
	e := outcome(t, err)
	if e.Code != "HTTP 401" || !strings.HasPrefix(e.Message, "No agent card was found at 5 addresses. The agent wants a credential") {
		t.Errorf("outcome = %+v, want the 401", e)
	}
	if len(got.Attempts) != 5 {
		t.Errorf("%d attempts, want 5", len(got.Attempts))
	}
}

func TestFetchCardUnreachableIsAskedOnce(t *testing.T) {
	t.Parallel()
	got, err := newClient(t, remote.Options{}).FetchCard(testContext(t), "", "http://"+closedPort(t)+"/a")
	e := outcome(t, err)
	if e.Delivery != remote.NotSent || !strings.Contains(e.Message, "connection refused") || len(got.Attempts) != 1 {
		t.Errorf("outcome = %+v after %d attempts, want refused after one", e, len(got.Attempts))
	}
}

func TestFetchCardThatNeverComes(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := newClient(t, remote.Options{Limits: remote.Limits{Headers: 50 * time.Millisecond}})
	_, err := client.FetchCard(testContext(t), "", agent.URL)
	if e := outcome(t, err); !errors.Is(e, remote.ErrTimeout) {
		t.Errorf("outcome = %+v, want a timeout", e)
	}
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	if _, err := client.FetchCard(ctx, "", agent.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

func TestFetchCardWithByteOrderMark(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(200, "application/json", "\xEF\xBB\xBF"+card+"\n"))
	got, err := newClient(t, remote.Options{}).FetchCard(testContext(t), "", agent.URL)
	if err != nil || string(got.Raw) != card {
		t.Errorf("card = %q, %v", got.Raw, err)
	}
}

func TestParseCardURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"http://127.0.0.1:4010", "https://example.com/a/card.json", " https://[::1]:8443/x ", "https://münchen.example/a"} {
		if u, err := remote.ParseCardURL(good); err != nil || u.Host == "" {
			t.Errorf("ParseCardURL(%q) = %v, %v, want no error", good, u, err)
		}
	}
	for bad, want := range map[string]string{
		"":                              "Give the address",
		"  ":                            "Give the address",
		"example.com/agent":             "begins with http://",
		"localhost:4010":                "begins with http://",
		"127.0.0.1:4010/card":           "begins with http://",
		"/card.json":                    "begins with http://",
		"ftp://example.com/":            "only",
		"file:///etc/passwd":            "only",
		"http:///card.json":             "names no host",
		"http://:80/":                   "names no host",
		"https://user:pass@example.com": "user name and password",
		"https://example.com/?a=b":      "question mark",
		"https://example.com/?":         "question mark",
		"https://example.com/#top":      "Leave out the #",
		"https://example.com/#":         "Leave out the #",
		"http://exa mple.com/":          "cannot be read",
		"http://example.com:port/":      "cannot be read",
		"http://example.com/%zz":        "cannot be read",
		"http://example.com/" + strings.Repeat("x", 1024): "1,024 characters",
	} {
		_, err := remote.ParseCardURL(bad)
		public := fault.Public(err)
		if public.Kind != fault.Unprocessable || len(public.Fields) != 1 || public.Fields[0].Location != "cardUrl" || !strings.Contains(public.Message, want) {
			t.Errorf("ParseCardURL(%.60q) = %v, want %q", bad, public, want)
		}
		if strings.Contains(fmt.Sprint(public), "pass@") {
			t.Errorf("the error repeats the address: %v", public)
		}
	}
}
