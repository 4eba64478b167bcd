package netpolicy

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestProxyOverTLS is within the package to trust the test's certificate.
func TestProxyOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\ntunnel to "+r.Host)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a handshake fails on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Proxy: at})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DialContext(context.Background(), "tcp", "agent.example:443"); err == nil || !strings.Contains(err.Error(), "reached securely") {
		t.Errorf("DialContext through a proxy with an unknown certificate = %v", err)
	}
	p.proxy.tls.RootCAs = x509.NewCertPool()
	p.proxy.tls.RootCAs.AddCert(server.Certificate())
	conn, err := p.DialContext(context.Background(), "tcp", "agent.example:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "tunnel to agent.example:443" {
		t.Errorf("read %q, %v", got, err)
	}
}
