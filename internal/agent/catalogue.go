package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// How fresh a stored card is kept.
const (
	refreshEvery = 10 * time.Minute // on a schedule
	refreshAgain = time.Minute      // at most this often when a part needs an extension that the card lacks
)

// Tx is a transaction of the record as the catalogue needs it.
type Tx interface {
	Now() time.Time
	// ListAgents returns the agents in a view, but for those that were removed.
	ListAgents(v access.View) ([]Agent, error)
	// Agent returns one agent; fault.NotFound if the view has none of that ID.
	Agent(v access.View, id string) (Agent, error)
	// AnyAgent is Agent without a view, for work that is for nobody.
	AnyAgent(id string) (Agent, error)
	// Reach says how far somebody may go with an agent; fault.NotFound if they do not
	// see it.
	Reach(p access.Principal, agentID string) (access.Reach, error)
	// AgentByCardURL returns fault.NotFound if there is none.
	AgentByCardURL(organisationID, cardURL string) (Agent, error)
	InsertAgent(Agent) error
	// RemoveAgent takes an agent out of the lists, and puts off all checks of its tasks.
	RemoveAgent(id string, by access.Principal) error
	// ReviveAgent undoes that: its tasks that have not ended are checked at once.
	ReviveAgent(id string) error
	// StoreDiscovery stores what a discovery found: health, and the card as a new
	// version if it differs from the latest one. A changed card marks the agent's
	// waiting tasks as changed, since their questions may look different now.
	StoreDiscovery(agentID string, d Discovery) error
	// ClaimRefresh returns the IDs of agents whose card is due, and puts their
	// next turn at next.
	ClaimRefresh(limit int, next time.Time) ([]string, error)
	// Pins returns the pins of an organisation, by origin and age.
	Pins(organisationID string) ([]Pin, error)
	InsertPin(Pin) error
	// RemovePin returns fault.NotFound if the organisation has none of that ID.
	RemovePin(organisationID, id string) error
	// SetInterface stores the interface that was chosen for the agent; nil for none.
	SetInterface(agentID string, pinned *remote.Interface) error
	// Audit puts an entry on the trail, if the transaction is committed.
	Audit(audit.Entry) error
	Signal(topics ...string)
}

// Discovery is what one attempt to fetch a card found.
type Discovery struct {
	CardID   string // for a new version
	Raw      []byte // nil if there was no card
	URL      string // where it was found
	Name     string // the card's
	Health   Health
	NextTurn time.Time
}

// CardFetcher finds cards.
type CardFetcher interface {
	FetchCard(ctx context.Context, agentID, rawURL string) (remote.CardFetch, error)
}

// Catalogue keeps the agents.
type Catalogue struct {
	Update func(context.Context, func(Tx) error) error
	View   func(context.Context, func(Tx) error) error
	Remote CardFetcher
	NewID  func() string
	Log    *slog.Logger

	Credentials Credentials // of agents that are removed

	RequireSignatures bool // agents whose card is not signed are not called

	lacking sync.Map // agent ID -> struct{}: a refresh for a missing extension is running
}

// List returns the agents that the principal sees, by name.
func (c *Catalogue) List(ctx context.Context, p access.Principal) ([]Agent, error) {
	var agents []Agent
	err := c.View(ctx, func(tx Tx) (err error) {
		if agents, err = tx.ListAgents(p.View()); err != nil {
			return err
		}
		all := make([]*Agent, len(agents))
		for i := range agents {
			all[i] = &agents[i]
		}
		return c.judge(tx, p.OrganisationID, all...)
	})
	return agents, err
}

// Get returns one agent; fault.NotFound if the principal sees none of that ID.
func (c *Catalogue) Get(ctx context.Context, p access.Principal, id string) (Agent, error) {
	return c.get(ctx, func(tx Tx) (Agent, error) { return tx.Agent(p.View(), id) })
}

// Any is Get of any organisation, for work that is for nobody.
func (c *Catalogue) Any(ctx context.Context, id string) (Agent, error) {
	return c.get(ctx, func(tx Tx) (Agent, error) { return tx.AnyAgent(id) })
}

func (c *Catalogue) get(ctx context.Context, read func(Tx) (Agent, error)) (Agent, error) {
	var a Agent
	err := c.View(ctx, func(tx Tx) (err error) {
		if a, err = read(tx); err != nil {
			return err
		}
		return c.judge(tx, a.OrganisationID, &a)
	})
	return a, err
}

// Reach says how far the principal may go with an agent; fault.NotFound if they do not
// see it.
func (c *Catalogue) Reach(ctx context.Context, p access.Principal, id string) (access.Reach, error) {
	var r access.Reach
	err := c.View(ctx, func(tx Tx) (err error) {
		r, err = tx.Reach(p, id)
		return err
	})
	return r, err
}

// Advertises reports whether the agent's latest stored card lists the URI.
func (c *Catalogue) Advertises(ctx context.Context, agentID, uri string) (bool, error) {
	a, err := c.Any(ctx, agentID)
	return a.Advertises(uri), err
}

// Register adds the agent with that card URL or base URL and fetches its card at
// once. An agent that does not answer is registered with its error. The same URL
// again returns the agent that is there, and created false; one that was removed
// comes back under its old ID, and created is true. fault.Unprocessable
// for an address that no agent can have. Only administrators add agents.
func (c *Catalogue) Register(ctx context.Context, p access.Principal, cardURL string) (a Agent, created bool, err error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Agent{}, false, err
	}
	parsed, err := remote.ParseCardURL(cardURL)
	if err != nil {
		return Agent{}, false, err
	}
	address := parsed.String()
	err = c.Update(ctx, func(tx Tx) (err error) {
		created = false
		a, err = tx.AgentByCardURL(p.OrganisationID, address)
		if err == nil && a.Removed() {
			created = true
			tx.Signal(live.OrganisationTopic(p.OrganisationID), live.ChecksTopic)
			if err := tx.ReviveAgent(a.ID); err != nil {
				return err
			}
			return tx.Audit(a.entry(p, audit.AgentRestored))
		}
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		created = true
		a = Agent{
			ID: c.NewID(), OrganisationID: p.OrganisationID, CardURL: address,
			Name: host(address), Health: Health{Status: HealthUnknown}, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		if err := tx.InsertAgent(a); err != nil {
			return err
		}
		e := a.entry(p, audit.AgentRegistered)
		e.AgentName = e.Detail["card"] // its own name is on the card, which is fetched after this
		return tx.Audit(e)
	})
	if err != nil {
		return a, false, err
	}
	if !created {
		a, err = c.Get(ctx, p, a.ID)
		return a, false, err
	}
	if err = c.discover(ctx, a, nil); err == nil {
		a, err = c.Get(ctx, p, a.ID)
	}
	return a, true, err
}

// Discover fetches the agent's card now and stores what it found. That the agent
// does not answer is no error: its health says so. fault.Forbidden for somebody who
// may send to the agent in no way.
func (c *Catalogue) Discover(ctx context.Context, p access.Principal, id string) (Agent, error) {
	reach, err := c.Reach(ctx, p, id)
	if err == nil {
		err = reach.CheckSome()
	}
	if err != nil {
		return Agent{}, err
	}
	a, err := c.Get(ctx, p, id)
	if err == nil && a.Removed() {
		err = errRemoved()
	}
	if err != nil {
		return Agent{}, err
	}
	if err := c.discover(ctx, a, &p); err != nil {
		return Agent{}, err
	}
	return c.Get(ctx, p, id)
}

// discover fetches a card. by is the person whose deed that is; nil if it is nobody's, or
// only a part of another one.
func (c *Catalogue) discover(ctx context.Context, a Agent, by *access.Principal) error {
	d, err := c.fetch(ctx, a.ID, a.CardURL)
	if err != nil {
		return err
	}
	return c.Update(ctx, func(tx Tx) error {
		d := d // a transaction may be tried again
		if err := hold(tx, a.ID, &d); err != nil {
			return err
		}
		d.Health.CheckedAt = tx.Now()
		d.NextTurn = tx.Now().Add(refreshEvery)
		tx.Signal(live.OrganisationTopic(a.OrganisationID))
		if err := tx.StoreDiscovery(a.ID, d); err != nil || by == nil {
			return err
		}
		e := a.entry(*by, audit.AgentDiscovered)
		e.Detail["health"] = string(d.Health.Status)
		return tx.Audit(e)
	})
}

// fetch looks for a card. That there is none is no error: the health says so.
func (c *Catalogue) fetch(ctx context.Context, agentID, cardURL string) (Discovery, error) {
	found, err := c.Remote.FetchCard(ctx, agentID, cardURL)
	if ctx.Err() != nil {
		return Discovery{}, ctx.Err() // says nothing about the agent
	}
	d := Discovery{CardID: c.NewID(), URL: found.URL, Health: Health{Status: HealthReachable}}
	for _, at := range found.Attempts {
		d.Health.Attempts = append(d.Health.Attempts, Attempt(at))
	}
	if err == nil {
		var card Card
		card, _, err = ParseCard(found.Raw, found.URL)
		d.Raw, d.Name = found.Raw, card.Name
	}
	if err != nil {
		d.Raw = nil
		d.Health.Status, d.Health.Error = HealthUnreachable, publicMessage(err)
	}
	return d, nil
}

// Preview shows the agent at a card URL or base URL as it would be registered,
// and keeps nothing: it has no ID. fault.Unprocessable for an address that no
// agent can have. Only administrators preview agents.
func (c *Catalogue) Preview(ctx context.Context, p access.Principal, cardURL string) (Agent, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Agent{}, err
	}
	parsed, err := remote.ParseCardURL(cardURL)
	if err != nil {
		return Agent{}, err
	}
	d, err := c.fetch(ctx, "", parsed.String())
	if err != nil {
		return Agent{}, err
	}
	a := Agent{OrganisationID: p.OrganisationID, CardURL: parsed.String(), ResolvedCardURL: d.URL, Health: d.Health, CardRaw: d.Raw}
	a.Load()
	return a, c.View(ctx, func(tx Tx) error { return c.judge(tx, p.OrganisationID, &a) })
}

func publicMessage(err error) string {
	var r *remote.Error
	if errors.As(err, &r) {
		return r.Message
	}
	return fault.Public(err).Message
}

// Ensure fetches the agent's card once more if the stored one lacks an
// extension that a part of the agent's needs, at most once a minute.
func (c *Catalogue) Ensure(ctx context.Context, agentID, uri string) {
	if _, running := c.lacking.LoadOrStore(agentID, struct{}{}); running {
		return
	}
	defer c.lacking.Delete(agentID)
	a, err := c.Any(ctx, agentID)
	if err == nil && !a.Advertises(uri) && time.Since(a.Health.CheckedAt) >= refreshAgain {
		err = c.discover(ctx, a, nil)
	}
	if err != nil && ctx.Err() == nil {
		c.Log.Warn("fetch a card again", "agent", agentID, "error", err)
	}
}

// Run keeps the stored cards fresh until ctx ends.
func (c *Catalogue) Run(ctx context.Context) error {
	const look, batch = 30 * time.Second, 20
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := c.refreshDue(ctx, batch); err != nil && ctx.Err() == nil {
			c.Log.Error("refresh cards", "error", err)
		}
	}
}

func (c *Catalogue) refreshDue(ctx context.Context, limit int) error {
	var due []string
	err := c.Update(ctx, func(tx Tx) (err error) {
		due, err = tx.ClaimRefresh(limit, tx.Now().Add(refreshEvery))
		return err
	})
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, id := range due {
		all.Go(func() {
			a, err := c.Any(ctx, id)
			if err == nil {
				err = c.discover(ctx, a, nil)
			}
			if err != nil && ctx.Err() == nil {
				c.Log.Warn("refresh a card", "agent", id, "error", err)
			}
		})
	}
	all.Wait()
	return nil
}

// Target is how to call the agent. The error, a *fault.Error, says in words why
// it cannot be called.
func (a Agent) Target() (remote.Target, error) {
	if a.Removed() {
		return remote.Target{}, errRemoved()
	}
	if a.Distrust != "" {
		return remote.Target{}, fault.New(fault.Forbidden, "%s", a.Distrust)
	}
	chosen, err := a.Chosen()
	return remote.Target{AgentID: a.ID, Interface: chosen, Streaming: a.Card.Streaming}, err
}

// StartForm returns the form that the agent offers to start a task with, and its
// definition as the card has it; nil if it offers none, or none that is valid.
func (a Agent) StartForm() (definition []byte, drawn *form.Form) {
	e, ok := a.Card.Extension(form.URI)
	if !ok {
		return nil, nil
	}
	definition = rawjson.Member(e.Params, "startForm")
	if definition == nil {
		return nil, nil
	}
	drawn, err := form.Parse(definition)
	if err != nil {
		return nil, nil
	}
	return definition, drawn
}

// host stands in for the name of an agent whose card was never fetched.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// Load fills in what follows from the stored card. It is for the store.
func (a *Agent) Load() {
	a.Name, a.Trust = host(a.CardURL), TrustUnsigned
	if a.CardRaw == nil {
		return
	}
	card, findings, err := ParseCard(a.CardRaw, a.ResolvedCardURL)
	if err != nil {
		a.CardRaw = nil // an earlier release took it; to this one it is as good as none
		return
	}
	a.Card, a.Findings = card, findings
	a.Name, a.Description = card.Name, card.Description
}
