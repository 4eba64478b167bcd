package storetest

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// testMembers adds and changes members by the rules.
func testMembers(b *bench) {
	ctx := context.Background()
	r := b.rights()
	machine := access.Command("root").In("acme")
	if err := r.members.AddOrganisation(ctx, machine, "acme", "Acme"); err != nil {
		b.Fatal(err)
	}
	if err := r.members.AddOrganisation(ctx, admin, "more", "More"); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("a page makes an organisation: %v, want forbidden", err)
	}
	ann := r.person(admin, "Ann", access.Admin)
	bob := r.person(admin, "Bob", access.Operator)
	ivy := r.person(machine, "Ivy", access.Admin)
	robot, err := r.members.Add(ctx, ann, access.NewMember{Service: true, Name: "Robot", Role: access.Admin})
	if err != nil || robot.Kind != access.KindService || robot.Issuer != "" {
		b.Errorf("a service account: %+v, %v", robot, err)
	}
	for _, p := range []access.Principal{ann, ivy} {
		if _, err := r.members.Add(ctx, p, access.NewMember{Issuer: "https://id.example", Subject: "local/Bob", Name: "Bob", Role: access.Viewer}); fault.KindOf(err) != fault.Conflict {
			b.Errorf("%s adds somebody who is a member: %v, want a conflict", p.Name, err)
		}
	}
	faults := fault.Public(second(r.members.Add(ctx, ann, access.NewMember{Issuer: "id.example", Subject: "a\nb", Name: " ", Role: "owner"})))
	if faults.Kind != fault.Unprocessable || len(faults.Fields) != 4 {
		b.Errorf("a member without anything right has the faults %+v", faults.Fields)
	}
	no, operator := false, access.Operator
	for _, c := range []access.MemberChange{{Enabled: &no}, {Role: &operator}} {
		if _, err := r.members.Change(ctx, ann, ann.PersonID, c); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "last administrator") {
			b.Errorf("the last administrator who can sign in becomes none: %v, want a conflict", err)
		}
		if _, err := r.members.Change(ctx, ivy, ann.PersonID, c); fault.KindOf(err) != fault.NotFound {
			b.Errorf("another organisation's administrator changes one: %v, want not found", err)
		}
		if _, err := r.members.Change(ctx, bob, robot.ID, c); fault.KindOf(err) != fault.Forbidden {
			b.Errorf("an operator changes a member: %v, want forbidden", err)
		}
	}
	provided := r.members
	provided.Issuer = "https://id.example"
	other := access.NewMember{Issuer: "https://id.example/", Subject: "zed", Name: "Zed", Role: access.Admin}
	if faults := fault.Public(second(provided.Add(ctx, ann, other))); len(faults.Fields) != 1 || faults.Fields[0].Location != "issuer" {
		b.Errorf("somebody of a provider that nobody signs in with is added: %+v", faults)
	}
	zed, err := r.members.Add(ctx, ann, other) // as an earlier provider's people may be there
	if err != nil {
		b.Fatal(err)
	}
	if _, err := provided.Change(ctx, ann, ann.PersonID, access.MemberChange{Role: &operator}); fault.KindOf(err) != fault.Conflict {
		b.Errorf("the last administrator who can sign in becomes none beside %s, who cannot: %v, want a conflict", zed.Name, err)
	}
	viewer := access.Viewer
	if _, err := r.members.Change(ctx, ann, zed.ID, access.MemberChange{Role: &viewer}); err != nil {
		b.Fatal(err)
	}
	if _, err := r.members.Change(ctx, admin, admin.PersonID, access.MemberChange{Enabled: &no}); fault.KindOf(err) != fault.Conflict {
		b.Errorf("the local operator is disabled: %v, want a conflict", err)
	}
	m, err := r.members.Change(ctx, access.Command("root").In(access.LocalOrganisation), ann.PersonID, access.MemberChange{Enabled: &no})
	if err != nil || m.Enabled() {
		b.Errorf("the last administrator is disabled on the machine itself: %+v, %v", m, err)
	}
	list, err := r.members.List(ctx, admin)
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	if want := []string{"Ann", "Bob", "Local operator", "Robot", "Zed"}; err != nil || !slices.Equal(names, want) {
		b.Errorf("the members are %q, %v; want %q", names, err, want)
	}
}
