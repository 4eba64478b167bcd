package storetest

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// testTeamMembers puts members into a team one by one and takes them out again: all at
// once too, and then each of them is in it.
func testTeamMembers(b *bench) {
	ctx := context.Background()
	r := b.rights()
	team, err := r.teams.Add(ctx, admin, "Team", nil)
	if err != nil {
		b.Fatal(err)
	}
	var want []string
	for _, name := range []string{"Ann", "Bob", "Cem", "Dee", "Eve"} {
		want = append(want, r.person(admin, name, access.Viewer).PersonID)
	}
	var all sync.WaitGroup
	for _, id := range want {
		all.Go(func() {
			if _, err := r.teams.AddMember(ctx, admin, team.ID, id); err != nil {
				b.Errorf("add a member: %v", err)
			}
		})
	}
	all.Wait()
	expect := func(when string, want []string) {
		b.Helper()
		got, err := r.teams.Get(ctx, admin, team.ID)
		if err != nil || !slices.Equal(got.MemberIDs, want) {
			b.Errorf("%s the team has %q, %v; want %q", when, got.MemberIDs, err, want)
		}
	}
	expect("with all of them", want)
	if _, err := r.teams.AddMember(ctx, admin, team.ID, want[0]); err != nil {
		b.Errorf("add one who is in the team: %v", err)
	}
	expect("with one of them twice", want)
	if _, err := r.teams.RemoveMember(ctx, admin, team.ID, want[0]); err != nil {
		b.Error(err)
	}
	expect("without one", want[1:])
	if err := r.members.AddOrganisation(ctx, access.Command("root"), "other", "Other"); err != nil {
		b.Fatal(err)
	}
	other := access.Command("root").In("other")
	stranger := r.person(other, "Stranger", access.Viewer).PersonID
	for what, err := range map[string]error{
		"one who is not in it":                 second(r.teams.RemoveMember(ctx, admin, team.ID, want[0])),
		"no such team":                         second(r.teams.AddMember(ctx, admin, newID(), want[0])),
		"somebody of another organisation":     second(r.teams.AddMember(ctx, admin, team.ID, stranger)),
		"by another organisation":              second(r.teams.AddMember(ctx, other, team.ID, stranger)),
		"taken out by another organisation":    second(r.teams.RemoveMember(ctx, other, team.ID, want[1])),
		"changed by another organisation":      second(r.teams.Change(ctx, other, team.ID, access.TeamChange{MemberIDs: []string{}})),
		"taken out of a team that there is no": second(r.teams.RemoveMember(ctx, admin, newID(), want[1])),
	} {
		if fault.KindOf(err) != fault.NotFound {
			b.Errorf("%s: %v, want not found", what, err)
		}
	}
	if _, err := r.teams.AddMember(ctx, r.person(admin, "Operator", access.Operator), team.ID, want[0]); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("an operator adds a member: %v, want forbidden", err)
	}
	name := "Renamed"
	if got, err := r.teams.Change(ctx, admin, team.ID, access.TeamChange{Name: &name}); err != nil || got.Name != name {
		b.Errorf("renamed, it is %+v: %v", got, err)
	}
	expect("renamed", want[1:])
}
