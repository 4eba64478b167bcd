package remote

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// callsPerConnection is how many calls share a connection at most: fewer than the
// usual limits of servers, behind which a call would have to wait for others to end.
const callsPerConnection = 32

// grpcConns are the gRPC connections of a client. One is used by one agent only,
// and kept for a while after its last call.
type grpcConns struct {
	limits  Limits
	network Network
	tls     *tls.Config
	agent   string // the User-Agent

	mu   sync.Mutex
	open map[grpcKey][]*grpcConn
}

// grpcKey says which calls may share a connection.
type grpcKey struct {
	agentID string
	address string
	secure  bool

	certificate string // names the client certificate that it is made with; "" for none
}

// grpcConn is one connection, or the attempt to get one.
type grpcConn struct {
	*grpc.ClientConn
	key     grpcKey
	tls     *tls.Config
	problem atomic.Pointer[error] // why the last attempt to connect failed

	calls  int         // guarded by grpcConns.mu, as what follows
	broken bool        // not to be used again
	idle   *time.Timer // closes it; nil while there are calls
}

// take returns a connection for one call. It must be given back. certified has the
// client certificate that the key names, or is nil.
func (p *grpcConns) take(key grpcKey, certified *tls.Config) (*grpcConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open[key] {
		if c.calls < callsPerConnection && (c.idle == nil || c.idle.Stop()) {
			c.idle = nil
			c.calls++
			return c, nil
		}
	}
	c := &grpcConn{key: key, tls: p.tls, calls: 1}
	if certified != nil {
		c.tls = clientTLS(certified, p.tls)
	}
	conn, err := grpc.NewClient("passthrough:///"+key.address, p.options(c)...)
	if err != nil {
		return nil, err
	}
	c.ClientConn = conn
	if p.open == nil {
		p.open = map[grpcKey][]*grpcConn{}
	}
	p.open[key] = append(p.open[key], c)
	return c, nil
}

// give gives a connection back. One that did not come about is not used again, so
// that the next call tries anew at once instead of after gRPC's waiting time.
func (p *grpcConns) give(c *grpcConn, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.calls--
	c.broken = c.broken || broken
	switch {
	case c.broken:
		p.forget(c)
		if c.calls == 0 {
			_ = c.Close()
		}
	case c.calls == 0:
		c.idle = time.AfterFunc(idleTimeout, func() { p.closeIdle(c) })
	}
}

// closeIdle closes a connection, unless it was taken again.
func (p *grpcConns) closeIdle(c *grpcConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.calls == 0 {
		p.forget(c)
		_ = c.Close()
	}
}

// closeAllIdle closes every connection that no call uses.
func (p *grpcConns) closeAllIdle() {
	p.mu.Lock()
	var idle []*grpcConn
	for _, conns := range p.open {
		for _, c := range conns {
			if c.calls == 0 {
				idle = append(idle, c)
			}
		}
	}
	p.mu.Unlock()
	for _, c := range idle {
		p.closeIdle(c)
	}
}

// forget takes a connection out of those that are used again. The lock is held.
func (p *grpcConns) forget(c *grpcConn) {
	rest := p.open[c.key][:0:0]
	for _, other := range p.open[c.key] {
		if other != c {
			rest = append(rest, other)
		}
	}
	if p.open[c.key] = rest; len(rest) == 0 {
		delete(p.open, c.key)
	}
}

// options are how a connection is made. No proxy and no name resolution but those
// of the network, no configuration from outside and no repetition of calls.
// The connection is not kept alive with pings, which servers count against a
// client: a dead one is found by the times that calls may take.
func (p *grpcConns) options(c *grpcConn) []grpc.DialOption {
	security := credentials.TransportCredentials(insecure.NewCredentials())
	if c.key.secure {
		security = &watchedTLS{TransportCredentials: credentials.NewTLS(c.tls), config: c.tls, limit: p.limits.Connect, conn: c}
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := connect(ctx, p.network, address, p.limits.Connect)
			c.noteProblem(err)
			return conn, err
		}),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableHealthCheck(),
		grpc.WithDisableRetry(),
		grpc.WithUserAgent(p.agent),
		grpc.WithStatsHandler(trailerWatch{}),
		grpc.WithMaxHeaderListSize(maxHeaderBytes),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * p.limits.Connect}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(int(p.limits.Response)),
			// gRPC repeats a call by itself if the server claims that it did not
			// look at it. Without room to keep the request it cannot.
			grpc.MaxRetryRPCBufferSize(0),
		),
	}
}

// noteProblem keeps why a connection did not come about, which gRPC tells as text only.
func (c *grpcConn) noteProblem(err error) {
	if err != nil {
		c.problem.Store(&err)
		return
	}
	c.problem.Store(nil)
}

// watchedTLS is TLS within a time that keeps why it did not come about.
type watchedTLS struct {
	credentials.TransportCredentials
	config *tls.Config
	limit  time.Duration
	conn   *grpcConn
}

// ClientHandshake implements credentials.TransportCredentials.
func (w *watchedTLS) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	config := w.config.Clone()
	config.NextProtos = []string{"h2"}
	config.ServerName = authority
	if host, _, err := net.SplitHostPort(authority); err == nil {
		config.ServerName = host
	}
	conn := tls.Client(raw, config)
	err := conn.HandshakeContext(ctx)
	state := conn.ConnectionState()
	if err == nil && state.NegotiatedProtocol == "" {
		err = errNoHTTP2
	}
	w.conn.noteProblem(err)
	if err != nil {
		return nil, nil, err
	}
	return conn, credentials.TLSInfo{
		State:          state,
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}, nil
}

// Clone implements credentials.TransportCredentials.
func (w *watchedTLS) Clone() credentials.TransportCredentials {
	clone := *w
	clone.TransportCredentials = w.TransportCredentials.Clone()
	return &clone
}
