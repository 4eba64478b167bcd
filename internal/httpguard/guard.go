// Package httpguard stands in front of everything that a Taskbay server
// answers: it finds out who makes a request, refuses what they may not do and what
// another site's page makes a browser send, ends what is open once somebody may no
// longer, and tells the browser how little a response may do.
package httpguard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// ContentSecurityPolicy goes with every response: nothing but this server's own
// scripts, styles and images, none of it inline, no framing, and no markup that
// a script puts together from text.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// MaxBody is how many bytes the body of a request may have. One more can be read, by
// which a handler that has more to say about it knows that it is too large.
const MaxBody = 16 << 20

// Refuse answers a request that is not let through.
type Refuse func(http.ResponseWriter, *http.Request, *fault.Error)

// Guard returns a handler that passes on to next what comes by a name of this server,
// and answers the rest with refuse (a fault.Forbidden error): a page elsewhere may have
// made its own name point here (DNS rebinding). The names are those of this machine's
// loopback interface, or the Origin's alone where people sign in.
//
// Every response has the security headers, and Cache-Control: no-store unless next sets
// its own. No more of a body than MaxBody, and one byte, can be read.
func (d *Door) Guard(next http.Handler, refuse Refuse) http.Handler {
	next = Secure(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.ownHost(r.Host) {
			setHeaders(w.Header())
			refuse(w, r, fault.New(fault.Forbidden, "This server answers to %s only; open it by %s.", d.names(), d.oneOf()))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Secure is Guard for what anyone may see, by whatever name they ask for it.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody+1)
		next.ServeHTTP(w, r)
	})
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", ContentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
}

// local reports whether there is no sign-in: whoever reaches this server is the local
// operator.
func (d *Door) local() bool { return d.Origin == "" }

func (d *Door) names() string {
	if d.local() {
		return "127.0.0.1, [::1] and localhost"
	}
	return d.Origin
}

func (d *Door) oneOf() string {
	if d.local() {
		return "one of these"
	}
	return "that address"
}

// ownHost reports whether a Host header names this server.
func (d *Door) ownHost(host string) bool {
	if d.local() {
		return loopbackHost(host)
	}
	own, err := url.Parse(d.Origin)
	if err != nil {
		return false
	}
	usual := ":443"
	if own.Scheme == "http" {
		usual = ":80"
	}
	return strings.TrimSuffix(strings.ToLower(host), usual) == strings.TrimSuffix(strings.ToLower(own.Host), usual)
}

// loopbackHost reports whether host, with or without a port, can only mean this
// machine's loopback interface.
func loopbackHost(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil && ip.IsLoopback()
}
