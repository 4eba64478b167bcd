package netpolicy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxHost  = 253 // octets of a DNS name
	maxLabel = 63
)

// host is a host in its one spelling: a lower-case ASCII name without a final
// dot, or an IP address as netip writes it.
type host struct {
	name string
	addr netip.Addr // the zero Addr for a name
}

// cloudNames stand for metadata services. A direct connection would be refused
// for its address; a proxy would look them up where that cannot be seen.
var cloudNames = []string{"metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}

// rule returns the rule that a host falls under before it is looked up.
func (h host) rule() Rule {
	switch {
	case h.addr.IsValid():
		return classify(h.addr)
	case h.name == "localhost" || strings.HasSuffix(h.name, ".localhost"):
		return Loopback
	case slices.Contains(cloudNames, h.name):
		return Metadata
	}
	return public
}

// splitHostPort takes "host", "host:port", "[IPv6]" or "[IPv6]:port" apart. The
// port is "" if there is none.
func splitHostPort(raw string) (h host, port string, rule Rule) {
	if len(raw) > 4*maxHost { // as much as a name in UTF-8 may take
		return host{}, "", BadHost
	}
	var name string
	if rest, ok := strings.CutPrefix(raw, "["); ok {
		inside, behind, closed := strings.Cut(rest, "]")
		if !closed || (behind != "" && behind[0] != ':') {
			return host{}, "", BadHost
		}
		port = strings.TrimPrefix(behind, ":")
		h, rule = parseIPv6(inside)
	} else {
		name, port, _ = strings.Cut(raw, ":")
		h, rule = parseHost(name)
	}
	if rule != public {
		return host{}, "", rule
	}
	if port, rule = parsePort(port); rule != public {
		return host{}, "", rule
	}
	return h, port, public
}

func parseIPv6(raw string) (host, Rule) {
	if strings.Contains(raw, "%") {
		return host{}, Zone
	}
	addr, err := netip.ParseAddr(raw)
	if err != nil || !addr.Is6() {
		return host{}, BadHost
	}
	return host{name: addr.String(), addr: addr}, public
}

// parsePort returns a port in plain decimal.
func parsePort(raw string) (string, Rule) {
	if raw == "" {
		return "", public
	}
	n, err := strconv.ParseUint(raw, 10, 16)
	if err != nil || n == 0 {
		return "", BadPort
	}
	return strconv.FormatUint(n, 10), public
}

// parseHost reads a name or an IPv4 address. Names beyond ASCII become what is
// looked up in the DNS (IDNA 2008 with the mapping of UTS 46, as net/http has it).
func parseHost(raw string) (host, Rule) {
	name := raw
	if !isASCII(raw) {
		mapped, err := idna.Lookup.ToASCII(raw)
		if err != nil || !utf8.ValidString(raw) {
			return host{}, BadHost
		}
		name = mapped
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Is4() && name == raw {
		return host{name: addr.String(), addr: addr}, public
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if len(name) > maxHost {
		return host{}, BadHost
	}
	labels := strings.Split(name, ".")
	if slices.ContainsFunc(labels, notLabel) {
		return host{}, BadHost
	}
	if looksNumeric(labels[len(labels)-1]) {
		return host{}, NumericHost
	}
	return host{name: name}, public
}

// notLabel reports whether a label can not be in a name that is looked up.
// Underscores can: container networks have them.
func notLabel(label string) bool {
	return label == "" || len(label) > maxLabel || strings.ContainsFunc(label, func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// looksNumeric reports whether a name with this last label is read as an IPv4
// address by resolvers in the tradition of inet_aton: decimal, octal or 0x.
func looksNumeric(last string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(last, digits) == ""
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
