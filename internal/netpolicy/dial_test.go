package netpolicy_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

// answers is a name server in memory. The addresses of a name are those of its
// first element at the first look-up, of the second at the next, and so on; the
// last stays.
type answers struct {
	mu    sync.Mutex
	names map[string][][]netip.Addr
}

func (a *answers) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go a.serve(there)
		return here, nil
	}}
}

// serve answers as over TCP: each message behind its length (RFC 1035, 4.2.2).
func (a *answers) serve(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var message dnsmessage.Message
		if message.Unpack(query) != nil {
			return
		}
		a.answer(&message)
		packed, err := message.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)); err != nil {
			return
		}
	}
}

func (a *answers) answer(message *dnsmessage.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	message.Response, message.Additionals = true, nil
	question := message.Questions[0]
	name := strings.TrimSuffix(question.Name.String(), ".")
	turns, ok := a.names[name]
	if !ok {
		message.RCode = dnsmessage.RCodeNameError
		return
	}
	if question.Type != dnsmessage.TypeA {
		return // a look-up asks for both kinds of address; the names here have one
	}
	for _, addr := range turns[0] {
		message.Answers = append(message.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: addr.As4()},
		})
	}
	if len(turns) > 1 {
		a.names[name] = turns[1:]
	}
}

// unvisited returns the port of a listener on 127.0.0.1 that must not be
// connected to before the test has ended.
func unvisited(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	visited := make(chan bool)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_ = conn.Close()
		}
		visited <- err == nil
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		if <-visited {
			t.Error("a connection was made to what the policy refuses")
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

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
	names := &answers{names: map[string][][]netip.Addr{"rebinding.example": {addrs("8.8.8.8"), addrs("127.0.0.1")}}}
	resolver := names.resolver()
	p := newPolicy(t, netpolicy.Config{Resolver: resolver})
	port := unvisited(t)

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
	names := &answers{names: map[string][][]netip.Addr{
		"metadata.example": {addrs("169.254.169.254")},
		"several.example":  {addrs("127.0.0.1", "10.0.0.1", "0.0.0.0")},
	}}
	p := newPolicy(t, netpolicy.Config{Resolver: names.resolver()})
	port := unvisited(t)
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
	_, open := p.DialContext(t.Context(), "tcp", "127.0.0.1:"+unvisited(t))
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
	names := &answers{names: map[string][][]netip.Addr{
		"agent.example":  {addrs("127.0.0.1")},
		"second.example": {addrs("169.254.169.254", "127.0.0.1")}, // the first is refused, the second is not
	}}
	p := newPolicy(t, netpolicy.Config{
		AllowLoopback: true, Resolver: names.resolver(),
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
	names := &answers{names: map[string][][]netip.Addr{"innocent.example": {addrs("169.254.169.254")}}}
	p := newPolicy(t, netpolicy.Config{AllowLoopback: true, Resolver: names.resolver()})
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
