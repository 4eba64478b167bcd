package netpolicy

import (
	"net/url"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Options are a server's options about where it connects to.
type Options struct {
	AllowLoopback *bool    `negatable:"" env:"TASKBAY_ALLOW_LOOPBACK" help:"Let agents be at addresses of this machine. They may where only you use this Taskbay, and not where people sign in, unless this says otherwise."`
	AllowPrivate  *bool    `negatable:"" env:"TASKBAY_ALLOW_PRIVATE" help:"Let agents be at private, unique-local and carrier-grade addresses. They may where only you use this Taskbay, and not where people sign in, unless this says otherwise."`
	AllowOrigin   []string `env:"TASKBAY_ALLOW_ORIGIN" placeholder:"ORIGIN" help:"The only origins that are connected to, such as https://agents.example.com:8443. Any if there are none."`
	RequireHTTPS  bool     `name:"require-https" env:"TASKBAY_REQUIRE_HTTPS" help:"Connect to https:// addresses only."`
	Proxy         string   `env:"TASKBAY_PROXY" placeholder:"URL" help:"Proxy that every connection goes through, such as http://proxy.example.com:3128. The variables HTTP_PROXY and the like are not used. Others on this machine can read flags, so give one with a password by the environment or the file."`
}

// Policy returns the policy of the options. A local server is for one person at one
// machine, whose own networks it may reach unless the options say otherwise. Its error, in words for the person
// who set them, says which one cannot be used, and does not repeat a password.
func (o Options) Policy(local bool) (*Policy, error) {
	c := Config{
		AllowLoopback: said(o.AllowLoopback, local),
		AllowPrivate:  said(o.AllowPrivate, local),
		Origins:       o.AllowOrigin,
		RequireHTTPS:  o.RequireHTTPS,
	}
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil { // its text would repeat the URL
			return nil, fault.New(fault.Unprocessable, "The URL of the proxy cannot be read. Write it like http://proxy.example.com:3128.")
		}
		c.Proxy = u
	}
	return New(c)
}

// said is what an option says, or what holds without it.
func said(option *bool, otherwise bool) bool {
	if option == nil {
		return otherwise
	}
	return *option
}
