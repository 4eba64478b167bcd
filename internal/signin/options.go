package signin

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Options name the OpenID provider that people sign in with. They are part of a
// server's options. The secret of the client is no flag, as others on a machine can
// read the arguments of a process.
type Options struct {
	Origin           string `env:"TASKBAY_ORIGIN" placeholder:"ORIGIN" help:"Where people open this Taskbay, such as https://console.example. Needed with --oidc-issuer; nothing that a request says stands in for it."`
	Issuer           string `name:"oidc-issuer" env:"TASKBAY_OIDC_ISSUER" placeholder:"URL" help:"OpenID provider that people sign in with, by its exact issuer, such as https://login.example. Without it there is one local operator, and only this machine is served."`
	ClientID         string `name:"oidc-client-id" env:"TASKBAY_OIDC_CLIENT_ID" placeholder:"ID" help:"What this Taskbay is registered as at the provider, with ORIGIN/auth/callback as the address to come back to."`
	ClientSecretFile string `name:"oidc-client-secret-file" type:"path" env:"TASKBAY_OIDC_CLIENT_SECRET_FILE" placeholder:"FILE" help:"File with the secret that the provider gave for the client ID. TASKBAY_OIDC_CLIENT_SECRET in the environment can hold the secret itself instead; neither is needed for a public client."`
	CAFile           string `name:"oidc-ca-file" type:"path" env:"TASKBAY_OIDC_CA_FILE" placeholder:"FILE" help:"Certificates, as PEM, of the authorities that the provider's own is checked against, instead of those of the system."`
}

// secretVariable is the variable of the environment that may hold the secret.
const secretVariable = "TASKBAY_OIDC_CLIENT_SECRET"

// maxFile bounds the files that the options name.
const maxFile = 1 << 20

// On reports whether people sign in.
func (o Options) On() bool { return o.Issuer != "" }

// Validate returns an error, in words for the person who set them, if nobody can sign
// in by the options. It reads no file.
func (o Options) Validate() error {
	if !o.On() {
		if o.ClientID != "" || o.ClientSecretFile != "" || o.CAFile != "" {
			return errors.New("--oidc-issuer is missing: the other options of sign-in are for the provider that it names")
		}
		if o.Origin != "" {
			return errors.New("--origin goes with --oidc-issuer: without sign-in only this machine is served, by its loopback addresses")
		}
		return nil
	}
	if err := checkIssuer(o.Issuer); err != nil {
		return err
	}
	if o.ClientID == "" {
		return errors.New("--oidc-client-id is missing: register this Taskbay at the provider, and give the ID that it gets there")
	}
	return checkOrigin(o.Origin)
}

func checkIssuer(issuer string) error {
	const right = "write it exactly as the provider's .well-known/openid-configuration does, such as https://login.example"
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil:
		return fmt.Errorf("--oidc-issuer is no address of a provider: %s", right)
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(issuer, "#"):
		return fmt.Errorf("--oidc-issuer %q has a query or a fragment: %s", issuer, right)
	case !safeScheme(u):
		return fmt.Errorf("--oidc-issuer %q has to begin with https://; http:// is for a provider on this machine alone", issuer)
	}
	return nil
}

// checkOrigin wants an origin as browsers write it, because what browsers say of
// where a request comes from is compared with it.
func checkOrigin(origin string) error {
	const right = "write it as a browser does, such as https://console.example"
	if origin == "" {
		return errors.New("--origin is missing: say where people open this Taskbay, such as https://console.example. It is what the provider sends them back to")
	}
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("--origin is none: %s", right)
	}
	if !safeScheme(u) {
		return fmt.Errorf("--origin %q has to begin with https://: sessions would be readable on the way. Put a reverse proxy with a certificate in front; http:// is for this machine alone", origin)
	}
	if bare := u.Scheme + "://" + strings.ToLower(u.Host); origin != bare || u.Port() == defaultPort(u.Scheme) || strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("--origin %q has more than an origin, or is written in another way: %s, without a path, a slash at the end, capitals or the usual port", origin, right)
	}
	return nil
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// safeScheme reports whether what goes to an address stays unread on the way.
func safeScheme(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// secret returns the client's secret; "" for a public client.
func (o Options) secret() (string, error) {
	given := os.Getenv(secretVariable)
	if o.ClientSecretFile == "" {
		return given, nil
	}
	if given != "" {
		return "", fmt.Errorf("%s and --oidc-client-secret-file are both set: keep one", secretVariable)
	}
	content, err := read(o.ClientSecretFile)
	if err != nil {
		return "", fmt.Errorf("--oidc-client-secret-file cannot be used: %w", err)
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", fmt.Errorf("--oidc-client-secret-file cannot be used: %s is empty", o.ClientSecretFile)
	}
	return secret, nil
}

// authorities returns what the provider's certificate is checked against; nil is the
// system's.
func (o Options) authorities() (*x509.CertPool, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	content, err := read(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("--oidc-ca-file cannot be used: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("--oidc-ca-file cannot be used: %s holds no certificate as PEM", o.CAFile)
	}
	return pool, nil
}

// read reads a file that an option names.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than such a file is", path)
	}
	return os.ReadFile(path)
}
