package access_test

import (
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// TestReach lists what somebody may do with an agent by role, scope and grants.
func TestReach(t *testing.T) {
	t.Parallel()
	type may struct{ sees, readsWhole, readsA, operates, operatesA, operatesSome bool }
	all := may{true, true, true, true, true, true}
	whole, a, b := "", "a", "b"
	for name, test := range map[string]struct {
		role  access.Role
		scope access.Scope
		given []access.Allowance
		want  may
	}{
		"an administrator needs no grant":            {access.Admin, access.ScopeAdminister, nil, all},
		"an administrator's token of scope operate":  {access.Admin, access.ScopeOperate, nil, all},
		"an administrator's token of scope read":     {access.Admin, access.ScopeRead, nil, may{true, true, true, false, false, false}},
		"an operator without a grant":                {access.Operator, access.ScopeAdminister, nil, may{}},
		"an operator who may read":                   {access.Operator, access.ScopeAdminister, []access.Allowance{{whole, access.Read}}, may{true, true, true, false, false, false}},
		"an operator who may operate":                {access.Operator, access.ScopeOperate, []access.Allowance{{whole, access.Operate}}, all},
		"operate counts, in whichever order":         {access.Operator, access.ScopeOperate, []access.Allowance{{whole, access.Operate}, {whole, access.Read}}, all},
		"an operator's token of scope read":          {access.Operator, access.ScopeRead, []access.Allowance{{whole, access.Operate}}, may{true, true, true, false, false, false}},
		"an operator of one skill":                   {access.Operator, access.ScopeOperate, []access.Allowance{{a, access.Operate}}, may{true, false, true, false, true, true}},
		"a reader of one skill":                      {access.Operator, access.ScopeOperate, []access.Allowance{{a, access.Read}}, may{true, false, true, false, false, false}},
		"an operator of another skill":               {access.Operator, access.ScopeOperate, []access.Allowance{{b, access.Operate}}, may{true, false, false, false, false, true}},
		"reads all, operates one skill":              {access.Operator, access.ScopeOperate, []access.Allowance{{whole, access.Read}, {a, access.Operate}}, may{true, true, true, false, true, true}},
		"a viewer never writes, whatever is granted": {access.Viewer, access.ScopeAdminister, []access.Allowance{{whole, access.Operate}, {a, access.Operate}}, may{true, true, true, false, false, false}},
		"somebody without a role":                    {"", access.ScopeAdminister, []access.Allowance{{whole, access.Operate}}, may{true, true, true, false, false, false}},
	} {
		r := access.NewReach(access.Principal{OrganisationID: "o", PersonID: "p", Role: test.role, Scope: test.scope}, test.given)
		got := may{r.Sees(), r.ReadsWhole(), r.Reads(a), r.Operates(""), r.Operates(a), r.OperatesSome()}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		for skill, operates := range map[string]bool{"": test.want.operates, a: test.want.operatesA} {
			if err := r.Check(skill); (err == nil) != operates || err != nil && fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s: Check(%q) is %v", name, skill, err)
			}
		}
		if err := r.CheckSome(); (err == nil) != test.want.operatesSome {
			t.Errorf("%s: CheckSome is %v", name, err)
		}
	}
}
