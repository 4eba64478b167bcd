package app_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

// refused fails the test unless an error is a problem of a status, with a fault at a
// location unless that is "".
func refused(t *testing.T, what string, err error, status int, location string) {
	t.Helper()
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Status != status {
		t.Errorf("%s: %v, want status %d", what, err, status)
		return
	}
	if location != "" && (len(problem.Errors) != 1 || problem.Errors[0].Location != location) {
		t.Errorf("%s: faults %+v, want one at %s", what, problem.Errors, location)
	}
}

// TestRightsOverTheAPI makes members, a team and grants over the API, and wants each to
// say who sees what, at once.
func TestRightsOverTheAPI(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	ctx, c, agent := t.Context(), s.Client(), s.SampleAgent(demo.Form).ID
	reads := map[string]any{"kind": "service", "name": "Report", "role": "viewer"}
	var report client.Member
	if status := s.Call(http.MethodPost, "/api/v1/members", reads, &report); status != http.StatusCreated || report.Kind != "service" || report.DisabledAt != nil {
		t.Fatalf("a service account is answered %d %+v", status, report)
	}
	token, err := c.CreateToken(ctx, client.TokenInput{Name: "t", Scope: "read", MemberID: report.ID})
	if err != nil {
		t.Fatal(err)
	}
	seen := func() int {
		return s.Call(http.MethodGet, "/api/v1/agents/"+agent, nil, nil, "Authorization", "Bearer "+token.Secret)
	}
	sees := func(when string, want int) {
		t.Helper()
		if got := seen(); got != want {
			t.Errorf("%s, the agent is answered %d, want %d", when, got, want)
		}
	}
	sees("without a grant", http.StatusNotFound)
	team, err := c.MakeTeam(ctx, client.TeamInput{Name: "Readers"})
	if err != nil || team.Members == nil {
		t.Fatalf("a team without members is %+v: %v", team, err)
	}
	grant, err := c.AddGrant(ctx, client.GrantInput{AgentID: agent, TeamID: team.ID, Permission: "operate"})
	if err != nil || !grant.Enabled || grant.Name != "Readers" {
		t.Fatalf("the grant is %+v: %v", grant, err)
	}
	sees("outside of the team", http.StatusNotFound)
	for range 2 {
		if team, err = c.AddTeamMember(ctx, team.ID, report.ID); err != nil || len(team.Members) != 1 {
			t.Fatalf("the team is %+v: %v", team, err)
		}
	}
	sees("in the team", http.StatusOK)
	if can, err := c.MemberAccess(ctx, report.ID); err != nil || can.Everything || len(can.Items) != 1 || can.Items[0].Permission != "read" || can.Items[0].Grant.ID != grant.ID {
		t.Errorf("the viewer's access is %+v: %v; want to read, by the grant", can, err)
	}
	if who, err := c.AgentSights(ctx, agent); err != nil || len(who) != 2 || who[0].Grant != nil || who[1].MemberID != report.ID {
		t.Errorf("who sees the agent is %+v: %v; want the local operator, then the account", who, err)
	}
	name, off := "All readers", false
	if team, err = c.ChangeTeam(ctx, team.ID, client.TeamChange{Name: &name}); err != nil || team.Name != name || len(team.Members) != 1 {
		t.Errorf("renamed, the team is %+v: %v; want its member still in it", team, err)
	}
	if grant, err = c.ChangeGrant(ctx, grant.ID, client.GrantChange{Enabled: &off}); err != nil || grant.Enabled || grant.Permission != "operate" {
		t.Errorf("switched off, the grant is %+v: %v", grant, err)
	}
	sees("with the grant switched off", http.StatusNotFound)
	if team, err = c.ChangeTeam(ctx, team.ID, client.TeamChange{Members: []string{}}); err != nil || len(team.Members) != 0 {
		t.Errorf("emptied, the team is %+v: %v", team, err)
	}
	_, err = c.RemoveTeamMember(ctx, team.ID, report.ID)
	refused(t, "taking out one who is not in", err, http.StatusNotFound, "")
	if _, err := c.RemoveTeam(ctx, team.ID); err != nil {
		t.Error(err)
	}
	_, err = c.Grant(ctx, grant.ID)
	refused(t, "a grant to a team that is gone", err, http.StatusNotFound, "")
	if _, err := c.AddGrant(ctx, client.GrantInput{AgentID: agent, MemberID: report.ID, Permission: "read"}); err != nil {
		t.Error(err)
	}
	sees("with a grant of its own", http.StatusOK)
	if all, err := c.Grants(ctx, client.GrantFilter{MemberID: report.ID}); err != nil || len(all) != 1 {
		t.Errorf("the account's grants are %+v: %v", all, err)
	}
	if all, err := c.Grants(ctx, client.GrantFilter{MemberID: "another"}); err != nil || len(all) != 0 {
		t.Errorf("the grants of nobody are %+v: %v", all, err)
	}
	yes := true
	if report, err = c.ChangeMember(ctx, report.ID, client.MemberChange{Disabled: &yes}); err != nil || report.DisabledAt == nil || report.Role != "viewer" {
		t.Errorf("disabled, the account is %+v: %v", report, err)
	}
	sees("disabled", http.StatusUnauthorized)
}

// TestRightsThatCannotBe wants the API to refuse, and to name the member of the body that
// is at fault.
func TestRightsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Options{SampleAgents: true})
	ctx, c, agent := t.Context(), s.Client(), s.SampleAgent(demo.Form).ID
	boss := client.MemberInput{Issuer: "https://id.example", Subject: "boss", Name: "Boss", Role: "admin"}
	admin, err := c.AddMember(ctx, boss)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.AddMember(ctx, boss)
	refused(t, "the same person twice", err, http.StatusConflict, "")
	boss.Kind = "service"
	_, err = c.AddMember(ctx, boss)
	refused(t, "a service account with a subject", err, http.StatusUnprocessableEntity, "/issuer")
	boss.Kind = "local"
	_, err = c.AddMember(ctx, boss)
	refused(t, "a local operator", err, http.StatusUnprocessableEntity, "/kind")
	viewer, owner, yes, no := "viewer", "owner", true, false
	_, err = c.ChangeMember(ctx, admin.ID, client.MemberChange{Role: &viewer})
	refused(t, "demoting the last administrator", err, http.StatusConflict, "")
	_, err = c.ChangeMember(ctx, admin.ID, client.MemberChange{Disabled: &yes})
	refused(t, "disabling the last administrator", err, http.StatusConflict, "")
	_, err = c.ChangeMember(ctx, admin.ID, client.MemberChange{Role: &owner})
	refused(t, "a role that is none", err, http.StatusUnprocessableEntity, "/role")
	_, err = c.ChangeMember(ctx, admin.ID, client.MemberChange{})
	refused(t, "a change of nothing", err, http.StatusBadRequest, "")
	var problem client.Problem
	if status := s.Call(http.MethodPut, "/api/v1/members/"+admin.ID, map[string]any{"disabled": "yes"}, &problem); status != http.StatusBadRequest || len(problem.Errors) != 1 || problem.Errors[0].Message != "Must be true or false." {
		t.Errorf("a text for true or false is answered %d %+v", status, problem.Errors)
	}
	_, err = c.ChangeMember(ctx, "local-operator", client.MemberChange{Disabled: &no})
	refused(t, "the local operator", err, http.StatusConflict, "")
	if _, err := c.MakeTeam(ctx, client.TeamInput{Name: "Support", Members: []string{admin.ID}}); err != nil {
		t.Fatal(err)
	}
	_, err = c.MakeTeam(ctx, client.TeamInput{Name: "Support"})
	refused(t, "a second team of the name", err, http.StatusConflict, "")
	_, err = c.MakeTeam(ctx, client.TeamInput{Name: " "})
	refused(t, "a team without a name", err, http.StatusUnprocessableEntity, "/name")
	_, err = c.MakeTeam(ctx, client.TeamInput{Name: "Others", Members: []string{agent}})
	refused(t, "members who are none", err, http.StatusUnprocessableEntity, "/members")
	for what, test := range map[string]struct {
		input client.GrantInput
		at    string
	}{
		"to nobody":             {client.GrantInput{AgentID: agent, Permission: "read"}, "/memberId"},
		"to one and everybody":  {client.GrantInput{AgentID: agent, MemberID: admin.ID, Everybody: true, Permission: "read"}, "/memberId"},
		"to somebody unknown":   {client.GrantInput{AgentID: agent, MemberID: "x\x00", Permission: "read"}, "/memberId"},
		"a team that is none":   {client.GrantInput{AgentID: agent, TeamID: admin.ID, Permission: "read"}, "/teamId"},
		"an agent that is none": {client.GrantInput{AgentID: admin.ID, Everybody: true, Permission: "read"}, "/agentId"},
		"a skill that is none":  {client.GrantInput{AgentID: agent, SkillID: "x", Everybody: true, Permission: "read"}, "/skillId"},
		"more than there is":    {client.GrantInput{AgentID: agent, Everybody: true, Permission: "administer"}, "/permission"},
	} {
		_, err := c.AddGrant(ctx, test.input)
		refused(t, what, err, http.StatusUnprocessableEntity, test.at)
	}
}
