// Package httpguard stands in front of everything that a Taskbay server
// answers: it refuses requests that another site's page makes a browser send,
// and tells the browser how little a response may do.
package httpguard

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// ContentSecurityPolicy goes with every response: nothing but this server's own
// scripts, styles and images, none of it inline, no framing, and no markup that
// a script puts together from text.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Refuse answers a request that is not let through.
type Refuse func(http.ResponseWriter, *http.Request, *fault.Error)

// New returns a handler that passes on to next what may come in, and answers
// the rest with refuse (a fault.Forbidden error):
//
//   - A request whose Host is no name of this machine's loopback interface: a
//     page elsewhere has made its own name point here (DNS rebinding).
//   - A request that changes something and that a browser sends for a page of
//     another origin.
//
// Every response has the security headers, and Cache-Control: no-store unless
// next sets its own.
func New(next http.Handler, refuse Refuse) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if !loopbackHost(r.Host) {
			refuse(w, r, fault.New(fault.Forbidden,
				"This server answers to 127.0.0.1, [::1] and localhost only; open it by one of these."))
			return
		}
		if err := origins.Check(r); err != nil {
			refuse(w, r, fault.Wrap(err, fault.Forbidden, "Another site made the browser send this, so nothing was done."))
			return
		}
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
