package netpolicy

import (
	"net/netip"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Rule names the part of the policy that refused something. It is public.
type Rule string

// The rules about addresses. Settings can allow the first four.
const (
	Loopback     Rule = "loopback"
	Private      Rule = "private"
	UniqueLocal  Rule = "unique-local"
	CarrierGrade Rule = "carrier-grade"

	LinkLocal     Rule = "link-local"
	Metadata      Rule = "metadata"
	Multicast     Rule = "multicast"
	Unspecified   Rule = "unspecified"
	Broadcast     Rule = "broadcast"
	Documentation Rule = "documentation"
	Benchmarking  Rule = "benchmarking"
	Reserved      Rule = "reserved"
	EmbeddedIPv4  Rule = "embedded-ipv4"
	Zone          Rule = "zone"
	BadAddress    Rule = "address"
	NotTCP        Rule = "network"

	public Rule = "" // no rule: an ordinary address of the Internet
)

// The rules about URLs.
const (
	Scheme      Rule = "scheme"
	HTTPSOnly   Rule = "https"
	Credentials Rule = "credentials"
	BadHost     Rule = "host"
	NumericHost Rule = "numeric-host"
	BadPort     Rule = "port"
	Characters  Rule = "characters"
	NotListed   Rule = "origin"
)

// words say what each rule is about and, if there is one, the way to allow it.
var words = map[Rule]string{
	Loopback:     "It is an address of the machine that the server runs on. An administrator can allow those with the setting allow-loopback.",
	Private:      "It is an address of a private network. An administrator can allow those with the setting allow-private.",
	UniqueLocal:  "It is a unique-local address, one of a private network. An administrator can allow those with the setting allow-private.",
	CarrierGrade: "It is an address shared behind a provider's NAT. An administrator can allow those with the setting allow-private.",

	LinkLocal:     "It is a link-local address. No setting allows those.",
	Metadata:      "It is where cloud providers hand out credentials of the machine itself. No setting allows that.",
	Multicast:     "It is a multicast address. No setting allows those.",
	Unspecified:   "It stands for no particular machine. No setting allows it.",
	Broadcast:     "It is the broadcast address. No setting allows it.",
	Documentation: "It is an address for examples in documentation. No setting allows those.",
	Benchmarking:  "It is an address for network benchmarks. No setting allows those.",
	Reserved:      "It is in a range reserved for special purposes. No setting allows those.",
	EmbeddedIPv4:  "It is an IPv6 form of an IPv4 address, in a way that could lead into a private network. No setting allows those; use the IPv4 address itself if it may be reached.",
	Zone:          "It names a network interface of the server's machine. No setting allows that.",
	BadAddress:    "It is no IP address with a port.",
	NotTCP:        "Only TCP connections are made.",

	Scheme:      "Only http:// and https:// URLs are used.",
	HTTPSOnly:   "HTTPS is required here, and the URL begins with http://. An administrator can change that with the setting require-https.",
	Credentials: "The URL carries a user name or password. Leave them out; credentials are set on their own.",
	BadHost:     "The URL names no host, or one that cannot be a host name.",
	NumericHost: "The host looks like an IP address in an unusual spelling. Write it as four plain decimal numbers, or as IPv6 in brackets.",
	BadPort:     "The port is no number from 1 to 65535.",
	Characters:  "The URL has control characters in it.",
	NotListed:   "This server reaches listed origins only.",
}

// Refusal is the error of everything that the policy refuses. It unwraps to a
// *fault.Error of kind Forbidden with the same text, which names the rule and
// how an administrator can allow it, if that is possible. The text holds no
// address and tells nothing about what is there.
type Refusal struct {
	Rule    Rule
	Address netip.Addr // for the log only; the zero Addr if the rule is not about one
	fault   *fault.Error
}

// Error returns the public text.
func (r *Refusal) Error() string { return r.fault.Error() }

// Unwrap returns the *fault.Error.
func (r *Refusal) Unwrap() error { return r.fault }

func refuse(rule Rule) *Refusal { return refuseAddress(rule, netip.Addr{}) }

func refuseAddress(rule Rule, address netip.Addr) *Refusal {
	return &Refusal{Rule: rule, Address: address, fault: fault.New(fault.Forbidden, "The network policy refused it (rule %s). %s", rule, words[rule])}
}

// refuseOrigin names the origin, so that it can be copied into the list. What
// stands in it came from the caller and was cut down to plain ASCII.
func refuseOrigin(o origin) *Refusal {
	return &Refusal{Rule: NotListed, Address: o.host.addr, fault: fault.New(fault.Forbidden,
		"The network policy refused it (rule %s). %s An administrator can add %s with the setting allow-origin.", NotListed, words[NotListed], o)}
}
