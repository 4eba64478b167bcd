package netpolicy

import (
	"context"
	"errors"
	"net"
	"slices"
)

// DialContext connects to "host:port" as far as the policy allows, through the
// proxy if there is one. It is for the DialContext of an http.Transport (whose
// Proxy has to stay nil) and, with network "tcp", for a gRPC context dialer.
//
// The addresses that a name stands for are judged one by one as they are
// connected to. Through a proxy they are the proxy's to judge; an address given
// as such is judged here all the same. If origins are listed, the host and port
// have to be those of one. What is refused is refused with a *Refusal.
func (p *Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, refuse(NotTCP)
	}
	h, port, rule := splitHostPort(address)
	if rule == public && port == "" {
		rule = BadPort
	}
	if rule != public {
		return nil, refuse(rule)
	}
	if !p.lists(h, port) {
		return nil, refuse(NotListed)
	}
	if err := p.checkHost(h); err != nil {
		return nil, err
	}
	target := net.JoinHostPort(h.name, port)
	if p.proxy != nil {
		return p.proxy.connect(ctx, target)
	}
	conn, err := p.dialer.DialContext(ctx, network, target)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return nil, refusal // without the address that net puts around it
	}
	return conn, err
}

// lists reports whether some origin that may be reached has this host and port.
func (p *Policy) lists(h host, port string) bool {
	return p.anyOrigin || slices.ContainsFunc(p.origins, func(o origin) bool {
		return o.host == h && o.port == port
	})
}
