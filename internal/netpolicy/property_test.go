package netpolicy_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

// embeddings are the ways to write an IPv4 address into an IPv6 one.
var embeddings = map[string]func(v4 [4]byte) netip.Addr{
	"mapped":          func(v4 [4]byte) netip.Addr { return within("::ffff:0:0", 12, v4) },
	"compatible":      func(v4 [4]byte) netip.Addr { return within("::", 12, v4) },
	"translated":      func(v4 [4]byte) netip.Addr { return within("::ffff:0:0:0", 12, v4) },
	"NAT64":           func(v4 [4]byte) netip.Addr { return within("64:ff9b::", 12, v4) },
	"local NAT64 /96": func(v4 [4]byte) netip.Addr { return within("64:ff9b:1:2:3:4::", 12, v4) },
	"6to4":            func(v4 [4]byte) netip.Addr { return within("2002::1", 2, v4) },
	"Teredo server":   func(v4 [4]byte) netip.Addr { return within("2001::1:1", 4, v4) },
	"Teredo client": func(v4 [4]byte) netip.Addr {
		for i := range v4 {
			v4[i] ^= 0xff
		}
		return within("2001:0:808:808::", 12, v4)
	},
	"local NAT64 /48": func(v4 [4]byte) netip.Addr { // RFC 6052, 2.2: the octet at bit 64 stays 0
		b := netip.MustParseAddr("64:ff9b:1::").As16()
		b[6], b[7], b[9], b[10] = v4[0], v4[1], v4[2], v4[3]
		return netip.AddrFrom16(b)
	},
	"ISATAP":               func(v4 [4]byte) netip.Addr { return within("2a00:1450::5efe:0:0", 12, v4) },
	"ISATAP, global":       func(v4 [4]byte) netip.Addr { return within("2a00:1450::200:5efe:0:0", 12, v4) },
	"ISATAP, unique-local": func(v4 [4]byte) netip.Addr { return within("fd12::5efe:0:0", 12, v4) },
}

func within(base string, at int, v4 [4]byte) netip.Addr {
	b := netip.MustParseAddr(base).As16()
	copy(b[at:], v4[:])
	return netip.AddrFrom16(b)
}

// interesting lists IPv4 addresses: edges of every special range, and many at random.
func interesting() [][4]byte {
	random := rand.New(rand.NewPCG(1, 2))
	var list [][4]byte
	for _, raw := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "100.100.100.200/32", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
		"169.254.169.254/32", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	} {
		prefix := netip.MustParsePrefix(raw)
		first := prefix.Addr().As4()
		n := binary.BigEndian.Uint32(first[:])
		size := uint32(1) << (32 - prefix.Bits())
		for _, n := range []uint32{n - 1, n, n + size/2, n + size - 1, n + size, n + random.Uint32N(size)} {
			list = append(list, [4]byte(binary.BigEndian.AppendUint32(nil, n)))
		}
	}
	for range 2000 {
		list = append(list, [4]byte(binary.BigEndian.AppendUint32(nil, random.Uint32())))
	}
	return list
}

// TestEmbeddedIsNoBetter: no IPv6 form of an IPv4 address may be reached where
// the address itself may not, and none at all of one that is not public.
func TestEmbeddedIsNoBetter(t *testing.T) {
	t.Parallel()
	strict := newPolicy(t, netpolicy.Config{})
	for _, c := range []netpolicy.Config{{}, {AllowLoopback: true}, {AllowPrivate: true}, {AllowLoopback: true, AllowPrivate: true}} {
		p := newPolicy(t, c)
		refused := 0
		for _, v4 := range interesting() {
			plain := netip.AddrFrom4(v4)
			public := reach(strict, plain)
			for name, embed := range embeddings {
				form := embed(v4)
				if !reach(p, form) {
					refused++
				} else if !public {
					t.Errorf("%+v: %s, %s of %s, may be reached", c, form, name, plain)
				}
			}
		}
		if refused < len(embeddings)*100 {
			t.Errorf("%+v: only %d forms refused", c, refused)
		}
	}
}

func reach(p *netpolicy.Policy, addr netip.Addr) bool {
	return p.Check("tcp", netip.AddrPortFrom(addr, 443).String()) == nil
}

// TestAllowsOnlyMore: a setting that allows something refuses nothing else, and
// allows nothing but what it is named for.
func TestAllowsOnlyMore(t *testing.T) {
	t.Parallel()
	strict := newPolicy(t, netpolicy.Config{})
	loopback := newPolicy(t, netpolicy.Config{AllowLoopback: true})
	private := newPolicy(t, netpolicy.Config{AllowPrivate: true})
	for _, v4 := range interesting() {
		a := netip.AddrFrom4(v4)
		if got, want := reach(loopback, a), reach(strict, a) || a.IsLoopback(); got != want {
			t.Errorf("%s with loopback allowed: reached %t, want %t", a, got, want)
		}
		if reach(strict, a) != reach(private, a) {
			shared := v4[0] == 100 && v4[1]&0xc0 == 64
			if !a.IsPrivate() && !shared {
				t.Errorf("%s is reached with private addresses allowed", a)
			}
		} else if a.IsPrivate() {
			t.Errorf("%s is not reached with private addresses allowed", a)
		}
	}
}

// forbiddenByNet is a second opinion, by what package net knows of addresses.
func forbiddenByNet(ip net.IP) bool {
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsMulticast() ||
		ip.IsLinkLocalUnicast() || ip.IsInterfaceLocalMulticast() || ip.Equal(net.IPv4bcast)
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1:80", "[::1]:80", "[::ffff:10.0.0.1]:443", "[64:ff9b::a00:1]:443", "8.8.8.8:53", "[fe80::1%eth0]:1", "localhost:80", "1.1.1.1:00080",
	} {
		f.Add("tcp", seed)
	}
	f.Add("unix", "/run/agent.sock")
	p, err := netpolicy.New(netpolicy.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, network, address string) {
		if ruleOf(t, p.Check(network, address)) != "" {
			return
		}
		name, port, err := net.SplitHostPort(address)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			t.Fatalf("Check(%q, %q) allows what is no address", network, address)
		}
		ip := net.ParseIP(name)
		if ip == nil || forbiddenByNet(ip) || port == "0" {
			t.Fatalf("Check(%q, %q) allows it", network, address)
		}
	})
}

func FuzzCheckURL(f *testing.F) {
	for _, test := range corpus {
		if u, err := url.Parse(test.url); err == nil {
			f.Add(u.Scheme, u.Host, u.Path)
		}
	}
	p, err := netpolicy.New(netpolicy.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, scheme, host, path string) {
		u := &url.URL{Scheme: scheme, Host: host, Path: path}
		if ruleOf(t, p.CheckURL(u)) != "" {
			return
		}
		if ip, ok := inetAton(strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")); ok && forbiddenByNet(ip) {
			t.Fatalf("CheckURL(%q) allows %s", u, ip)
		}
		if ip := net.ParseIP(u.Hostname()); ip != nil && forbiddenByNet(ip) {
			t.Fatalf("CheckURL(%q) allows %s", u, ip)
		}
		origin, err := netpolicy.Origin(u)
		if err != nil {
			t.Fatalf("CheckURL(%q) allows what has no origin: %v", u, err)
		}
		if strings.ContainsFunc(origin, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '@' || r == '%' }) {
			t.Fatalf("Origin(%q) = %q", u, origin)
		}
		again, err := netpolicy.ParseOrigin(origin)
		if err != nil || again != origin {
			t.Fatalf("ParseOrigin(%q) = %q, %v", origin, again, err)
		}
	})
}

// inetAton reads an address as the C function of that name does: one to four
// numbers, decimal, octal or hexadecimal, the last of them filling what is left.
func inetAton(s string) (net.IP, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return nil, false
	}
	var sum uint64
	for i, part := range parts {
		limit := uint64(1) << 8
		if i == len(parts)-1 {
			limit = 1 << (8 * (5 - len(parts)))
		}
		n, err := strconv.ParseUint(part, 0, 64) // knows 0x and a leading 0, but 0b, 0o and _ as well
		goOnly := strings.Contains(part, "_") || strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0o")
		if err != nil || n >= limit || goOnly {
			return nil, false
		}
		if i == len(parts)-1 {
			sum = sum<<(8*(5-len(parts))) | n
		} else {
			sum = sum<<8 | n
		}
	}
	return net.IPv4(byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)), true
}

func TestInetAton(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"127.0.0.1", "127.1", "0x7f.1", "0177.0.1", "2130706433", "0x7f000001", "017700000001"} {
		if ip, ok := inetAton(raw); !ok || !ip.Equal(net.IPv4(127, 0, 0, 1)) {
			t.Errorf("inetAton(%q) = %v, %t", raw, ip, ok)
		}
	}
}
