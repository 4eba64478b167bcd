package agent

import (
	"encoding/json"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Card is an Agent Card (A2A 1.0, 4.4.1) as the console uses it, read by
// ParseCard from a card of any protocol version. Texts are the agent's own,
// bounded in length and otherwise untouched: whoever shows them escapes them.
type Card struct {
	Name               string             `json:"name"` // never blank: the host of the card's URL stands in for it
	Description        string             `json:"description,omitempty"`
	Version            string             `json:"version,omitempty"`         // the agent's own
	ProtocolVersion    string             `json:"protocolVersion,omitempty"` // that the card is written in: "1.0", "0.3", or "" if it cannot be told
	Provider           Provider           `json:"provider,omitzero"`
	Interfaces         []remote.Interface `json:"interfaces,omitempty"` // those that could be dialled, in the card's order
	Streaming          bool               `json:"streaming,omitempty"`
	PushNotifications  bool               `json:"pushNotifications,omitempty"`
	ExtendedCard       bool               `json:"extendedCard,omitempty"` // a fuller card for callers who sign in
	Extensions         []Extension        `json:"extensions,omitempty"`   // no URI twice
	Skills             []Skill            `json:"skills,omitempty"`       // no ID twice
	DefaultInputModes  []string           `json:"defaultInputModes,omitempty"`
	DefaultOutputModes []string           `json:"defaultOutputModes,omitempty"`
	SecuritySchemes    []SecurityScheme   `json:"securitySchemes,omitempty"`  // by name
	SecurityRequired   bool               `json:"securityRequired,omitempty"` // no call without credentials
	IconURL            string             `json:"iconUrl,omitempty"`          // http or https, or ""; never to be loaded
	DocumentationURL   string             `json:"documentationUrl,omitempty"` // http or https, or ""
	Signed             bool               `json:"signed,omitempty"`           // carries signatures; whether they hold is another question
}

// Provider is who offers the agent (A2A 1.0, 4.4.2).
type Provider struct {
	Organization string `json:"organization,omitempty"`
	URL          string `json:"url,omitempty"` // http or https, or ""
}

// Extension is a protocol extension that the agent advertises (A2A 1.0, 4.4.4).
type Extension struct {
	URI         string          `json:"uri"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Params      json.RawMessage `json:"params,omitempty"` // a JSON object exactly as in the card, or nil
}

// Skill is one thing that the agent says it can do (A2A 1.0, 4.4.5).
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}

// SecurityScheme is one way to authenticate to the agent (A2A 1.0, 4.5.1). Type
// is one of the Scheme constants, or what the card calls a type that is not
// among them.
type SecurityScheme struct {
	Name        string `json:"name"` // by which the card refers to it
	Type        string `json:"type"`
	Detail      string `json:"detail,omitempty"` // such as "Bearer", or "header X-API-Key"
	Description string `json:"description,omitempty"`
}

// The types of security scheme, by their OpenAPI names.
const (
	SchemeAPIKey        = "apiKey"
	SchemeHTTP          = "http"
	SchemeOAuth2        = "oauth2"
	SchemeOpenIDConnect = "openIdConnect"
	SchemeMutualTLS     = "mutualTLS"
)

// Understood reports whether the console gives meaning to the extension with
// this URI. Content of any other is ordinary data.
func Understood(uri string) bool { return uri == form.URI || uri == SkillRoutingURI }

// Extension returns the advertised extension with this exact URI.
func (c Card) Extension(uri string) (Extension, bool) {
	for _, e := range c.Extensions {
		if e.URI == uri {
			return e, true
		}
	}
	return Extension{}, false
}
