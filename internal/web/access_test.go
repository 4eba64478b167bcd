package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
)

// TestEveryRouteDeclaresItsNeed fails for a page that nobody may open, and for an
// action that readers may take.
func TestEveryRouteDeclaresItsNeed(t *testing.T) {
	t.Parallel()
	changesNothing := []string{"POST /form-check", "POST /welcome"} // but the browser
	for _, r := range newConsole(t).routes() {
		declared := []access.Need{access.NeedRead, access.NeedOperate, access.NeedAdminister, access.NeedOwn}
		method, _, _ := strings.Cut(r.pattern, " ")
		if method != http.MethodGet && !slices.Contains(changesNothing, r.pattern) {
			declared = declared[1:]
		}
		if signsIn(r.pattern) {
			declared = []access.Need{access.NeedSignIn}
		}
		if !slices.Contains(declared, r.need) {
			t.Errorf("%s declares that it needs %q, want one of %q", r.pattern, r.need, declared)
		}
	}
}

// signsIn reports whether a route is for people who have yet to sign in.
func signsIn(pattern string) bool {
	_, path, _ := strings.Cut(pattern, " ")
	return path == "/signin" || strings.HasPrefix(path, "/auth/")
}

// TestEveryRouteAndRole asks for everything in the route table as everybody.
func TestEveryRouteAndRole(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	door, ways := guardtest.Matrix()
	config := c.Config
	config.Door = door
	pages := New(config)
	fill := strings.NewReplacer("{id}", askingTask, "{sha256}", sampleDigest, "{pin}", "pin", "{$}", "")
	var ended []string // tokens by which streams are let in
	for way := range ways {
		ended = append(ended, way.Token)
	}
	ask := func(pattern, token string) *httptest.ResponseRecorder {
		method, path, _ := strings.Cut(fill.Replace(pattern), " ")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		if strings.HasSuffix(path, "events") && slices.Contains(ended, token) {
			end() // else the stream does not end
		}
		r := httptest.NewRequest(method, guardtest.Origin+path, nil).WithContext(ctx)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		return w
	}
	for _, r := range append(c.routes(), route{"GET /nowhere", access.NeedRead, nil}, route{"DELETE /tasks", access.NeedRead, nil}) {
		for _, token := range []string{"", "unknown"} {
			if w := ask(r.pattern, token); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s with token %q: status = %d, want 401 with a challenge", r.pattern, token, w.Code)
			}
		}
		for way, needs := range ways {
			want := slices.Contains(strings.Fields(needs), string(r.need))
			if got := ask(r.pattern, way.Token).Code; (got != http.StatusForbidden && got != http.StatusUnauthorized) != want {
				t.Errorf("%s as %s by scope %s: status = %d, want let in %t", r.pattern, way.Role, way.Scope, got, want)
			}
		}
	}
}

func TestARefusedPageIsAPage(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	viewer := access.LocalOperator()
	viewer.Role = access.Viewer
	c.actAs(viewer)
	limiter := &guardtest.Limiter{}
	c.Door.Limiter = limiter
	a := c.get(t, "/agents/new").wants(http.StatusForbidden)
	if got := a.text("main"); a.text("h1") != "That is not allowed" || !strings.Contains(got, "Your role does not allow this.") || !a.has("nav .badge") {
		t.Errorf("a page for administrators says %q to a viewer, want that their role does not allow it", got)
	}
	limiter.Answer(20*time.Second, nil)
	a = c.get(t, "/tasks").wants(http.StatusTooManyRequests)
	if got := a.text("main"); a.text("h1") != "Too much at once" || !strings.Contains(got, "20 s") || a.has("live-region") {
		t.Errorf("a request too many is told %q, want when to try again and no stream", got)
	}
	if got := a.header.Get("Retry-After"); got != "20" {
		t.Errorf("Retry-After = %q, want 20", got)
	}
}
