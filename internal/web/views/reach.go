package views

import (
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// TrustPage is where keys are pinned for the origin of an agent's card.
type TrustPage struct {
	Shell   Shell
	Agent   agent.Agent
	Pins    []agent.Pin // of that origin
	Entered map[string]string
	Errors  map[string]string
	Problem string
}

// InterfacePage is where the interface is chosen that an agent is called by.
type InterfacePage struct {
	Shell   Shell
	Agent   agent.Agent
	Entered remote.Interface
	Errors  map[string]string
	Problem string
}

// PreviewPage is an agent that is not registered.
type PreviewPage struct {
	Shell Shell
	Agent agent.Agent
	Score int
}

func trustLook(t agent.Trust) look {
	switch t {
	case agent.TrustVerified:
		return look{"done", "done", "Verified"}
	case agent.TrustUntrusted:
		return look{"waiting", "alert", "Signed, not trusted"}
	case agent.TrustInvalid:
		return look{"failed", "failed", "Signature does not hold"}
	}
	return look{"unknown", "unknown", "Not signed"}
}

func trustWords(a agent.Agent) string {
	switch {
	case a.Trust == agent.TrustVerified:
		return "The card is as its signer left it. The signer's key is pinned for " + a.CardOrigin() + "."
	case a.Distrust != "":
		return a.Distrust
	}
	return "Whoever answers at the card's address decides what it says."
}

// spokenValue names a binding of a version in a form.
func spokenValue(i remote.Interface) string { return i.Binding + " " + i.ProtocolVersion }

// offered reports whether the card has the pinned interface.
func offered(a agent.Agent) bool {
	for _, i := range a.Card.Interfaces {
		if a.Pinned != nil && i == *a.Pinned {
			return true
		}
	}
	return false
}

func offersOf(a agent.Agent) []credential.Offer { return credential.Offers(a.Card) }
