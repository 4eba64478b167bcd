package app

import (
	"strings"

	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
	"github.com/agent-taskbay/taskbay/internal/web"
)

// openSignIn makes what signs people in, if they do and this process serves pages.
func (a *App) openSignIn(c config.Config, ring *vault.Ring, o Options) error {
	if !c.SignIn.On() || o.WorkerOnly {
		return nil
	}
	network, err := providerNetwork(c.Network)
	if err != nil {
		return err
	}
	a.signIn, err = signin.New(c.SignIn, signin.Config{
		Update: store.For[signin.Tx](a.db.Update), View: store.For[signin.Tx](a.db.View),
		Keys: ring, Dial: network.DialContext, Command: addCommand, Log: o.Log,
	})
	return err
}

// signingIn is what the pages of signing in are made for; nil where there are none.
func (a *App) signingIn() web.SignIn {
	if a.signIn == nil {
		return nil
	}
	return a.signIn
}

// providerNetwork is the policy for the OpenID provider. Where it is was decided by
// whoever started the server, so that it may be in their own network, and need not be
// among the origins of agents; the proxy is the same.
func providerNetwork(agents netpolicy.Options) (*netpolicy.Policy, error) {
	yes := true
	return netpolicy.Options{AllowLoopback: &yes, AllowPrivate: &yes, Proxy: agents.Proxy}.Policy(false)
}

// addCommand is the command that makes somebody a member, for whoever reads the log.
func addCommand(issuer, subject string) string {
	return "taskbay user add --issuer " + quoted(issuer) + " --subject " + quoted(subject) + " --name NAME --role viewer"
}

// quoted writes a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
