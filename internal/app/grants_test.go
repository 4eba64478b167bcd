package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

// prober makes requests as somebody.
type prober struct {
	*testing.T
	s      *apptest.Server
	name   string
	secret string
}

// probers adds members of the product, and returns those who make requests as them.
func probers(t *testing.T, s *apptest.Server, dir string, roles map[string]access.Role) (*app.Record, map[string]*prober, map[string]access.Member) {
	t.Helper()
	record, err := app.OpenRecord(t.Context(), config.Data{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Close() })
	all, members := map[string]*prober{}, map[string]access.Member{}
	for name, role := range roles {
		organisation := access.LocalOrganisation
		if strings.HasPrefix(name, "other") {
			organisation = "other"
		}
		p := access.Command("test").In(organisation)
		if err := record.Members.AddOrganisation(t.Context(), p, organisation, organisation); err != nil {
			t.Fatal(err)
		}
		m, err := record.Members.Add(t.Context(), p, access.NewMember{Issuer: "https://id.example", Subject: name, Name: name, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		owner := access.Principal{OrganisationID: organisation, PersonID: m.ID, Name: name, Kind: m.Kind, Role: role, Scope: access.ScopeAdminister}
		scope := map[access.Role]access.Scope{access.Admin: access.ScopeAdminister, access.Operator: access.ScopeOperate, access.Viewer: access.ScopeRead}[role]
		_, secret, err := record.Tokens.Create(t.Context(), owner, access.NewToken{Name: "probe", Scope: scope, ExpiresAt: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		all[name], members[name] = &prober{t, s, name, secret}, m
	}
	return record, all, members
}

// ask returns the status and the body of an answer, without what names the request.
func (p *prober) ask(method, path, body string) (int, string) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), method, p.s.URL()+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.secret)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", uuid.NewString())
	if !strings.HasPrefix(path, "/api/") {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		p.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// probes are requests that name an agent {a}, a task {t}, a command {c}, a member {m}, a
// team {o} or a grant {g}.
var probes = []struct{ method, path, body string }{
	{"GET", "/api/v1/agents/{a}", ""}, {"DELETE", "/api/v1/agents/{a}", ""}, {"POST", "/api/v1/agents/{a}/discover", ""},
	{"POST", "/api/v1/agents/{a}/commands", `{"text":"x"}`}, {"POST", "/api/v1/agents/{a}/commands", `{"text":"x","taskId":"{t}"}`},
	{"POST", "/api/v1/agents/{a}/commands", `{"action":"cancel","taskId":"{t}"}`},
	{"GET", "/api/v1/agents/{a}/interface", ""}, {"GET", "/api/v1/agents/{a}/credential", ""}, {"DELETE", "/api/v1/agents/{a}/credential", ""},
	{"GET", "/api/v1/agents/{a}/exchanges", ""}, {"GET", "/api/v1/tasks?agentId={a}", ""},
	{"GET", "/api/v1/tasks/{t}", ""}, {"GET", "/api/v1/tasks/{t}/events", ""}, {"POST", "/api/v1/tasks/{t}/refresh", ""},
	{"GET", "/api/v1/tasks/{t}/exchanges", ""}, {"GET", "/api/v1/tasks/{t}/audit", ""},
	{"GET", "/api/v1/commands/{c}", ""}, {"GET", "/api/v1/commands/{c}?wait=1", ""}, {"POST", "/api/v1/commands/{c}/resend", ""},
	{"GET", "/api/v1/agents/{a}/access", ""}, {"GET", "/api/v1/grants?agentId={a}", ""}, {"GET", "/api/v1/grants?memberId={m}", ""}, {"GET", "/api/v1/grants?teamId={o}", ""},
	{"GET", "/api/v1/members/{m}", ""}, {"PUT", "/api/v1/members/{m}", `{"disabled":true}`}, {"GET", "/api/v1/members/{m}/access", ""},
	{"GET", "/api/v1/teams/{o}", ""}, {"PUT", "/api/v1/teams/{o}", `{"name":"x"}`}, {"PUT", "/api/v1/teams/{o}", `{"members":[]}`}, {"DELETE", "/api/v1/teams/{o}", ""},
	{"PUT", "/api/v1/teams/{o}/members/{m}", ""}, {"DELETE", "/api/v1/teams/{o}/members/{m}", ""}, {"POST", "/api/v1/teams", `{"name":"x","members":["{m}"]}`},
	{"GET", "/api/v1/grants/{g}", ""}, {"PUT", "/api/v1/grants/{g}", `{"enabled":false}`}, {"DELETE", "/api/v1/grants/{g}", ""},
	{"POST", "/api/v1/grants", `{"agentId":"{a}","everybody":true,"permission":"read"}`}, {"POST", "/api/v1/grants", `{"agentId":"{a}","memberId":"{m}","permission":"read"}`},
	{"POST", "/api/v1/grants", `{"agentId":"{a}","teamId":"{o}","permission":"read"}`}, {"POST", "/api/v1/tokens", `{"name":"x","scope":"read","memberId":"{m}"}`},
	{"GET", "/agents/{a}", ""}, {"POST", "/agents/{a}/discover", ""}, {"POST", "/agents/{a}/tasks", "text=x&key={k}"}, {"GET", "/agents/{a}/credential", ""},
	{"POST", "/agents/{a}/remove", ""}, {"POST", "/agents/{a}/credential/revoke", ""}, {"GET", "/agents/{a}/wire", ""},
	{"GET", "/agents/{a}/interface", ""}, {"GET", "/agents/{a}/trust", ""},
	{"GET", "/tasks/{t}", ""}, {"GET", "/tasks/{t}/events", ""}, {"GET", "/tasks/{t}/wire", ""}, {"POST", "/tasks/{t}/messages", "text=x&key={k}"},
	{"POST", "/tasks/{t}/cancel", "key={k}"}, {"POST", "/tasks/{t}/refresh", ""}, {"POST", "/commands/{c}/resend", ""},
}

// TestWhatOneMayNotSeeIsNotThere asks for everything of an agent, its tasks and its
// commands, as people who see none of it: each answer is the one to an ID that there
// is none of.
func TestWhatOneMayNotSeeIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := apptest.Start(t, apptest.Options{DataDir: dir, SampleAgents: true})
	agent := s.SampleAgent(demo.Form)
	sent := s.Send(agent.ID, map[string]any{"text": "deploy"})
	s.TaskIn(sent.TaskID, "TASK_STATE_INPUT_REQUIRED")
	record, people, members := probers(t, s, dir, map[string]access.Role{
		"other admin": access.Admin, "operator": access.Operator, "viewer": access.Viewer, "reader": access.Operator,
	})
	team, err := record.Teams.Add(t.Context(), access.Command("test"), "Readers", []string{members["reader"].ID})
	if err != nil {
		t.Fatal(err)
	}
	teamed, err := record.Grants.Add(t.Context(), access.Command("test"), access.Grant{
		Subject: access.Subject{TeamID: team.ID}, AgentID: agent.ID, Permission: access.Read, // it does not count
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"other admin", "operator", "viewer"} {
		p := people[name]
		for _, probe := range probes {
			key := uuid.NewString()
			real := strings.NewReplacer("{a}", agent.ID, "{t}", sent.TaskID, "{c}", sent.ID, "{k}", key, "{m}", members["reader"].ID, "{o}", team.ID, "{g}", teamed.ID)
			none := strings.NewReplacer("{a}", uuid.NewString(), "{t}", uuid.NewString(), "{c}", uuid.NewString(), "{k}", key, "{m}", uuid.NewString(), "{o}", uuid.NewString(), "{g}", uuid.NewString())
			status, got := p.ask(probe.method, real.Replace(probe.path), real.Replace(probe.body))
			wantStatus, want := p.ask(probe.method, none.Replace(probe.path), none.Replace(probe.body))
			if status != wantStatus || got != want || status < 400 && !strings.Contains(probe.path, "Id={") {
				t.Errorf("%s: %s %s is answered %d, and %d if there is none of that ID:\n%.300s\n%.300s", name, probe.method, probe.path, status, wantStatus, got, want)
			}
		}
		if _, list := p.ask("GET", "/api/v1/agents", ""); strings.Contains(list, agent.ID) {
			t.Errorf("%s lists the agent", name)
		}
		if _, list := p.ask("GET", "/api/v1/tasks", ""); strings.Contains(list, sent.TaskID) {
			t.Errorf("%s lists the task", name)
		}
	}
	grant, err := record.Grants.Add(t.Context(), access.Command("test"), access.Grant{
		Subject: access.Subject{MemberID: members["reader"].ID}, AgentID: agent.ID, Permission: access.Read, Enabled: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	reader := people["reader"]
	for path, want := range map[string]int{"/api/v1/agents/" + agent.ID: 200, "/api/v1/tasks/" + sent.TaskID: 200, "/api/v1/commands/" + sent.ID: 200, "/agents/" + agent.ID: 200, "/tasks/" + sent.TaskID: 200, "/agents": 200} {
		if status, _ := reader.ask("GET", path, ""); status != want {
			t.Errorf("who may read is answered %d to GET %s, want %d", status, path, want)
		}
	}
	for path, body := range map[string]string{
		"/api/v1/agents/" + agent.ID + "/commands": `{"text":"x"}`, "/api/v1/agents/" + agent.ID + "/discover": "",
		"/api/v1/tasks/" + sent.TaskID + "/refresh": "", "/api/v1/commands/" + sent.ID + "/resend": "",
	} {
		if status, answer := reader.ask("POST", path, body); status != http.StatusForbidden || !strings.Contains(answer, "not send to it") {
			t.Errorf("who may read is answered %d %s to POST %s, want 403 and why", status, answer, path)
		}
	}
	if _, err := record.Grants.Remove(t.Context(), access.Command("test"), grant.ID); err != nil {
		t.Fatal(err)
	}
	if status, _ := reader.ask("GET", "/api/v1/tasks/"+sent.TaskID, ""); status != http.StatusNotFound {
		t.Errorf("once it is taken back, the task is answered %d, want 404", status)
	}
}
