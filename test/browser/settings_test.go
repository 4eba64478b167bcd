package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// comesIn signs somebody in, in a browser of their own.
func comesIn(t *testing.T, c *apptest.Console, subject string, options ...tabOption) *tab {
	t.Helper()
	p := openTab(t, append([]tabOption{trusting}, options...)...)
	p.visit(c.Origin + "/tasks")
	p.signIn(subject)
	p.until(`document.querySelector(".who-name")`)
	return p
}

// sampleID waits until a sample agent is registered, as whoever is signed in sees it,
// and returns its ID.
func (p *tab) sampleID(c *apptest.Console, variant string) string {
	p.Helper()
	found := `(await (await fetch("/api/v1/agents")).json()).items.find((a) => a.cardUrl === args[0] && a.health.status === "reachable")`
	p.until(found, c.SampleCardURL(variant))
	return evaluate[string](p, found+`.id`, c.SampleCardURL(variant))
}

// arrives waits until a page is there.
func (p *tab) arrives(path string) {
	p.Helper()
	p.until(`location.pathname + location.search === args[0] && document.querySelector("main h1")`, path)
}

// optionOf is the value of the option in a list whose text begins so.
func (p *tab) optionOf(css, begin string) string {
	p.Helper()
	return evaluate[string](p, `Array.from(document.querySelector(args[0]).options).find((o) => o.text.startsWith(args[1])).value`, css, begin)
}

// grant grants somebody an agent on its page.
func (p *tab) grant(c *apptest.Console, agentID, to, permission string) {
	p.Helper()
	path := "/agents/" + agentID + "/access"
	p.visit(c.Origin + path)
	before := p.count("[id^=grant-]")
	p.choose("#subject", p.optionOf("#subject", to))
	p.click(`input[name=permission][value=` + permission + `]`)
	p.click(`form[action="` + path + `"] button`)
	p.until(`document.querySelectorAll("[id^=grant-]").length === args[0]`, before+1)
}

// makeToken makes a token on its page, and returns it.
func (p *tab) makeToken(name, scope string) string {
	p.Helper()
	p.until(`document.querySelector("#expires")`)
	p.fill("#name", name)
	p.click(`input[name=scope][value=` + scope + `]`)
	p.click(".panel form [type=submit]")
	p.until(`document.querySelector("#token")`)
	return p.text("#token")
}

// calls asks the API by a token, as a program does that has nothing else.
func calls(t *testing.T, c *apptest.Console, token string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Origin+"/api/v1/tasks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := c.Proxy.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// TestThreePeople has an administrator, an operator and a viewer at work, each in a
// browser of their own.
func TestThreePeople(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{SampleAgents: true})
	c.Member("ada", "Ada Lovelace", access.Admin)
	c.Member("olga", "Olga", access.Operator)
	c.Member("vera", "Vera", access.Viewer)
	ada, olga, vera := comesIn(t, c, "ada"), comesIn(t, c, "olga"), comesIn(t, c, "vera")
	agent := ada.sampleID(c, "form")
	olga.visit(c.Origin + "/agents")
	if got := olga.text("main"); !strings.Contains(got, "No agents yet") || olga.has("main .button") {
		t.Errorf("without a grant the operator sees %q", got)
	}

	ada.visit(c.Origin + "/settings/teams/new")
	ada.fill("#name", "Release")
	evaluate[bool](ada, `(Array.from(document.querySelectorAll(".member-choice label")).find((l) => l.innerText.startsWith("Olga")).click(), true)`)
	ada.click(".panel form [type=submit]")
	ada.arrives("/settings/teams")
	ada.grant(c, agent, "Release", "operate")
	ada.grant(c, agent, "Vera", "read")
	ada.shot("who can see the agent")

	task := olga.startsTask(c, agent, "Deploy the shop")
	vera.visit(c.Origin + "/tasks")
	vera.until(`document.querySelector("#task-rows .row-link")?.innerText.includes("Deploy the shop")`)
	vera.visit(c.Origin + task)
	vera.readsOnly(c, task, agent)

	olga.click("#f-environment")
	olga.fill("#f-replicas", "3")
	olga.click("structured-form [type=submit]")
	for _, p := range []*tab{olga, vera} {
		p.until(`document.querySelector("#task-state").innerText.trim() === "Completed"`)
	}
	if got := vera.text("#timeline"); !strings.Contains(got, "Olga") || !strings.Contains(got, "Deploying 3 replica(s)") {
		t.Errorf("the viewer reads %q", got)
	}
	vera.readsOnly(c, task, agent)
	operatorIsStopped(t, c, ada, olga, agent)
	vera.isLive()
	tokenWorksUntilRevoked(t, c, ada)
	trailTells(c, ada)
}

// startsTask starts a task on an agent's page, and returns its path once it is asked
// something.
func (p *tab) startsTask(c *apptest.Console, agentID, text string) string {
	p.Helper()
	p.visit(c.Origin + "/agents/" + agentID)
	p.fill("#composer-text", text)
	p.click("#composer [type=submit]")
	p.until(`location.pathname.startsWith("/tasks/") && document.querySelector("#question structured-form")?.fields`)
	p.isLive()
	return evaluate[string](p, `location.pathname`)
}

// readsOnly fails the test if the viewer is offered anything that writes.
func (p *tab) readsOnly(c *apptest.Console, task, agentID string) {
	p.Helper()
	for _, path := range []string{"/agents/" + agentID, "/agents", "/tasks", task} {
		p.visit(c.Origin + path)
		writes := evaluate[[]string](p, `Array.from(document.querySelectorAll("main form[method=post], main dialog, main [command]")).map((e) => e.outerHTML.slice(0, 160))`)
		if diff := cmp.Diff([]string{}, writes); diff != "" {
			p.Errorf("on %s the viewer is offered:\n%s", path, diff)
		}
	}
	p.shot("what the viewer sees")
	p.isLive()
}

// operatorIsStopped has the administrator take the agent from the operator, whose open
// task ends.
func operatorIsStopped(t *testing.T, c *apptest.Console, ada, olga *tab, agent string) {
	t.Helper()
	open := olga.startsTask(c, agent, "Deploy the blog")
	olga.expect("404")
	ada.visit(c.Origin + "/agents/" + agent + "/access")
	id := evaluate[string](ada, `Array.from(document.querySelectorAll("[id^=grant-]")).find((r) => r.innerText.startsWith("The team Release")).id`)
	ada.click("#" + id + " .ending summary")
	ada.shot("asked once more")
	ada.click("#" + id + " .ending .danger")
	ada.until(`!document.getElementById(args[0]) && document.querySelector("[id^=grant-]")`, id)
	olga.until(`document.querySelector("live-region").innerText.startsWith("You can no longer see this.")`)
	olga.shot("taken away while looking")
	olga.visit(c.Origin + open)
	if got := olga.text("h1"); got != "Not found" {
		t.Errorf("the operator's task says %q after the grant was taken back", got)
	}
	olga.expect("403")
	olga.visit(c.Origin + "/settings/people")
	if got := olga.text("h1"); got != "That is not allowed" {
		t.Errorf("the page of people says %q to an operator", got)
	}
}

func tokenWorksUntilRevoked(t *testing.T, c *apptest.Console, ada *tab) {
	t.Helper()
	ada.visit(c.Origin + "/settings/tokens/new")
	token := ada.makeToken("Laptop", "read")
	if got := calls(t, c, token); got != http.StatusOK {
		t.Errorf("the token is answered with %d, want 200", got)
	}
	if address := evaluate[string](ada, `location.href`); strings.Contains(address, token) {
		t.Errorf("the token is in the address %s", address)
	}
	ada.visit(c.Origin + "/settings/tokens")
	if got := evaluate[string](ada, `document.documentElement.outerHTML`); strings.Contains(got, token) {
		t.Error("the token is shown again")
	}
	ada.click(".ending summary")
	ada.click(".ending .danger")
	ada.until(`document.querySelector("main").innerText.includes("No tokens.")`)
	if got := calls(t, c, token); got != http.StatusUnauthorized {
		t.Errorf("the revoked token is answered with %d, want 401", got)
	}
}

// trailTells finds all of it in the trail, by whom it was done.
func trailTells(c *apptest.Console, ada *tab) {
	ada.Helper()
	ada.visit(c.Origin + "/audit")
	trail := ada.text("main")
	for _, want := range []string{
		"Olga signed in", "Ada Lovelace made the team Release", "Ada Lovelace granted", "took the access to", "made the API token Laptop", "revoked the API token Laptop",
	} {
		if !strings.Contains(strings.Join(strings.Fields(trail), " "), want) {
			ada.Errorf("the trail lacks %q:\n%s", want, trail)
		}
	}
}

// TestSettingsHold looks at every page of the settings, with much on it, in every size.
func TestSettingsHold(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{SampleAgents: true})
	c.Member("ada", "Ada Lovelace", access.Admin)
	olga := c.Member("auth0|0123456789abcdef0123456789abcdef01234567", "Olga with-a-name-that-does-not-endbeforethelineisfullandmoreofitstill", access.Operator)
	c.Disable(c.Member("eve", "Eve", access.Viewer))
	p, elsewhere := comesIn(t, c, "ada", allowClipboard), comesIn(t, c, "ada")
	agent := p.sampleID(c, "form")
	p.visit(c.Origin + "/settings/people/new?kind=service")
	p.fill("#name", "Nightly report")
	p.click(`input[name=role][value=operator]`)
	p.click(".panel form [type=submit]")
	p.until(`document.querySelector("main h1").innerText === "Nightly report"`)
	robot := evaluate[string](p, `location.pathname`)
	p.click(`.panel-head a[href^="/settings/tokens/new?for="]`)
	p.makeToken("Of the report", "operate")
	p.holds("token made")
	p.click("copy-button[for=token] button")
	p.until(`document.querySelector("copy-button[for=token]").dataset.done !== undefined`)
	if got := evaluate[string](p, `navigator.clipboard.readText()`); got != p.text("#token") {
		t.Errorf("copied was %q", got)
	}
	p.visit(c.Origin + "/settings/teams/new")
	p.fill("#name", "Release")
	evaluate[bool](p, `(document.querySelectorAll(".member-choice input").forEach((i) => i.click()), true)`)
	p.holds("team to make")
	p.click(".panel form [type=submit]")
	p.arrives("/settings/teams")
	p.holds("teams")
	team := p.attribute(".listing a", "href")
	p.grant(c, agent, "Release", "operate")
	p.grant(c, agent, "Olga", "read")
	p.grant(c, agent, "Everybody", "read")
	p.click("[id^=grant-] button[name=enabled]")
	p.until(`document.querySelector("main").innerText.includes(", disabled")`)
	p.click("[id^=grant-] .ending summary")
	p.holds("who can see an agent")
	for name, path := range map[string]string{
		"index": "/settings", "people": "/settings/people", "new person": "/settings/people/new", "administrator": p.pathOf(c, "Ada"), "operator": "/settings/people/" + olga,
		"service account": robot, "disabled": p.pathOf(c, "Eve"), "team": team, "access": "/settings/access",
		"tokens": "/settings/tokens", "all tokens": "/settings/tokens?of=all", "new token": "/settings/tokens/new", "sessions": "/settings/sessions",
	} {
		p.visit(c.Origin + path)
		p.holds(name)
	}
	p.visit(c.Origin + "/settings/sessions")
	p.click(".ending summary")
	p.holds("signing out the others")
	p.click(".ending .danger")
	p.until(`document.querySelectorAll(".listing-row").length === 1`)
	elsewhere.visit(c.Origin + "/tasks")
	elsewhere.until(`location.pathname === "/signin"`)
}

// pathOf is the page of the person whose name begins so.
func (p *tab) pathOf(c *apptest.Console, name string) string {
	p.Helper()
	p.visit(c.Origin + "/settings/people")
	return evaluate[string](p, `Array.from(document.querySelectorAll("a.listing-name")).find((a) => a.innerText.startsWith(args[0])).getAttribute("href")`, name)
}

// TestSettingsWithoutScripts corrects what was entered, and makes and revokes a token,
// with scripts switched off.
func TestSettingsWithoutScripts(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{})
	c.Member("ada", "Ada Lovelace", access.Admin)
	p := comesIn(t, c, "ada", withoutScripts)
	p.expect("422")
	p.expect("409")
	p.visit(c.Origin + "/settings/people/new")
	p.fill("#subject", "grace")
	p.click(`input[name=role][value=operator]`)
	p.click(".panel form [type=submit]")
	p.until(`document.querySelector("#name-error").innerText`)
	if got := p.value("#subject"); got != "grace" {
		t.Errorf("the subject is %q, want what was entered", got)
	}
	p.holds("to correct")
	p.fill("#name", "Grace Hopper")
	p.click(".panel form [type=submit]")
	p.until(`document.querySelector("main h1").innerText === "Grace Hopper"`)
	comesIn(t, c, "grace")

	p.visit(c.Origin + p.pathOf(c, "Ada"))
	p.click(`input[name=role][value=viewer]`)
	p.click(".panel form [type=submit]")
	p.until(`document.querySelector("main .note-danger")?.innerText.includes("last administrator")`)
	p.visit(c.Origin + "/settings/tokens/new")
	p.makeToken("Laptop", "administer")
	p.click(".actions .primary")
	p.arrives("/settings/tokens")
	p.click(".ending summary")
	p.click(".ending .danger")
	p.until(`document.querySelector("main").innerText.includes("No tokens.")`)
}
