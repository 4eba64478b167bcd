package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/netpolicy/policytest"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

func newPolicy(t *testing.T, c netpolicy.Config) *netpolicy.Policy {
	t.Helper()
	p, err := netpolicy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// forbidden are addresses of one place on this machine, and of others inside, in
// every spelling. PORT stands for the port of the place. A rule of "" is an
// address that is not even a URL.
var forbidden = map[string]netpolicy.Rule{
	"http://127.0.0.1:PORT/":                              netpolicy.Loopback,
	"http://127.8.9.1:PORT/":                              netpolicy.Loopback,
	"https://127.0.0.1:PORT/":                             netpolicy.Loopback,
	"http://localhost:PORT/":                              netpolicy.Loopback,
	"http://LOCALHOST.:PORT/":                             netpolicy.Loopback,
	"http://agent.localhost:PORT/":                        netpolicy.Loopback,
	"http://[::1]:PORT/":                                  netpolicy.Loopback,
	"http://[0:0:0:0:0:0:0:1]:PORT/":                      netpolicy.Loopback,
	"http://2130706433:PORT/":                             netpolicy.NumericHost,
	"http://017700000001:PORT/":                           netpolicy.NumericHost,
	"http://0x7f000001:PORT/":                             netpolicy.NumericHost,
	"http://0x7f.0.0.1:PORT/":                             netpolicy.NumericHost,
	"http://0177.0.0.1:PORT/":                             netpolicy.NumericHost,
	"http://127.1:PORT/":                                  netpolicy.NumericHost,
	"http://127.0.1:PORT/":                                netpolicy.NumericHost,
	"http://127.0.0.1.:PORT/":                             netpolicy.NumericHost,
	"http://127.0.0.256:PORT/":                            netpolicy.NumericHost,
	"http://１２７.０.０.１:PORT/":                              netpolicy.NumericHost, // full-width digits
	"http://①②⑦.⓪.⓪.①:PORT/":                              netpolicy.NumericHost,
	"http://127。0。0。1:PORT/":                              netpolicy.NumericHost, // ideographic full stops
	"http://ｌｏｃａｌｈｏｓｔ:PORT/":                              netpolicy.Loopback,
	"http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/":                              netpolicy.Loopback,
	"http://0:PORT/":                                      netpolicy.NumericHost,
	"http://0.0.0.0:PORT/":                                netpolicy.Unspecified,
	"http://[::]:PORT/":                                   netpolicy.Unspecified,
	"http://[::ffff:127.0.0.1]:PORT/":                     netpolicy.EmbeddedIPv4,
	"http://[::ffff:7f00:1]:PORT/":                        netpolicy.EmbeddedIPv4,
	"http://[::127.0.0.1]:PORT/":                          netpolicy.EmbeddedIPv4,
	"http://[64:ff9b::127.0.0.1]:PORT/":                   netpolicy.EmbeddedIPv4, // NAT64
	"http://[64:ff9b:1::7f00:1]:PORT/":                    netpolicy.EmbeddedIPv4,
	"http://[2002:7f00:1::]:PORT/":                        netpolicy.EmbeddedIPv4, // 6to4
	"http://[2001:0:7f00:1::]:PORT/":                      netpolicy.EmbeddedIPv4, // Teredo
	"http://[2620:1::5efe:127.0.0.1]:PORT/":               netpolicy.EmbeddedIPv4, // ISATAP
	"http://[fe80::1%25lo]:PORT/":                         netpolicy.Zone,
	"http://[fe80::1]:PORT/":                              netpolicy.LinkLocal,
	"http://10.0.0.1:PORT/":                               netpolicy.Private,
	"http://172.16.0.1:PORT/":                             netpolicy.Private,
	"http://192.168.1.1:PORT/":                            netpolicy.Private,
	"http://100.64.0.1:PORT/":                             netpolicy.CarrierGrade,
	"http://[fd00::1]:PORT/":                              netpolicy.UniqueLocal,
	"http://169.254.1.1:PORT/":                            netpolicy.LinkLocal,
	"http://169.254.169.254:PORT/latest/meta-data/":       netpolicy.Metadata,
	"http://[fd00:ec2::254]:PORT/":                        netpolicy.Metadata,
	"http://metadata.google.internal:PORT/":               netpolicy.Metadata,
	"http://224.0.0.1:PORT/":                              netpolicy.Multicast,
	"http://255.255.255.255:PORT/":                        netpolicy.Broadcast,
	"http://private.example:PORT/":                        netpolicy.Private, // by their addresses
	"http://loopback.example:PORT/":                       netpolicy.Loopback,
	"http://LOOPBACK.Example.:PORT/":                      netpolicy.Loopback,
	"http://xn--bcher-kva.example:PORT/":                  netpolicy.Loopback,
	"http://bücher.example:PORT/":                         netpolicy.Loopback,
	"http://BÜCHER.example:PORT/":                         netpolicy.Loopback,
	"http://metadata.example:PORT/":                       netpolicy.Metadata,
	"http://rebinding.example:PORT/":                      netpolicy.Loopback,
	"http://mixed.example:PORT/":                          netpolicy.Loopback,
	"http://agent.example@127.0.0.1:PORT/":                "",
	"http://me:secret@agent.example:PORT/":                "",
	"http://agent.example:PORT@127.0.0.1:PORT/":           "",
	"http://127.0.0.1:PORT\\@agent.example/":              "",
	"http://agent.example\t:PORT/":                        "",
	"http:127.0.0.1:PORT/":                                "",
	"file:///etc/passwd":                                  "",
	"gopher://127.0.0.1:PORT/":                            "",
	"unix:///run/agent.sock":                              "",
	"dns:///127.0.0.1:PORT":                               "",
	"http://127.0.0.1:0/":                                 netpolicy.BadPort,
	"http://agent.example:PORT/../../http://127.0.0.1:80": netpolicy.Private,
}

func forbiddenNames() *policytest.Names {
	list := func(raw ...string) (all []netip.Addr) {
		for _, r := range raw {
			all = append(all, netip.MustParseAddr(r))
		}
		return all
	}
	return policytest.NewNames(map[string][][]netip.Addr{
		"agent.example":         {list("10.1.2.3")},
		"private.example":       {list("192.168.1.1")},
		"loopback.example":      {list("127.0.0.1")},
		"xn--bcher-kva.example": {list("127.0.0.1")},
		"metadata.example":      {list("169.254.169.254")},
		"mixed.example":         {list("169.254.1.1", "127.0.0.1")},
		"rebinding.example":     {list("8.8.8.8"), list("127.0.0.1")},
	})
}

// TestForbiddenAddresses tries every address by every way to reach an agent. The
// place that they lead to must see nobody, and every refusal names its rule.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	port := policytest.Unvisited(t)
	names := forbiddenNames()
	resolver := names.Resolver()
	if first, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example"); err != nil || first[0].IsLoopback() {
		t.Fatalf("the first answer for rebinding.example = %v, %v", first, err) // it looked harmless
	}
	client := newClient(t, remote.Options{Network: newPolicy(t, netpolicy.Config{Resolver: resolver})})
	for raw, rule := range forbidden {
		at := strings.ReplaceAll(raw, "PORT", port)
		for way, call := range waysToReach(agenttest.Ways()) {
			err := call(testContext(t), client, at)
			e := outcome(t, err)
			if e.Delivery != remote.NotSent {
				t.Errorf("%s by %s: delivery %s (%v), want that nothing was sent", raw, way, e.Delivery, err)
			}
			var refusal *netpolicy.Refusal
			switch {
			case errors.As(err, &refusal):
				if refusal.Rule != rule || !strings.Contains(e.Message, "(rule "+string(rule)+")") {
					t.Errorf("%s by %s: refused by rule %q, %q; want rule %q, named", raw, way, refusal.Rule, e.Message, rule)
				}
			case rule != "":
				t.Errorf("%s by %s: %v, want it refused by rule %q", raw, way, err, rule)
			}
		}
	}
}

// waysToReach returns every way in which an address is connected to.
func waysToReach(spoken []agenttest.Way) map[string]func(context.Context, *remote.Client, string) error {
	ways := map[string]func(context.Context, *remote.Client, string) error{
		"card": func(ctx context.Context, c *remote.Client, at string) error {
			_, err := c.FetchCard(ctx, "", at)
			return err
		},
	}
	for _, way := range spoken {
		for name, operation := range operations {
			ways[way.String()+" "+name] = func(ctx context.Context, c *remote.Client, at string) error {
				_, err := operation(ctx, c, targetBy(way, at))
				return err
			}
		}
	}
	return ways
}

// TestRedirectsLeadNowhere: a redirect is told, with where it points, and not
// followed, whatever the way and the status. gRPC knows no redirects.
func TestRedirectsLeadNowhere(t *testing.T) {
	t.Parallel()
	inside := "http://127.0.0.1:" + policytest.Unvisited(t) + "/inside"
	client := newClient(t, remote.Options{Network: newPolicy(t, netpolicy.Config{AllowLoopback: true})})
	for _, status := range []int{301, 302, 303, 307, 308} {
		agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside, status) })
		for way, call := range waysToReach(slices.DeleteFunc(agenttest.Ways(), agenttest.Way.OverGRPC)) {
			if e := outcome(t, call(testContext(t), client, agent.URL)); !strings.Contains(e.Message, "which is not followed") {
				t.Errorf("%d by %s: %q, want it to say that redirects are not followed", status, way, e.Message)
			}
		}
	}
}
