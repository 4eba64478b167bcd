package views

import (
	"strings"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// Access is what an agent asks of its callers, and what there is for it.
type Access struct {
	Offers  []credential.Offer
	Current *credential.Binding // the latest one, revoked or in use; nil if there never was one
	Needed  bool                // the agent is not called before one is set
	Why     string              // the agent is not called, in words; "" if it is
	Refused string              // what the agent said when it refused the last call; "" if it did not
}

// CredentialPage is where an agent's credential is set.
type CredentialPage struct {
	Shell     Shell
	Agent     agent.Agent
	Access    Access
	Kind      scheme.Kind
	Suggested []string          // origins that the card names
	Entered   map[string]string // what was entered, without secrets, by the names of the controls
	Errors    map[string]string // by the names of the controls
	Problem   string            // about none of them
	History   []credential.Binding
}

// kindNames are what people call the kinds.
var kindNames = map[scheme.Kind]string{
	scheme.Bearer:    "Bearer token",
	scheme.APIKey:    "API key",
	scheme.Basic:     "User name and password",
	scheme.OAuth2:    "OAuth client",
	scheme.MutualTLS: "Client certificate",
}

// kindHints say what each kind is, to somebody who was handed a secret.
var kindHints = map[scheme.Kind]string{
	scheme.Bearer:    "One secret text, often called an access token. It goes along as “Authorization: Bearer …”.",
	scheme.APIKey:    "One secret text that goes along in a header whose name the agent decides.",
	scheme.Basic:     "HTTP Basic, as a browser asks for it.",
	scheme.OAuth2:    "A client ID and its secret, for which Taskbay gets short-lived tokens from a token endpoint (client credentials).",
	scheme.MutualTLS: "A certificate and its private key in PEM form. The agent asks for it when the connection is made (mutual TLS).",
}

// field is one control of the form.
type credentialField struct {
	name, label, hint string
	kind              string // "text", "secret", "area" or "secret-area"
	optional          bool
}

var (
	originsField = credentialField{"origins", "Where it may be sent", "One address a line, such as https://agent.example.com. Taskbay sends it nowhere else.", "area", false}

	kindFields = map[scheme.Kind][]credentialField{
		scheme.Bearer: {{"secret", "Token", "Without the word Bearer.", "secret", false}},
		scheme.APIKey: {
			{"header", "Header", "Such as X-API-Key. The agent's card or documentation says which.", "text", false},
			{"secret", "Key", "", "secret", false},
		},
		scheme.Basic: {
			{"username", "User name", "", "secret-text", false},
			{"secret", "Password", "", "secret", true},
		},
		scheme.OAuth2: {
			{"tokenUrl", "Token endpoint", "Such as https://login.example.com/oauth2/token.", "text", false},
			{"clientId", "Client ID", "", "text", false},
			{"secret", "Client secret", "", "secret", false},
			{"clientAuth", "How the client shows its secret", "", "client-auth", true},
			{"scope", "Scope", "As the agent's documentation says; several with spaces between them.", "text", true},
			{"audience", "Audience", "", "text", true},
		},
		scheme.MutualTLS: {
			{"certificate", "Certificate", "From BEGIN CERTIFICATE on; intermediate ones after it.", "area", false},
			{"secret", "Private key", "From BEGIN PRIVATE KEY on, without a passphrase.", "secret-area", false},
			{"ca", "Authorities that vouch for the agent", "Only if its own certificate is of an authority that this machine does not know.", "area", true},
		},
	}
)

// Fields returns the names of a kind's controls whose content may be shown again.
func (p CredentialPage) fields() []credentialField {
	return append(append([]credentialField{}, kindFields[p.Kind]...), originsField)
}

// CredentialFields returns the names of the controls of a kind that hold no secret.
func CredentialFields(k scheme.Kind) []string {
	names := []string{originsField.name}
	for _, f := range kindFields[k] {
		if !strings.HasPrefix(f.kind, "secret") {
			names = append(names, f.name)
		}
	}
	return names
}

func (p CredentialPage) described(f credentialField) string {
	return f.name + "-hint " + f.name + "-error"
}

// fits reports whether the card asks for a credential of this kind.
func (p CredentialPage) fits(k scheme.Kind) bool {
	for _, o := range p.Access.Offers {
		for _, fitting := range o.Kinds {
			if fitting == k {
				return true
			}
		}
	}
	return false
}

func credentialLook(a Access) look {
	switch {
	case a.Current != nil && a.Current.Ended == "" && a.Why == "" && a.Refused == "":
		return look{"done", "done", "Set"}
	case a.Current != nil && a.Current.Ended == "" && a.Why == "":
		return look{"failed", "failed", "Refused"}
	case a.Current != nil && a.Current.Ended == "":
		return look{"failed", "failed", "Cannot be used"}
	case a.Current != nil && a.Current.Ended == credential.Revoked:
		return look{"failed", "failed", "Revoked"}
	case a.Needed || a.Refused != "":
		return look{"waiting", "alert", "Needs a credential"}
	}
	return look{"unknown", "unknown", "None"}
}

func endedWords(b credential.Binding) string {
	switch b.Ended {
	case credential.Revoked:
		return "Revoked by " + b.EndedBy.Name
	case credential.Replaced:
		return "Replaced by " + b.EndedBy.Name
	}
	return "In use"
}
