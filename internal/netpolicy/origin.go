package netpolicy

import (
	"net"
	"net/url"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// origin is a scheme, host and port in their one spelling.
type origin struct {
	scheme string // "http" or "https"
	host   host
	port   string // never ""
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// String returns the origin as browsers write it, without a default port.
func (o origin) String() string {
	name := o.host.name
	if o.host.addr.Is6() {
		name = "[" + name + "]"
	}
	if o.port == defaultPorts[o.scheme] {
		return o.scheme + "://" + name
	}
	return o.scheme + "://" + name + ":" + o.port
}

// address returns what a dialer takes.
func (o origin) address() string { return net.JoinHostPort(o.host.name, o.port) }

// originOf reads the origin of a URL that a request is sent to. It takes nothing
// of how the URL was made for granted.
func originOf(u *url.URL) (origin, *Refusal) {
	if u == nil || u.Opaque != "" {
		return origin{}, refuse(BadHost)
	}
	scheme := strings.ToLower(u.Scheme)
	if defaultPorts[scheme] == "" {
		return origin{}, refuse(Scheme)
	}
	if u.User != nil {
		return origin{}, refuse(Credentials)
	}
	for _, part := range []string{u.Host, u.Path, u.RawPath, u.RawQuery, u.Fragment} {
		if strings.ContainsFunc(part, isControl) {
			return origin{}, refuse(Characters)
		}
	}
	h, port, rule := splitHostPort(u.Host)
	if rule != public {
		return origin{}, refuse(rule)
	}
	if port == "" {
		port = defaultPorts[scheme]
	}
	return origin{scheme: scheme, host: h, port: port}, nil
}

func isControl(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 }

// Origin returns the origin of an http or https URL, such as
// "https://agents.example.com:8443", in the one spelling by which origins are
// compared: lower case, no default port, no final dot, names in ASCII. Whether
// the policy allows it is another question. Its error is a *Refusal.
func Origin(u *url.URL) (string, error) {
	o, refusal := originOf(u)
	if refusal != nil {
		return "", refusal
	}
	return o.String(), nil
}

// ParseOrigin reads an origin that a person wrote and returns it in the spelling
// of Origin. Its error is a *fault.Error of kind Unprocessable.
func ParseOrigin(raw string) (string, error) {
	o, err := parseOrigin(raw)
	if err != nil {
		return "", err
	}
	return o.String(), nil
}

func parseOrigin(raw string) (origin, error) {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "":
		return origin{}, badOrigin("Write it like https://agents.example.com or https://agents.example.com:8443.")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return origin{}, badOrigin("It ends with the host and port: leave out the path and what follows.")
	}
	o, refusal := originOf(u)
	if refusal != nil {
		return origin{}, badOrigin(words[refusal.Rule])
	}
	return o, nil
}

// badOrigin says why there is no origin, and not of what: it may be an answer, which
// never repeats what was submitted.
func badOrigin(why string) *fault.Error {
	return fault.New(fault.Unprocessable, "This is no origin that can be used. %s", why)
}
