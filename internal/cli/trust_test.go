package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

const publicKey = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}` // of RFC 8037, A.2

func TestTrustCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	trust := func(stdin string, args ...string) result {
		t.Helper()
		return taskbay(t, stdin, append(append([]string{"trust"}, args...), "--data-dir", dir)...)
	}
	until := time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	if got := trust("", "list"); got.out != "No key is pinned.\n" {
		t.Errorf("list of none = %+v", got)
	}
	if got := trust(publicKey, "pin", "https://Agents.Example:443/", "-", "--until", until); got.code != 0 || !strings.Contains(got.out, "https://agents.example may be signed with the EdDSA key kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k until "+until) {
		t.Errorf("pin = %+v", got)
	}
	var pins struct{ Items []struct{ ID, Origin string } }
	if s.Call("GET", "/api/v1/pins", nil, &pins); len(pins.Items) != 1 || pins.Items[0].Origin != "https://agents.example" {
		t.Fatalf("the server knows of %+v", pins)
	}
	if got := trust("", "list"); !strings.Contains(got.out, pins.Items[0].ID) {
		t.Errorf("list = %+v", got)
	}
	// An agent at that origin has to be signed now, which the list says.
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":"Ada\n\u001b[31m"}`)
	}))
	t.Cleanup(agent.Close)
	s.Register(agent.URL + "/card.json")
	if got := trust(publicKey, "pin", agent.URL, "-", "--until", until); got.code != 0 {
		t.Errorf("pin = %+v", got)
	}
	if got := trust("", "list"); !strings.Contains(got.out, agent.URL+"/card.json\n  The card of this agent is not signed, and a key is pinned for "+agent.URL) || strings.Contains(got.out, "\x1b") {
		t.Errorf("list = %+v", got)
	}
	if got := trust("", "remove", pins.Items[0].ID); got.code != 0 {
		t.Errorf("remove = %+v", got)
	}
	for name, tc := range map[string]struct {
		stdin string
		args  []string
		want  []string
	}{
		"nothing to remove": {"", []string{"remove", pins.Items[0].ID}, []string{"no such pinned key"}},
		"all wrong":         {"x", []string{"pin", "agents.example", "-", "--until", "2020-01-01"}, []string{"the origin: ", "the key: This is not a key", "--until: Give a day"}},
		"no such file":      {"", []string{"pin", "https://a.example", dir + "/none", "--until", until}, []string{"no such file"}},
	} {
		got := trust(tc.stdin, tc.args...)
		for _, want := range tc.want {
			if got.code == 0 || !strings.Contains(got.err, want) {
				t.Errorf("%s: %+v, want %q", name, got, want)
			}
		}
	}
}
