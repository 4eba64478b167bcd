package credential

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// ErrNeeded is the cause of an error about an agent that is not called before a
// credential is set for it.
var ErrNeeded = errors.New("a credential is needed")

// Lacking returns the IDs of those agents that are not called before a credential
// is set, given the latest binding of each that ever had one.
func Lacking(agents []agent.Agent, latest []Binding) map[string]bool {
	ended := make(map[string]bool, len(latest))
	for _, b := range latest {
		ended[b.AgentID] = b.Ended != ""
	}
	lacking := make(map[string]bool)
	for _, a := range agents {
		revoked, had := ended[a.ID]
		if revoked || !had && a.Card.SecurityRequired {
			lacking[a.ID] = true
		}
	}
	return lacking
}

var errNotAsShown = errors.New("the credential is not what its record says")

// Offer is a way in which an agent's card lets callers authenticate.
type Offer struct {
	Scheme agent.SecurityScheme
	Words  string        // what it is, on one line; parts of it are the agent's
	Kinds  []scheme.Kind // by which it can be met, the most fitting first; none if Taskbay cannot
	Header string        // in which an API key goes; "" for everything else
}

// maxOffers is how many offers a message names.
const maxOffers = 6

// Offers returns what a card says about how callers may authenticate.
func Offers(card agent.Card) []Offer {
	offers := make([]Offer, 0, len(card.SecuritySchemes))
	for _, s := range card.SecuritySchemes {
		offers = append(offers, offerOf(s))
	}
	return offers
}

func offerOf(s agent.SecurityScheme) Offer {
	const most = 80
	o := Offer{Scheme: s}
	detail := scheme.Plain(s.Detail, most)
	switch s.Type {
	case agent.SchemeAPIKey:
		place, name, _ := strings.Cut(s.Detail, " ")
		if place == "header" {
			o.Words, o.Kinds, o.Header = "an API key in the header "+scheme.Plain(name, most), []scheme.Kind{scheme.APIKey}, name
			return o
		}
		o.Words = fmt.Sprintf("an API key in a place that Taskbay sends none in (%s)", detail)
	case agent.SchemeHTTP:
		switch {
		case strings.EqualFold(s.Detail, "bearer"):
			o.Words, o.Kinds = "a bearer token", []scheme.Kind{scheme.Bearer, scheme.OAuth2}
		case strings.EqualFold(s.Detail, "basic"):
			o.Words, o.Kinds = "a user name and password (HTTP Basic)", []scheme.Kind{scheme.Basic}
		default:
			o.Words = fmt.Sprintf("HTTP authentication that Taskbay does not know (%s)", detail)
		}
	case agent.SchemeOAuth2:
		o.Words, o.Kinds = "OAuth 2.0", []scheme.Kind{scheme.Bearer}
		if detail != "" {
			o.Words += " (" + detail + ")"
		}
		if strings.Contains(s.Detail, "clientCredentials") {
			o.Kinds = []scheme.Kind{scheme.OAuth2, scheme.Bearer}
		}
	case agent.SchemeOpenIDConnect:
		o.Words, o.Kinds = "OpenID Connect", []scheme.Kind{scheme.OAuth2, scheme.Bearer}
	case agent.SchemeMutualTLS:
		o.Words, o.Kinds = "a client certificate (mutual TLS)", []scheme.Kind{scheme.MutualTLS}
	default:
		o.Words = fmt.Sprintf("something that Taskbay does not know (%s)", scheme.Plain(s.Type, most))
	}
	return o
}

// Needed returns nil for a card that lets everybody call, and otherwise the
// *fault.Error of an agent that has no credential: it says so, and what the
// agent accepts. Its cause is ErrNeeded.
func Needed(card agent.Card) error {
	if !card.SecurityRequired {
		return nil
	}
	var accepts []string
	for _, o := range Offers(card) {
		if !slices.Contains(accepts, o.Words) {
			accepts = append(accepts, o.Words)
		}
	}
	if more := len(accepts) - maxOffers; more > 0 {
		accepts = append(accepts[:maxOffers], fmt.Sprintf("%d more", more))
	}
	what := "Its card does not say which kinds it accepts."
	if len(accepts) > 0 {
		what = "It accepts: " + strings.Join(accepts, "; ") + "."
	}
	return fault.Wrap(ErrNeeded, fault.Unprocessable, "This agent needs a credential and has none, so it is not called. %s An administrator can set one.", what)
}

// SuggestedOrigins returns the origins that a credential of the agent is most
// likely for, the one where it is called first. They come from the agent's own
// card: a person has to agree to them.
func (s *Service) SuggestedOrigins(a agent.Agent) []string {
	var origins []string
	add := func(address string) {
		origin := originOf(address)
		if origin != "" && scheme.MayHold(origin, s.Local) && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	if chosen, err := a.Chosen(); err == nil {
		add(chosen.URL)
	}
	for _, i := range a.Card.Interfaces {
		add(i.URL)
	}
	add(a.CardURL)
	return origins[:min(len(origins), scheme.MaxOrigins)]
}
