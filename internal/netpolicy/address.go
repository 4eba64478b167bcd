package netpolicy

import "net/netip"

// span is a range of addresses under one rule.
type span struct {
	prefix netip.Prefix
	rule   Rule
}

// spans are the ranges that are not the open Internet, after the special-purpose
// registries of IANA (RFC 6890 and its updates) and what cloud providers
// document. The first that holds an address decides, so that a single address
// stands before the range around it.
var spans = func() (list []span) {
	for _, entry := range []struct {
		rule     Rule
		prefixes []string
	}{
		{Metadata, []string{
			"169.254.169.254/32",     // most providers
			"169.254.170.0/24",       // AWS: credentials of containers
			"100.100.100.200/32",     // Alibaba
			"192.0.0.192/32",         // Oracle
			"168.63.129.16/32",       // Azure, within a public range
			"fd00:ec2::/32",          // AWS, within the unique-local range
			"fd20:ce::254/128",       // Google
			"fe80::a9fe:a9fe/128",    // OpenStack
			"fd00:42::42/128",        // Scaleway
			"fd00:c1::a9fe:a9fe/128", // Oracle
		}},
		{Unspecified, []string{"0.0.0.0/8", "::/128"}},
		{Loopback, []string{"127.0.0.0/8", "::1/128"}},
		{Private, []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}},
		{UniqueLocal, []string{"fc00::/7"}},
		{CarrierGrade, []string{"100.64.0.0/10"}},
		{LinkLocal, []string{"169.254.0.0/16", "fe80::/10"}},
		{Multicast, []string{"224.0.0.0/4", "ff00::/8"}},
		{Broadcast, []string{"255.255.255.255/32"}},
		{Documentation, []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"}},
		{Benchmarking, []string{"198.18.0.0/15", "2001:2::/48"}},
		{EmbeddedIPv4, []string{
			"::/96",           // IPv4-compatible (RFC 4291, 2.5.5.1)
			"::ffff:0:0:0/96", // IPv4-translated (RFC 2765)
			"64:ff9b:1::/48",  // NAT64 of one's own (RFC 8215): the network says where in it the address is
			"2001::/32",       // Teredo (RFC 4380)
			"2002::/16",       // 6to4 (RFC 3056)
		}},
		{Reserved, []string{
			"192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4",
			"2001::/23", // protocol assignments
		}},
	} {
		for _, prefix := range entry.prefixes {
			list = append(list, span{netip.MustParsePrefix(prefix), entry.rule})
		}
	}
	return list
}()

var (
	nat64         = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	globalUnicast = netip.MustParsePrefix("2000::/3")     // all of IPv6 that is given out to the Internet
)

// classify returns the rule that an address falls under, public if none.
func classify(a netip.Addr) Rule {
	if a.Zone() != "" {
		return Zone
	}
	inner := embedded(a)
	if inner.IsValid() && classify(inner) != public {
		return EmbeddedIPv4
	}
	for _, s := range spans {
		if s.prefix.Contains(a) {
			return s.rule
		}
	}
	if a.Is4() || a.Is4In6() || nat64.Contains(a) || globalUnicast.Contains(a) {
		return public
	}
	return Reserved
}

// embedded returns the IPv4 address that packets to a may be carried to, the
// zero Addr if there is none. Ranges that embed one and are refused as a whole
// are not its matter.
func embedded(a netip.Addr) netip.Addr {
	if a.Is4In6() {
		return a.Unmap()
	}
	if a.Is6() && (nat64.Contains(a) || isISATAP(a)) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.Addr{}
}

// isISATAP reports whether the interface identifier is one of RFC 5214, 6.1:
// 0:5efe or 200:5efe and an IPv4 address, in any network.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
