package netpolicy_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
)

func addrs(raw ...string) []netip.Addr {
	var list []netip.Addr
	for _, r := range raw {
		list = append(list, netip.MustParseAddr(r))
	}
	return list
}

// TestAnswerChangesBeforeDial: what a name stood for when it was looked at does
// not count, only what is connected to.
func TestAnswerChangesBeforeDial(t *testing.T) {
	t.Parallel()
	names := policytest.NewNames(map[string][][]netip.Addr{"rebinding.example": {addrs("8.8.8.8"), addrs("127.0.0.1")}})
	resolver := names.Resolver()
	p := newPolicy(t, netpolicy.Config{Resolver: resolver})
	port := policytest.Unvisited(t)

	first, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example")
	if err != nil || len(first) != 1 {
		t.Fatalf("first look-up = %v, %v", first, err)
	}
	if err := p.Check("tcp", netip.AddrPortFrom(first[0], 80).String()); err != nil {
		t.Fatalf("Check of the first answer = %v", err)
	}
	conn, err := p.DialContext(t.Context(), "tcp", "rebinding.example:"+port)
	if got := ruleOf(t, err); got != netpolicy.Loopback {
		t.Errorf("DialContext = %v, %v; want it refused as loopback", conn, err)
	}
}

func TestDialContextRefuses(t *testing.T) {
	t.Parallel()
	names := policytest.NewNames(map[string][][]netip.Addr{
		"metadata.example": {addrs("169.254.169.254")},
		"mapped.example":   {addrs("::ffff:127.0.0.1")},
		"mapped6.example":  {addrs("::ffff:169.254.169.254")},
		"nat64.example":    {addrs("64:ff9b::7f00:1")},
		"several.example":  {addrs("127.0.0.1", "10.0.0.1", "0.0.0.0")},
	})
	p := newPolicy(t, netpolicy.Config{Resolver: names.Resolver()})
	port := policytest.Unvisited(t)
	for _, test := range []struct {
		network, host string
		want          netpolicy.Rule
	}{
		{"tcp", "127.0.0.1", netpolicy.Loopback},
		{"tcp4", "127.0.0.1", netpolicy.Loopback},
		{"tcp", "localhost", netpolicy.Loopback},
		{"tcp", "[::ffff:127.0.0.1]", netpolicy.EmbeddedIPv4},
		{"tcp", "0.0.0.0", netpolicy.Unspecified},
		{"tcp", "127.1", netpolicy.NumericHost},
		{"tcp", "2130706433", netpolicy.NumericHost},
		{"tcp", "metadata.example", netpolicy.Metadata},
		{"tcp", "Metadata.Example.", netpolicy.Metadata},
		{"tcp", "several.example", netpolicy.Loopback},
		{"tcp", "mapped.example", netpolicy.Loopback}, // by IPv4, to that very address
		{"tcp", "mapped6.example", netpolicy.Metadata},
		{"tcp", "nat64.example", netpolicy.EmbeddedIPv4},
		{"tcp", "", netpolicy.BadHost},
		{"udp", "8.8.8.8", netpolicy.NotTCP},
		{"unix", "/run/agent.sock", netpolicy.NotTCP},
	} {
		conn, err := p.DialContext(t.Context(), test.network, test.host+":"+port)
		if got := ruleOf(t, err); got != test.want {
			t.Errorf("DialContext(%q, %q) = %v, %v; want rule %q", test.network, test.host, conn, err, test.want)
		}
	}
	if _, err := p.DialContext(t.Context(), "tcp", "8.8.8.8"); ruleOf(t, err) != netpolicy.BadPort {
		t.Errorf("DialContext without a port = %v", err)
	}
}

// TestDialContextTellsNothing: a refusal is the same whether something listens
// there or not.
func TestDialContextTellsNothing(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, netpolicy.Config{})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	_, open := p.DialContext(t.Context(), "tcp", "127.0.0.1:"+policytest.Unvisited(t))
	_, shut := p.DialContext(t.Context(), "tcp", closed.Addr().String())
	if open == nil || shut == nil || open.Error() != shut.Error() {
		t.Errorf("where something listens: %v; where nothing does: %v", open, shut)
	}
}

func TestDialContextConnects(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := policytest.NewNames(map[string][][]netip.Addr{
		"agent.example":  {addrs("127.0.0.1")},
		"second.example": {addrs("169.254.169.254", "127.0.0.1")}, // the first is refused, the second is not
	})
	p := newPolicy(t, netpolicy.Config{
		AllowLoopback: true, Resolver: names.Resolver(),
		Origins: []string{"http://agent.example:" + port, "http://second.example:" + port},
	})
	client := &http.Client{Transport: &http.Transport{DialContext: p.DialContext}}
	t.Cleanup(client.CloseIdleConnections)
	for _, host := range []string{"agent.example", "second.example"} {
		response, err := client.Get("http://" + host + ":" + port)
		if err != nil {
			t.Errorf("GET from %s = %v", host, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != "here" {
			t.Errorf("GET from %s = %q, %v", host, body, err)
		}
		_ = response.Body.Close()
	}
	// The same address by other names is not listed.
	for _, address := range []string{"127.0.0.1:" + port, "agent.example:1", "other.example:" + port} {
		if _, err := p.DialContext(t.Context(), "tcp", address); ruleOf(t, err) != netpolicy.NotListed {
			t.Errorf("DialContext(%q) = %v, want it refused as not listed", address, err)
		}
	}
}

// TestRedirect: even a client that follows redirects gets nowhere by them.
func TestRedirect(t *testing.T) {
	t.Parallel()
	names := policytest.NewNames(map[string][][]netip.Addr{"innocent.example": {addrs("169.254.169.254")}})
	p := newPolicy(t, netpolicy.Config{AllowLoopback: true, Resolver: names.Resolver()})
	client := &http.Client{Transport: &http.Transport{DialContext: p.DialContext}}
	t.Cleanup(client.CloseIdleConnections)
	for to, want := range map[string]netpolicy.Rule{
		"http://169.254.169.254/latest/meta-data/": netpolicy.Metadata,
		"http://[::ffff:169.254.169.254]/":         netpolicy.EmbeddedIPv4,
		"http://innocent.example/":                 netpolicy.Metadata,
		"http://10.0.0.1/":                         netpolicy.Private,
		"http://0x7f000001/":                       netpolicy.NumericHost,
	} {
		server := httptest.NewServer(http.RedirectHandler(to, http.StatusFound))
		t.Cleanup(server.Close)
		response, err := client.Get(server.URL)
		if err == nil {
			_ = response.Body.Close()
		}
		if got := ruleOf(t, err); got != want {
			t.Errorf("redirect to %s: %v, want rule %q", to, err, want)
		}
	}
}
