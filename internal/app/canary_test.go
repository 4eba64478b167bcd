package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
)

// The canaries, one of each kind of secret. None may be found anywhere.
const (
	bearerCanary   = "canary-bearer-7f3a/+=91"
	keyCanary      = "canary-key-0c2b91aa"
	userCanary     = "canary-user-77aa01"
	passwordCanary = "canary-pass-\"<&>é"
	clientCanary   = "canary-client-55d0"
	tokenCanary    = "canary-token-e1e2e3"
)

// encodings are the forms in which a secret is looked for.
func encodings(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string has JSON
	var percent, entities, colons strings.Builder
	for _, c := range []byte(secret) {
		_, _ = fmt.Fprintf(&percent, "%%%02x", c)
		_, _ = fmt.Fprintf(&colons, "%02X:", c)
	}
	for _, c := range secret {
		_, _ = fmt.Fprintf(&entities, "&#x%02X;", c)
	}
	coded := base64.StdEncoding.EncodeToString([]byte(secret))
	return []string{
		percent.String(), url.QueryEscape(percent.String()), html.EscapeString(entities.String()), colons.String(),
		coded[:len(coded)/2] + "\r\n" + coded[len(coded)/2:], base64.StdEncoding.EncodeToString([]byte(coded)),
		secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)),
	}
}

// findCanary fails the test if a text has a canary in it, in any encoding.
func findCanary(t *testing.T, where, text string, canaries ...string) {
	t.Helper()
	for _, canary := range canaries {
		for _, form := range encodings(canary) {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s has %s in it: …%q…", where, form, text[max(0, i-60):min(len(text), i+len(form)+20)])
				return
			}
		}
	}
}

// parrot is an agent that repeats everything that it is sent: in its answers, its
// errors, its headers and its card.
func parrot(t *testing.T) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var seen []string
		for name, values := range r.Header {
			for _, value := range values {
				seen = append(seen, name+" "+value)
				for _, word := range strings.Fields(value) {
					seen = append(seen, encodings(word)...)
					if decoded, err := base64.StdEncoding.DecodeString(word); err == nil {
						seen = append(seen, string(decoded))
						_, password, _ := strings.Cut(string(decoded), ":")
						seen = append(seen, encodings(password)...)
					}
				}
			}
		}
		said, _ := json.Marshal(strings.Join(seen, " | "))
		w.Header().Set("X-Seen", url.QueryEscape(strings.Join(seen, " ")))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodGet:
			_, _ = fmt.Fprintf(w, `{"name":"Parrot","description":%s,"supportedInterfaces":[{"url":"%s/%s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
				"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"securityRequirements":[{"schemes":{"t":{}}}]}`, said, server.URL, strings.Trim(r.URL.Path, "/"))
		case strings.Contains(r.URL.Path, "refuse"):
			w.Header().Set("WWW-Authenticate", "Bearer realm="+string(said))
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write(said)
		case strings.Contains(r.URL.Path, "fail"):
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":%s,"data":{"x":%s}}}`, said, said)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"1","result":{"task":{"id":"t-%d","contextId":%s,"status":{"state":"TASK_STATE_COMPLETED",
				"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%s},{"data":{"seen":%s},"mediaType":"application/json"}],"metadata":{"k":%s}}},
				"artifacts":[{"artifactId":"a","name":%s,"parts":[{"text":%s}]}]}}}`, time.Now().UnixNano(), said, said, said, said, said, said)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// tokenEndpoint issues tokens, and repeats the client's secret in what else it says.
func tokenEndpoint(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("grant_type") != "client_credentials" || secret != clientCanary {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":60,"note":%q}`, tokenCanary, secret)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/token"
}

// logBuffer is a log that a test reads.
type logBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *logBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// exchangesOf returns every address that shows what went over the wire to an agent,
// once that is stored.
func exchangesOf(s *apptest.Server, agentID, taskID string) []string {
	var list struct {
		Items []struct{ ID, Operation string }
	}
	s.Eventually("the message on the wire", func() bool {
		s.Call("GET", "/api/v1/tasks/"+taskID+"/exchanges", nil, &list)
		return len(list.Items) > 0
	})
	s.Call("GET", "/api/v1/agents/"+agentID+"/exchanges", nil, &list)
	paths := []string{"/agents/" + agentID + "/wire", "/tasks/" + taskID + "/wire", "/api/v1/agents/" + agentID + "/exchanges"}
	for _, e := range list.Items {
		paths = append(paths, "/agents/"+agentID+"/wire?open="+e.ID, "/api/v1/exchanges/"+e.ID)
	}
	return paths
}

// TestCanaries gives agents that repeat what they are sent a credential of every
// kind, and looks for it on every page, in every answer, the log and all files.
func TestCanaries(t *testing.T) {
	t.Parallel()
	agent, dir, log := parrot(t), t.TempDir(), &logBuffer{}
	s := apptest.Start(t, apptest.Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	all := []string{bearerCanary, keyCanary, userCanary, passwordCanary, clientCanary, tokenCanary}
	credentials := map[string]map[string]any{
		"bearer":  {"kind": "bearer", "secret": bearerCanary},
		"api-key": {"kind": "api-key", "header": "X-Parrot-Key", "secret": keyCanary},
		"basic":   {"kind": "basic", "username": userCanary, "secret": passwordCanary},
		"oauth2":  {"kind": "oauth2", "tokenUrl": tokenEndpoint(t), "clientId": "console", "secret": clientCanary},
	}
	var looked []string
	tasks := map[string]string{} // by agent
	for kind, body := range credentials {
		for _, mood := range []string{"answer", "refuse", "fail"} {
			a := s.Register(agent.URL + "/" + mood + "-" + kind + "/card.json")
			if before := s.Send(a.ID, map[string]any{"text": "hello"}); before.Status != "failed" || !strings.Contains(before.Error, "needs a credential") {
				t.Errorf("%s %s: without a credential the message is %s: %s", kind, mood, before.Status, before.Error)
			}
			body["origins"] = []string{agent.URL}
			if status := s.Call("PUT", "/api/v1/agents/"+a.ID+"/credential", body, nil); status != http.StatusOK {
				t.Fatalf("%s: the credential was set with %d", kind, status)
			}
			s.Call("POST", "/api/v1/agents/"+a.ID+"/discover", nil, nil)
			c := s.Send(a.ID, map[string]any{"text": "hello"})
			if want := map[string]string{"answer": "succeeded", "refuse": "failed", "fail": "failed"}[mood]; c.Status != want {
				t.Errorf("%s %s: the message is %s, want %s: %s", kind, mood, c.Status, want, c.Error)
			}
			looked = append(looked, "/agents/"+a.ID, "/agents/"+a.ID+"/credential", "/tasks/"+c.TaskID, "/api/v1/agents/"+a.ID,
				"/api/v1/agents/"+a.ID+"/credential", "/api/v1/tasks/"+c.TaskID, "/api/v1/commands/"+c.ID)
			tasks[a.ID] = c.TaskID
		}
	}
	for agentID, taskID := range tasks {
		looked = append(looked, exchangesOf(s, agentID, taskID)...)
	}
	redacted := 0
	for _, path := range append(looked, "/agents", "/tasks", "/", "/api/v1/agents", "/api/v1/tasks", "/api/v1/credentials") {
		page := s.Page(path)
		findCanary(t, path, page, all...)
		if strings.Contains(page, "[redacted]") {
			redacted++
		}
	}
	if len(looked) < 12*9 || redacted < 12*5 {
		t.Errorf("%d places were looked at, and something is redacted in %d", len(looked), redacted)
	}
	s.Stop()
	findCanary(t, "the log", log.text(), all...)
	findInFiles(t, dir, all...)
}

// TestSecretInPieces calls an agent that repeats its token as language models speak,
// a few letters an event: put together it is found all the same.
func TestSecretInPieces(t *testing.T) {
	t.Parallel()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"name":"Ada","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, r.Host)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(result string) {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":%s}\n\n", result)
		}
		say(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)
		said := "before " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + " after"
		for i := 0; i < len(said); i += 4 {
			text, _ := json.Marshal(said[i:min(i+4, len(said))])
			say(fmt.Sprintf(`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":%s}]},"append":%t}}`, text, i > 0))
		}
		say(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	}))
	t.Cleanup(agent.Close)
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(agent.URL + "/card.json").ID
	body := map[string]any{"kind": "bearer", "secret": bearerCanary, "origins": []string{agent.URL}}
	if status := s.Call("PUT", "/api/v1/agents/"+id+"/credential", body, nil); status != http.StatusOK {
		t.Fatalf("the credential was set with %d", status)
	}
	task := s.Send(id, map[string]any{"text": "hello"}).TaskID
	for _, path := range []string{"/tasks/" + task, "/api/v1/tasks/" + task} {
		s.Eventually(path+" to have the whole text", func() bool { return strings.Contains(s.Page(path), " after") })
		page := s.Page(path)
		findCanary(t, path, page, bearerCanary)
		if !strings.Contains(page, "before [redacted] after") {
			t.Errorf("%s does not have the text around the secret", path)
		}
	}
}

// TestAgentBehindOAuth calls an agent that takes only tokens of a token endpoint.
func TestAgentBehindOAuth(t *testing.T) {
	t.Parallel()
	agent := newCardServer(t)
	agent.require(func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+tokenCanary })
	s := apptest.Start(t, apptest.Options{})
	id := s.Register(agent.URL + "/card.json").ID
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "failed" || !strings.Contains(c.Error, "wants a credential (401 Unauthorized)") {
		t.Errorf("without a credential the message is %s: %s", c.Status, c.Error)
	}
	s.Eventually("the page to say that the agent refused", func() bool {
		page := s.Page("/agents/" + id)
		return strings.Contains(page, "refused the last call") && strings.Contains(page, "Set a credential")
	})
	set := func(secret string) {
		t.Helper()
		body := map[string]any{"kind": "oauth2", "tokenUrl": tokenEndpoint(t), "clientId": "console", "secret": secret, "origins": []string{agent.URL}}
		if status := s.Call("PUT", "/api/v1/agents/"+id+"/credential", body, nil); status != http.StatusOK {
			t.Fatalf("the credential was set with %d", status)
		}
	}
	set("canary-client-wrong")
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "failed" || !strings.Contains(c.Error, "Taskbay got no access token") {
		t.Errorf("with the wrong secret the message is %s: %s", c.Status, c.Error)
	}
	set(clientCanary)
	if c := s.Send(id, map[string]any{"text": "hello"}); c.Status != "succeeded" {
		t.Errorf("with the credential the message is %s: %s", c.Status, c.Error)
	}
}

// TestAgentBehindClientCertificate calls an agent that takes only callers with a
// certificate, for its card too.
func TestAgentBehindClientCertificate(t *testing.T) {
	t.Parallel()
	authority := certtest.NewAuthority(t)
	var agent *httptest.Server
	agent = authority.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Ada","description":"d","supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, agent.URL)
			return
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello `+r.TLS.PeerCertificates[0].Subject.CommonName+`"}]}}}`)
	}))
	s := apptest.Start(t, apptest.Options{})
	a := s.Register(agent.URL + "/card.json")
	if a.Health.Status != "unreachable" || !strings.Contains(a.Health.Error, "authority that is not trusted here") {
		t.Errorf("without the authority the agent is %s: %s", a.Health.Status, a.Health.Error)
	}
	mine := authority.Client(t, time.Now().Add(time.Hour))
	body := map[string]any{"kind": "mtls", "certificate": mine.Certificate, "secret": mine.Key, "ca": authority.PEM, "origins": []string{agent.URL}}
	if status := s.Call("PUT", "/api/v1/agents/"+a.ID+"/credential", body, nil); status != http.StatusOK {
		t.Fatalf("the credential was set with %d", status)
	}
	if s.Call("POST", "/api/v1/agents/"+a.ID+"/discover", nil, &a); a.Health.Status != "reachable" || a.Name != "Ada" {
		t.Errorf("with the certificate the agent is %+v", a)
	}
	c := s.Send(a.ID, map[string]any{"text": "hello"})
	if page := s.Page("/tasks/" + c.TaskID); c.Status != "succeeded" || !strings.Contains(page, "hello console") {
		t.Errorf("the message is %s: %s", c.Status, c.Error)
	}
}
