package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxHeaderBytes = 64 << 10
	idleTimeout    = 30 * time.Second // of a connection without a call
)

// Network decides what may be reached, and opens every connection. Where its
// errors are a *fault.Error, that is shown to the person who made the call.
type Network interface {
	// CheckURL refuses a URL before anything is done with it.
	CheckURL(u *url.URL) error
	// DialContext connects to "host:port" of network "tcp", and refuses addresses
	// at the moment that it would connect to them.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// anywhere is a Network that refuses nothing.
type anywhere struct{ net.Dialer }

func (*anywhere) CheckURL(*url.URL) error { return nil }

// connect opens a connection within a time.
func connect(ctx context.Context, network Network, address string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return network.DialContext(ctx, "tcp", address)
}

// newTransport returns the way to speak HTTP: by the network alone, no proxy from
// the environment, HTTP/1.1 only, because a connection that is shared cannot tell
// whose bytes were written.
func newTransport(limits Limits, network Network, secure *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig: secure,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := connect(ctx, network, address, limits.Connect)
			if err != nil {
				return nil, err
			}
			return &meteredConn{Conn: conn}, nil
		},
		TLSHandshakeTimeout:    limits.Connect,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true, // what is recorded is what was sent
	}
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// meteredConn counts the bytes that may have left.
type meteredConn struct {
	net.Conn
	written atomic.Int64
}

// Write counts before it writes, so that at no time more has left than was counted.
func (c *meteredConn) Write(b []byte) (int, error) {
	c.written.Add(int64(len(b)))
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n - len(b)))
	return n, err
}

// sending knows whether a request may have left this machine.
type sending struct {
	mu     sync.Mutex
	conn   *meteredConn
	before int64
	left   bool
}

// trace learns which connection carries the request.
func (s *sending) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.settle()
		if s.conn = meteredBelow(info.Conn); s.conn == nil {
			s.left = true // nothing is known about this connection
			return
		}
		s.before = s.conn.written.Load()
	}}
}

// meteredBelow returns the metered connection below TLS.
func meteredBelow(conn net.Conn) *meteredConn {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	metered, _ := conn.(*meteredConn)
	return metered
}

// sent reports whether a byte of the request may have left. It is final once
// net/http has returned an error: by then it has closed the connection and
// stopped writing to it.
func (s *sending) sent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return s.left
}

// mark says that the request may leave from now on.
func (s *sending) mark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
}

func (s *sending) settle() {
	if s.conn != nil && s.conn.written.Load() > s.before {
		s.left = true
	}
}
