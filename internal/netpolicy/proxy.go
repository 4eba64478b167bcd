package netpolicy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// maxProxyAnswer bounds the head of a proxy's answer, in bytes.
const maxProxyAnswer = 64 << 10

// proxy opens tunnels (RFC 9110, 9.3.6: CONNECT).
type proxy struct {
	address string      // host:port
	tls     *tls.Config // nil for a proxy that is spoken to in the clear
	auth    string      // value of Proxy-Authorization, "" for none
	dialer  net.Dialer
}

// newProxy reads a proxy's URL.
func newProxy(u *url.URL, resolver *net.Resolver) (*proxy, error) {
	bare := *u
	bare.User = nil
	o, refusal := originOf(&bare)
	if refusal != nil {
		return nil, fault.New(fault.Unprocessable, "The URL of the proxy cannot be used. %s", words[refusal.Rule])
	}
	if rule := o.host.rule(); !allowedForProxy(rule) {
		return nil, fault.New(fault.Unprocessable, "The proxy cannot be at this address. %s", words[rule])
	}
	p := &proxy{address: o.address()}
	p.dialer = guardedDialer(resolver, func(network, address string) error {
		return checkAddress(network, address, allowedForProxy)
	})
	if o.scheme == "https" {
		p.tls = &tls.Config{ServerName: o.host.name, MinVersion: tls.VersionTLS12}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		p.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return p, nil
}

// allowedForProxy is the rule for an address that the administrator has named.
func allowedForProxy(rule Rule) bool {
	switch rule {
	case public, Loopback, Private, UniqueLocal, CarrierGrade:
		return true
	}
	return false
}

// connect returns a connection to target ("host:port") through the proxy.
func (p *proxy) connect(ctx context.Context, target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := p.dialer.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The configured proxy cannot be reached.")
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	tunnel, err := p.open(ctx, conn, target)
	if !stop() && err == nil { // conn has lost its deadline to the context
		err = fault.Wrap(context.Cause(ctx), fault.Unavailable, "The configured proxy did not answer in time.")
	}
	if err != nil {
		_ = conn.Close() // there is nothing to lose in it
		return nil, err
	}
	return tunnel, nil
}

// open asks for a tunnel over a connection to the proxy.
func (p *proxy) open(ctx context.Context, conn net.Conn, target string) (net.Conn, error) {
	if p.tls != nil {
		secure := tls.Client(conn, p.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "The configured proxy cannot be reached securely.")
		}
		conn = secure
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{"User-Agent": nil}}
	if p.auth != "" {
		request.Header.Set("Proxy-Authorization", p.auth)
	}
	if err := request.Write(conn); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The connection to the configured proxy failed.")
	}
	reader := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The configured proxy did not answer as a proxy does.")
	}
	if answer.StatusCode/100 != 2 {
		return nil, fault.New(fault.Unavailable, "The configured proxy opened no connection: it answered with status %d.", answer.StatusCode)
	}
	early, err := reader.Peek(reader.Buffered())
	if err != nil || len(early) == 0 {
		return conn, err
	}
	return &prefixedConn{Conn: conn, reader: io.MultiReader(bytes.NewReader(early), conn)}, nil
}

// prefixedConn is a connection whose first bytes have been read already: those
// of a server that speaks first, as HTTP/2 ones may.
type prefixedConn struct {
	net.Conn
	reader io.Reader
}

// Read returns the first bytes, then those of the connection.
func (c *prefixedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }
