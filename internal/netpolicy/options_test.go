package netpolicy_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	no, yes := false, true
	type reached = map[string]netpolicy.Rule // what CheckURL says; "" if it may be reached
	tests := map[string]struct {
		options netpolicy.Options
		want    reached
	}{
		"none": {netpolicy.Options{}, reached{
			"http://127.0.0.1:4010/": "", "http://192.168.1.2/": "", "https://agent.example/": "",
			"http://169.254.169.254/": netpolicy.Metadata, "http://0.0.0.0/": netpolicy.Unspecified,
		}},
		"said": {netpolicy.Options{AllowLoopback: &yes, AllowPrivate: &yes}, reached{"http://[::1]/": "", "http://10.0.0.1/": ""}},
		"no loopback": {netpolicy.Options{AllowLoopback: &no}, reached{
			"http://localhost/": netpolicy.Loopback, "http://10.0.0.1/": "",
		}},
		"nothing private": {netpolicy.Options{AllowPrivate: &no}, reached{
			"http://127.0.0.1/": "", "http://10.0.0.1/": netpolicy.Private, "http://[fd12::1]/": netpolicy.UniqueLocal, "http://100.64.1.1/": netpolicy.CarrierGrade,
		}},
		"HTTPS": {netpolicy.Options{RequireHTTPS: true}, reached{"http://agent.example/": netpolicy.HTTPSOnly, "https://agent.example/": ""}},
		"origins": {netpolicy.Options{AllowOrigin: []string{"https://a.example", "http://127.0.0.1:4010"}}, reached{
			"https://a.example/x": "", "http://127.0.0.1:4010/x": "", "https://b.example/": netpolicy.NotListed, "http://a.example/": netpolicy.NotListed,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := tc.options.Policy(true)
			if err != nil {
				t.Fatalf("Policy(true) error = %v", err)
			}
			for raw, want := range tc.want {
				u, err := url.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				err = p.CheckURL(u)
				if want == "" && err != nil || want != "" && ruleOf(t, err) != want {
					t.Errorf("CheckURL(%s) = %v, want rule %q", raw, err, want)
				}
			}
		})
	}
}

func TestOptionsWherePeopleSignIn(t *testing.T) {
	t.Parallel()
	yes := true
	for name, tc := range map[string]struct {
		options           netpolicy.Options
		loopback, private netpolicy.Rule
	}{
		"none":          {netpolicy.Options{}, netpolicy.Loopback, netpolicy.Private},
		"with loopback": {netpolicy.Options{AllowLoopback: &yes}, "", netpolicy.Private},
		"with private":  {netpolicy.Options{AllowPrivate: &yes}, netpolicy.Loopback, ""},
	} {
		p, err := tc.options.Policy(false)
		if err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]netpolicy.Rule{"127.0.0.1": tc.loopback, "10.0.0.1": tc.private} {
			err := p.CheckURL(&url.URL{Scheme: "http", Host: address, Path: "/"})
			if want == "" && err != nil || want != "" && ruleOf(t, err) != want {
				t.Errorf("%s: CheckURL(%s) = %v, want rule %q", name, address, err, want)
			}
		}
	}
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options netpolicy.Options
		want    string
	}{
		"origin with a path":  {netpolicy.Options{AllowOrigin: []string{"https://a.example/agent"}}, "leave out the path"},
		"origin without TLS":  {netpolicy.Options{AllowOrigin: []string{"http://a.example"}, RequireHTTPS: true}, "HTTPS is required"},
		"proxy, unreadable":   {netpolicy.Options{Proxy: "http://me:canary-pass@[::1"}, "proxy cannot be read"},
		"proxy at metadata":   {netpolicy.Options{Proxy: "http://me:canary-pass@169.254.169.254"}, "proxy cannot be at this address"},
		"proxy without a way": {netpolicy.Options{Proxy: "socks5://me:canary-pass@proxy.example"}, "proxy cannot be used"},
	} {
		_, err := tc.options.Policy(true)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "canary-pass") {
			t.Errorf("%s: error = %v, want one that contains %q and no password", name, err, tc.want)
		}
	}
}
