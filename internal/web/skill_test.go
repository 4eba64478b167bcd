package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
)

// TestSkillChoice lets people choose the skills that they may operate, and those who
// may send in no way are told so.
func TestSkillChoice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		role  access.Role
		given []access.Allowance
		has   []string
		lacks []string
	}{
		"an administrator": {access.Admin, nil,
			[]string{"Any skill of the agent", `value="a"`, `value="b"`, "Fetch card now", "Remove this agent"}, []string{"may read this agent"}},
		"of the whole agent": {access.Operator, []access.Allowance{{Permission: access.Operate}},
			[]string{"Any skill of the agent", `value="a"`, `value="b"`, "Fetch card now"}, []string{"Remove this agent", "Pinned keys"}},
		"of one skill": {access.Operator, []access.Allowance{{SkillID: "b", Permission: access.Operate}},
			[]string{`value="b"`, "Start a task"}, []string{"Any skill of the agent", `value="a"`, "On the wire"}},
		"of two skills": {access.Operator, []access.Allowance{{SkillID: "a", Permission: access.Operate}, {SkillID: "b", Permission: access.Operate}},
			[]string{"Choose a skill…", `value="a"`, `value="b"`}, []string{"Any skill of the agent"}},
		"who reads": {access.Operator, []access.Allowance{{Permission: access.Read}},
			[]string{"You may read this agent, but not send to it."}, []string{"Start a task", "Fetch card now"}},
		"a viewer": {access.Viewer, []access.Allowance{{Permission: access.Operate}},
			[]string{"You may read this agent, but not send to it."}, []string{"Start a task", "Fetch card now"}},
	} {
		c := newConsole(t)
		c.given = test.given
		c.actAs(access.Principal{OrganisationID: "o", PersonID: "p", Role: test.role, Scope: access.ScopeAdminister})
		a := &c.agents[0]
		a.Card.Extensions = []agent.Extension{{URI: agent.SkillRoutingURI}}
		a.Card.Skills = []agent.Skill{{ID: "a", Name: "Alpha"}, {ID: "b", Name: "Beta"}}
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/agents/"+a.ID, nil))
		for _, want := range test.has {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: the page (%d) lacks %q", name, w.Code, want)
			}
		}
		for _, never := range test.lacks {
			if strings.Contains(w.Body.String(), never) {
				t.Errorf("%s: the page has %q", name, never)
			}
		}
	}
}

// TestChosenSkillIsSent starts a task by a skill.
func TestChosenSkillIsSent(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	form := url.Values{"text": {"go"}, "key": {"k"}, "skill": {"b"}}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/agents/"+c.agents[0].ID+"/tasks", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	if sent := c.sent(); len(sent) != 1 || sent[0].Body.SkillID != "b" {
		t.Errorf("what was sent is %+v (%d), want one held to skill b", sent, w.Code)
	}
}
