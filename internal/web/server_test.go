package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestEveryRouteIsSecure has every route, and every address that is none, answer
// with the security headers and without being stored.
func TestEveryRouteIsSecure(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	fill := strings.NewReplacer("{id}", askingTask, "{sha256}", sampleDigest, "{$}", "")
	requests := []string{"GET /nowhere", "PUT /tasks", "GET /static/of-another-build/app.js"}
	for _, r := range c.routes() {
		requests = append(requests, fill.Replace(r.pattern))
	}
	for _, pattern := range requests {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			method, address, _ := strings.Cut(pattern, " ")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasSuffix(address, "events") {
				cancel() // else the stream does not end
			}
			a := c.request(t, httptest.NewRequest(method, address, nil).WithContext(ctx))
			policy := httpguard.ContentSecurityPolicy
			if strings.HasPrefix(address, "/artifacts/") {
				policy = "sandbox; default-src 'none'; frame-ancestors 'none'" // allows still less
			}
			if got := a.header.Get("Content-Security-Policy"); got != policy {
				t.Errorf("Content-Security-Policy = %q", got)
			}
			if got := a.header.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options = %q", got)
			}
			if got := a.header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control = %q", got)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, address := range []string{"/nowhere", "/tasks/nothing", "/agents/nobody", "/tasks/"} {
		a := c.get(t, address).wants(http.StatusNotFound)
		if got := a.text("h1"); got != "Not found" {
			t.Errorf("%s: heading = %q", address, got)
		}
		if !a.has("main a[href=/tasks]") || !a.has("nav .badge") {
			t.Errorf("%s: the page lacks the frame that every page has", address)
		}
	}
	a := c.request(t, jsonRequest(http.MethodGet, "/nowhere")).wants(http.StatusNotFound)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a module gets %q, want a problem document", got)
	}
}

func jsonRequest(method, address string) *http.Request {
	r := httptest.NewRequest(method, address, nil)
	r.Header.Set("Accept", "application/json")
	return r
}

func TestMethodNotAllowed(t *testing.T) {
	t.Parallel()
	a := newConsole(t).request(t, httptest.NewRequest(http.MethodDelete, "/tasks", nil)).wants(http.StatusMethodNotAllowed)
	if got := a.header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow = %q, want GET, HEAD", got)
	}
	if got := a.text("h1"); got != "That does not work here" {
		t.Errorf("heading = %q", got)
	}
}

func TestRefusesOtherSites(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	r := formRequest("/tasks/"+workingTask+"/messages", url.Values{"text": {"Pay me"}})
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	a := c.request(t, r).wants(http.StatusForbidden)
	if got := a.text("h1"); got != "That is not allowed" {
		t.Errorf("heading = %q", got)
	}
	if len(c.sent()) != 0 {
		t.Error("a request of another site sent something")
	}
}

// TestWithoutServices has an error page where even the count for the navigation
// cannot be had.
func TestWithoutServices(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.Tasks = brokenTasks{}
	a := c.get(t, "/agents").wants(http.StatusInternalServerError)
	if got := a.text("main"); !strings.Contains(got, "Something went wrong") || strings.Contains(got, "secret") {
		t.Errorf("the page says %q, want that something went wrong and nothing internal", got)
	}
}

type brokenTasks struct{ Tasks }

func (brokenTasks) Counts(context.Context, access.Principal) (task.Counts, error) {
	panic("a secret of the database")
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.post(t, "/agents", url.Values{"cardUrl": {strings.Repeat("x", maxBody)}}).wants(http.StatusRequestEntityTooLarge)
	r := formRequest("/agents", nil)
	r.Body = http.NoBody
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; =")
	c.request(t, r).wants(http.StatusBadRequest)
}

func TestFormCheck(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	a := c.get(t, "/form-check").wants(http.StatusOK)
	if !a.has("#definition") || !a.has(`nav a[href=/form-check][aria-current=page]`) {
		t.Error("the form check is not in its frame")
	}
	checked := c.post(t, "/form-check", url.Values{"definition": {deployment}}).wants(http.StatusOK)
	if !checked.has("#check-result structured-form") {
		t.Error("a valid definition is not drawn")
	}
}
