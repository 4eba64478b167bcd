package netpolicy_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
)

func TestTransport(t *testing.T) {
	t.Parallel()
	here := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(here.Close)
	transport := newPolicy(t, netpolicy.Config{AllowLoopback: true, Origins: []string{here.URL}}).Transport()
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	response, err := client.Get(here.URL)
	if err != nil {
		t.Fatalf("GET from an origin that is listed = %v", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("the answer has status %d, want the server's", response.StatusCode)
	}
	for raw, want := range map[string]netpolicy.Rule{
		"http://127.0.0.1:" + policytest.Unvisited(t): netpolicy.NotListed,
		"ftp://127.0.0.1/":                            netpolicy.Scheme,
		"http://u:p@127.0.0.1/":                       netpolicy.Credentials,
	} {
		response, err := client.Get(raw)
		if err == nil {
			_ = response.Body.Close()
		}
		if ruleOf(t, err) != want {
			t.Errorf("GET %s = %v, want it refused by rule %q", raw, err, want)
		}
	}
}
