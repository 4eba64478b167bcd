package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// administered is a console that an administrator has signed in to.
func administered(t *testing.T) *console {
	t.Helper()
	who := ada()
	who.PersonID, who.Role = "ada", access.Admin
	c, _ := signingIn(t, who)
	return c
}

func (c *console) asks(t *testing.T, want ...any) {
	t.Helper()
	if diff := cmp.Diff(want, c.people.wasAsked()); diff != "" {
		t.Errorf("what was asked for mismatch (-want +got):\n%s", diff)
	}
}

func TestSettingsOfWhoeverLooks(t *testing.T) {
	t.Parallel()
	own, all := []string{"/settings/sessions", "/settings/tokens"}, []string{"/settings/people", "/settings/teams", "/settings/access", "/settings/retention"}
	for role, links := range map[access.Role][]string{access.Viewer: own, access.Operator: own, access.Admin: append(all, own...)} {
		who := ada()
		who.Role = role
		c, _ := signingIn(t, who)
		a := c.get(t, "/settings").wants(http.StatusOK)
		if !a.has("nav a[href=/settings]") {
			t.Errorf("the navigation of a %s lacks the settings", role)
		}
		for _, link := range append(own, all...) {
			if want := strings.Contains(strings.Join(links, " "), link); a.has("main a[href="+link+"]") != want {
				t.Errorf("the settings of a %s lead to %s: %t, want %t", role, link, !want, want)
			}
		}
	}
}

// TestReadersAreToldWhatIsThere has who may start nothing be offered no start, and no
// agent to add.
func TestReadersAreToldWhatIsThere(t *testing.T) {
	t.Parallel()
	for role, starts := range map[access.Role]bool{access.Viewer: false, access.Operator: true, access.Admin: true} {
		who := ada()
		who.Role = role
		c, _ := signingIn(t, who)
		if got := c.get(t, "/tasks").wants(http.StatusOK).has("a[href=/agents?choose=1]"); got != starts {
			t.Errorf("a %s is offered to start a task: %t, want %t", role, got, starts)
		}
		c.agents, c.tasks = nil, nil
		for _, path := range []string{"/tasks", "/agents"} {
			a := c.get(t, path).wants(http.StatusOK)
			if a.has("main a[href=/agents/new]") != (role == access.Admin) {
				t.Errorf("%s offers a %s to add an agent, or an administrator not to", path, role)
			}
			if role != access.Admin {
				a.says("main", "An administrator grants you the agents")
			}
		}
	}
}

func TestPeopleAreListed(t *testing.T) {
	t.Parallel()
	c := administered(t)
	a := c.get(t, "/settings/people").wants(http.StatusOK)
	for _, want := range []string{"sub-ada at login.example", "Administrator", "Signed in", "Never signed in", "Disabled", hostileName, "Robot", "Service account"} {
		a.says("main", want)
	}
	a.lacks("main script")
	a.one("a[href=/settings/people/new]")
}

func TestAPersonIsAdded(t *testing.T) {
	t.Parallel()
	c := administered(t)
	a := c.get(t, "/settings/people/new").wants(http.StatusOK)
	if got := a.attr("#issuer", "value"); got != "https://login.example/" {
		t.Errorf("the issuer is %q at first, want the one that people sign in at", got)
	}
	entered := url.Values{"name": {"Grace"}, "issuer": {"https://login.example/"}, "subject": {"sub <1>"}, "role": {"operator"}}
	c.post(t, "/settings/people", entered).goes("/settings/people/new")
	c.asks(t, access.NewMember{Issuer: "https://login.example/", Subject: "sub <1>", Name: "Grace", Role: access.Operator})

	c.people.fail(fault.WithFields("This member cannot be added.", []fault.Field{{Location: "name", Message: "1 to 100."}}))
	a = c.post(t, "/settings/people", entered).wants(http.StatusUnprocessableEntity)
	a.says("#name-error", "1 to 100.")
	a.one("#name[aria-invalid=true]")
	a.one("#subject[aria-invalid=false]")
	if got := a.attr("#subject", "value"); got != "sub <1>" {
		t.Errorf("the subject is %q, want what was entered", got)
	}
	a.one("input[name=role][value=operator][checked]")
	c.people.fail(fault.New(fault.Conflict, "This person is a member already."))
	c.post(t, "/settings/people", entered).wants(http.StatusConflict).says("#subject-error", "This person is a member already.")
}

func TestAServiceAccountIsAdded(t *testing.T) {
	t.Parallel()
	for _, c := range []*console{administered(t), newConsole(t)} {
		a := c.get(t, "/settings/people/new?kind=service").wants(http.StatusOK)
		a.lacks("#subject")
		c.post(t, "/settings/people", url.Values{"kind": {a.attr("input[name=kind]", "value")}, "name": {"Nightly"}, "subject": {"no"}, "role": {"viewer"}}).goes("/settings/people/new")
		c.asks(t, access.NewMember{Service: true, Name: "Nightly", Role: access.Viewer})
	}
}

func TestAPersonIsShownWithWhatTheySee(t *testing.T) {
	t.Parallel()
	c := administered(t)
	bob := c.get(t, "/settings/people/bob").wants(http.StatusOK)
	bob.says("main", "through the team Support")
	bob.says("main", "granted to everybody")
	bob.one("aside a[href=/settings/teams/support]")
	bob.lacks("a[href=/settings/tokens/new]") // people make their own
	c.get(t, "/settings/people/ada").wants(http.StatusOK).says("main", "every agent without a grant")
	robot := c.get(t, "/settings/people/robot").wants(http.StatusOK)
	robot.one("a[href=/settings/tokens/new?for=robot]")
	robot.says("main", "Nightly")
	c.get(t, "/settings/people/nobody").wants(http.StatusNotFound)
}

func TestAPersonIsChanged(t *testing.T) {
	t.Parallel()
	c := administered(t)
	c.post(t, "/settings/people/bob", url.Values{"name": {"Bobby"}, "role": {"viewer"}}).goes("/settings/people/bob")
	name, role, no, yes := "Bobby", access.Viewer, false, true
	c.asks(t, access.MemberChange{Name: &name, Role: &role})
	c.get(t, "/settings/people/bob").one("form[action=/settings/people/bob/disable]")
	c.post(t, "/settings/people/bob/disable", nil).goes("/settings/people/bob")
	c.asks(t, access.MemberChange{Enabled: &no})
	c.get(t, "/settings/people/eve").lacks("form[action=/settings/people/eve/disable]")
	c.post(t, "/settings/people/eve/enable", nil).goes("/settings/people/eve")
	c.asks(t, access.MemberChange{Enabled: &yes})

	c.people.fail(fault.New(fault.Conflict, "Ada is the last administrator."))
	a := c.post(t, "/settings/people/ada", url.Values{"name": {"Countess"}, "role": {"viewer"}}).wants(http.StatusConflict)
	a.says("[role=alert] .note-danger", "Ada is the last administrator.")
	if got := a.attr("#name", "value"); got != "Countess" {
		t.Errorf("the name is %q, want what was entered", got)
	}
	c.post(t, "/settings/people/ada/disable", nil).wants(http.StatusConflict).says("main", "Ada is the last administrator.")
}

func TestTeams(t *testing.T) {
	t.Parallel()
	c := administered(t)
	c.get(t, "/settings/teams").wants(http.StatusOK).says("main", "1 member")
	a := c.get(t, "/settings/teams/support").wants(http.StatusOK)
	a.one("input[name=member][value=bob][checked]")
	a.lacks("input[name=member][value=ada][checked]")
	a.lacks("input[name=member][value=eve]") // disabled
	a.says("aside", "Deployment desk")
	c.post(t, "/settings/teams", url.Values{"name": {"Night"}, "member": {"ada", "bob"}}).goes("/settings/teams")
	c.asks(t, access.Team{Name: "Night", MemberIDs: []string{"ada", "bob"}})
	c.post(t, "/settings/teams/support", url.Values{"name": {"Help"}}).goes("/settings/teams")
	c.asks(t, access.Team{ID: "support", Name: "Help", MemberIDs: []string{}})
	c.people.fail(fault.New(fault.Conflict, "Another team has this name."))
	a = c.post(t, "/settings/teams/support", url.Values{"name": {"Help"}, "member": {"ada"}}).wants(http.StatusConflict)
	a.says("#name-error", "Another team has this name.")
	a.one("input[name=member][value=ada][checked]")
	a.lacks("input[name=member][value=bob][checked]")
	c.people.fail(nil)
	c.post(t, "/settings/teams/support/remove", nil).goes("/settings/teams")
	c.asks(t, "remove support")
}

func TestWhoCanSeeAnAgent(t *testing.T) {
	t.Parallel()
	c := administered(t)
	id := c.agents[0].ID
	path := "/agents/" + id + "/access"
	c.get(t, "/agents/"+id).one("a[href=" + path + "]")
	c.get(t, "/settings/access").wants(http.StatusOK).one("a[href=" + path + "]")
	a := c.get(t, path).wants(http.StatusOK)
	a.says("main", "2 can see it")
	a.says("main", "as an administrator")
	a.says("main", "through the team Support")
	a.lacks("#skill") // no extension, no grant on one skill
	a.lacks("option[value=member:ada]")
	a.lacks("option[value=member:eve]")

	yes, operate := true, access.Operate
	c.post(t, path, url.Values{"subject": {"member:bob"}, "permission": {"operate"}}).goes(path)
	c.post(t, path, url.Values{"subject": {"team:support"}, "skill": {"a"}, "permission": {"read"}}).goes(path)
	c.post(t, path, url.Values{"subject": {"everybody"}, "permission": {"read"}}).goes(path)
	c.post(t, path+"/g1", url.Values{"permission": {"operate"}}).goes(path)
	c.post(t, path+"/g1", url.Values{"enabled": {"yes"}}).goes(path)
	c.post(t, path+"/g1/remove", nil).goes(path)
	c.asks(t,
		access.Grant{AgentID: id, Subject: access.Subject{MemberID: "bob"}, Permission: access.Operate, Enabled: true},
		access.Grant{AgentID: id, Subject: access.Subject{TeamID: "support"}, SkillID: "a", Permission: access.Read, Enabled: true},
		access.Grant{AgentID: id, Permission: access.Read, Enabled: true},
		grantChange{"g1", &operate, nil}, grantChange{"g1", nil, &yes}, "remove g1")
	for _, other := range []string{"g2", "nothing"} { // of another agent, and none
		c.post(t, path+"/"+other, url.Values{"enabled": {"no"}}).wants(http.StatusNotFound)
		c.post(t, path+"/"+other+"/remove", nil).wants(http.StatusNotFound)
	}
	c.asks(t)
}

func TestWhatCannotBeGranted(t *testing.T) {
	t.Parallel()
	c := administered(t)
	c.agents[0].Card.Extensions = append(c.agents[0].Card.Extensions, agent.Extension{URI: agent.SkillRoutingURI})
	path := "/agents/" + c.agents[0].ID + "/access"
	for _, wrong := range []string{"", "somebody", "team:", "member"} {
		a := c.post(t, path, url.Values{"subject": {wrong}, "permission": {"operate"}}).wants(http.StatusUnprocessableEntity)
		a.says("#subject-error", "Choose whom to grant it to.")
		a.one("input[name=permission][value=operate][checked]")
	}
	c.asks(t)
	skill := c.agents[0].Card.Skills[0].ID
	c.people.fail(fault.WithFields("This cannot be granted.", []fault.Field{{Location: "skillId", Message: "Not this one."}}))
	a := c.post(t, path, url.Values{"subject": {"team:support"}, "skill": {skill}, "permission": {"read"}}).wants(http.StatusUnprocessableEntity)
	a.says("#skill-error", "Not this one.")
	a.one("#subject option[value=team:support][selected]")
	a.one("#skill option[value=" + skill + "][selected]")
	c.people.fail(fault.New(fault.Conflict, "This is granted already."))
	c.post(t, path, url.Values{"subject": {"team:support"}, "permission": {"read"}}).wants(http.StatusConflict).says("#subject-error", "This is granted already.")
	c.post(t, path+"/g1", url.Values{"permission": {"read"}}).wants(http.StatusConflict).says("main", "This is granted already.")
}

// TestATokenIsShownOnce makes a token, whose secret is in that answer alone.
func TestATokenIsShownOnce(t *testing.T) {
	t.Parallel()
	c := administered(t)
	c.get(t, "/settings/tokens").wants(http.StatusOK).one("a[href=/settings/tokens/new]")
	form := c.get(t, "/settings/tokens/new").wants(http.StatusOK)
	ends := form.attr("#expires", "value")
	a := c.post(t, "/settings/tokens", url.Values{"name": {"Laptop"}, "scope": {"operate"}, "expires": {ends}}).wants(http.StatusOK)
	if got := a.text("#token"); got != madeToken || !a.has("copy-button[for=token]") {
		t.Errorf("the page shows the token %q, want it with a way to copy it", got)
	}
	if strings.Count(a.body, madeToken) != 1 || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Location") != "" {
		t.Error("the token is where it could stay")
	}
	a.says("#example", "http://127.0.0.1:3002/api/v1/tasks")
	asked := c.people.wasAsked()[0].(access.NewToken)
	if left := time.Until(asked.ExpiresAt); left < access.TokenLife-24*time.Hour || left > access.TokenLife+24*time.Hour {
		t.Errorf("it works for %v, want about %v", left, access.TokenLife)
	}
	if asked.MembershipID != "" || asked.Name != "Laptop" || asked.Scope != access.ScopeOperate {
		t.Errorf("asked for %+v", asked)
	}
	c.post(t, "/settings/tokens", url.Values{"for": {"robot"}, "name": {"R"}, "scope": {"read"}, "expires": {ends}}).wants(http.StatusOK).one(".actions a[href=/settings/people/robot]")
	c.get(t, "/settings/tokens/new?for=robot").wants(http.StatusOK).lacks("input[name=scope][value=administer]")
	for _, other := range []string{"bob", "nobody"} {
		c.get(t, "/settings/tokens/new?for="+other).wants(http.StatusNotFound)
	}
}

func TestATokenThatCannotBe(t *testing.T) {
	t.Parallel()
	c := administered(t)
	c.people.fail(fault.WithFields("The token cannot be made.", []fault.Field{{Location: "expiresAt", Message: "Within a year."}, {Location: "scope", Message: "Too much."}}))
	a := c.post(t, "/settings/tokens", url.Values{"name": {"Laptop"}, "scope": {"administer"}, "expires": {"someday"}}).wants(http.StatusUnprocessableEntity)
	a.says("#expires-error", "Within a year.")
	a.says("#scope-error", "Too much.")
	if got := a.attr("#name", "value"); got != "Laptop" {
		t.Errorf("the name is %q, want what was entered", got)
	}
	a.lacks("#token")
	if got := endOfDay("someday"); !got.Before(time.Now()) {
		t.Errorf("no day ends at %v, want long ago", got)
	}
	if got, want := endOfDay("2026-12-31"), time.Date(2026, 12, 31, 23, 59, 59, 999999000, time.UTC); !got.Equal(want) {
		t.Errorf("the day ends at %v, want %v", got, want)
	}
}

func TestTokensAreRevoked(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	mine := c.get(t, "/settings/tokens").wants(http.StatusOK)
	mine.says("main", "Expired")
	mine.lacks("form[action=/settings/tokens/t1/revoke]")
	c.get(t, "/settings/tokens?of=all").wants(http.StatusOK).one("form[action=/settings/tokens/t1/revoke]")
	for from, to := range map[string]string{"": "/settings/tokens", "all": "/settings/tokens?of=all", "member": "/settings/people/robot", "https://evil.example": "/settings/tokens"} {
		c.post(t, "/settings/tokens/t1/revoke", url.Values{"from": {from}}).goes(to)
		c.asks(t, "revoke t1")
	}
	c.post(t, "/settings/tokens/nothing/revoke", nil).wants(http.StatusNotFound)
}

func TestMySessions(t *testing.T) {
	t.Parallel()
	c := administered(t)
	a := c.get(t, "/settings/sessions").wants(http.StatusOK)
	a.says("main", "Firefox on Linux This one")
	a.says("main", "<b>odd</b>")
	a.one("form[action=/settings/sessions/end]")
	c.post(t, "/settings/sessions/end", nil).goes("/settings/sessions")
	local := newConsole(t).get(t, "/settings/sessions").wants(http.StatusOK)
	local.says("main", "Nobody signs in to this Taskbay")
	local.lacks("form[action=/settings/sessions/end]")
}

// TestWithoutSignIn offers nobody to add who could not come in, and says how they could.
func TestWithoutSignIn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, path := range []string{"/settings", "/settings/people", "/settings/teams", "/settings/access", "/agents/" + c.agents[0].ID + "/access"} {
		c.get(t, path).wants(http.StatusOK).says("main", "--oidc-issuer")
	}
	c.get(t, "/settings/people").lacks("a[href=/settings/people/new]")
	c.get(t, "/settings/people/new").wants(http.StatusOK).lacks("#subject")
}
