package access_test

import (
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

func TestAllow(t *testing.T) {
	t.Parallel()
	type way struct {
		role  access.Role
		scope access.Scope
	}
	ways := map[access.Need]map[way]bool{ // those that are let in
		access.NeedNothing: nil, // all are
		access.NeedSignIn:  nil,
		access.NeedOwn:     {{access.Admin, access.ScopeAdminister}: true, {access.Operator, access.ScopeAdminister}: true, {access.Viewer, access.ScopeAdminister}: true},
		access.NeedRead: {
			{access.Admin, access.ScopeRead}: true, {access.Admin, access.ScopeOperate}: true, {access.Admin, access.ScopeAdminister}: true,
			{access.Operator, access.ScopeRead}: true, {access.Operator, access.ScopeOperate}: true, {access.Operator, access.ScopeAdminister}: true,
			{access.Viewer, access.ScopeRead}: true, {access.Viewer, access.ScopeOperate}: true, {access.Viewer, access.ScopeAdminister}: true,
		},
		access.NeedOperate: {
			{access.Admin, access.ScopeOperate}: true, {access.Admin, access.ScopeAdminister}: true,
			{access.Operator, access.ScopeOperate}: true, {access.Operator, access.ScopeAdminister}: true,
		},
		access.NeedAdminister: {{access.Admin, access.ScopeAdminister}: true},
		"anything else":       {},
	}
	for need, allowed := range ways {
		for _, role := range []access.Role{access.Admin, access.Operator, access.Viewer, "", "owner"} {
			for _, scope := range []access.Scope{access.ScopeRead, access.ScopeOperate, access.ScopeAdminister, "", "all"} {
				err := access.Allow(access.Principal{Role: role, Scope: scope}, need)
				if want := need == access.NeedNothing || need == access.NeedSignIn || allowed[way{role, scope}]; (err == nil) != want {
					t.Errorf("a %q with scope %q and need %q: allowed is %t, want %t", role, scope, need, err == nil, want)
				} else if err != nil && fault.KindOf(err) != fault.Forbidden {
					t.Errorf("a %q with scope %q and need %q: %v is %s, want %s", role, scope, need, err, fault.KindOf(err), fault.Forbidden)
				}
			}
		}
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	for role, all := range map[access.Role]bool{access.Admin: true, access.Operator: false, access.Viewer: false, "": false} {
		p := access.Principal{OrganisationID: "o", PersonID: "m", Role: role, Scope: access.ScopeAdminister}
		if got, want := p.View(), (access.View{OrganisationID: "o", MembershipID: "m", All: all}); got != want {
			t.Errorf("a %q views %+v, want %+v", role, got, want)
		}
	}
}
