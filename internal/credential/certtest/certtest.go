// Package certtest issues certificates for tests, and runs servers that ask for them.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// begin is when every certificate becomes valid.
var begin = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// Authority issues certificates.
type Authority struct {
	PEM         string // its own certificate
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its private key, as PEM.
type Pair struct{ Certificate, Key string }

// NewAuthority returns an authority that nobody else trusts.
func NewAuthority(t *testing.T) Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: begin, NotAfter: time.Now().AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return Authority{PEM: pemOf("CERTIFICATE", der), certificate: parsed, key: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Client issues a client's certificate, for the name "console".
func (a Authority) Client(t *testing.T, until time.Time) Pair {
	t.Helper()
	return a.issue(t, until, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
}

// Server issues a server's certificate, for 127.0.0.1.
func (a Authority) Server(t *testing.T, until time.Time) Pair {
	t.Helper()
	return a.issue(t, until, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	})
}

func (a Authority) issue(t *testing.T, until time.Time, change func(*x509.Certificate)) Pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "console"}, NotBefore: begin, NotAfter: until}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Pair{pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", keyDER)}
}

// ServerTLS returns the configuration of a server that takes only callers with a
// certificate of the authority. Its own certificate is of the same authority.
func (a Authority) ServerTLS(t *testing.T) *tls.Config {
	t.Helper()
	own := a.Server(t, time.Now().AddDate(1, 0, 0))
	identity, err := tls.X509KeyPair([]byte(own.Certificate), []byte(own.Key))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.certificate)
	return &tls.Config{Certificates: []tls.Certificate{identity}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
}

// Serve runs an HTTP server with that configuration until the test ends.
func (a Authority) Serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = a.ServerTLS(t)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}
