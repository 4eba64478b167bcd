package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
)

// TestRefusedAgent registers an agent where the policy lets nobody go: it says
// which setting would allow that, and nobody has gone.
func TestRefusedAgent(t *testing.T) {
	t.Parallel()
	no := false
	s := apptest.Start(t, apptest.Options{Network: netpolicy.Options{AllowLoopback: &no}})
	a := s.Register("http://127.0.0.1:" + policytest.Unvisited(t) + "/agent")
	if want := "the setting allow-loopback"; a.Health.Status != "unreachable" || !strings.Contains(a.Health.Error, want) {
		t.Errorf("health is %s %q, want unreachable and %q", a.Health.Status, a.Health.Error, want)
	}
}

// TestCardLeadsInside registers an agent that may be reached, whose card says to
// call another place.
func TestCardLeadsInside(t *testing.T) {
	t.Parallel()
	card := ""
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, card) }))
	t.Cleanup(outside.Close)
	card = `{"name":"Mole","supportedInterfaces":[{"url":"http://localhost:` + policytest.Unvisited(t) + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	s := apptest.Start(t, apptest.Options{Network: netpolicy.Options{AllowOrigin: []string{outside.URL}}})
	a := s.Register(outside.URL + "/card.json")
	if a.Name != "Mole" {
		t.Fatalf("registered %+v, want Mole", a)
	}
	c := s.Send(a.ID, map[string]any{"text": "hello"})
	if want := "the setting allow-origin"; c.Status != "failed" || !strings.Contains(c.Error, want) {
		t.Errorf("the message is %s: %q, want failed and %q", c.Status, c.Error, want)
	}
}
