package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// rights are the services of who may do what, on the database of a test.
type rights struct {
	*bench
	members access.Members
	teams   access.Teams
	grants  access.Grants
}

func (b *bench) rights() *rights {
	return &rights{
		bench:   b,
		members: access.Members{Update: store.For[access.MemberTx](b.db.Update), View: store.For[access.MemberTx](b.db.View), NewID: newID},
		teams:   access.Teams{Update: store.For[access.TeamTx](b.db.Update), View: store.For[access.TeamTx](b.db.View), NewID: newID},
		grants:  access.Grants{Update: store.For[access.GrantTx](b.db.Update), View: store.For[access.GrantTx](b.db.View), NewID: newID},
	}
}

var admin = access.LocalOperator()

// person adds a member, and returns who they are once signed in.
func (r *rights) person(by access.Principal, name string, role access.Role) access.Principal {
	r.Helper()
	m, err := r.members.Add(context.Background(), by, access.NewMember{Issuer: "https://id.example", Subject: by.OrganisationID + "/" + name, Name: name, Role: role})
	if err != nil {
		r.Fatalf("add %s: %v", name, err)
	}
	return access.Principal{OrganisationID: m.OrganisationID, PersonID: m.ID, Name: name, Kind: m.Kind, Role: role, Scope: access.ScopeAdminister}
}

func (r *rights) grant(g access.Grant) access.Grant {
	r.Helper()
	g.Enabled = true
	stored, err := r.grants.Add(context.Background(), admin, g)
	if err != nil {
		r.Fatalf("grant %+v: %v", g, err)
	}
	return stored
}

// routed makes an agent that holds messages to the skills a and b.
func (r *rights) routed() string {
	r.Helper()
	id := r.agent()
	card := fmt.Sprintf(`{"name":"Routed","supportedInterfaces":[{"url":"http://127.0.0.1/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"extensions":[{"uri":%q}]},"skills":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`, agent.SkillRoutingURI)
	r.update(func(tx *store.Tx) error {
		return tx.StoreDiscovery(id, agent.Discovery{CardID: newID(), Raw: []byte(card), URL: "http://127.0.0.1/card", Name: "Routed", Health: agent.Health{Status: agent.HealthReachable}, NextTurn: tx.Now().Add(time.Hour)})
	})
	return id
}

func (r *rights) heldTask(agentID, skillID string) string {
	r.Helper()
	id := newID()
	r.update(func(tx *store.Tx) error {
		return tx.CreateTask(task.Head{TaskID: id, RemoteTaskID: "remote-" + id, Kind: task.KindTask, State: a2a.StateUnspecified},
			task.Owner{OrganisationID: access.LocalOrganisation, AgentID: agentID, SkillID: skillID, Title: "held to " + skillID})
	})
	return id
}

// sees returns which of the tasks a principal sees one by one, after it made sure that
// the list, in pages of one, has the same.
func (r *rights) sees(p access.Principal, taskIDs ...string) []string {
	r.Helper()
	var one, listed []string
	r.view(func(tx *store.Tx) error {
		for _, id := range taskIDs {
			_, err := tx.TaskRecord(p.View(), id)
			if other := tx.SeesTask(p.View(), id); fault.KindOf(other) != fault.KindOf(err) {
				r.Errorf("%s: SeesTask is %v, TaskRecord is %v", p.Name, other, err)
			}
			switch {
			case err == nil:
				one = append(one, id)
			case fault.KindOf(err) != fault.NotFound:
				return err
			}
		}
		for cursor := ""; ; {
			page, next, err := tx.ListTasks(p.View(), task.Filter{Limit: 1, Cursor: cursor})
			if err != nil {
				return err
			}
			for _, t := range page {
				if slices.Contains(taskIDs, t.ID) {
					listed = append(listed, t.ID)
				}
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		return nil
	})
	slices.Sort(one)
	slices.Sort(listed)
	if !slices.Equal(one, listed) {
		r.Errorf("%s sees %q one by one, and %q in the list", p.Name, one, listed)
	}
	return one
}

func testGrants(b *bench) {
	r := b.rights()
	routed, plain := r.routed(), r.agent()
	general, heldA, heldB, other := r.heldTask(routed, ""), r.heldTask(routed, "a"), r.heldTask(routed, "b"), r.heldTask(plain, "")
	all := []string{general, heldA, heldB, other}
	whole := r.person(admin, "Whole", access.Operator)
	skill := r.person(admin, "Skill", access.Operator)
	teamed := r.person(admin, "Teamed", access.Viewer)
	nobody := r.person(admin, "Nobody", access.Operator)
	stranger := access.Principal{OrganisationID: "other", PersonID: whole.PersonID, Name: "Stranger", Role: access.Admin, Scope: access.ScopeAdminister}
	team, err := r.teams.Add(context.Background(), admin, "Team", []string{teamed.PersonID})
	if err != nil {
		b.Fatal(err)
	}
	onWhole := r.grant(access.Grant{Subject: access.Subject{MemberID: whole.PersonID}, AgentID: routed, Permission: access.Read})
	r.grant(access.Grant{Subject: access.Subject{MemberID: skill.PersonID}, AgentID: routed, SkillID: "a", Permission: access.Operate})
	r.grant(access.Grant{Subject: access.Subject{TeamID: team.ID}, AgentID: routed, SkillID: "b", Permission: access.Read})
	expect := func(when string, p access.Principal, agents []string, tasks ...string) {
		b.Helper()
		slices.Sort(tasks)
		if got := r.sees(p, all...); !slices.Equal(got, tasks) {
			b.Errorf("%s, %s sees the tasks %q, want %q", when, p.Name, got, tasks)
		}
		var got []string
		b.view(func(tx *store.Tx) error {
			list, err := tx.ListAgents(p.View())
			for _, a := range list {
				got = append(got, a.ID)
				if _, err := tx.Agent(p.View(), a.ID); err != nil {
					b.Errorf("%s lists an agent and cannot read it: %v", p.Name, err)
				}
			}
			return err
		})
		slices.Sort(got)
		slices.Sort(agents)
		if !slices.Equal(got, agents) {
			b.Errorf("%s, %s sees the agents %q, want %q", when, p.Name, got, agents)
		}
	}
	expect("at first", admin, []string{routed, plain}, all...)
	expect("at first", whole, []string{routed}, general, heldA, heldB)
	expect("at first", skill, []string{routed}, heldA)
	expect("at first", teamed, []string{routed}, heldB)
	expect("at first", nobody, nil)
	expect("at first", stranger, nil)
	r.grant(access.Grant{AgentID: plain, Permission: access.Read})
	for _, p := range []access.Principal{whole, skill, teamed, nobody} {
		if got := r.sees(p, other); len(got) != 1 {
			b.Errorf("%s does not see what is granted to everybody in the organisation", p.Name)
		}
	}
	if got := r.sees(stranger, all...); len(got) != 0 {
		b.Errorf("another organisation sees %q", got)
	}
	off := false
	if _, err := r.grants.Change(context.Background(), admin, onWhole.ID, nil, &off); err != nil {
		b.Fatal(err)
	}
	expect("with the grant switched off", whole, []string{plain}, other)
	if _, err := r.teams.Change(context.Background(), admin, team.ID, access.TeamChange{MemberIDs: []string{}}); err != nil {
		b.Fatal(err)
	}
	expect("out of the team", teamed, []string{plain}, other)
	if counts := r.counts(skill); counts != 0 {
		b.Errorf("%d of the tasks need a person, want none", counts)
	}
}

func (r *rights) counts(p access.Principal) int {
	r.Helper()
	var c task.Counts
	r.view(func(tx *store.Tx) (err error) {
		c, err = tx.CountTasks(p.View())
		return err
	})
	return c.NeedsYou
}

// testCountsByGrant counts what needs a person as each person may see it.
func testCountsByGrant(b *bench) {
	r := b.rights()
	routed := r.routed()
	general, held := r.taskOf(routed, "general"), ""
	held = newID()
	b.update(func(tx *store.Tx) error {
		return tx.CreateTask(task.Head{TaskID: held, Kind: task.KindTask, State: a2a.StateUnspecified},
			task.Owner{OrganisationID: access.LocalOrganisation, AgentID: routed, SkillID: "a", Title: "held"})
	})
	b.asks(general, "g/0", "question")
	b.asks(held, "h/0", "question")
	skill, nobody := r.person(admin, "Skill", access.Viewer), r.person(admin, "Nobody", access.Viewer)
	r.grant(access.Grant{Subject: access.Subject{MemberID: skill.PersonID}, AgentID: routed, SkillID: "a", Permission: access.Read})
	for p, want := range map[access.Principal]int{admin: 2, skill: 1, nobody: 0} {
		if got := r.counts(p); got != want {
			b.Errorf("%s is told of %d tasks that need them, want %d", p.Name, got, want)
		}
	}
}

// testReach reads how far people may go, as the record has them at that moment.
func testReach(b *bench) {
	ctx := context.Background()
	r := b.rights()
	routed := r.routed()
	ann, root := r.person(admin, "Ann", access.Operator), r.person(admin, "Root", access.Admin)
	reach := func(p access.Principal) (access.Reach, error) {
		var got access.Reach
		err := b.db.View(ctx, func(tx *store.Tx) (err error) {
			got, err = tx.Reach(p, routed)
			return err
		})
		return got, err
	}
	if _, err := reach(ann); fault.KindOf(err) != fault.NotFound {
		b.Errorf("without a grant: %v, want not found", err)
	}
	g := r.grant(access.Grant{Subject: access.Subject{MemberID: ann.PersonID}, AgentID: routed, SkillID: "a", Permission: access.Operate})
	got, err := reach(ann)
	if err != nil || got.Operates("") || !got.Operates("a") || got.Operates("b") || got.ReadsWhole() {
		b.Errorf("with a grant on a skill: %+v, %v", got, err)
	}
	if got, err := reach(root); err != nil || !got.Operates("") {
		b.Errorf("an administrator: %+v, %v", got, err)
	}
	for _, p := range []access.Principal{access.Command("root").In("other"), {}} {
		if _, err := reach(p); fault.KindOf(err) != fault.NotFound {
			b.Errorf("%q of another organisation: %v, want not found", p.Name, err)
		}
	}
	viewer, disabled := access.Viewer, false
	if _, err := r.members.Change(ctx, admin, ann.PersonID, access.MemberChange{Role: &viewer}); err != nil {
		b.Fatal(err)
	}
	if got, err := reach(ann); err != nil || got.OperatesSome() || !got.Reads("a") {
		b.Errorf("a viewer since a moment ago: %+v, %v", got, err)
	}
	if _, err := r.members.Change(ctx, access.Command("root").In(access.LocalOrganisation), root.PersonID, access.MemberChange{Role: &viewer}); err != nil {
		b.Fatal(err)
	}
	if _, err := reach(root); fault.KindOf(err) != fault.NotFound {
		b.Errorf("no administrator since a moment ago: %v, want not found", err)
	}
	if _, err := r.members.Change(ctx, admin, ann.PersonID, access.MemberChange{Enabled: &disabled}); err != nil {
		b.Fatal(err)
	}
	if _, err := reach(ann); fault.KindOf(err) != fault.SignedOut {
		b.Errorf("disabled since a moment ago: %v, want signed out", err)
	}
	if _, err := r.grants.Remove(ctx, admin, g.ID); err != nil {
		b.Fatal(err)
	}
}

// testDisabling ends what somebody has open, in the same transaction.
func testDisabling(b *bench) {
	ctx := context.Background()
	r := b.rights()
	ann, bob := r.person(admin, "Ann", access.Operator), r.person(admin, "Bob", access.Operator)
	for i, p := range []access.Principal{ann, bob} {
		for statement, args := range map[string][]any{
			"INSERT INTO session (id, sha256, membership_id, created_us, expires_us) VALUES (?, ?, ?, 0, ?)":                                                   {fmt.Sprint("s", i), fmt.Sprint("s", i), p.PersonID, time.Now().Add(time.Hour).UnixMicro()},
			"INSERT INTO api_token (id, sha256, membership_id, name, scope, created_by, created_by_name, created_us) VALUES (?, ?, ?, 't', 'read', '', '', 0)": {fmt.Sprint("t", i), fmt.Sprint("t", i), p.PersonID},
		} {
			if err := b.db.Exec(ctx, statement, args...); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.published.take()
	no, yes := false, true
	if _, err := r.members.Change(ctx, admin, ann.PersonID, access.MemberChange{Enabled: &no}); err != nil {
		b.Fatal(err)
	}
	if got := b.published.take(); !slices.Contains(got, live.AccessTopic(access.LocalOrganisation)) {
		b.Errorf("disabling a member publishes %q", got)
	}
	if _, err := r.members.Change(ctx, admin, ann.PersonID, access.MemberChange{Enabled: &yes}); err != nil {
		b.Fatal(err)
	}
	for table, column := range map[string]string{"session": "ended_us", "api_token": "revoked_us"} {
		for p, want := range map[access.Principal]string{ann: "1", bob: "0"} {
			// The statement changes nothing unless as many have ended as should.
			statement := "UPDATE membership SET name = name || '!' WHERE id = ? AND " + want + " = (SELECT COUNT(*) FROM " + table + " WHERE membership_id = ? AND " + column + " IS NOT NULL)"
			before, err := r.members.Get(ctx, admin, p.PersonID)
			if err == nil {
				err = b.db.Exec(ctx, statement, p.PersonID, p.PersonID)
			}
			after, again := r.members.Get(ctx, admin, p.PersonID)
			if err != nil || again != nil || before.Name == after.Name {
				b.Errorf("%s of %s: want %s ended (%v, %v)", table, p.Name, want, err, again)
			}
		}
	}
}

// testAdminsAtOnce lets two administrators make each other operators: one stays.
func testAdminsAtOnce(b *bench) {
	r := b.rights()
	ann, bob := r.person(admin, "Ann", access.Admin), r.person(admin, "Bob", access.Admin)
	operator := access.Operator
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, pair := range [][2]access.Principal{{ann, bob}, {bob, ann}} {
		both.Go(func() {
			_, errs[i] = r.members.Change(context.Background(), pair[0], pair[1].PersonID, access.MemberChange{Role: &operator})
		})
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		b.Errorf("two administrators demote each other: %v, want that one could not", errs)
	}
}

// testSights asks who sees an agent, and what somebody sees.
func testSightsOfGrants(b *bench) {
	ctx := context.Background()
	r := b.rights()
	routed, plain := r.routed(), r.agent()
	ann, vic := r.person(admin, "Ann", access.Operator), r.person(admin, "Vic", access.Viewer)
	team, err := r.teams.Add(ctx, admin, "Both", []string{vic.PersonID, ann.PersonID, ann.PersonID})
	if err != nil || !slices.Equal(team.MemberIDs, []string{ann.PersonID, vic.PersonID}) {
		b.Fatalf("a team is %+v, %v", team, err)
	}
	r.grant(access.Grant{Subject: access.Subject{TeamID: team.ID}, AgentID: routed, SkillID: "a", Permission: access.Operate})
	r.grant(access.Grant{Subject: access.Subject{MemberID: ann.PersonID}, AgentID: plain, Permission: access.Read})
	sights, err := r.grants.OfAgent(ctx, admin, routed)
	got := describe(sights)
	if want := []string{"Local operator  operate", "Ann a operate", "Vic a read"}; err != nil || !slices.Equal(got, want) {
		b.Errorf("who sees the agent: %q, %v; want %q", got, err, want)
	}
	_, sights, err = r.grants.OfMember(ctx, admin, ann.PersonID)
	if got := describe(sights); err != nil || len(got) != 2 || sights[0].Grant == nil {
		b.Errorf("what somebody sees: %q, %v; want two", got, err)
	}
	for _, of := range []func() error{
		func() error { _, err := r.grants.OfAgent(ctx, access.Command("root").In("other"), routed); return err },
		func() error {
			_, _, err := r.grants.OfMember(ctx, access.Command("root").In("other"), ann.PersonID)
			return err
		},
		func() error { _, err := r.teams.Remove(ctx, access.Command("root").In("other"), team.ID); return err },
		func() error { _, err := r.teams.Get(ctx, access.Command("root").In("other"), team.ID); return err },
	} {
		if err := of(); fault.KindOf(err) != fault.NotFound {
			b.Errorf("another organisation's administrator: %v, want not found", err)
		}
	}
	if _, err := r.teams.Remove(ctx, admin, team.ID); err != nil {
		b.Fatal(err)
	}
	if grants, err := r.grants.List(ctx, admin); err != nil || len(grants) != 1 {
		b.Errorf("without the team there are the grants %+v, %v; want one", grants, err)
	}
}

func describe(sights []access.Sight) (all []string) {
	for _, s := range sights {
		all = append(all, s.Member.Name+" "+s.SkillID+" "+string(s.Permission))
	}
	return all
}

// testGrantRules refuses what cannot be granted.
func testGrantRules(b *bench) {
	ctx := context.Background()
	r := b.rights()
	routed, plain := r.routed(), r.agent()
	ann := r.person(admin, "Ann", access.Operator)
	mine := access.Subject{MemberID: ann.PersonID}
	for name, test := range map[string]struct {
		grant access.Grant
		at    string
	}{
		"no such agent":               {access.Grant{Subject: mine, AgentID: newID(), Permission: access.Read}, "agentId"},
		"no such member":              {access.Grant{Subject: access.Subject{MemberID: newID()}, AgentID: plain, Permission: access.Read}, "memberId"},
		"no such team":                {access.Grant{Subject: access.Subject{TeamID: newID()}, AgentID: plain, Permission: access.Read}, "teamId"},
		"a member and a team":         {access.Grant{Subject: access.Subject{MemberID: ann.PersonID, TeamID: "t"}, AgentID: plain, Permission: access.Read}, "teamId"},
		"no such permission":          {access.Grant{Subject: mine, AgentID: plain, Permission: "own"}, "permission"},
		"no such skill":               {access.Grant{Subject: mine, AgentID: routed, SkillID: "c", Permission: access.Read}, "skillId"},
		"a skill without the routing": {access.Grant{Subject: mine, AgentID: plain, SkillID: "a", Permission: access.Read}, "skillId"},
	} {
		public := fault.Public(second(r.grants.Add(ctx, admin, test.grant)))
		if public.Kind != fault.Unprocessable || len(public.Fields) != 1 || public.Fields[0].Location != test.at {
			b.Errorf("%s: %s %+v, want a fault at %s", name, public.Kind, public.Fields, test.at)
		}
	}
	first := r.grant(access.Grant{Subject: mine, AgentID: routed, Permission: access.Read})
	second := r.grant(access.Grant{Subject: mine, AgentID: routed, Permission: access.Operate})
	if _, err := r.grants.Add(ctx, admin, access.Grant{Subject: mine, AgentID: routed, Permission: access.Read}); fault.KindOf(err) != fault.Conflict {
		b.Errorf("the same twice: %v, want a conflict", err)
	}
	read := access.Read
	if _, err := r.grants.Change(ctx, admin, second.ID, &read, nil); fault.KindOf(err) != fault.Conflict {
		b.Errorf("changed to the same: %v, want a conflict", err)
	}
	if _, err := r.grants.Change(ctx, access.Command("root").In("other"), first.ID, &read, nil); fault.KindOf(err) != fault.NotFound {
		b.Errorf("another organisation's administrator: %v, want not found", err)
	}
	if _, err := r.grants.Remove(ctx, access.Command("root").In("other"), first.ID); fault.KindOf(err) != fault.NotFound {
		b.Errorf("another organisation's administrator: %v, want not found", err)
	}
	if _, err := r.grants.List(ctx, ann); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("an operator lists grants: %v, want forbidden", err)
	}
}

func second[T any](_ T, err error) error { return err }
