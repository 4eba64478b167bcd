package scheme_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

const (
	canary = "canary-3b1f/+=9c"
	origin = "https://agent.example"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// good returns a credential of each kind with nothing wrong.
func good(t *testing.T, kind scheme.Kind) scheme.Credential {
	t.Helper()
	c := scheme.Credential{Kind: kind, Origins: []string{origin}, Secret: canary}
	switch kind {
	case scheme.APIKey:
		c.Header = "X-API-Key"
	case scheme.Basic:
		c.Username = "ann"
	case scheme.OAuth2:
		c.TokenURL, c.ClientID, c.ClientAuth = "https://login.example/token?p=1", "console", scheme.ClientSecretBasic
	case scheme.MutualTLS:
		pair := certtest.NewAuthority(t).Client(t, noon.Add(time.Hour))
		c.Certificate, c.Secret = pair.Certificate, scheme.Secret(pair.Key)
	}
	return c
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind   scheme.Kind
		change func(*scheme.Credential)
		local  bool
	}{
		"bearer":               {kind: scheme.Bearer},
		"API key":              {kind: scheme.APIKey},
		"API key with spaces":  {kind: scheme.APIKey, change: func(c *scheme.Credential) { c.Secret = "key one two" }},
		"basic":                {kind: scheme.Basic},
		"key as user name":     {kind: scheme.Basic, change: func(c *scheme.Credential) { c.Username, c.Secret = canary, "" }},
		"password beyond":      {kind: scheme.Basic, change: func(c *scheme.Credential) { c.Secret = "pâsswörd : 🔑" }},
		"OAuth":                {kind: scheme.OAuth2},
		"OAuth, post":          {kind: scheme.OAuth2, change: func(c *scheme.Credential) { c.ClientAuth = scheme.ClientSecretPost }},
		"OAuth with all":       {kind: scheme.OAuth2, change: func(c *scheme.Credential) { c.Scope, c.Audience = "a:read b/.default", "https://agent.example/" }},
		"OAuth, token locally": {kind: scheme.OAuth2, local: true, change: func(c *scheme.Credential) { c.TokenURL = "http://localhost:9/token" }},
		"mutual TLS":           {kind: scheme.MutualTLS},
		"mutual TLS, byte order marks": {kind: scheme.MutualTLS, change: func(c *scheme.Credential) {
			c.Certificate, c.Secret = "\uFEFF"+c.Certificate, "\uFEFF"+c.Secret
			c.CA = c.Certificate
		}},
		"twenty origins": {kind: scheme.Bearer, change: func(c *scheme.Credential) {
			c.Origins = strings.Split(strings.TrimSuffix(strings.Repeat(origin+",", 20), ","), ",")
		}},
		"local origins": {kind: scheme.Bearer, local: true, change: func(c *scheme.Credential) {
			c.Origins = []string{"http://127.0.0.1:4010", "http://localhost", "http://[::1]:9", origin}
		}},
	}
	for name, tc := range tests {
		c := good(t, tc.kind)
		if tc.change != nil {
			tc.change(&c)
		}
		if _, faults := scheme.Check(c, scheme.Rules{Local: tc.local, Now: noon}); len(faults) > 0 {
			t.Errorf("%s: faults %v, want none", name, faults)
		}
	}
}

func TestCheckCompletes(t *testing.T) {
	t.Parallel()
	c := good(t, scheme.OAuth2)
	c.Origins = []string{" HTTPS://Agent.Example:443/ ", "https://bücher.example:8443", origin, "https://[2001:DB8:0::1]"}
	c.ClientAuth, c.ClientID, c.Scope = "", " console\n", " b  a "
	got, faults := scheme.Check(c, scheme.Rules{Now: noon})
	want := scheme.Credential{
		Kind: scheme.OAuth2, Secret: canary, TokenURL: c.TokenURL, ClientID: "console", ClientAuth: scheme.ClientSecretBasic, Scope: "b a",
		Origins: []string{"https://[2001:db8::1]", origin, "https://xn--bcher-kva.example:8443"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(faults) > 0 {
		t.Errorf("Check() faults %v, mismatch (-want +got):\n%s", faults, diff)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	set := func(f func(*scheme.Credential)) func(*scheme.Credential) { return f }
	secret := func(s string) func(*scheme.Credential) {
		return func(c *scheme.Credential) { c.Secret = scheme.Secret(s) }
	}
	origins := func(o ...string) func(*scheme.Credential) {
		return func(c *scheme.Credential) { c.Origins = o }
	}
	tests := map[string]struct {
		kind           scheme.Kind
		change         func(*scheme.Credential)
		location, want string
	}{
		"unknown kind":        {"cookie", secret(canary), "kind", "bearer, api-key, basic, oauth2 or mtls"},
		"no token":            {scheme.Bearer, secret(""), "secret", "Give the token"},
		"short token":         {scheme.Bearer, secret("12345"), "secret", "fewer than 6 characters"},
		"endless token":       {scheme.Bearer, secret(strings.Repeat("x", 16<<10+1)), "secret", "at most 16 KiB"},
		"token of two lines":  {scheme.Bearer, secret("canary\r\nX-Evil: 1"), "secret", "one line"},
		"token beyond ASCII":  {scheme.Bearer, secret("canäry-token"), "secret", "printable ASCII"},
		"token with its word": {scheme.Bearer, secret("Bearer " + canary), "secret", "Leave out the word Bearer"},
		"token with spaces":   {scheme.Bearer, secret("canary token"), "secret", "no spaces"},
		"key with a tail":     {scheme.APIKey, secret(canary + " "), "secret", "without spaces around"},
		"token with a header": {scheme.Bearer, set(func(c *scheme.Credential) { c.Header = "X" }), "header", "kind bearer has none"},
		"key without header":  {scheme.APIKey, set(func(c *scheme.Credential) { c.Header = " " }), "header", "needs one"},
		"no user name":        {scheme.Basic, set(func(c *scheme.Credential) { c.Username = "" }), "username", "needs one"},
		"colon":               {scheme.Basic, set(func(c *scheme.Credential) { c.Username = "a:b" }), "username", "no colon"},
		"short password":      {scheme.Basic, secret("admin"), "secret", "fewer than 6"},
		"short key as name":   {scheme.Basic, set(func(c *scheme.Credential) { c.Username, c.Secret = "ann", "" }), "username", "fewer than 6"},
		"line in a password":  {scheme.Basic, secret("canary\nx"), "secret", "one line"},
		"no client":           {scheme.OAuth2, set(func(c *scheme.Credential) { c.ClientID = "" }), "clientId", "needs one"},
		"token URL relative":  {scheme.OAuth2, set(func(c *scheme.Credential) { c.TokenURL = "/token" }), "tokenUrl", "address of a token endpoint"},
		"token URL plain":     {scheme.OAuth2, set(func(c *scheme.Credential) { c.TokenURL = "http://127.0.0.1/token" }), "tokenUrl", "https://"},
		"token URL with user": {scheme.OAuth2, set(func(c *scheme.Credential) { c.TokenURL = "https://a:b@login.example/" }), "tokenUrl", "user name"},
		"token URL fragment":  {scheme.OAuth2, set(func(c *scheme.Credential) { c.TokenURL = "https://login.example/#x" }), "tokenUrl", "#"},
		"client auth":         {scheme.OAuth2, set(func(c *scheme.Credential) { c.ClientAuth = "private_key_jwt" }), "clientAuth", "client_secret_post"},
		"scope":               {scheme.OAuth2, set(func(c *scheme.Credential) { c.Scope = `a"b` }), "scope", "neither"},
		"audience":            {scheme.OAuth2, set(func(c *scheme.Credential) { c.Audience = "a\nb" }), "audience", "cannot be seen"},
		"long audience":       {scheme.OAuth2, set(func(c *scheme.Credential) { c.Audience = strings.Repeat("a", 1025) }), "audience", "at most 1024"},

		"no origin":       {scheme.Bearer, origins(), "origins", "Say where it may be sent"},
		"many origins":    {scheme.Bearer, origins(strings.Split(strings.Repeat(origin+",", 20)+origin, ",")...), "origins", "at most 20"},
		"plain":           {scheme.Bearer, origins("http://agent.example"), "origins", "https://"},
		"plain loopback":  {scheme.Bearer, origins("http://127.0.0.1:1"), "origins", "https://"},
		"path":            {scheme.Bearer, origins(origin + "/a2a"), "origins", "Leave out what follows"},
		"query":           {scheme.Bearer, origins(origin + "?"), "origins", "Leave out what follows"},
		"user":            {scheme.Bearer, origins("https://ann@agent.example"), "origins", "user name"},
		"wildcard":        {scheme.Bearer, origins("https://*.example"), "origins", "no wildcards"},
		"dot":             {scheme.Bearer, origins("https://agent.example."), "origins", "cannot be one"},
		"port":            {scheme.Bearer, origins(origin + ":0"), "origins", "cannot be one"},
		"zone":            {scheme.Bearer, origins("https://[fe80::1%25eth0]"), "origins", "cannot be one"},
		"other scheme":    {scheme.Bearer, origins("ftp://agent.example"), "origins", "https://"},
		"host alone":      {scheme.Bearer, origins("agent.example"), "origins", "https:// and a host"},
		"the second":      {scheme.Bearer, origins(origin, "x"), "origins", "Number 2: "},
		"certificate":     {scheme.MutualTLS, set(func(c *scheme.Credential) { c.Certificate = "x" }), "certificate", "PEM"},
		"no certificate":  {scheme.MutualTLS, set(func(c *scheme.Credential) { c.Certificate = "" }), "certificate", "needs one"},
		"big certificate": {scheme.MutualTLS, set(func(c *scheme.Credential) { c.Certificate = strings.Repeat("x", 64<<10+1) }), "certificate", "at most 64 KiB"},
		"authority":       {scheme.MutualTLS, set(func(c *scheme.Credential) { c.CA = "x" }), "ca", "PEM"},
		"no key":          {scheme.MutualTLS, secret(""), "secret", "private key"},
		"no PEM":          {scheme.MutualTLS, secret(canary), "secret", "not a private key"},
		"locked key":      {scheme.MutualTLS, secret("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "secret", "passphrase"},
		"broken key":      {scheme.MutualTLS, secret("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"), "secret", "cannot be read"},
		"another's key": {scheme.MutualTLS, set(func(c *scheme.Credential) {
			c.Secret = good(t, scheme.MutualTLS).Secret
		}), "secret", "not that of the certificate"},
		"expired": {scheme.MutualTLS, set(func(c *scheme.Credential) {
			pair := certtest.NewAuthority(t).Client(t, noon.Add(-time.Hour))
			c.Certificate, c.Secret = pair.Certificate, scheme.Secret(pair.Key)
		}), "certificate", "expired on 1 June 2026"},
		"for servers": {scheme.MutualTLS, set(func(c *scheme.Credential) {
			pair := certtest.NewAuthority(t).Server(t, noon.Add(time.Hour))
			c.Certificate, c.Secret = pair.Certificate, scheme.Secret(pair.Key)
		}), "certificate", "not for clients"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good(t, tc.kind)
			tc.change(&c)
			_, faults := scheme.Check(c, scheme.Rules{Now: noon})
			found := false
			for _, f := range faults {
				found = found || f.Location == tc.location && strings.Contains(f.Message, tc.want)
				if s := string(c.Secret); s != "" && strings.Contains(f.Message, s) {
					t.Errorf("a fault repeats the secret: %q", f.Message)
				}
			}
			if !found {
				t.Errorf("faults %v, want one at %s that contains %q", faults, tc.location, tc.want)
			}
		})
	}
}

func TestLocalMutualTLSNeedsTLS(t *testing.T) {
	t.Parallel()
	c := good(t, scheme.MutualTLS)
	c.Origins = []string{"http://127.0.0.1:1"}
	_, faults := scheme.Check(c, scheme.Rules{Local: true, Now: noon})
	if len(faults) != 1 || faults[0].Location != "origins" {
		t.Errorf("faults %v, want one about the origin", faults)
	}
}

func TestHeaderNames(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"X-API-Key": true, "api_key": true, "X-Auth-Token": true, "Ocp-Apim-Subscription-Key": true, "X-Goog-Api-Key": true,

		"Host": false, "cookie": false, "Set-Cookie": false, "Connection": false, "Content-Type": false, "content-length": false,
		"CONTENT-x": false, "Transfer-Encoding": false, "TE": false, "Trailer": false, "Upgrade": false, "Keep-Alive": false,
		"Authorization": false, "Proxy-Authorization": false, "WWW-Authenticate": false, "Proxy-Connection": false,
		"Sec-Fetch-Site": false, "A2A-Version": false, "X-A2A-Extensions": false, "A2A-Notification-Token": false,
		"Accept": false, "Accept-Encoding": false, "User-Agent": false, "Expect": false, "Origin": false, "Referer": false,
		"X-Forwarded-For": false, "Forwarded": false, "If-None-Match": false, "Range": false, "grpc-timeout": false, "key-bin": false,
		"HTTP2-Settings": false, ":authority": false, "X Key": false, "X-Key:": false, "X-Ké": false, "X-Key\r\nHost": false,
		strings.Repeat("x", 101): false,
	}
	for name, ok := range tests {
		c := good(t, scheme.APIKey)
		c.Header = name
		_, faults := scheme.Check(c, scheme.Rules{Now: noon})
		if got := len(faults) == 0; got != ok {
			t.Errorf("header %q: faults %v, want it accepted: %v", name, faults, ok)
		}
	}
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"https://Agent.example/a/b?c#d": "https://agent.example",
		"https://agent.example:443":     "https://agent.example",
		"https://agent.example:":        "https://agent.example",
		"https://agent.example:0443":    "https://agent.example",
		"http://agent.example:80":       "http://agent.example",
		"http://agent.example:443":      "http://agent.example:443",
		"https://a_b.internal:8443":     "https://a_b.internal:8443",
		"https://user:x@agent.example":  "https://agent.example",
		"https://BÜCHER.example":        "https://xn--bcher-kva.example",
		"https://agent。example":         "https://agent.example", // an ideographic full stop
		"https://[2001:DB8::0:1]:443":   "https://[2001:db8::1]",
		"https://127.0.0.1:1":           "https://127.0.0.1:1",

		"https://agent.example.": "", "https://.example": "", "https://a..b": "", "https://": "", "https://[fe80::1%25x]": "",
		"ftp://agent.example": "", "agent.example": "", "https://agent.example:70000": "", "https://agent example": "",
	}
	for address, want := range tests {
		u, err := url.Parse(address)
		if err != nil {
			if want != "" {
				t.Errorf("Parse(%q) error = %v", address, err)
			}
			continue
		}
		if got := scheme.OriginOf(u); got != want {
			t.Errorf("OriginOf(%q) = %q, want %q", address, got, want)
		}
	}
}
