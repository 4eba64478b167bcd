package storetest

import (
	"context"
	"log/slog"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// testAuditOfAccess: who signs in and out, and who makes and revokes tokens, is on the
// trail, with the session that they came by and no secret.
func testAuditOfAccess(b *bench) {
	ctx, ops := context.Background(), access.Command("ops")
	members := &access.Members{Update: store.For[access.MemberTx](b.db.Update), View: store.For[access.MemberTx](b.db.View), NewID: newID}
	sessions := &access.Sessions{Update: store.For[access.SessionTx](b.db.Update), View: store.For[access.SessionTx](b.db.View), NewID: newID}
	tokens := &access.Tokens{Update: store.For[access.TokenTx](b.db.Update), View: store.For[access.TokenTx](b.db.View), NewID: newID, Log: slog.New(slog.DiscardHandler)}
	ada, err := members.Add(ctx, ops, access.NewMember{Name: "Ada", Issuer: "https://id.example", Subject: "ada", Role: access.Admin})
	if err != nil {
		b.Fatalf("Add: %v", err)
	}
	begin := func() string {
		secret, _, err := sessions.Begin(ctx, ada.ID, "Firefox")
		if err != nil {
			b.Fatalf("Begin: %v", err)
		}
		return secret
	}
	_, secret := begin(), begin()
	who, err := sessions.Identify(ctx, secret)
	if err != nil {
		b.Fatalf("Identify: %v", err)
	}
	token, _, err := tokens.Create(ctx, who.Principal, access.NewToken{Name: "CI", Scope: access.ScopeRead})
	if err == nil {
		_, err = tokens.Revoke(ctx, who.Principal, token.ID)
	}
	if err == nil {
		_, err = sessions.EndOthers(ctx, who.Principal)
	}
	for range 2 { // the second time there is nothing to end
		if err == nil {
			err = sessions.End(ctx, who.Principal)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	page, err := b.trail().List(ctx, access.LocalOperator(), trail.Filter{})
	if err != nil {
		b.Fatal(err)
	}
	var got []audit.Action
	for _, e := range slices.Backward(page.Items) {
		got = append(got, e.Action)
		if e.Action != audit.MemberAdded && (e.Actor.Name != "Ada" || e.Actor.SessionID == "") {
			b.Errorf("%s is by %+v", e.Action, e.Actor)
		}
	}
	want := []audit.Action{audit.MemberAdded, audit.SignedIn, audit.SignedIn, audit.TokenMade, audit.TokenRevoked, audit.SessionEnded, audit.SignedOut}
	if !slices.Equal(got, want) {
		b.Errorf("the trail has %v, want %v", got, want)
	}
}
