package signin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/signin"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	good := signin.Options{Origin: origin, Issuer: "https://login.example/realms/a", ClientID: "taskbay"}
	for name, tc := range map[string]struct {
		change func(*signin.Options)
		want   string // "" is valid
	}{
		"as it should be":             {func(*signin.Options) {}, ""},
		"nothing":                     {func(o *signin.Options) { *o = signin.Options{} }, ""},
		"a port":                      {func(o *signin.Options) { o.Origin = "https://console.example:8443" }, ""},
		"all on this machine":         {func(o *signin.Options) { o.Origin, o.Issuer = "http://localhost:3002", "http://127.0.0.1:9000" }, ""},
		"IPv6":                        {func(o *signin.Options) { o.Origin = "http://[::1]:3002" }, ""},
		"no issuer, but a client":     {func(o *signin.Options) { o.Issuer = "" }, "--oidc-issuer is missing"},
		"an origin without sign-in":   {func(o *signin.Options) { *o = signin.Options{Origin: origin} }, "--origin goes with --oidc-issuer"},
		"no client":                   {func(o *signin.Options) { o.ClientID = "" }, "--oidc-client-id is missing"},
		"no origin":                   {func(o *signin.Options) { o.Origin = "" }, "--origin is missing"},
		"an issuer in the clear":      {func(o *signin.Options) { o.Issuer = "http://login.example" }, "has to begin with https://"},
		"an issuer with a query":      {func(o *signin.Options) { o.Issuer += "?a" }, "has a query or a fragment"},
		"an issuer with a fragment":   {func(o *signin.Options) { o.Issuer += "#" }, "has a query or a fragment"},
		"an issuer without a scheme":  {func(o *signin.Options) { o.Issuer = "login.example" }, "is no address of a provider"},
		"an issuer with a password":   {func(o *signin.Options) { o.Issuer = "https://a:b@login.example" }, "is no address of a provider"},
		"an origin in the clear":      {func(o *signin.Options) { o.Origin = "http://console.example" }, "has to begin with https://"},
		"an origin with a slash":      {func(o *signin.Options) { o.Origin += "/" }, "has more than an origin"},
		"an origin with a path":       {func(o *signin.Options) { o.Origin += "/taskbay" }, "has more than an origin"},
		"an origin in capitals":       {func(o *signin.Options) { o.Origin = "https://Console.example" }, "has more than an origin"},
		"an origin with its own port": {func(o *signin.Options) { o.Origin += ":443" }, "has more than an origin"},
		"an origin with half a port":  {func(o *signin.Options) { o.Origin += ":" }, "has more than an origin"},
		"an origin of a script":       {func(o *signin.Options) { o.Origin = "javascript:alert(1)" }, "--origin is none"},
	} {
		o := good
		tc.change(&o)
		err := o.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestSecret(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := signin.Options{Origin: origin, Issuer: "https://login.example", ClientID: "taskbay"}
	for name, tc := range map[string]struct {
		secret, ca, environment, want string
	}{
		"none":             {"", "", "", ""},
		"the environment":  {"", "", "secret", ""},
		"both":             {empty, "", "secret", "are both set"},
		"an empty file":    {empty, "", "", "is empty"},
		"no such file":     {empty + "x", "", "", "cannot be used"},
		"no certificates":  {"", empty, "", "holds no certificate"},
		"no such CA file":  {"", empty + "x", "", "cannot be used"},
		"a CA in a folder": {"", filepath.Dir(empty), "", "cannot be used"},
	} {
		t.Setenv("TASKBAY_OIDC_CLIENT_SECRET", tc.environment)
		o.ClientSecretFile, o.CAFile = tc.secret, tc.ca
		_, err := signin.New(o, signin.Config{})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/": "/", "/tasks": "/tasks", "/tasks?q=a%20b&state=done": "/tasks?q=a%20b&state=done", "/agents/": "/agents/", "/tasks#end": "/tasks", "/a%20b": "/a%20b",
		"/signing": "/signing", "/tasks?to=https://evil.example": "/tasks?to=https://evil.example",

		"": "/", "tasks": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", `/tasks\..\x`: "/", "https://evil.example/": "/",
		"https:evil.example": "/", "javascript:alert(1)": "/", "data:text/html,x": "/", "/\t/evil.example": "/", "/\n/evil.example": "/", " //evil.example": "/", "/ /evil.example": "/",
		"/\r\nSet-Cookie: a=b": "/", "/%0d%0aSet-Cookie:a=b": "/", "/%5cevil.example": "/", "/%09/evil.example": "/", "/%00": "/", "/%2f/evil.example": "/", "/%2fevil.example": "/", "/tasks//x": "/", "/./tasks": "/",
		"/tasks/../..//evil.example": "/", "/..//evil.example": "/", "/%2e%2e//evil.example": "/", "/%zz": "/", "/\u00a0/evil.example": "/", "/\xff": "/",
		"/signin": "/", "/signin?to=/tasks": "/", "/auth/login": "/", "/auth/callback?code=x": "/", "/auth": "/", "/" + strings.Repeat("a", 1024): "/",
	} {
		if got := signin.Path(to); got != want {
			t.Errorf("Path(%q) = %q, want %q", to, got, want)
		}
	}
}

// FuzzPath has no text lead a browser to another origin.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"/tasks?a=b", "//evil.example", `/\evil.example`, "/%5c", "/%2f%2fevil.example", "/..//x", "/a\tb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, to string) {
		got := signin.Path(to)
		if !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\t\r\n\x00#") {
			t.Errorf("Path(%q) = %q", to, got)
		}
		if again := signin.Path(got); again != got {
			t.Errorf("Path(%q) = %q, and of that %q", to, got, again)
		}
	})
}
