package apptest

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/signin/providertest"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// Console is a product that people sign in to, as an organisation has it: at an OpenID
// provider, and behind a proxy that has a certificate.
type Console struct {
	*Server
	Origin   string // of the proxy
	Provider *providertest.Provider
	Proxy    *httptest.Server
	dataDir  string
}

// StartConsole runs a product that people sign in to, on SQLite, until the test ends.
// Nobody is a member.
func StartConsole(t *testing.T, o Options) *Console {
	t.Helper()
	c := &Console{}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := url.Parse(c.URL())
		if err != nil {
			panic(err)
		}
		(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Host = p.In.Host
		}}).ServeHTTP(w, r)
	}))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	c.Proxy, c.Origin = proxy, proxy.URL
	c.Provider = providertest.Start(t, c.Origin+signin.CallbackPath)
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	c.dataDir = o.DataDir
	change := o.Change
	yes := true
	o.Change = func(config *config.Config) {
		config.Network.AllowLoopback = &yes // that is where the agents of tests are
		config.SignIn = signin.Options{
			Origin: c.Origin, Issuer: c.Provider.Issuer, ClientID: providertest.ClientID,
			ClientSecretFile: c.Provider.SecretFile, CAFile: c.Provider.CAFile,
		}
		if change != nil {
			change(config)
		}
	}
	c.Server = Start(t, o)
	return c
}

// Member lets somebody in, and returns the ID of their membership.
func (c *Console) Member(subject, name string, role access.Role) (id string) {
	c.t.Helper()
	c.beside(func(members *access.Members, p access.Principal) error {
		m, err := members.Add(context.Background(), p, access.NewMember{Issuer: c.Provider.Issuer, Subject: subject, Name: name, Role: role})
		id = m.ID
		return err
	})
	return id
}

// Disable has a member not let in any more.
func (c *Console) Disable(id string) {
	c.t.Helper()
	no := false
	c.beside(func(members *access.Members, p access.Principal) error {
		_, err := members.Change(context.Background(), p, id, access.MemberChange{Enabled: &no})
		return err
	})
}

// beside changes members beside the server, as commands on its machine do.
func (c *Console) beside(change func(*access.Members, access.Principal) error) {
	c.t.Helper()
	db, err := store.OpenSQLite(context.Background(), c.dataDir, &live.Hub{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	members := &access.Members{
		Update: store.For[access.MemberTx](db.Update), View: store.For[access.MemberTx](db.View),
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	}
	if err := change(members, access.Command("test")); err != nil {
		c.t.Fatal(err)
	}
}
