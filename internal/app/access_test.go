package app_test

import (
	"net/http"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestLimitsAreShared has two processes answer one person, who has one allowance.
func TestLimitsAreShared(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	options := apptest.Options{DatabaseURL: url, Change: func(c *config.Config) {
		c.Limits = access.Unlimited()
		c.Limits.Administrative = 20
	}}
	servers := []*apptest.Server{apptest.Start(t, options), apptest.Start(t, options)}
	const most = 2 * 20 // if a minute begins in between
	let := 0
	for i := 0; ; i++ {
		switch status := servers[i%2].Call("GET", "/api/v1/retention", nil, nil); status {
		case http.StatusOK:
			let++
		case http.StatusTooManyRequests:
			if other := servers[(i+1)%2].Call("GET", "/api/v1/tasks", nil, nil); other != http.StatusOK {
				t.Errorf("reading is answered %d as well", other)
			}
			if let > most || let < 20-2 { // each process may leave a block unused
				t.Errorf("%d requests were answered, want 20 in a minute", let)
			}
			return
		default:
			t.Fatalf("answered %d", status)
		}
		if let > most {
			t.Fatalf("%d requests were answered, want 20 in a minute", let)
		}
	}
}

// TestTokensOfTheAPI makes tokens, lists and revokes them.
func TestTokensOfTheAPI(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{})
	var made struct{ ID, Secret, Scope string }
	if status := s.Call("POST", "/api/v1/tokens", map[string]string{"name": "CI", "scope": "operate"}, &made); status != http.StatusCreated || made.Secret == "" {
		t.Fatalf("making a token is answered %d %+v", status, made)
	}
	bearer := []string{"Authorization", "Bearer " + made.Secret}
	for path, want := range map[string]int{"/api/v1/session": 200, "/api/v1/tokens": 200, "/api/v1/tokens?all=true": 403, "/api/v1/retention": 403, "/api/v1/sessions": 200} {
		if status := s.Call("GET", path, nil, nil, bearer...); status != want {
			t.Errorf("GET %s by a token to operate is answered %d, want %d", path, status, want)
		}
	}
	if status := s.Call("POST", "/api/v1/tokens", map[string]string{"name": "CI", "scope": "read"}, nil, bearer...); status != http.StatusForbidden {
		t.Errorf("a token to operate makes another: %d, want 403", status)
	}
	var wrong struct{ Errors []struct{ Location string } }
	if status := s.Call("POST", "/api/v1/tokens", map[string]string{"name": "", "scope": "all", "expiresAt": "2001-01-01T00:00:00Z"}, &wrong); status != 422 || len(wrong.Errors) != 3 || wrong.Errors[0].Location != "/name" {
		t.Errorf("a token that cannot be is answered %d %+v, want a fault for each input", status, wrong)
	}
	if status := s.Call("DELETE", "/api/v1/tokens/"+made.ID, nil, nil); status != http.StatusOK {
		t.Errorf("revoking is answered %d", status)
	}
	if status := s.Call("GET", "/api/v1/session", nil, nil, bearer...); status != http.StatusUnauthorized {
		t.Errorf("a revoked token is answered %d, want 401", status)
	}
	if status := s.Call("DELETE", "/api/v1/sessions", nil, nil); status != http.StatusOK {
		t.Errorf("signing out elsewhere is answered %d", status)
	}
}
