package reported

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func cardCases() map[string]reportedCase {
	return map[string]reportedCase{
		"card-old-path":            {ways: one(), play: oldPath},
		"card-base-path":           {ways: one(), play: basePath},
		"card-full-url":            {ways: one(), play: fullURL},
		"card-legacy-only":         {ways: []agenttest.Way{legacyRPC}, play: additionalInterfaceOnly},
		"card-order":               {ways: current(), play: firstOfTwo, open: "another interface cannot be picked by hand"},
		"card-auth-required-field": {ways: all(), play: missingMembers},
		"ssrf-card":                {ways: one(), play: cardLeadsInside},
		"ssrf-card-url":            {ways: current(), play: interfaceInside},
	}
}

func serve(t testing.TB, handle http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

func get(t testing.TB, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// foundAt serves a card at one path alone, and registers the agent by another.
func foundAt(s scene, path, registered string) {
	s.Helper()
	fake := agenttest.Play(s, s.way, true, script{"SendStreamingMessage": events(taskCompleted)}.say)
	at := serve(s, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, fake.Card(true))
	})
	agent := s.product.Register(at + registered)
	if agent.Health.Status != "reachable" {
		s.Fatalf("the agent is %s: %s", agent.Health.Status, agent.Health.Error)
	}
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
}

func oldPath(s scene) { foundAt(s, "/.well-known/agent.json", "/") }

func basePath(s scene) { foundAt(s, "/agents/foo/.well-known/agent-card.json", "/agents/foo") }

func fullURL(s scene) { foundAt(s, "/cards/foo.json", "/cards/foo.json") }

// register registers an agent by a card.
func (s scene) register(card string) apptest.Agent {
	s.Helper()
	return s.product.Register(serve(s, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, card) }) + "/" + uuid.NewString() + ".json")
}

// additionalInterfaceOnly is a 0.3 card that offers JSON-RPC beside a binding that
// nobody speaks there, at the same address.
func additionalInterfaceOnly(s scene) {
	fake := agenttest.Play(s, s.way, true, script{"SendStreamingMessage": events(taskCompleted)}.say)
	card := strings.Replace(fake.Card(true), `"preferredTransport":"JSONRPC"`,
		fmt.Sprintf(`"preferredTransport":"GRPC","additionalInterfaces":[{"url":%q,"transport":"JSONRPC"}]`, fake.Interface.URL), 1)
	s.product.TaskIn(s.start(s.register(card)), "TASK_STATE_COMPLETED")
}

// firstOfTwo has two interfaces alike, the second of which is dead.
func firstOfTwo(s scene) {
	fake := agenttest.Play(s, s.way, true, script{"SendStreamingMessage": events(taskCompleted)}.say)
	dead := fmt.Sprintf(`,{"url":"http://127.0.0.1:%s","protocolBinding":%q,"protocolVersion":"1.0"}]`, policytest.Unvisited(s.T), s.way.Binding)
	s.product.TaskIn(s.start(s.register(strings.Replace(fake.Card(true), "]", dead, 1))), "TASK_STATE_COMPLETED")
}

// missingMembers is a card with nothing in it but where the agent is.
func missingMembers(s scene) {
	fake := agenttest.Play(s, s.way, false, script{"SendMessage": events(taskCompleted)}.say)
	card, _, _ := strings.Cut(fake.Card(false), `,"name"`)
	agent := s.register(card + `,"capabilities":null}`)
	s.product.TaskIn(s.start(agent), "TASK_STATE_COMPLETED")
	if page := get(s, s.product.URL()+"/agents/"+agent.ID); strings.Count(page, "is missing") < 4 {
		s.Error("the page of the agent does not say what is missing")
	}
}

// cardLeadsInside is a card that is somewhere inside: by a redirect, and by an
// address. What is there is not repeated.
func cardLeadsInside(s scene) {
	inside := "http://127.0.0.1:" + policytest.Unvisited(s.T) + "/"
	redirects := serve(s, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside, http.StatusFound) })
	agent := s.product.Register(redirects + "/" + uuid.NewString() + ".json")
	if agent.Health.Status != "unreachable" || !strings.Contains(agent.Health.Error, "not followed") {
		s.Errorf("health is %+v, want that redirects are not followed", agent.Health)
	}
	secret := serve(s, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "root:x:0:0") })
	agent = s.product.Register(secret + "/" + uuid.NewString() + ".json")
	if agent.Health.Status != "unreachable" || strings.Contains(agent.Health.Error, "root:x") {
		s.Errorf("health is %+v, want it to say nothing of what is there", agent.Health)
	}
	no := false
	s.product = apptest.Start(s, apptest.Options{Network: netpolicy.Options{AllowLoopback: &no}})
	for _, address := range []string{inside, "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]/", "http://localhost/"} {
		if agent := s.product.Register(address); !strings.Contains(agent.Health.Error, "network policy") {
			s.Errorf("%s: health is %+v, want it refused by the network policy", address, agent.Health)
		}
	}
}

// interfaceInside is a card that may be read, and whose interface is another place.
func interfaceInside(s scene) {
	card := ""
	at := serve(s, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, card) })
	card = fmt.Sprintf(`{"name":"Mole","capabilities":{},"supportedInterfaces":[{"url":"http://127.0.0.1:%s/","protocolBinding":%q,"protocolVersion":"1.0"}]}`,
		policytest.Unvisited(s.T), s.way.Binding)
	s.product = apptest.Start(s, apptest.Options{Network: netpolicy.Options{AllowOrigin: []string{at}}})
	agent := s.product.Register(at + "/card.json")
	c := s.product.Send(agent.ID, map[string]any{"text": "go"})
	if c.Status != "failed" || !strings.Contains(c.Error, "network policy") {
		s.Errorf("the message is %s: %q, want it refused by the network policy", c.Status, c.Error)
	}
}
