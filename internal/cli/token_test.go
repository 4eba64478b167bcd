package cli_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

func TestTokenCommands(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		testTokenCommands(t, apptest.Options{DataDir: dir}, "--data-dir", dir)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := postgrestest.URL(t)
		testTokenCommands(t, apptest.Options{DatabaseURL: url}, "--database-url", url)
	})
}

// testTokenCommands makes a token beside a server, and has a live stream of it end when
// it is revoked.
func testTokenCommands(t *testing.T, o apptest.Options, record ...string) {
	s := apptest.Start(t, o)
	token := func(args ...string) result {
		t.Helper()
		return taskbay(t, "", append(append([]string{"token"}, args...), record...)...)
	}
	if got := token("list"); got.out != "There are no tokens.\n" {
		t.Errorf("list of none = %+v", got)
	}
	for _, wrong := range [][]string{
		{"create", "CI"}, {"create", "CI", "--scope", "all"}, {"create", " ", "--scope", "read"},
		{"create", "CI", "--scope", "read", "--days", "0"}, {"create", "CI", "--scope", "read", "--member", "nobody"},
	} {
		if got := token(wrong...); got.code == 0 || got.out != "" {
			t.Errorf("%q = %+v, want that it fails", wrong, got)
		}
	}
	made := token("create", "CI", "--scope", "read", "--days", "2")
	if !regexp.MustCompile(`^tbay_[0-9A-Za-z]{49}\n$`).MatchString(made.out) || strings.Contains(made.err, "tbay_") {
		t.Fatalf("create = %+v, want the token alone on standard output", made)
	}
	bearer := []string{"Authorization", "Bearer " + strings.TrimSpace(made.out)}
	var session struct{ PersonID, Scope, Role, By, Mode string }
	if status := s.Call("GET", "/api/v1/session", nil, &session, bearer...); status != 200 || session.Scope != "read" || session.By != "token" || session.Mode != "local" {
		t.Errorf("the session is %d %+v", status, session)
	}
	if status := s.Call("POST", "/api/v1/agents", map[string]string{}, nil, bearer...); status != http.StatusForbidden {
		t.Errorf("a token to read adds an agent: %d, want 403", status)
	}
	list := token("list")
	id := regexp.MustCompile(`(?m)^([0-9a-f-]{36}) +CI +Local operator +read`).FindStringSubmatch(list.out)
	if id == nil || strings.Contains(list.out, "tbay_") || strings.Contains(list.out, "never") {
		t.Fatalf("list = %+v, want the token, used and without its secret", list)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(bearer[0], bearer[1])
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	if got := token("revoke", id[1]); got.code != 0 || got.out != "The token CI of Local operator works no longer.\n" {
		t.Errorf("revoke = %+v", got)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil { // until its end
		t.Errorf("the stream broke: %v", err)
	}
	if status := s.Call("GET", "/api/v1/session", nil, nil, bearer...); status != http.StatusUnauthorized {
		t.Errorf("the revoked token is answered %d, want 401", status)
	}
	if got := token("revoke", id[1]); got.code == 0 {
		t.Errorf("revoke again = %+v", got)
	}
}
