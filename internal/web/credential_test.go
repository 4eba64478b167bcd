package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// fakeCredentials keeps credentials in memory, under the rules of the real one.
type fakeCredentials struct {
	mu   sync.Mutex
	set  map[string]scheme.Credential
	past map[string][]credential.Binding
}

func (f *fakeCredentials) Set(_ context.Context, p access.Principal, agentID string, c scheme.Credential) (credential.Binding, error) {
	c, faults := scheme.Check(c, scheme.Rules{Now: time.Now()})
	if len(faults) > 0 {
		return credential.Binding{}, fault.WithFields("This credential cannot be used.", faults)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.set == nil {
		f.set, f.past = map[string]scheme.Credential{}, map[string][]credential.Binding{}
	}
	f.set[agentID] = c
	b := credential.Binding{ID: "c", AgentID: agentID, Kind: c.Kind, Origins: c.Origins, CreatedBy: credential.Person{Name: p.Name}, CreatedAt: time.Now(), Key: "k-1"}
	f.past[agentID] = slices.Insert(f.past[agentID], 0, b)
	return b, nil
}

func (f *fakeCredentials) Revoke(_ context.Context, p access.Principal, agentID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.past[agentID]) == 0 || f.past[agentID][0].Ended != "" {
		return fault.New(fault.NotFound, "This agent has no credential that could be revoked.")
	}
	f.past[agentID][0].Ended, f.past[agentID][0].EndedBy = credential.Revoked, credential.Person{Name: p.Name}
	return nil
}

func (f *fakeCredentials) List(context.Context, access.Principal) (all []credential.Binding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, past := range f.past {
		all = append(all, past[0])
	}
	return all, nil
}

func (f *fakeCredentials) History(_ context.Context, _ access.Principal, agentID string) ([]credential.Binding, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.past[agentID]), nil
}

func (f *fakeCredentials) Ready(_ context.Context, a agent.Agent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if past := f.past[a.ID]; len(past) > 0 && past[0].Ended == "" {
		return nil
	}
	return credential.Needed(a.Card)
}

func (f *fakeCredentials) SuggestedOrigins(agent.Agent) []string {
	return []string{"https://agents.example.com"}
}

// guarded makes the card of an agent require an API key or an OAuth token.
func (c *console) guardedAgent(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.agents {
		if c.agents[i].ID == id {
			c.agents[i].Card.SecurityRequired = true
			c.agents[i].Card.SecuritySchemes = []agent.SecurityScheme{
				{Name: "key", Type: agent.SchemeAPIKey, Detail: "header X-Desk-Key"},
				{Name: "<b>login</b>", Type: agent.SchemeOAuth2, Detail: "clientCredentials", Description: "Ask <i>us</i>."},
			}
		}
	}
}

const webCanary = "canary-7f3a91c2"

func TestNeedsCredential(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.guardedAgent(formAgent)
	page := c.get(t, "/agents/"+formAgent).wants(http.StatusOK)
	note := page.text(".warnings .note-warning")
	for _, want := range []string{"needs a credential", "an API key in the header X-Desk-Key; OAuth 2.0", "Set a credential"} {
		if !strings.Contains(note, want) {
			t.Errorf("note = %q, want %q in it", note, want)
		}
	}
	if got := page.attr(".warnings .note-warning a", "href"); got != "/agents/"+formAgent+"/credential" {
		t.Errorf("the note links to %q", got)
	}
	var lacking int
	for _, n := range c.get(t, "/agents").wants(http.StatusOK).all(".row-warning") {
		if strings.Contains(textOfNode(n), "Needs a credential") {
			lacking++
		}
	}
	if lacking != 1 {
		t.Errorf("%d agents are listed as in need of a credential, want 1", lacking)
	}
}

func TestCredentialPage(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.guardedAgent(formAgent)
	address := "/agents/" + formAgent + "/credential"
	page := c.get(t, address).wants(http.StatusOK)
	if got := page.text(".segmented a[aria-current=page]"); !strings.HasPrefix(got, "API key") {
		t.Errorf("the kind is %q, want the one that the card asks for first", got)
	}
	if got := page.attr("#credential-header", "value"); got != "X-Desk-Key" {
		t.Errorf("the header is %q, want the card's", got)
	}
	for kind, want := range map[scheme.Kind][]string{
		scheme.Bearer: {"secret", "origins"}, scheme.APIKey: {"header", "secret", "origins"}, scheme.Basic: {"username", "secret", "origins"},
		scheme.OAuth2:    {"tokenUrl", "clientId", "secret", "clientAuth", "scope", "audience", "origins"},
		scheme.MutualTLS: {"certificate", "secret", "ca", "origins"},
	} {
		page := c.get(t, address+"?kind="+string(kind)).wants(http.StatusOK)
		var names []string
		for _, label := range page.all(".field label") {
			id, _ := attribute(label, "for")
			names = append(names, page.attr("#"+id, "name"))
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: controls mismatch (-want +got):\n%s", kind, diff)
		}
	}
}

func TestCredentialSet(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.guardedAgent(formAgent)
	address := "/agents/" + formAgent + "/credential"
	given := url.Values{"kind": {"api-key"}, "header": {"X-Desk-Key"}, "secret": {webCanary}, "origins": {"https://agents.example.com\r\nhttps://b.example.com "}}
	answer := c.post(t, address, given).wants(http.StatusSeeOther)
	if got := answer.header.Get("Location"); got != "/agents/"+formAgent {
		t.Errorf("Location = %q", got)
	}
	kept := c.Credentials.(*fakeCredentials).set[formAgent]
	if string(kept.Secret) != webCanary || kept.Header != "X-Desk-Key" || len(kept.Origins) != 2 {
		t.Errorf("what was set = %v, want what was entered", kept)
	}
	for _, at := range []string{address, "/agents/" + formAgent, "/agents"} {
		page := c.get(t, at).wants(http.StatusOK)
		if strings.Contains(page.body, webCanary) || strings.Contains(page.text("body"), "Needs a credential") {
			t.Errorf("%s shows the secret, or that there is none", at)
		}
	}
	c.post(t, address+"/revoke", nil).wants(http.StatusSeeOther)
	if got := c.get(t, address).wants(http.StatusOK).text(".credentials"); !strings.Contains(got, "Revoked by Local operator") {
		t.Errorf("history = %q, want that it was revoked", got)
	}
	c.post(t, address+"/revoke", nil).wants(http.StatusNotFound)
}

func TestCredentialThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	address := "/agents/" + formAgent + "/credential"
	given := url.Values{"kind": {"basic"}, "username": {webCanary + "-user:"}, "secret": {webCanary}, "origins": {"http://agents.example.com"}}
	page := c.post(t, address, given).wants(http.StatusUnprocessableEntity)
	if strings.Contains(page.body, webCanary) {
		t.Error("the page repeats a secret")
	}
	if got := page.text("#origins-error"); !strings.Contains(got, "https://") {
		t.Errorf("the fault of the origins says %q", got)
	}
	if got := page.text("#username-error"); !strings.Contains(got, "colon") {
		t.Errorf("the fault of the user name says %q", got)
	}
	if got := page.text("#credential-origins"); got != "http://agents.example.com" {
		t.Errorf("the origins are %q, want what was entered", got)
	}
	if kept := c.Credentials.(*fakeCredentials).set; len(kept) != 0 {
		t.Errorf("%v was set", kept)
	}
	c.post(t, address, url.Values{"kind": {"magic"}}).wants(http.StatusUnprocessableEntity)
	c.get(t, "/agents/nobody/credential").wants(http.StatusNotFound)
}
