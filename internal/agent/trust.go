package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
)

// Trust says what is known about a card's signatures. It gives nobody access.
type Trust string

// The trust of a card. Agents with one that is untrusted or invalid are never called.
const (
	TrustUnsigned  Trust = "unsigned"
	TrustVerified  Trust = "verified"
	TrustUntrusted Trust = "untrusted" // signed, and no key is pinned for its origin
	TrustInvalid   Trust = "invalid"
)

// Pin says that cards from an origin are signed with a key, up to a time.
type Pin struct {
	ID             string        // UUIDv7
	OrganisationID string        //
	Origin         string        // of the cards, such as "https://agents.example.com"
	Key            signature.Key // public
	ExpiresAt      time.Time
	CreatedBy      string // the name that the person had
	CreatedAt      time.Time
}

// maxPinTime is how long a key may be pinned.
const maxPinTime = 5 * 366 * 24 * time.Hour

// Pins returns the organisation's pins, expired ones too, by origin and age. Only
// administrators read and change them.
func (c *Catalogue) Pins(ctx context.Context, p access.Principal) ([]Pin, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return nil, err
	}
	var pins []Pin
	err := c.View(ctx, func(tx Tx) (err error) {
		pins, err = tx.Pins(p.OrganisationID)
		return err
	})
	return pins, err
}

// Pin trusts a public key (see signature.ParseKey) for cards from an origin until a
// time: "" and the zero time are no good. fault.Unprocessable, with the locations
// origin, key and expiresAt.
func (c *Catalogue) Pin(ctx context.Context, p access.Principal, origin, key, keyID string, expires time.Time) (Pin, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Pin{}, err
	}
	pin := Pin{ID: c.NewID(), OrganisationID: p.OrganisationID, ExpiresAt: expires.UTC(), CreatedBy: p.Name}
	var faults []fault.Field
	var err error
	if pin.Origin, err = netpolicy.ParseOrigin(origin); err != nil {
		faults = append(faults, fault.Field{Location: "origin", Message: fault.Public(err).Message})
	}
	if pin.Key, err = signature.ParseKey(key, keyID); err != nil {
		faults = append(faults, fault.Public(err).Fields...)
	}
	if now := time.Now(); !expires.After(now) || expires.After(now.Add(maxPinTime)) {
		faults = append(faults, fault.Field{Location: "expiresAt", Message: "Give a day within the next five years: a key that is lost should not be trusted for ever."})
	}
	if len(faults) > 0 {
		return Pin{}, fault.WithFields("This key cannot be pinned.", faults)
	}
	err = c.Update(ctx, func(tx Tx) error {
		pin.CreatedAt = tx.Now()
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		if err := tx.InsertPin(pin); err != nil {
			return err
		}
		return tx.Audit(pin.entry(p, audit.PinAdded))
	})
	return pin, err
}

// Unpin removes a pin; fault.NotFound if the organisation has none of that ID.
func (c *Catalogue) Unpin(ctx context.Context, p access.Principal, id string) error {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return err
	}
	return c.Update(ctx, func(tx Tx) error {
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		pins, err := tx.Pins(p.OrganisationID)
		if err != nil {
			return err
		}
		if err := tx.RemovePin(p.OrganisationID, id); err != nil {
			return err
		}
		for _, pin := range pins {
			if pin.ID == id {
				return tx.Audit(pin.entry(p, audit.PinRemoved))
			}
		}
		return errPinMoved
	})
}

// errPinMoved is internal: a pin was added and removed between two statements.
var errPinMoved = errors.New("the pin was not there a moment ago")

// entry is what the trail says of something that was done with the pin.
func (pin Pin) entry(p access.Principal, action audit.Action) audit.Entry {
	return audit.Entry{
		OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: action, ObjectID: pin.ID, ObjectName: pin.Origin,
		Detail: map[string]string{"key": pin.Key.Thumbprint(), "until": pin.ExpiresAt.UTC().Format(time.RFC3339)},
	}
}

// judge says what is known about the signatures of agents' cards.
func (c *Catalogue) judge(tx Tx, organisationID string, agents ...*Agent) error {
	var pins []Pin
	read := false
	for _, a := range agents {
		if a.HasCard() && !read {
			var err error
			if pins, err = tx.Pins(organisationID); err != nil {
				return err
			}
			read = true
		}
		a.judge(pins, c.RequireSignatures, tx.Now())
	}
	return nil
}

// judge sets Trust, TrustedKey and Distrust, and adds findings.
func (a *Agent) judge(all []Pin, require bool, now time.Time) {
	a.Trust = TrustUnsigned
	if !a.HasCard() {
		return
	}
	origin := a.CardOrigin()
	pins := pinsOf(origin, all)
	key, err := signature.Verify(a.CardRaw, pins.keys(now))
	switch {
	case err == nil:
		a.Trust, a.TrustedKey = TrustVerified, key.Thumbprint()
	case errors.Is(err, signature.ErrUnsigned) && len(pins) > 0:
		a.Distrust = fmt.Sprintf("The card of this agent is not signed, and a key is pinned for %s, where cards have to be signed, so it is not called: whoever can change a card can take its signature off. "+
			"Get a signed card from the agent's provider, or remove the pinned key.", origin)
		a.Findings = append(a.Findings, Finding{Error, "/signatures", "The card is not signed, and a key is pinned for " + origin + ".", sectionSignature})
	case errors.Is(err, signature.ErrUnsigned) && require:
		a.Distrust = "The card of this agent is not signed, and only agents with a signed card are called here. An administrator can change that with the setting require-signatures."
	case errors.Is(err, signature.ErrUnsigned):
	case errors.Is(err, signature.ErrNoKey):
		a.Trust = TrustUntrusted
		a.Distrust = fmt.Sprintf("The card of this agent is signed, and there is no key to check that with, so it is not called. An administrator can pin the public key of whoever signs the cards at %s.", origin)
		a.Findings = append(a.Findings, Finding{Info, "/signatures", "The card is signed, and no key is pinned for " + origin + ", so its signature could not be checked.", sectionSignature})
	default:
		a.Trust = TrustInvalid
		a.Distrust = "The signature of this agent's card does not hold, so it is not called: the card was changed after it was signed, or signed by somebody else."
		a.Findings = append(a.Findings, Finding{Error, "/signatures", "The signature does not hold: " + err.Error() + ".", sectionSignature})
	}
}

// hold leaves an agent the card that it has if the one that was found is trusted
// less: whoever can change a card could lead calls elsewhere by taking its
// signature off. A pin that has ended counts here, so that waiting for its end is
// of no use; a person who removes the pin lets the new card in.
func hold(tx Tx, agentID string, d *Discovery) error {
	if d.Raw == nil {
		return nil
	}
	a, err := tx.AnyAgent(agentID)
	if err != nil || !a.HasCard() {
		return err
	}
	all, err := tx.Pins(a.OrganisationID)
	if err != nil {
		return err
	}
	origin := a.CardOrigin()
	pins, now := pinsOf(origin, all), tx.Now()
	had, _ := pins.standing(a.CardRaw, now)
	if got, why := pins.standing(d.Raw, now); got < had {
		what := "is not signed any more"
		if !errors.Is(why, signature.ErrUnsigned) {
			what = "does not hold as signed by a key that is pinned for " + origin + " (" + why.Error() + ")"
		}
		d.Raw, d.Health.Status = nil, HealthMismatch
		d.Health.Error = fmt.Sprintf("The card that is at %s now %s. The card that was verified before stays, and nothing is sent to an address that only the new one has. "+
			"Get a signed card from the agent's provider and pin its key if that is another one, or remove the pinned key; then fetch the card again.", d.URL, what)
	}
	return nil
}

// originPins are the pins of one origin, those that have ended too.
type originPins []Pin

func pinsOf(origin string, all []Pin) originPins {
	var pins originPins
	for _, pin := range all {
		if pin.Origin == origin {
			pins = append(pins, pin)
		}
	}
	return pins
}

// keys returns those that are trusted at a time; at the zero time all ever were.
func (pins originPins) keys(now time.Time) []signature.Key {
	var keys []signature.Key
	for _, pin := range pins {
		if now.Before(pin.ExpiresAt) {
			keys = append(keys, pin.Key)
		}
	}
	return keys
}

// standing ranks how far a card is trusted: 2 if its signature holds with a key
// that is pinned, 1 if with one whose pin has ended, 0 if with none, and why not.
func (pins originPins) standing(card []byte, now time.Time) (int, error) {
	if _, err := signature.Verify(card, pins.keys(now)); err == nil {
		return 2, nil
	}
	_, err := signature.Verify(card, pins.keys(time.Time{}))
	if err == nil {
		return 1, errors.New("the pin of its key has ended")
	}
	return 0, err
}

// CardOrigin is the origin that the card was found at, whose pins count; "" if
// there is no card.
func (a Agent) CardOrigin() string {
	u, err := url.Parse(a.ResolvedCardURL)
	if err != nil {
		return ""
	}
	origin, err := netpolicy.Origin(u)
	if err != nil {
		return ""
	}
	return origin
}
