// Package scheme holds the ways in which Taskbay authenticates to an agent: what
// each consists of, what of it goes with a call, and how it is kept out of
// everything that is recorded. Who set a credential, and for which agent, is the
// business of package credential.
package scheme

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
)

// Kind is one way to authenticate.
type Kind string

// The kinds.
const (
	Bearer    Kind = "bearer"  // a token, in the header Authorization (RFC 6750)
	APIKey    Kind = "api-key" // a key, in a header of the agent's choice
	Basic     Kind = "basic"   // a user name and a password (RFC 7617)
	OAuth2    Kind = "oauth2"  // client credentials, traded for bearer tokens (RFC 6749, 4.4)
	MutualTLS Kind = "mtls"    // a client certificate
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Bearer, APIKey, Basic, OAuth2, MutualTLS} }

// How an OAuth client authenticates to the token endpoint (RFC 6749, 2.3.1).
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
)

// Credential is what Taskbay authenticates with. Which members it has, besides
// the first three, depends on its kind; see Check. Neither formatting nor JSON
// shows the secret ones.
type Credential struct {
	Kind    Kind     `json:"kind"`
	Origins []string `json:"origins"` // where it may be sent, each "scheme://host" or "scheme://host:port"
	Secret  Secret   `json:"secret"`  // the token, the key, the password, the client's secret, or the private key as PEM

	Header string `json:"header,omitempty"` // APIKey

	Username Secret `json:"username,omitempty"` // Basic; secret because some agents take their key here

	TokenURL   string `json:"tokenUrl,omitempty"` // OAuth2, as the next four
	ClientID   string `json:"clientId,omitempty"`
	ClientAuth string `json:"clientAuth,omitempty"` // ClientSecretBasic, ClientSecretPost
	Scope      string `json:"scope,omitempty"`      // as the token endpoint takes it: names with spaces between them
	Audience   string `json:"audience,omitempty"`

	Certificate string `json:"certificate,omitempty"` // MutualTLS: PEM, the client's own first, then those above it
	CA          string `json:"ca,omitempty"`          // MutualTLS: PEM of those who may vouch for the agent; "" for the system's
}

// Reveal returns the credential as JSON with its secrets, to be encrypted.
func (c Credential) Reveal() ([]byte, error) {
	return json.Marshal(struct {
		Credential
		Secret   string `json:"secret"`
		Username string `json:"username,omitempty"`
	}{c, string(c.Secret), string(c.Username)})
}

// Read reads what Reveal wrote.
func Read(revealed []byte) (Credential, error) {
	var c Credential
	if err := json.Unmarshal(revealed, &c); err != nil {
		return Credential{}, fmt.Errorf("read a credential: %T", err) // its text may quote the secret
	}
	return c, nil
}

// Secrets returns the values that go over the wire and must not be seen.
func (c Credential) Secrets() []string {
	switch c.Kind {
	case Bearer, APIKey:
		return []string{string(c.Secret)}
	case Basic:
		values := []string{c.pair()}
		if c.Secret == "" {
			return append(values, string(c.Username))
		}
		return append(values, string(c.Secret))
	case OAuth2:
		return []string{string(c.Secret), url.QueryEscape(c.ClientID) + ":" + url.QueryEscape(string(c.Secret))}
	}
	return nil // a private key never leaves
}

// pair is the user name and the password as HTTP Basic puts them together.
func (c Credential) pair() string { return string(c.Username) + ":" + string(c.Secret) }

func (c Credential) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.pair()))
}

// Secret is a text that is not shown when it is formatted, logged or written as
// JSON. Converting it to a string shows it.
type Secret string

const hidden = "[hidden]"

// Format writes that something is hidden, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) } // a State takes everything

// LogValue hides the text from logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from JSON and other encodings.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
