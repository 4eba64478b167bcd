// Package providertest runs an OpenID provider for tests: a maintained one, over TLS,
// with a certificate of its own authority.
package providertest

import (
	"crypto/rand"
	"crypto/tls"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
)

// What the one client is registered with.
const (
	ClientID     = "taskbay"
	ClientSecret = "client-secret-of-the-test"
)

// Provider is a running provider. Whoever names a subject on its login page is signed in
// as that.
type Provider struct {
	Issuer     string
	CAFile     string // with the certificate of its authority
	SecretFile string // with the secret of the client
	storage    *storage
	op         *op.Provider
	away       atomic.Bool
	client     *http.Client // that trusts the authority
}

// Start runs a provider until the test ends. It sends browsers back to that address
// alone.
func Start(t *testing.T, callback string) *Provider {
	t.Helper()
	authority := certtest.NewAuthority(t)
	pair := authority.Server(t, time.Now().AddDate(1, 0, 0))
	own, err := tls.X509KeyPair([]byte(pair.Certificate), []byte(pair.Key))
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{storage: newStorage(t, callback)}
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	server.StartTLS()
	t.Cleanup(server.Close)
	p.Issuer, p.client = server.URL, server.Client()
	p.CAFile, p.SecretFile = file(t, authority.PEM), file(t, ClientSecret+"\n")
	config := &op.Config{CodeMethodS256: true, SupportedScopes: []string{oidc.ScopeOpenID}}
	_, _ = rand.Read(config.CryptoKey[:]) // never fails
	if p.op, err = op.NewProvider(config, p.storage, op.StaticIssuer(p.Issuer)); err != nil {
		t.Fatal(err)
	}
	return p
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Away has the provider answer nothing any more, or answer again.
func (p *Provider) Away(away bool) { p.away.Store(away) }

// Rotate has the provider sign with a new key from now on.
func (p *Provider) Rotate(t *testing.T) {
	t.Helper()
	p.storage.rotate(t)
}

// loginPage asks who somebody is. Nobody has a password here.
var loginPage = template.Must(template.New("login").Parse(`<!DOCTYPE html>
<html lang="en"><title>Provider</title><link rel="icon" href="data:,"><h1>Who are you?</h1>
<form method="post"><input type="hidden" name="id" value="{{.}}">
<label>Subject <input name="subject" id="subject"></label>
<button id="login" name="do" value="login">Sign in</button> <button id="deny" name="do" value="deny">Deny</button></form></html>`))

// ServeHTTP answers for the provider and its login page.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case p.away.Load():
		panic(http.ErrAbortHandler) // the connection breaks
	case r.URL.Path != loginPath:
		p.op.ServeHTTP(w, r)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = loginPage.Execute(w, r.URL.Query().Get("id")) // a browser that went away is nobody to tell
	default:
		p.login(w, r)
	}
}

func (p *Provider) login(w http.ResponseWriter, r *http.Request) {
	began, err := p.storage.AuthRequestByID(r.Context(), r.PostFormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.PostFormValue("do") == "deny" {
		op.AuthRequestError(w, r, began, oidc.ErrAccessDenied().WithDescription("The person said no."), p.op)
		return
	}
	p.storage.signIn(began.GetID(), r.PostFormValue("subject"))
	http.Redirect(w, r, p.Issuer+"/authorize/callback?id="+url.QueryEscape(began.GetID()), http.StatusSeeOther)
}

// SignIn goes to the provider as a browser that was sent to an address there does, says
// who it is, and returns the address that it is sent back to, without going there.
func (p *Provider) SignIn(t *testing.T, address, subject string) string {
	t.Helper()
	return p.answer(t, address, url.Values{"do": {"login"}, "subject": {subject}})
}

// Deny is SignIn of somebody who thinks better of it.
func (p *Provider) Deny(t *testing.T, address string) string {
	t.Helper()
	return p.answer(t, address, url.Values{"do": {"deny"}})
}

func (p *Provider) answer(t *testing.T, address string, form url.Values) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	browser := &http.Client{Transport: p.client.Transport, Jar: jar, CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(next.URL.String(), p.Issuer+"/") {
			return nil
		}
		back = next.URL.String()
		return http.ErrUseLastResponse
	}}
	page, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close()
	if page.Request.URL.Path != loginPath {
		t.Fatalf("the provider answers %s at %s, want its login page", page.Status, page.Request.URL.Path)
	}
	form.Set("id", page.Request.URL.Query().Get("id"))
	done, err := browser.PostForm(page.Request.URL.String(), form)
	if err != nil {
		t.Fatal(err)
	}
	_ = done.Body.Close()
	if back == "" {
		t.Fatalf("the provider answers %s, and sends the browser nowhere", done.Status)
	}
	return back
}
