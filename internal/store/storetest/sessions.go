package storetest

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// member makes a member of the local organisation and returns its ID.
func (b *bench) member(kind access.Kind, name string, role access.Role) string {
	b.Helper()
	id := newID()
	var issuer, subject any
	if kind == access.KindPerson {
		issuer, subject = "https://login.example", id
	}
	b.exec("INSERT INTO membership (id, organisation_id, kind, issuer, subject, name, role, created_us) VALUES (?, 'local', ?, ?, ?, ?, ?, 0)",
		id, string(kind), issuer, subject, name, string(role))
	return id
}

func (b *bench) sessions() *access.Sessions {
	return &access.Sessions{Update: store.For[access.SessionTx](b.db.Update), View: store.For[access.SessionTx](b.db.View), NewID: newID}
}

func (b *bench) begin(s *access.Sessions, memberID string) (secret string, p access.Principal) {
	b.Helper()
	secret, _, err := s.Begin(b.Context(), memberID, "A browser")
	if err != nil {
		b.Fatalf("Begin: %v", err)
	}
	who, err := s.Identify(b.Context(), secret)
	if err != nil {
		b.Fatalf("Identify: %v", err)
	}
	return secret, who.Principal
}

func testSessions(b *bench) {
	ann := b.member(access.KindPerson, "Ann", access.Operator)
	s := b.sessions()
	secret, expires, err := s.Begin(b.Context(), ann, "Browser/1.0 \x00\n"+strings.Repeat("x", 300))
	if err != nil {
		b.Fatalf("Begin: %v", err)
	}
	if life := time.Until(expires); life > access.SessionLife || life < access.SessionLife-time.Minute {
		b.Errorf("the session lasts %v, want %v", life, access.SessionLife)
	}
	who, err := s.Identify(b.Context(), secret)
	want := access.Identity{ExpiresAt: expires, Principal: access.Principal{
		OrganisationID: access.LocalOrganisation, PersonID: ann, Name: "Ann", Kind: access.KindPerson, Role: access.Operator,
		Scope: access.ScopeAdminister, SessionID: who.Principal.SessionID,
	}}
	if diff := cmp.Diff(want, who); diff != "" || err != nil || who.Principal.SessionID == "" {
		b.Errorf("identity mismatch (-want +got), %v:\n%s", err, diff)
	}
	all, err := s.List(b.Context(), who.Principal)
	if diff := cmp.Diff([]access.Session{{ID: who.Principal.SessionID, MembershipID: ann, Client: "Browser/1.0 " + strings.Repeat("x", 188), ExpiresAt: expires}},
		all, cmpopts.IgnoreFields(access.Session{}, "CreatedAt")); diff != "" || err != nil {
		b.Errorf("sessions mismatch (-want +got), %v:\n%s", err, diff)
	}
	for _, other := range []string{"", secret + "x", who.Principal.SessionID} {
		if _, err := s.Identify(b.Context(), other); fault.KindOf(err) != fault.SignedOut {
			b.Errorf("Identify of a secret that is none: %v, want signed out", err)
		}
	}
	for _, nobody := range []string{"nobody", b.member(access.KindService, "Robot", access.Admin), access.LocalOperator().PersonID} {
		if _, _, err := s.Begin(b.Context(), nobody, ""); fault.KindOf(err) != fault.Forbidden {
			b.Errorf("Begin for %q: %v, want forbidden", nobody, err)
		}
	}
}

// testSessionsFollowTheRecord changes a person while they are signed in.
func testSessionsFollowTheRecord(b *bench) {
	ann := b.member(access.KindPerson, "Ann", access.Operator)
	s := b.sessions()
	secret, _ := b.begin(s, ann)
	b.exec("UPDATE membership SET role = 'viewer', name = 'Ann B' WHERE id = ?", ann)
	who, err := s.Identify(b.Context(), secret)
	if err != nil || who.Principal.Role != access.Viewer || who.Principal.Name != "Ann B" {
		b.Errorf("after a change of role: %+v, %v; want the new role and name", who.Principal, err)
	}
	for _, end := range []string{
		"UPDATE membership SET disabled_us = 1 WHERE id = ?",
		"UPDATE session SET expires_us = 1 WHERE membership_id = ?",
	} {
		secret, _ := b.begin(s, ann)
		b.exec(end, ann)
		if _, err := s.Identify(b.Context(), secret); fault.KindOf(err) != fault.SignedOut {
			b.Errorf("after %s: %v, want signed out", end, err)
		}
		b.exec("UPDATE membership SET disabled_us = NULL WHERE id = ?", ann)
	}
	b.exec("UPDATE membership SET disabled_us = 1 WHERE id = ?", ann)
	if _, _, err := s.Begin(b.Context(), ann, ""); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("Begin for somebody disabled: %v, want forbidden", err)
	}
}

func testSignOut(b *bench) {
	s := b.sessions()
	ann, bob := b.member(access.KindPerson, "Ann", access.Viewer), b.member(access.KindPerson, "Bob", access.Viewer)
	here, p := b.begin(s, ann)
	there, _ := b.begin(s, ann)
	bobs, _ := b.begin(s, bob)
	signedIn := func(what string, want map[string]bool) {
		b.Helper()
		found, err := s.Standing(b.Context(), []string{here, there, bobs, "none"})
		got := map[string]bool{}
		for secret := range found {
			got[secret] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			b.Errorf("signed in after %s mismatch (-want +got), %v:\n%s", what, err, diff)
		}
	}
	signedIn("sign-in", map[string]bool{here: true, there: true, bobs: true})
	b.published.take()
	if ended, err := s.EndOthers(b.Context(), p); ended != 1 || err != nil {
		b.Errorf("EndOthers: %d, %v; want 1", ended, err)
	}
	signedIn("signing out the others", map[string]bool{here: true, bobs: true})
	if err := s.End(b.Context(), access.Principal{PersonID: bob, SessionID: p.SessionID}); err != nil {
		b.Errorf("End of another's session: %v", err)
	}
	signedIn("an end by somebody else", map[string]bool{here: true, bobs: true})
	if err := s.End(b.Context(), p); err != nil {
		b.Errorf("End: %v", err)
	}
	signedIn("signing out", map[string]bool{bobs: true})
	if err := s.End(b.Context(), access.LocalOperator()); err != nil {
		b.Errorf("End without a session: %v", err)
	}
	topic := live.AccessTopic(access.LocalOrganisation)
	if got := b.published.take(); len(got) != 3 || got[0] != topic || got[2] != topic {
		b.Errorf("published %q, want %q for each end", got, topic)
	}
	many := make([]string, 1200)
	many[1100] = bobs
	if found, err := s.Standing(b.Context(), many); len(found) != 1 || err != nil {
		b.Errorf("Standing of many: %d found, %v; want 1", len(found), err)
	}
}

// testPresences counts who is signed in, and finds on the trail when they last did.
func testPresences(b *bench) {
	s := b.sessions()
	ann, bob := b.member(access.KindPerson, "Ann", access.Viewer), b.member(access.KindPerson, "Bob", access.Viewer)
	b.member(access.KindService, "Robot", access.Viewer)
	b.exec("INSERT INTO organisation (id, name, created_us) VALUES ('other', 'Other', 0)")
	b.exec("INSERT INTO membership (id, organisation_id, kind, issuer, subject, name, role, created_us) VALUES ('elsewhere', 'other', 'person', 'https://x', 'x', 'X', 'admin', 0)")
	b.begin(s, ann)
	_, p := b.begin(s, ann)
	b.begin(s, "elsewhere")
	before := time.Now().Add(-time.Minute)
	presences := func(memberID string, want map[string]int) {
		b.Helper()
		all, err := s.Presences(b.Context(), access.LocalOperator(), memberID)
		got := map[string]int{}
		for id, present := range all {
			got[id] = present.Sessions
			if present.LastAt.After(before) != (id == ann) {
				b.Errorf("%s signed in at %v last", id, present.LastAt)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			b.Errorf("sessions mismatch (-want +got), %v:\n%s", err, diff)
		}
	}
	presences("", map[string]int{ann: 2, bob: 0})
	presences(bob, map[string]int{bob: 0})
	presences("elsewhere", map[string]int{})
	if _, err := s.EndOthers(b.Context(), p); err != nil {
		b.Errorf("EndOthers: %v", err)
	}
	presences(ann, map[string]int{ann: 1})
	if err := s.End(b.Context(), p); err != nil {
		b.Errorf("End: %v", err)
	}
	b.exec("DELETE FROM session")
	presences(ann, map[string]int{ann: 0})
	if _, err := s.Presences(b.Context(), p, ""); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("Presences for a viewer: %v, want forbidden", err)
	}
}
