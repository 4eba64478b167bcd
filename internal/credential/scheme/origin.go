package scheme

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// OriginOf returns the origin of an address in its one spelling: a lower-case
// scheme and host, names beyond ASCII as the DNS has them, no port that the
// scheme has by itself. An address that has no such spelling has no origin: "".
func OriginOf(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	host, ok := canonicalHost(u.Hostname())
	if !ok || (scheme != "https" && scheme != "http") {
		return ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() == "" {
		return scheme + "://" + host
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case err != nil || port == 0:
		return ""
	case scheme == "https" && port == 443, scheme == "http" && port == 80:
		return scheme + "://" + host
	}
	return scheme + "://" + host + ":" + strconv.FormatUint(port, 10)
}

// canonicalHost returns the one spelling of a host, and false if it is none.
func canonicalHost(host string) (string, bool) {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.String(), address.Zone() == ""
	}
	host = strings.ToLower(host)
	if !isASCII(host) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		host = ascii
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false
		}
	}
	return host, len(host) <= 253
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isLoopback reports whether a host is this machine by its name or address alone.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}

// checkSecure says what is wrong with an address that secrets are to be sent
// to; "" if nothing is.
func checkSecure(u *url.URL, local bool) string {
	switch {
	case u.Scheme == "https":
		return ""
	case u.Scheme == "http" && local && isLoopback(u.Hostname()):
		return ""
	case u.Scheme == "http" && local:
		return "Begin it with https://. Only this machine's own addresses, such as http://127.0.0.1, may go without."
	}
	return "Begin it with https://."
}

// parseOrigin reads an origin that a person typed. problem is "" if it is one.
func parseOrigin(raw string, local bool) (origin, problem string) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || u.Opaque != "" {
		return "", "An origin is https:// and a host, such as https://agent.example or https://agent.example:8443."
	}
	if problem := checkSecure(u, local); problem != "" {
		return "", problem
	}
	switch {
	case u.User != nil:
		return "", "Leave out the user name and password."
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", "Leave out what follows the host: an origin is all that is at it."
	case strings.Contains(u.Host, "*"):
		return "", "Name each host: there are no wildcards."
	}
	if origin = OriginOf(u); origin == "" {
		return "", "This host cannot be one."
	}
	return origin, ""
}

// MayHold reports whether a credential may be bound to an origin. local is that
// of Rules.
func MayHold(origin string, local bool) bool {
	_, problem := parseOrigin(origin, local)
	return problem == ""
}
