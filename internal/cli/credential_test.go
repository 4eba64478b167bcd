package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

const canary = "canary-7f3a91c2"

// TestCredentialCommands sets, lists and revokes beside a server that runs, which
// knows of each at once.
func TestCredentialCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir, SampleAgents: true})
	bot := s.SampleAgent(demo.Form)
	origin := strings.TrimSuffix(s.SampleCardURL(demo.Form), "/form/card.json")
	command := func(stdin string, args ...string) result {
		t.Helper()
		got := taskbay(t, stdin, append([]string{"credential"}, append(args, "--data-dir", dir)...)...)
		if strings.Contains(got.out+got.err, canary) {
			t.Errorf("taskbay credential %s shows the secret: %s%s", args, got.out, got.err)
		}
		return got
	}
	if got := command("", "list"); got.code != 0 || got.out != "No agent has a credential.\n" {
		t.Errorf("list of none = %+v", got)
	}
	if got := command(canary+"\n", "set", "deploy BOT", "--kind", "bearer", "--origin", origin); got.code != 0 {
		t.Fatalf("set = %+v", got)
	}
	var state struct {
		Credential struct {
			Kind    string
			Origins []string
		}
	}
	if s.Call("GET", "/api/v1/agents/"+bot.ID+"/credential", nil, &state); state.Credential.Kind != "bearer" || state.Credential.Origins[0] != origin {
		t.Errorf("the server knows of %+v", state)
	}
	if c := s.Send(bot.ID, map[string]any{"text": "deploy"}); c.Status != "succeeded" {
		t.Errorf("a message with the credential is %s: %s", c.Status, c.Error)
	}
	var listed struct {
		Items []struct{ AgentName, Kind, Key, Ended string }
	}
	if got := command("", "list", "--json"); json.Unmarshal([]byte(got.out), &listed) != nil || len(listed.Items) != 1 || !strings.HasPrefix(listed.Items[0].Key, "local-") {
		t.Errorf("list --json = %+v", got)
	}
	if got := command("", "rotate"); got.code != 0 || !strings.Contains(got.out, "0 encrypted with it now, 1 were before") {
		t.Errorf("rotate = %+v", got)
	}
	if got := command("", "revoke", bot.ID); got.code != 0 {
		t.Errorf("revoke = %+v", got)
	}
	if c := s.Send(bot.ID, map[string]any{"text": "deploy"}); c.Status != "failed" || !strings.Contains(c.Error, "(command line) on ") {
		t.Errorf("a message after that is %s: %s", c.Status, c.Error)
	}
	if got := command("", "list"); !strings.Contains(got.out, "revoked") {
		t.Errorf("list after that = %+v", got)
	}
}

// TestUnknownAgent: however many agents there are, a few are named.
func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	command := func() result {
		return taskbay(t, "x", "credential", "revoke", "deploi bot", "--data-dir", dir)
	}
	if got := command(); got.code != 2 || !strings.Contains(got.err, "there is no agent deploi bot, nor any other") {
		t.Errorf("without agents: %+v", got)
	}
	for _, name := range []string{"Anna", "Bert", "Deploy bot", "Destroy bot", strings.Repeat("Zoe", 60), "Carl", "Dora", "Depot"} {
		s.Register(serve(t, `{"name":"`+name+`","description":"d"}`) + "/card.json")
	}
	got := command()
	if !strings.Contains(got.err, "there is no agent deploi bot among the 8; the closest are: Deploy bot, Destroy bot, Depot, ") || strings.Contains(got.err, "Zoe") {
		t.Errorf("with 8 agents: %+v", got)
	}
}

func TestCredentialCommandsThatFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	for range 2 {
		twin := serve(t, `{"name":"Twin","description":"d"}`)
		s.Register(twin + "/card.json")
	}
	one := s.Register(serve(t, `{"name":"One\u001b[31m","description":"d"}`) + "/card.json")
	for name, tc := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"no agent of that name":  {"x", []string{"set", "nobody", "--kind", "bearer", "--origin", "https://a.example"}, 2, "there is no agent nobody; there are: One[U+001B escape][31m, Twin, Twin"},
		"two of that name":       {"x", []string{"revoke", "twin"}, 2, "2 agents are named twin"},
		"none to revoke":         {"", []string{"revoke", one.ID}, 1, "has no credential"},
		"unusable":               {canary + " x", []string{"set", one.ID, "--kind", "bearer", "--origin", "http://a.example"}, 1, "--origin: Begin it with https://"},
		"secret of no use":       {"short", []string{"set", one.ID, "--kind", "bearer", "--origin", "https://a.example"}, 1, "the secret: A token of fewer than 6"},
		"unknown kind":           {"", []string{"set", one.ID, "--kind", "magic", "--origin", "https://a.example"}, 2, "--kind must be one of"},
		"no origin":              {"", []string{"set", one.ID, "--kind", "bearer"}, 2, "--origin"},
		"secret on command line": {"", []string{"set", one.ID, "--kind", "bearer", "--origin", "https://a.example", "--secret", canary}, 2, "unknown flag --secret"},
		"no data":                {"", []string{"list", "--data-dir", filepath.Join(dir, "none")}, 1, "there is no Taskbay in"},
	} {
		args := append([]string{"credential"}, tc.args...)
		if !strings.Contains(strings.Join(args, " "), "--data-dir") {
			args = append(args, "--data-dir", dir)
		}
		got := taskbay(t, tc.stdin, args...)
		if got.code != tc.code || !strings.Contains(got.err, tc.want) || strings.Contains(got.err, canary+" x") {
			t.Errorf("%s: code %d, %q; want %d and %q", name, got.code, got.err, tc.code, tc.want)
		}
	}
}

// TestCredentialCertificate sets a client certificate: the key comes by standard
// input, the rest from files.
func TestCredentialCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir})
	agent := s.Register(serve(t, `{"name":"Ada","description":"d"}`) + "/card.json")
	authority := certtest.NewAuthority(t)
	pair := authority.Client(t, time.Now().Add(time.Hour))
	files := map[string]string{"cert.pem": "\uFEFF" + pair.Certificate, "ca.pem": "\uFEFF" + authority.PEM} // as some editors write them
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := taskbay(t, "\uFEFF"+pair.Key, "credential", "set", agent.ID, "--kind", "mtls", "--origin", "https://agent.example",
		"--certificate", filepath.Join(dir, "cert.pem"), "--ca", filepath.Join(dir, "ca.pem"), "--data-dir", dir)
	if got.code != 0 || !strings.Contains(got.out, "kind mtls") {
		t.Errorf("set = %+v", got)
	}
}

// serve answers every request with a text, until the test ends.
func serve(t *testing.T, text string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	t.Cleanup(server.Close)
	return server.URL
}
