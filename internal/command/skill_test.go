package command

import (
	"encoding/json"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestOnlyTaskbayWritesRouting takes out what a caller wrote in its place, and nothing
// else.
func TestOnlyTaskbayWritesRouting(t *testing.T) {
	t.Parallel()
	const theirs = `"` + agent.SkillRoutingURI + `":{"skillId":"root"}`
	for given, want := range map[string]string{
		`{` + theirs + `}`:                      `{}`,
		`{"a":1.0,` + theirs + `,"b":{"c": 1}}`: `{"a":1.0,"b":{"c": 1}}`,
		`{` + theirs + `,"a":1,` + theirs + `}`: `{"a":1}`,
		`{"a":1}`:                               `{"a":1}`,
	} {
		part := a2a.TextPart("x")
		part.Metadata = json.RawMessage(given)
		b, err := normalised(Body{Parts: []a2a.Part{part}, Config: Config{Metadata: json.RawMessage(given)}})
		if err != nil || string(b.Config.Metadata) != want || string(b.Parts[0].Metadata) != want {
			t.Errorf("of %s stays %s, and %s of the part (%v); want %s", given, b.Config.Metadata, b.Parts[0].Metadata, err, want)
		}
		if string(part.Metadata) != given {
			t.Errorf("the caller's own part was changed to %s", part.Metadata)
		}
	}
	held := Record{Request: Request{SkillID: `a"b`}}
	if got, want := string(requestTo(held, task.Head{}).Message.Metadata), `{"`+agent.SkillRoutingURI+`":{"skillId":"a\"b"}}`; got != want {
		t.Errorf("the metadata of a message is %s, want %s", got, want)
	}
	if got := requestTo(Record{}, task.Head{}).Message.Metadata; got != nil {
		t.Errorf("a message that is held to no skill has the metadata %s", got)
	}
}

// seesOnly is a transaction in which one of the agent's tasks is seen.
type seesOnly struct {
	Tx
	remoteTaskID string
}

// SeesRemoteTask implements ReachTx.
func (s seesOnly) SeesRemoteTask(_ access.View, _, tenant, remoteTaskID string) error {
	if remoteTaskID != s.remoteTaskID || tenant != "" {
		return errNoTask()
	}
	return nil
}

// TestSkillRules lists what people may start and go on with by which skill.
func TestSkillRules(t *testing.T) {
	t.Parallel()
	p := access.Principal{OrganisationID: "o", PersonID: "p", Role: access.Operator, Scope: access.ScopeOperate}
	whole := access.NewReach(p, []access.Allowance{{Permission: access.Operate}})
	one := access.NewReach(p, []access.Allowance{{SkillID: "a", Permission: access.Operate}})
	reads := access.NewReach(p, []access.Allowance{{Permission: access.Read}})
	routed := agent.Agent{ID: "agent", Card: agent.Card{Extensions: []agent.Extension{{URI: agent.SkillRoutingURI}}, Skills: []agent.Skill{{ID: "a"}, {ID: "b"}}}}
	silent := agent.Agent{ID: "agent", Card: agent.Card{Skills: []agent.Skill{{ID: "a"}}}}
	refers := func(id string) Config { return Config{ReferenceTaskIDs: []string{id}} }
	const started = "to start"
	for name, test := range map[string]struct {
		reach access.Reach
		agent agent.Agent
		held  string // of the task that is gone on with, or started
		body  Body
		want  fault.Kind // "" is allowed
	}{
		"anything, by the whole agent":               {whole, routed, started, Body{ContextID: "c", Config: refers("theirs")}, ""},
		"a skill, by the whole agent":                {whole, routed, started, Body{SkillID: "b", ContextID: "c"}, ""},
		"a skill that there is none of":              {whole, routed, started, Body{SkillID: "c"}, fault.Unprocessable},
		"a skill of an agent that holds to none":     {whole, silent, started, Body{SkillID: "a"}, fault.Unprocessable},
		"nothing, by reading":                        {reads, routed, started, Body{}, fault.Forbidden},
		"one's skill":                                {one, routed, started, Body{SkillID: "a"}, ""},
		"one's skill and a task that one sees":       {one, routed, started, Body{SkillID: "a", Config: refers("mine")}, ""},
		"one's skill and a task that one does not":   {one, routed, started, Body{SkillID: "a", Config: refers("theirs")}, fault.Forbidden},
		"one's skill and that task's name elsewhere": {one, routed, started, Body{SkillID: "a", Tenant: "x", Config: refers("mine")}, fault.Forbidden},
		"one's skill in a context":                   {one, routed, started, Body{SkillID: "a", ContextID: "c"}, fault.Forbidden},
		"another skill than one's":                   {one, routed, started, Body{SkillID: "b"}, fault.Forbidden},
		"no skill":                                   {one, routed, started, Body{}, fault.Forbidden},

		"on with one's skill":                     {one, routed, "a", Body{}, ""},
		"on with it, named":                       {one, routed, "a", Body{SkillID: "a"}, ""},
		"on by another skill":                     {whole, routed, "a", Body{SkillID: "b"}, fault.Unprocessable},
		"on by a skill on a task of none":         {whole, routed, "", Body{SkillID: "a"}, fault.Unprocessable},
		"on with a skill that is gone":            {one, silent, "a", Body{}, fault.Conflict},
		"cancel with a skill that is gone":        {one, silent, "a", Body{Action: Cancel}, ""},
		"on with a skill that is gone, for whole": {whole, silent, "a", Body{}, ""},
		"on with a task of another skill":         {one, routed, "b", Body{}, fault.Forbidden},
		"on, referring to what one does not see":  {one, routed, "a", Body{Config: refers("theirs")}, fault.Forbidden},
		"on in its context":                       {one, routed, "a", Body{ContextID: "own"}, ""},
		"on in another context":                   {one, routed, "a", Body{ContextID: "c"}, fault.Forbidden},
		"on in another, by whole":                 {whole, routed, "a", Body{ContextID: "c"}, ""},
		"on by reading":                           {reads, routed, "", Body{}, fault.Forbidden},
	} {
		tx := seesOnly{remoteTaskID: "mine"}
		var err error
		if test.held == started {
			err = mayStart(tx, p, test.reach, test.agent, test.body)
		} else {
			err = mayFollow(tx, p, test.reach, test.agent, task.Head{ContextID: "own"}, task.Owner{SkillID: test.held}, test.body)
		}
		if (err == nil) != (test.want == "") || err != nil && fault.KindOf(err) != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
