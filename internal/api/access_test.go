package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/live"
)

// TestEveryOperationDeclaresItsNeed fails for an operation that nobody may make, and
// for one that changes something and that readers may make.
func TestEveryOperationDeclaresItsNeed(t *testing.T) {
	t.Parallel()
	changesNothing := []string{"POST /api/v1/forms/check", "POST /api/v1/forms/answer"}
	s := &server{Config: Config{Door: guardtest.Local(), Log: slog.New(slog.DiscardHandler)}}
	table := newTable()
	document := s.describe(table.mux)
	table.declare(document)
	if len(table.needs) < 30 {
		t.Fatalf("the table has %d operations", len(table.needs))
	}
	for pattern, need := range table.needs {
		declared := []access.Need{access.NeedRead, access.NeedOperate, access.NeedAdminister, access.NeedOwn}
		if !strings.HasPrefix(pattern, "GET ") && !slices.Contains(changesNothing, pattern) {
			declared = declared[1:]
		}
		if !slices.Contains(declared, need) {
			t.Errorf("%s declares that it needs %q, want one of %q", pattern, need, declared)
		}
	}
}

// TestAnOperationWithoutANeedIsClosed has an operation that somebody forgot about.
func TestAnOperationWithoutANeedIsClosed(t *testing.T) {
	t.Parallel()
	table := newTable()
	table.mux.HandleFunc("GET /api/v1/forgotten", func(http.ResponseWriter, *http.Request) { t.Error("it was made") })
	table.mux.HandleFunc("GET /api/v1/undeclared", func(http.ResponseWriter, *http.Request) { t.Error("it was made") })
	table.declare(&huma.OpenAPI{Paths: map[string]*huma.PathItem{"/forgotten": {Get: &huma.Operation{Method: http.MethodGet}}}})
	for _, path := range []string{"/api/v1/forgotten", "/api/v1/undeclared"} {
		w := httptest.NewRecorder()
		table.admit(guardtest.Local()).ServeHTTP(w, localRequest(http.MethodGet, path))
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: status = %d, want 403", path, w.Code)
		}
	}
}

// TestEveryOperationAndRole asks for everything in the table as everybody. Nothing is
// behind the operations: one that was let in fails.
func TestEveryOperationAndRole(t *testing.T) {
	t.Parallel()
	door, ways := guardtest.Matrix()
	s := &server{Config: Config{Door: door, Log: slog.New(slog.DiscardHandler), Live: &live.Hub{}}, tick: everyKeepAlive}
	table := s.table()
	handler := s.handler()
	ask := func(pattern, token string) (w *httptest.ResponseRecorder) {
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			method, path = http.MethodPatch, pattern
		}
		ended, end := context.WithCancel(t.Context())
		end() // else streams would not end
		r := httptest.NewRequest(method, guardtest.Origin+strings.NewReplacer("{", "", "}", "").Replace(path), nil).WithContext(ended)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w = httptest.NewRecorder()
		defer func() {
			if recover() != nil { // there is no service
				w.Code = http.StatusInternalServerError
			}
		}()
		handler.ServeHTTP(w, r)
		return w
	}
	for pattern, need := range table.needs {
		for _, token := range []string{"", "unknown"} {
			w, mediaType := ask(pattern, token), problemMediaType
			if strings.Contains(pattern, "/ag-ui") {
				mediaType = "application/json" // these clients read no other
			}
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != mediaType {
				t.Errorf("%s with token %q: status = %d, want %s with 401 and a challenge", pattern, token, w.Code, mediaType)
			}
		}
		for way, lets := range ways {
			want := slices.Contains(strings.Fields(lets), string(need))
			if got := ask(pattern, way.Token).Code; (got != http.StatusForbidden && got != http.StatusUnauthorized) != want {
				t.Errorf("%s as %s by scope %s: status = %d, want let in %t", pattern, way.Role, way.Scope, got, want)
			}
		}
	}
}
