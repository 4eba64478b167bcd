package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

const (
	idempotencyCanary = "canary-key-of-a-send-41c7"
	unknownToken      = "tbay_canary0000000000000000000000000000000000000000000"
	forgedState       = "canary-state-9f31"
)

// caller is a program with a token.
type caller struct {
	*person
	token string
}

// asks makes a request, and returns all that came back: the headers too.
func (c caller) asks(method, path, body string, headers ...string) string {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.console.Origin+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.Fatal(err)
	}
	var head bytes.Buffer
	if err := answer.Header.Write(&head); err != nil {
		c.Fatal(err)
	}
	return answer.Status + "\n" + head.String() + string(text)
}

// setBeside sets a credential on the machine itself, which may be for an agent there
// without TLS: where people sign in they may not.
func setBeside(t *testing.T, dir, agentID string, c scheme.Credential) {
	t.Helper()
	data := config.Data{DataDir: dir}
	record, err := app.OpenRecord(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = record.Close() }()
	if err := record.UseKeys(data); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Credentials.Set(t.Context(), access.Command("test"), agentID, c); err != nil {
		t.Fatal(err)
	}
}

// TestCanariesOfCallers looks for what people and programs come by, and for what signing
// in passes around: on pages, in answers and problems, on the wire to an agent that
// repeats everything, in metrics, the trail, the log, all files and a backup's manifest.
func TestCanariesOfCallers(t *testing.T) {
	t.Parallel()
	agent, dir, log := parrot(t), t.TempDir(), &logBuffer{}
	c := apptest.StartConsole(t, apptest.Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	c.Member("ada", "Ada", access.Admin)
	ada := newPerson(t, c)
	ada.wants("/tasks", http.StatusOK, "Ada")(ada.signsIn("ada", "/tasks"))
	secrets := passedAround(t, c, ada)
	token := c.ServiceToken("Deployer", access.Admin, access.ScopeAdminister)
	program := caller{newPerson(t, c), token}
	secrets = append(secrets, token, unknownToken, forgedState)

	api, err := client.New(c.Origin, client.Options{Token: token, HTTPClient: program.Client})
	if err != nil {
		t.Fatal(err)
	}
	registered, err := api.RegisterAgent(t.Context(), agent.URL+"/answer/card.json")
	if err != nil {
		t.Fatal(err)
	}
	setBeside(t, dir, registered.ID, scheme.Credential{Kind: scheme.Bearer, Secret: bearerCanary, Origins: []string{agent.URL}})
	sent, err := api.Submit(t.Context(), registered.ID, client.CommandBody{IdempotencyKey: idempotencyCanary, Text: "hello"})
	if err == nil {
		sent, err = api.WaitCommand(t.Context(), sent.ID)
	}
	if err != nil || sent.Status != "succeeded" {
		t.Fatalf("the message is %s: %v", sent.Status, err)
	}

	shown := map[string]string{
		"the same key for something else": program.asks("POST", "/api/v1/agents/"+registered.ID+"/commands", `{"text":"other"}`, "Idempotency-Key", idempotencyCanary),
		"a key that is too long":          program.asks("POST", "/api/v1/agents/"+registered.ID+"/commands", `{"text":"other"}`, "Idempotency-Key", strings.Repeat(idempotencyCanary, 20)),
		"a token in the query":            program.asks("GET", "/api/v1/tasks?access_token="+token, ""),
		"a token in the path":             program.asks("GET", "/api/v1/tasks/"+token, ""),
		"a token in the body":             program.asks("POST", "/api/v1/agents", `{"cardUrl":"`+token+`"}`),
		"a token of nobody":               caller{newPerson(t, c), unknownToken}.asks("GET", "/api/v1/tasks", ""),
		"a session of nobody":             caller{newPerson(t, c), ""}.asks("GET", "/tasks", "", "Authorization", "", "Cookie", "__Host-taskbay="+unknownToken),
	}
	_, _, shown["a state that is forged"] = ada.goes(c.Origin + "/auth/callback?" + url.Values{"state": {forgedState}, "code": {forgedState}}.Encode())
	for _, path := range []string{"/", "/agents", "/tasks", "/agents/" + registered.ID, "/tasks/" + sent.TaskID, "/agents/" + registered.ID + "/wire", "/tasks/" + sent.TaskID + "/wire"} {
		var status int
		if _, status, shown[path] = ada.goes(c.Origin + path); status != http.StatusOK {
			t.Errorf("%s is answered %d", path, status)
		}
	}
	for _, path := range []string{
		"/metrics", "/readyz", "/api/v1/audit", "/api/v1/audit/export?format=csv", "/api/v1/audit/export?format=jsonl", "/api/v1/agents", "/api/v1/credentials",
		"/api/v1/tasks", "/api/v1/tasks/" + sent.TaskID, "/api/v1/tasks/" + sent.TaskID + "/audit", "/api/v1/commands/" + sent.ID, "/api/v1/agents/" + registered.ID + "/exchanges",
	} {
		if shown[path] = program.asks("GET", path, ""); !strings.HasPrefix(shown[path], "200 ") {
			t.Errorf("%s is answered %.300s", path, shown[path])
		}
	}
	var exchanges client.ExchangeList
	c.Eventually("the message on the wire", func() bool {
		exchanges, err = api.AgentExchanges(t.Context(), registered.ID)
		return err == nil && len(exchanges.Items) > 1
	})
	for _, e := range exchanges.Items {
		shown["exchange "+e.Operation] = program.asks("GET", "/api/v1/exchanges/"+e.ID, "")
	}
	for where, text := range shown {
		findCanary(t, where, text, append(secrets, idempotencyCanary, bearerCanary)...)
	}
	c.Stop()
	findCanary(t, "the log", log.text(), append(secrets, idempotencyCanary, bearerCanary)...)
	findInFiles(t, dir, append(secrets, bearerCanary)...) // the record has the key of each send
	manifest, err := app.Backup(t.Context(), app.BackupOptions{By: access.Command("test"), Data: config.Data{DataDir: dir}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	findCanary(t, "the manifest of a backup", string(text), append(secrets, idempotencyCanary, bearerCanary)...)
}

// passedAround returns what signing in made that is nobody else's to know: the client's
// secret, the session's cookie, and the state and code that came back.
func passedAround(t *testing.T, c *apptest.Console, p *person) []string {
	t.Helper()
	secret, err := os.ReadFile(c.Provider.SecretFile)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{strings.TrimSpace(string(secret))}
	origin, err := url.Parse(c.Origin)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range p.Jar.Cookies(origin) {
		if strings.HasPrefix(cookie.Name, "__Host-taskbay") {
			secrets = append(secrets, cookie.Value)
		}
	}
	for _, passed := range p.passed {
		address, err := url.Parse(passed)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"state", "code"} {
			if value := address.Query().Get(name); value != "" {
				secrets = append(secrets, value)
			}
		}
	}
	if len(secrets) != 4 {
		t.Fatalf("%d secrets were passed around, want the client's secret, a session, a state and a code", len(secrets))
	}
	return secrets
}

// findInFiles fails the test if a file of a directory has a canary in it.
func findInFiles(t *testing.T, dir string, canaries ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		findCanary(t, path, string(content), canaries...)
		return err
	})
	if err != nil || files < 2 {
		t.Fatalf("%d files, %v", files, err)
	}
}
