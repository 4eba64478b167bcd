package netpolicy_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

func newPolicy(t testing.TB, c netpolicy.Config) *netpolicy.Policy {
	t.Helper()
	p, err := netpolicy.New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return p
}

// ruleOf returns the rule that err is a refusal by, "" for nil.
func ruleOf(t testing.TB, err error) netpolicy.Rule {
	t.Helper()
	if err == nil {
		return ""
	}
	var refusal *netpolicy.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("error %v (%T) is no *Refusal", err, err)
	}
	if refusal.Rule == "" {
		t.Fatalf("refusal %v names no rule", err)
	}
	return refusal.Rule
}

const (
	unparsed = netpolicy.Rule("url.Parse refuses it")
	allowed  = netpolicy.Rule("")
)

// corpus holds spellings of hosts that have led servers into their own network,
// with the rule that refuses each where loopback and private addresses are
// allowed, and where they are not.
var corpus = []struct {
	url           string
	local, strict netpolicy.Rule
}{
	// Plain addresses.
	{"http://127.0.0.1/", allowed, netpolicy.Loopback},
	{"http://127.0.0.1:22/", allowed, netpolicy.Loopback},
	{"http://127.255.255.254/", allowed, netpolicy.Loopback},
	{"http://[::1]/", allowed, netpolicy.Loopback},
	{"http://[0:0:0:0:0:0:0:1]/", allowed, netpolicy.Loopback},
	{"http://[0000::0001]:8080/", allowed, netpolicy.Loopback},
	{"http://10.0.0.1/", allowed, netpolicy.Private},
	{"http://172.16.0.1/", allowed, netpolicy.Private},
	{"http://172.31.255.255/", allowed, netpolicy.Private},
	{"http://192.168.1.1/", allowed, netpolicy.Private},
	{"http://[fc00::1]/", allowed, netpolicy.UniqueLocal},
	{"http://[fdff:ffff::1]/", allowed, netpolicy.UniqueLocal},
	{"http://100.64.0.1/", allowed, netpolicy.CarrierGrade},
	{"http://100.127.255.255/", allowed, netpolicy.CarrierGrade},
	{"http://172.15.255.255/", allowed, allowed},
	{"http://172.32.0.1/", allowed, allowed},
	{"http://100.63.255.255/", allowed, allowed},
	{"http://100.128.0.1/", allowed, allowed},
	{"http://8.8.8.8/", allowed, allowed},
	{"https://[2606:4700:4700::1111]/", allowed, allowed},

	// What no setting allows.
	{"http://169.254.169.254/latest/meta-data/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://169.254.170.2/v2/credentials", netpolicy.Metadata, netpolicy.Metadata},
	{"http://100.100.100.200/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://192.0.0.192/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://168.63.129.16/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://[fd00:ec2::254]/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://[fd00:0ec2:0:0:0:0:0:254]/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://[fd20:ce::254]/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://[fe80::a9fe:a9fe]/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://metadata.google.internal/computeMetadata/v1/", netpolicy.Metadata, netpolicy.Metadata},
	{"http://METADATA.google.internal./", netpolicy.Metadata, netpolicy.Metadata},
	{"http://169.254.0.1/", netpolicy.LinkLocal, netpolicy.LinkLocal},
	{"http://[fe80::1]/", netpolicy.LinkLocal, netpolicy.LinkLocal},
	{"http://[febf::1]/", netpolicy.LinkLocal, netpolicy.LinkLocal},
	{"http://[fec0::1]/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://0.0.0.0/", netpolicy.Unspecified, netpolicy.Unspecified},
	{"http://0.1.2.3/", netpolicy.Unspecified, netpolicy.Unspecified},
	{"http://[::]/", netpolicy.Unspecified, netpolicy.Unspecified},
	{"http://224.0.0.1/", netpolicy.Multicast, netpolicy.Multicast},
	{"http://239.255.255.250:1900/", netpolicy.Multicast, netpolicy.Multicast},
	{"http://[ff02::1]/", netpolicy.Multicast, netpolicy.Multicast},
	{"http://255.255.255.255/", netpolicy.Broadcast, netpolicy.Broadcast},
	{"http://240.0.0.1/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://192.0.0.8/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://192.88.99.1/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://192.0.2.1/", netpolicy.Documentation, netpolicy.Documentation},
	{"http://198.51.100.7/", netpolicy.Documentation, netpolicy.Documentation},
	{"http://203.0.113.7/", netpolicy.Documentation, netpolicy.Documentation},
	{"http://[2001:db8::1]/", netpolicy.Documentation, netpolicy.Documentation},
	{"http://[3fff::1]/", netpolicy.Documentation, netpolicy.Documentation},
	{"http://198.18.0.1/", netpolicy.Benchmarking, netpolicy.Benchmarking},
	{"http://198.19.255.255/", netpolicy.Benchmarking, netpolicy.Benchmarking},
	{"http://[2001:2::1]/", netpolicy.Benchmarking, netpolicy.Benchmarking},
	{"http://[2001:20::1]/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://[100::1]/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://[5f00::1]/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://[4000::1]/", netpolicy.Reserved, netpolicy.Reserved},

	// IPv4 inside IPv6.
	{"http://[::ffff:127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:7f00:1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[0:0:0:0:0:FFFF:127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:a9fe:a9fe]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:10.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:0.0.0.0]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:8.8.8.8]/", allowed, allowed},
	{"http://[::127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::8.8.8.8]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[::ffff:0:127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[64:ff9b::127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[64:ff9b::a9fe:a9fe]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[64:ff9b::8.8.8.8]/", allowed, allowed},
	{"http://[64:ff9b:1::7f00:1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[64:ff9b:1:ffff::808:808]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[64:ff9b:2::1]/", netpolicy.Reserved, netpolicy.Reserved},
	{"http://[2002:7f00:1::]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[2002:a9fe:a9fe::1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[2001:0:7f00:1::80ff:fffe]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[2a00:1450::5efe:127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[2a00:1450::200:5efe:10.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[2a00:1450::5efe:8.8.8.8]/", allowed, allowed},
	{"http://[fd12::5efe:127.0.0.1]/", netpolicy.EmbeddedIPv4, netpolicy.EmbeddedIPv4},
	{"http://[4000::5efe:8.8.8.8]/", netpolicy.Reserved, netpolicy.Reserved},

	// Zones.
	{"http://[fe80::1%25eth0]/", netpolicy.Zone, netpolicy.Zone},
	{"http://[::1%25lo]/", netpolicy.Zone, netpolicy.Zone},
	{"http://[2606:4700::1111%25eth0]/", netpolicy.Zone, netpolicy.Zone},
	{"http://[::1%lo]/", unparsed, unparsed},

	// Numbers that some resolvers read as addresses.
	{"http://2130706433/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://017700000001/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0x7f000001/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0X7F000001/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0x7f.0.0.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0x7f.0x0.0x0.0x1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0177.0.0.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0177.0000.0000.0001/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.0.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.0.0.1.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.0.0.01/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.000.000.001/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://169.254.43518/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://2852039166/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0x/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://999.999.999.999/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://425.510.425.510/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://example.1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://example.0x1f/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127.0.0.1./", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://2130706433./", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://0xg/", allowed, allowed},
	{"http://1.example/", allowed, allowed},

	// Letters and dots that become others.
	{"http://１２７.０.０.１/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://①②⑦.⓪.⓪.①/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127。0。0。1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://127．0．0．1/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://⑯⑨。②⑤④。⑯⑨｡②⑤④/", netpolicy.NumericHost, netpolicy.NumericHost},
	{"http://ｌｏｃａｌｈｏｓｔ/", allowed, netpolicy.Loopback},
	{"http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", allowed, netpolicy.Loopback},
	{"http://loc\u00adalhost/", allowed, netpolicy.Loopback},
	{"http://münchen.example/", allowed, allowed},
	{"http://a\u202eb.example/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://exa℀mple.com/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://xn--/", allowed, allowed}, // a name like another; the DNS has none

	// Names of this machine.
	{"http://localhost/", allowed, netpolicy.Loopback},
	{"http://LOCALHOST./", allowed, netpolicy.Loopback},
	{"http://a.b.localhost:3002/", allowed, netpolicy.Loopback},
	{"http://notlocalhost/", allowed, allowed},

	// Dots, ports and what is no name.
	{"http://example.com./", allowed, allowed},
	{"http://example.com../", netpolicy.BadHost, netpolicy.BadHost},
	{"http://.example.com/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://a..b/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://./", netpolicy.BadHost, netpolicy.BadHost},
	{"http:///path", netpolicy.BadHost, netpolicy.BadHost},
	{"http://:80/", netpolicy.BadHost, netpolicy.BadHost},
	{"http:127.0.0.1", netpolicy.BadHost, netpolicy.BadHost},
	{"http://agent_service:8000/", allowed, allowed},
	{"http://a!b.example/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://[v1.fe80::]/", unparsed, unparsed},
	{"http://[127.0.0.1]/", unparsed, unparsed},
	{"http://[::1]x/", unparsed, unparsed},
	{"http://example.com:0/", netpolicy.BadPort, netpolicy.BadPort},
	{"http://example.com:65536/", netpolicy.BadPort, netpolicy.BadPort},
	{"http://example.com:/", allowed, allowed},
	{"http://example.com:80:80/", unparsed, unparsed},
	{"http://" + strings.Repeat("a", 64) + ".example/", netpolicy.BadHost, netpolicy.BadHost},
	{"http://" + strings.Repeat("a.", 126) + "example/", netpolicy.BadHost, netpolicy.BadHost},

	// Who is the host?
	{"http://user@example.com/", netpolicy.Credentials, netpolicy.Credentials},
	{"http://user:password@example.com/", netpolicy.Credentials, netpolicy.Credentials},
	{"http://example.com@127.0.0.1/", netpolicy.Credentials, netpolicy.Credentials},
	{"http://example.com:80@127.0.0.1/", netpolicy.Credentials, netpolicy.Credentials},
	{"http://@127.0.0.1/", netpolicy.Credentials, netpolicy.Credentials},
	{"http://127.0.0.1#@example.com/", allowed, netpolicy.Loopback},
	{"http://127.0.0.1?@example.com/", allowed, netpolicy.Loopback},
	{`http://example.com\@127.0.0.1/`, unparsed, unparsed},
	{`http://example.com\127.0.0.1/`, unparsed, unparsed},
	{"http://127.0.0.1%00.example.com/", unparsed, unparsed},
	{"http://127.0.0.1%2f.example.com/", unparsed, unparsed},
	{"http://127%2e0%2e0%2e1/", unparsed, unparsed},
	{"http://%6c%6f%63%61%6c%68%6f%73%74/", unparsed, unparsed},
	{"http://example.com\r\nHost: 127.0.0.1/", unparsed, unparsed},
	{"http://example.com/%0d%0aHost:%20127.0.0.1", netpolicy.Characters, netpolicy.Characters},
	{"http://example.com/%00", netpolicy.Characters, netpolicy.Characters},
	{"http://example com/", unparsed, unparsed},

	// Schemes.
	{"HTTPS://Example.COM/", allowed, allowed},
	{"//example.com/", netpolicy.Scheme, netpolicy.Scheme},
	{"example.com:80", netpolicy.BadHost, netpolicy.BadHost},
	{"file:///etc/passwd", netpolicy.Scheme, netpolicy.Scheme},
	{"gopher://127.0.0.1:25/", netpolicy.Scheme, netpolicy.Scheme},
	{"unix:///run/agent.sock", netpolicy.Scheme, netpolicy.Scheme},
	{"dns:///127.0.0.1:80", netpolicy.Scheme, netpolicy.Scheme},
	{"ftp://example.com/", netpolicy.Scheme, netpolicy.Scheme},
	{"ws://example.com/", netpolicy.Scheme, netpolicy.Scheme},
	{"data:text/plain,x", netpolicy.BadHost, netpolicy.BadHost},
	{"javascript:alert(1)", netpolicy.BadHost, netpolicy.BadHost},
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	local := newPolicy(t, netpolicy.Config{AllowLoopback: true, AllowPrivate: true})
	strict := newPolicy(t, netpolicy.Config{})
	for _, test := range corpus {
		u, err := url.Parse(test.url)
		if err != nil {
			if test.local != unparsed || test.strict != unparsed {
				t.Errorf("%q cannot be parsed: %v", test.url, err)
			}
			continue
		}
		if got := ruleOf(t, local.CheckURL(u)); got != test.local {
			t.Errorf("CheckURL(%q) where local addresses are allowed: rule %q, want %q", test.url, got, test.local)
		}
		if got := ruleOf(t, strict.CheckURL(u)); got != test.strict {
			t.Errorf("CheckURL(%q) where they are not: rule %q, want %q", test.url, got, test.strict)
		}
	}
}

// TestCheckURLByHand tries URLs that url.Parse would not make.
func TestCheckURLByHand(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, netpolicy.Config{AllowLoopback: true})
	for _, test := range []struct {
		url  *url.URL
		want netpolicy.Rule
	}{
		{nil, netpolicy.BadHost},
		{&url.URL{}, netpolicy.Scheme},
		{&url.URL{Scheme: "http", Host: "example.com"}, allowed},
		{&url.URL{Scheme: "http", Host: "example.com", Opaque: "//127.0.0.1/"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "::1"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "[::1"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "[127.0.0.1]"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "[v1.fe80::]"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "[::1]x"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "[::1%lo]"}, netpolicy.Zone},
		{&url.URL{Scheme: "http", Host: "a@b"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "a/b"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: `a\b`}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "a%2eb"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "a b"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "a\r\nb"}, netpolicy.Characters},
		{&url.URL{Scheme: "http", Host: "a\x00"}, netpolicy.Characters},
		{&url.URL{Scheme: "http", Host: "a\u0085"}, netpolicy.Characters},
		{&url.URL{Scheme: "http", Host: "a\xff"}, netpolicy.BadHost},
		{&url.URL{Scheme: "http", Host: "a:80 "}, netpolicy.BadPort},
		{&url.URL{Scheme: "http", Host: "a:+80"}, netpolicy.BadPort},
		{&url.URL{Scheme: "http", Host: "a:80:80"}, netpolicy.BadPort},
		{&url.URL{Scheme: "http", Host: "a", RawQuery: "x\n"}, netpolicy.Characters},
		{&url.URL{Scheme: "http", Host: strings.Repeat("a", 5000)}, netpolicy.BadHost},
	} {
		if got := ruleOf(t, p.CheckURL(test.url)); got != test.want {
			t.Errorf("CheckURL(%#v): rule %q, want %q", test.url, got, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	local := newPolicy(t, netpolicy.Config{AllowLoopback: true, AllowPrivate: true})
	for _, test := range []struct {
		network, address string
		want             netpolicy.Rule
	}{
		{"tcp", "127.0.0.1:80", allowed},
		{"tcp4", "10.0.0.1:443", allowed},
		{"tcp6", "[::1]:80", allowed},
		{"tcp6", "[fd12::1]:80", allowed},
		{"tcp6", "[fe80::1%eth0]:80", netpolicy.Zone},
		{"tcp6", "[::ffff:127.0.0.1]:80", netpolicy.EmbeddedIPv4},
		{"tcp4", "169.254.169.254:80", netpolicy.Metadata},
		{"tcp4", "127.0.0.1:0", netpolicy.BadAddress},
		{"tcp", "localhost:80", netpolicy.BadAddress},
		{"tcp", "127.0.0.1", netpolicy.BadAddress},
		{"tcp", ":80", netpolicy.BadAddress},
		{"tcp", "0177.0.0.1:80", netpolicy.BadAddress},
		{"tcp", "", netpolicy.BadAddress},
		{"unix", "/run/agent.sock", netpolicy.NotTCP},
		{"unix", "127.0.0.1:80", netpolicy.NotTCP},
		{"udp", "127.0.0.1:53", netpolicy.NotTCP},
		{"ip4:icmp", "127.0.0.1", netpolicy.NotTCP},
		{"", "127.0.0.1:80", netpolicy.NotTCP},
	} {
		if got := ruleOf(t, local.Check(test.network, test.address)); got != test.want {
			t.Errorf("Check(%q, %q): rule %q, want %q", test.network, test.address, got, test.want)
		}
	}
}

// TestCheckAgreesWithCheckURL holds both to one verdict about an address, so
// that nothing passes by the one that the other refuses.
func TestCheckAgreesWithCheckURL(t *testing.T) {
	t.Parallel()
	for _, c := range []netpolicy.Config{{}, {AllowLoopback: true}, {AllowPrivate: true}, {AllowLoopback: true, AllowPrivate: true}} {
		p := newPolicy(t, c)
		addresses := 0
		for _, test := range corpus {
			u, err := url.Parse(test.url)
			if err != nil {
				continue
			}
			ip, err := netip.ParseAddr(u.Hostname())
			if err != nil || u.User != nil || u.Port() != "" || u.Scheme != "http" || strings.HasPrefix(u.Host, "[") != ip.Is6() {
				continue
			}
			addresses++
			byURL, atDial := ruleOf(t, p.CheckURL(u)), ruleOf(t, p.Check("tcp", netip.AddrPortFrom(ip, 80).String()))
			if byURL != atDial {
				t.Errorf("%+v: %s: rule %q by its URL, %q as it is connected to", c, ip, byURL, atDial)
			}
		}
		if addresses < 50 {
			t.Errorf("only %d addresses were compared", addresses)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, netpolicy.Config{Origins: []string{
		"https://Agents.Example.COM:443/", "http://agents.example.com:8080", "https://münchen.example", "https://[2606:4700:0::1111]",
		"http://10.0.0.1",
	}})
	for raw, want := range map[string]netpolicy.Rule{
		"https://agents.example.com/a/card.json":  allowed,
		"https://AGENTS.example.com:0443/":        allowed,
		"https://agents.example.com./":            allowed,
		"https://agents。example。com/":             allowed,
		"http://agents.example.com:8080/":         allowed,
		"https://xn--mnchen-3ya.example/":         allowed,
		"https://[2606:4700::1111]:443/":          allowed,
		"http://agents.example.com/":              netpolicy.NotListed,
		"https://agents.example.com:8080/":        netpolicy.NotListed,
		"https://agents.example.com:4443/":        netpolicy.NotListed,
		"https://agents.example.com.evil.example": netpolicy.NotListed,
		"https://www.agents.example.com/":         netpolicy.NotListed,
		"https://example.com/":                    netpolicy.NotListed,
		"https://agents.example.com@evil.example": netpolicy.Credentials,
		"http://10.0.0.1/":                        netpolicy.Private, // the list widens nothing
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := ruleOf(t, p.CheckURL(u)); got != want {
			t.Errorf("CheckURL(%q): rule %q, want %q", raw, got, want)
		}
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	secure, plain := &url.URL{Scheme: "https", Host: "a.example"}, &url.URL{Scheme: "http", Host: "a.example"}
	p := newPolicy(t, netpolicy.Config{RequireHTTPS: true})
	if err := p.CheckURL(secure); err != nil {
		t.Errorf("CheckURL(%s) where HTTPS is required = %v", secure, err)
	}
	if got := ruleOf(t, p.CheckURL(plain)); got != netpolicy.HTTPSOnly {
		t.Errorf("CheckURL(%s) where HTTPS is required: rule %q", plain, got)
	}
	p = newPolicy(t, netpolicy.Config{RequireOrigins: true})
	if got := ruleOf(t, p.CheckURL(secure)); got != netpolicy.NotListed {
		t.Errorf("CheckURL(%s) before origins are listed: rule %q", secure, got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config netpolicy.Config
		want   string
	}{
		"no scheme":        {netpolicy.Config{Origins: []string{"agents.example.com"}}, "https://agents.example.com:8443"},
		"path":             {netpolicy.Config{Origins: []string{"https://agents.example.com/a"}}, "leave out the path"},
		"query":            {netpolicy.Config{Origins: []string{"https://agents.example.com?"}}, "leave out the path"},
		"fragment":         {netpolicy.Config{Origins: []string{"https://agents.example.com#"}}, "leave out the path"},
		"wildcard":         {netpolicy.Config{Origins: []string{"https://*.example.com"}}, "cannot be a host name"},
		"numeric":          {netpolicy.Config{Origins: []string{"https://0x7f.1"}}, "unusual spelling"},
		"never reached":    {netpolicy.Config{RequireHTTPS: true, Origins: []string{"http://a.example"}}, "HTTPS is required"},
		"empty":            {netpolicy.Config{Origins: []string{""}}, "no origin"},
		"proxy scheme":     {netpolicy.Config{Proxy: &url.URL{Scheme: "socks5", Host: "a.example:1080"}}, "Only http:// and https://"},
		"proxy host":       {netpolicy.Config{Proxy: &url.URL{Scheme: "http"}}, "names no host"},
		"proxy link-local": {netpolicy.Config{Proxy: &url.URL{Scheme: "http", Host: "169.254.0.1:3128"}}, "link-local"},
	} {
		_, err := netpolicy.New(test.config)
		if fault.KindOf(err) != fault.Unprocessable || !strings.Contains(fault.Public(err).Message, test.want) {
			t.Errorf("%s: New = %v, want %q in it", name, err, test.want)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		" HTTPS://Agents.Example.COM:443/ ": "https://agents.example.com",
		"http://[0:0::1]:080":               "http://[::1]",
		"http://a.example.:8080":            "http://a.example:8080",
		"https://bücher.example":            "https://xn--bcher-kva.example",
	} {
		if got, err := netpolicy.ParseOrigin(raw); err != nil || got != want {
			t.Errorf("ParseOrigin(%q) = %q, %v; want %q", raw, got, err, want)
		}
		u, err := url.Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := netpolicy.Origin(u); err != nil || got != want {
			t.Errorf("Origin(%s) = %q, %v; want it unchanged", u, got, err)
		}
	}
	if got, err := netpolicy.Origin(&url.URL{Scheme: "ftp", Host: "a.example"}); err == nil {
		t.Errorf("Origin of ftp = %q, want an error", got)
	}
}

// TestRefusalWords holds every refusal to what people are told by it.
func TestRefusalWords(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, netpolicy.Config{Origins: []string{"https://a.example"}})
	listed := p.CheckURL(&url.URL{Scheme: "https", Host: "B.example:8443"})
	private := p.Check("tcp", "10.1.2.3:443")
	metadata := p.Check("tcp", "169.254.169.254:80")
	for _, test := range []struct {
		err  error
		want []string
	}{
		{listed, []string{"rule origin", "add https://b.example:8443 ", "allow-origin"}},
		{private, []string{"rule private", "An administrator can allow", "allow-private"}},
		{metadata, []string{"rule metadata", "No setting allows"}},
	} {
		message := fault.Public(test.err).Message
		if fault.KindOf(test.err) != fault.Forbidden || message != test.err.Error() {
			t.Errorf("%v: kind %s, public text %q", test.err, fault.KindOf(test.err), message)
		}
		for _, want := range test.want {
			if !strings.Contains(message, want) {
				t.Errorf("%q does not contain %q", message, want)
			}
		}
		if strings.Contains(message, "10.1.2.3") || strings.Contains(message, "169.254") {
			t.Errorf("%q names the address that a name stands for", message)
		}
	}
	var refusal *netpolicy.Refusal
	if !errors.As(private, &refusal) || refusal.Address != netip.MustParseAddr("10.1.2.3") {
		t.Errorf("the refusal %v does not keep the address for the log", private)
	}
}
