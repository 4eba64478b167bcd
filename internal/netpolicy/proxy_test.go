package netpolicy_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
)

// fakeProxy answers each connection with answer, which is given the request, and
// returns its URL.
func fakeProxy(t *testing.T, answer func(conn net.Conn, r *http.Request)) *url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					answer(conn, request)
				}
			}()
		}
	}()
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// forward makes a proxy connect every tunnel to address.
func forward(t *testing.T, address string) func(net.Conn, *http.Request) {
	return func(conn net.Conn, _ *http.Request) {
		far, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			_, _ = io.Copy(far, conn)
			_ = far.Close()
		}()
		_, _ = io.Copy(conn, far)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "for "+r.Host) }))
	t.Cleanup(server.Close)
	asked := make(chan *http.Request, 1)
	at := fakeProxy(t, func(conn net.Conn, r *http.Request) {
		asked <- r
		forward(t, server.Listener.Addr().String())(conn, r)
	})
	at.User = url.UserPassword("user", "pass:word")
	p := newPolicy(t, netpolicy.Config{Proxy: at, Resolver: policytest.NewNames(nil).Resolver()}) // the proxy looks names up

	client := &http.Client{Transport: &http.Transport{DialContext: p.DialContext}}
	t.Cleanup(client.CloseIdleConnections)
	response, err := client.Get("http://agent.example/card.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "for agent.example" {
		t.Errorf("through the proxy = %q, %v", body, err)
	}
	r := <-asked
	if r.Method != http.MethodConnect || r.Host != "agent.example:80" || r.RequestURI != "agent.example:80" {
		t.Errorf("the proxy was asked for %s %s (Host %s)", r.Method, r.RequestURI, r.Host)
	}
	if got, want := r.Header.Get("Proxy-Authorization"), "Basic dXNlcjpwYXNzOndvcmQ="; got != want {
		t.Errorf("Proxy-Authorization = %q, want %q", got, want)
	}
}

// TestProxyIsNotAskedForWhatIsRefused: the policy that can be applied before a
// look-up is, and the proxy's own address may be reached by way of it only.
func TestProxyIsNotAskedForWhatIsRefused(t *testing.T) {
	t.Parallel()
	at := fakeProxy(t, func(_ net.Conn, r *http.Request) { t.Errorf("the proxy was asked for %s", r.Host) })
	p := newPolicy(t, netpolicy.Config{Proxy: at, Origins: []string{"http://agent.example", "http://10.0.0.1", "http://169.254.169.254", "http://localhost"}})
	for address, want := range map[string]netpolicy.Rule{
		"other.example:80":   netpolicy.NotListed,
		"10.0.0.1:80":        netpolicy.Private,
		"169.254.169.254:80": netpolicy.Metadata,
		"localhost:80":       netpolicy.Loopback,
		"0x7f.1:80":          netpolicy.NumericHost,
		at.Host:              netpolicy.NotListed,
	} {
		if _, err := p.DialContext(t.Context(), "tcp", address); ruleOf(t, err) != want {
			t.Errorf("DialContext(%q) = %v, want rule %q", address, err, want)
		}
	}
	if got := ruleOf(t, p.Check("tcp", at.Host)); got != netpolicy.Loopback {
		t.Errorf("Check of the proxy's address: rule %q", got)
	}
}

func TestProxyAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer, want string
	}{
		"refuses":     {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "status 403"},
		"redirects":   {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "status 302"},
		"no proxy":    {"220 mail.example ESMTP\r\n", "did not answer as a proxy does"},
		"hangs up":    {"", "did not answer as a proxy does"},
		"endless":     {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<17), "did not answer as a proxy does"},
		"many fields": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<15), "did not answer as a proxy does"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPolicy(t, netpolicy.Config{Proxy: fakeProxy(t, func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, test.answer) })})
			_, err := p.DialContext(t.Context(), "tcp", "agent.example:443")
			if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Public(err).Message, test.want) {
				t.Errorf("DialContext = %v, want %q in it", err, test.want)
			}
		})
	}
}

// TestProxyEarlyBytes: nothing is lost of a server that speaks at once.
func TestProxyEarlyBytes(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, netpolicy.Config{Proxy: fakeProxy(t, func(conn net.Conn, _ *http.Request) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nhello ")
		_, _ = io.WriteString(conn, "there")
	})})
	conn, err := p.DialContext(t.Context(), "tcp", "agent.example:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello there" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestProxyIsSilent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	p := newPolicy(t, netpolicy.Config{Proxy: fakeProxy(t, func(conn net.Conn, _ *http.Request) {
		cancel()
		_, _ = conn.Read(make([]byte, 1)) // until the other side hangs up
		close(done)
	})})
	if conn, err := p.DialContext(ctx, "tcp", "agent.example:443"); err == nil {
		t.Errorf("DialContext through a silent proxy = %v", conn)
	}
	<-done
}

func TestProxyCannotBeReached(t *testing.T) {
	t.Parallel()
	names := policytest.NewNames(map[string][][]netip.Addr{"proxy.example": {addrs("169.254.169.254")}})
	p := newPolicy(t, netpolicy.Config{Proxy: &url.URL{Scheme: "http", Host: "proxy.example:3128"}, Resolver: names.Resolver()})
	_, err := p.DialContext(t.Context(), "tcp", "agent.example:443")
	var refusal *netpolicy.Refusal
	if !errors.As(err, &refusal) || refusal.Rule != netpolicy.Metadata || !strings.Contains(err.Error(), "proxy cannot be reached") {
		t.Errorf("DialContext through a proxy at a metadata address = %v", err)
	}
}
