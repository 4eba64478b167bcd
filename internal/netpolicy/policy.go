// Package netpolicy decides where this server may connect to: cards, calls,
// streams, OAuth, webhooks, over every transport. It is what keeps an address
// that somebody types, or that an agent's card names, from becoming a way into
// the network that the server runs in.
//
// A URL is judged by CheckURL before it is used, and the address behind it by
// Check at the moment a connection is made to it, so that a name which resolves
// to something else by then gains nothing. DialContext does the latter by itself.
// See docs/network-policy.md.
package netpolicy

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Config is what an administrator decides. The zero value lets connections be
// made to public addresses, directly, by http and https.
type Config struct {
	AllowLoopback bool // this machine's own addresses
	AllowPrivate  bool // private, unique-local and carrier-grade addresses
	RequireHTTPS  bool // refuse http

	// Origins, unless empty, are the only ones that may be reached, such as
	// "https://agents.example.com:8443". They narrow what is allowed and widen
	// nothing: an origin at a private address needs AllowPrivate as well.
	Origins []string

	// RequireOrigins lets nothing be reached before origins are listed.
	RequireOrigins bool

	// Proxy, an http or https URL with a user and password if need be, is asked
	// by CONNECT for every connection. It may have a loopback or private address
	// whatever else is allowed. The environment's proxy is never used.
	Proxy *url.URL

	Resolver *net.Resolver // looks names up; nil is the system's
}

// Policy is a Config at work. It is safe for concurrent use.
type Policy struct {
	allowLoopback bool
	allowPrivate  bool
	requireHTTPS  bool
	anyOrigin     bool
	origins       []origin // those that may be reached, unless any may

	dialer net.Dialer
	proxy  *proxy // nil without one
}

// connectTimeout bounds one connection: to the agent, or to a proxy and through
// it. An earlier deadline of the context goes before it.
const connectTimeout = 10 * time.Second

// shorten bounds what an administrator reads again of what was written.
func shorten(raw string) string {
	if len(raw) > 100 {
		return raw[:100] + "…"
	}
	return raw
}

// New returns the policy of a Config, or an error in words for the
// administrator: an origin or the proxy cannot be read.
func New(c Config) (*Policy, error) {
	p := &Policy{
		allowLoopback: c.AllowLoopback,
		allowPrivate:  c.AllowPrivate,
		requireHTTPS:  c.RequireHTTPS,
		anyOrigin:     len(c.Origins) == 0 && !c.RequireOrigins,
	}
	for _, raw := range c.Origins {
		o, err := parseOrigin(raw)
		if err == nil && p.requireHTTPS && o.scheme != "https" {
			err = badOrigin("HTTPS is required, so that it could never be reached.")
		}
		if err != nil {
			return nil, fault.New(fault.Unprocessable, "%q: %s", shorten(raw), fault.Public(err).Message)
		}
		p.origins = append(p.origins, o)
	}
	p.dialer = guardedDialer(c.Resolver, p.Check)
	if c.Proxy != nil {
		var err error
		if p.proxy, err = newProxy(c.Proxy, c.Resolver); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// guardedDialer returns a dialer that asks check about every address right
// before it connects to it.
func guardedDialer(resolver *net.Resolver, check func(network, address string) error) net.Dialer {
	return net.Dialer{
		Timeout:  connectTimeout,
		Resolver: resolver,
		Control: func(network, address string, _ syscall.RawConn) error {
			return check(network, address)
		},
	}
}

// Check says whether a connection may be made to an address ("tcp4",
// "192.0.2.1:443"), which has to be the one that is really connected to: an IP
// address, not a name. It knows nothing of origins. It is for a net.Dialer's
// Control. Its error is a *Refusal.
func (p *Policy) Check(network, address string) error {
	return checkAddress(network, address, p.allows)
}

// checkAddress judges what a net.Dialer is about to connect to.
func checkAddress(network, address string, allows func(Rule) bool) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return refuse(NotTCP)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Port() == 0 {
		return refuse(BadAddress)
	}
	if rule := classify(at.Addr()); !allows(rule) {
		return refuseAddress(rule, at.Addr())
	}
	return nil
}

// CheckURL says whether a request may be sent to a URL, as far as the URL tells:
// its scheme, its host, its origin. Whether the address that its name stands for
// may be connected to is seen when that is done, see Check. Its error is a
// *Refusal.
func (p *Policy) CheckURL(u *url.URL) error {
	o, refusal := originOf(u)
	if refusal != nil {
		return refusal
	}
	if p.requireHTTPS && o.scheme != "https" {
		return refuse(HTTPSOnly)
	}
	if !p.anyOrigin && !slices.Contains(p.origins, o) {
		return refuseOrigin(o)
	}
	return p.checkHost(o.host)
}

// checkHost judges a host before its name is looked up.
func (p *Policy) checkHost(h host) error {
	if rule := h.rule(); !p.allows(rule) {
		return refuseAddress(rule, h.addr)
	}
	return nil
}

// allows reports whether addresses under this rule may be connected to.
func (p *Policy) allows(rule Rule) bool {
	switch rule {
	case public:
		return true
	case Loopback:
		return p.allowLoopback
	case Private, UniqueLocal, CarrierGrade:
		return p.allowPrivate
	}
	return false
}
