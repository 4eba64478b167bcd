package storetest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
)

func (b *bench) tokens() *access.Tokens {
	return &access.Tokens{
		Update: store.For[access.TokenTx](b.db.Update), View: store.For[access.TokenTx](b.db.View), NewID: newID,
		Local: true, Log: slog.New(slog.DiscardHandler),
	}
}

// as is somebody with a session, which no scope bounds.
func (b *bench) as(memberID, name string, kind access.Kind, role access.Role) access.Principal {
	return access.Principal{OrganisationID: access.LocalOrganisation, PersonID: memberID, Name: name, Kind: kind, Role: role, Scope: access.ScopeAdminister}
}

func (b *bench) person(name string, role access.Role) access.Principal {
	b.Helper()
	return b.as(b.member(access.KindPerson, name, role), name, access.KindPerson, role)
}

func (b *bench) token(s *access.Tokens, p access.Principal, scope access.Scope) (access.Token, string) {
	b.Helper()
	t, secret, err := s.Create(b.Context(), p, access.NewToken{Name: "Nightly", Scope: scope})
	if err != nil {
		b.Fatalf("Create: %v", err)
	}
	return t, secret
}

func testTokens(b *bench) {
	s := b.tokens()
	ann := b.person("Ann", access.Operator)
	made, secret := b.token(s, ann, access.ScopeRead)
	want := access.Token{
		OrganisationID: access.LocalOrganisation, MembershipID: ann.PersonID, MemberName: "Ann", MemberKind: access.KindPerson,
		Name: "Nightly", Scope: access.ScopeRead, CreatedBy: ann.PersonID, CreatedByName: "Ann",
	}
	if diff := cmp.Diff(want, made, cmpopts.IgnoreFields(access.Token{}, "ID", "CreatedAt", "ExpiresAt")); diff != "" {
		b.Errorf("token mismatch (-want +got):\n%s", diff)
	}
	if life := made.ExpiresAt.Sub(made.CreatedAt); life != access.TokenLife {
		b.Errorf("the token lasts %v, want %v", life, access.TokenLife)
	}
	who, err := s.Identify(b.Context(), secret)
	as := ann
	as.Scope, as.TokenID = access.ScopeRead, made.ID
	if diff := cmp.Diff(access.Identity{Principal: as, ExpiresAt: made.ExpiresAt}, who); diff != "" || err != nil {
		b.Errorf("identity mismatch (-want +got), %v:\n%s", err, diff)
	}
	listed, err := s.List(b.Context(), ann, false)
	if len(listed) != 1 || err != nil || listed[0].UsedAt.IsZero() {
		b.Fatalf("List: %+v, %v; want the token, used", listed, err)
	}
	used := listed[0].UsedAt
	listed[0].UsedAt = time.Time{}
	if diff := cmp.Diff(made, listed[0]); diff != "" {
		b.Errorf("listed token mismatch (-want +got):\n%s", diff)
	}
	b.update(func(tx *store.Tx) error { return tx.TouchToken(made.ID, used.Add(-time.Microsecond)) })
	if listed, _ := s.List(b.Context(), ann, false); !listed[0].UsedAt.Equal(used) {
		b.Error("a second use within the minute was written down")
	}
	for _, other := range []string{"", "tbay_", secret[:len(secret)-1] + "!", made.ID} {
		if _, err := s.Identify(b.Context(), other); fault.KindOf(err) != fault.SignedOut {
			b.Errorf("Identify of a token that is none: %v, want signed out", err)
		}
	}
}

// testTokensEnd has tokens end in every way.
func testTokensEnd(b *bench) {
	s := b.tokens()
	ann := b.person("Ann", access.Admin)
	made, secret := b.token(s, ann, access.ScopeAdminister)
	for role, want := range map[access.Role]access.Scope{access.Viewer: access.ScopeRead, access.Operator: access.ScopeOperate, access.Admin: access.ScopeAdminister} {
		b.exec("UPDATE membership SET role = ? WHERE id = ?", string(role), ann.PersonID)
		if who, err := s.Identify(b.Context(), secret); who.Principal.Scope != want || who.Principal.Role != role || err != nil {
			b.Errorf("scope of the token once its owner is %s: %s, %v; want %s", role, who.Principal.Scope, err, want)
		}
	}
	works := func(what string, want bool) {
		b.Helper()
		if found, err := s.Standing(b.Context(), []string{secret}); (len(found) == 1) != want || err != nil {
			b.Errorf("%s: works is %t, %v; want %t", what, len(found) == 1, err, want)
		}
	}
	b.exec("UPDATE membership SET disabled_us = 1 WHERE id = ?", ann.PersonID)
	works("its owner is disabled", false)
	b.exec("UPDATE membership SET disabled_us = NULL WHERE id = ?", ann.PersonID)
	works("its owner is back", true)
	b.exec("UPDATE api_token SET expires_us = 1")
	works("it has expired", false)
	b.exec("UPDATE api_token SET expires_us = NULL")
	works("it does not expire", true)
	bob := b.person("Bob", access.Operator)
	if _, err := s.Revoke(b.Context(), bob, made.ID); fault.KindOf(err) != fault.NotFound {
		b.Errorf("Revoke of another's: %v, want not found", err)
	}
	elsewhere := ann
	elsewhere.OrganisationID = "other"
	if _, err := s.Revoke(b.Context(), elsewhere, made.ID); fault.KindOf(err) != fault.NotFound {
		b.Errorf("Revoke from another organisation: %v, want not found", err)
	}
	b.published.take()
	if got, err := s.Revoke(b.Context(), ann, made.ID); err != nil || got.ID != made.ID {
		b.Errorf("Revoke: %+v, %v", got, err)
	}
	if got := b.published.take(); len(got) != 1 || got[0] != live.AccessTopic(access.LocalOrganisation) {
		b.Errorf("published %q, want the access of the organisation", got)
	}
	works("it is revoked", false)
	if _, err := s.Revoke(b.Context(), ann, made.ID); fault.KindOf(err) != fault.NotFound {
		b.Errorf("Revoke again: %v, want not found", err)
	}
	_, locals := b.token(s, access.LocalOperator(), access.ScopeOperate)
	for _, local := range []bool{true, false} {
		s.Local = local
		if found, err := s.Standing(b.Context(), []string{locals}); (len(found) == 1) != local || err != nil {
			b.Errorf("a token of the local operator, local mode %t: found %d, %v", local, len(found), err)
		}
	}
}

func testTokenRules(b *bench) {
	s := b.tokens()
	admin, operator, viewer := b.person("Ada", access.Admin), b.person("Otto", access.Operator), b.person("Vera", access.Viewer)
	robot := b.member(access.KindService, "Robot", access.Operator)
	disabled := b.member(access.KindService, "Old robot", access.Operator)
	b.exec("UPDATE membership SET disabled_us = 1 WHERE id = ?", disabled)
	byToken := admin
	byToken.Scope = access.ScopeOperate
	command := access.Principal{OrganisationID: access.LocalOrganisation, PersonID: "command", Kind: access.KindCommand, Role: access.Admin, Scope: access.ScopeAdminister}
	ok := access.NewToken{Name: "CI", Scope: access.ScopeRead}
	with := func(change func(*access.NewToken)) access.NewToken { n := ok; change(&n); return n }
	of := func(id string) access.NewToken { return with(func(n *access.NewToken) { n.MembershipID = id }) }
	scope := func(scope access.Scope) access.NewToken {
		return with(func(n *access.NewToken) { n.Scope = scope })
	}
	for name, c := range map[string]struct {
		by    access.Principal
		asked access.NewToken
		want  fault.Kind
		field string
	}{
		"viewer, read":                {viewer, ok, "", ""},
		"viewer, operate":             {viewer, scope(access.ScopeOperate), fault.Unprocessable, "scope"},
		"operator, operate":           {operator, scope(access.ScopeOperate), "", ""},
		"operator, administer":        {operator, scope(access.ScopeAdminister), fault.Unprocessable, "scope"},
		"admin, administer":           {admin, scope(access.ScopeAdminister), "", ""},
		"no scope":                    {admin, scope(""), fault.Unprocessable, "scope"},
		"unknown scope":               {admin, scope("all"), fault.Unprocessable, "scope"},
		"no name":                     {admin, with(func(n *access.NewToken) { n.Name = " " }), fault.Unprocessable, "name"},
		"long name":                   {admin, with(func(n *access.NewToken) { n.Name = strings.Repeat("é", 101) }), fault.Unprocessable, "name"},
		"name of two lines":           {admin, with(func(n *access.NewToken) { n.Name = "a\nb" }), fault.Unprocessable, "name"},
		"expired":                     {admin, with(func(n *access.NewToken) { n.ExpiresAt = time.Now().Add(-time.Minute) }), fault.Unprocessable, "expiresAt"},
		"for years":                   {admin, with(func(n *access.NewToken) { n.ExpiresAt = time.Now().Add(2 * access.MaxTokenLife) }), fault.Unprocessable, "expiresAt"},
		"own by name":                 {viewer, of(viewer.PersonID), "", ""},
		"service account by admin":    {admin, of(robot), "", ""},
		"service account by operator": {operator, of(robot), fault.Forbidden, ""},
		"disabled service account":    {admin, of(disabled), fault.Unprocessable, "memberId"},
		"another person by admin":     {admin, of(viewer.PersonID), fault.Unprocessable, "memberId"},
		"another person by command":   {command, of(viewer.PersonID), "", ""},
		"nobody":                      {admin, of("nobody"), fault.Unprocessable, "memberId"},
		"by a token of less scope":    {byToken, ok, fault.Forbidden, ""},
	} {
		made, secret, err := s.Create(b.Context(), c.by, c.asked)
		got := fault.Kind("")
		if err != nil {
			got = fault.KindOf(err)
		}
		if got != c.want || (secret == "") != (c.want != "") || (made.ID == "") != (c.want != "") {
			b.Errorf("%s: %v, want %q", name, err, c.want)
			continue
		}
		if fields := fault.Public(err).Fields; err != nil && c.field != "" && (len(fields) != 1 || fields[0].Location != c.field) {
			b.Errorf("%s: fields %+v, want %s", name, fields, c.field)
		}
	}
	if all, err := s.List(b.Context(), admin, true); len(all) != 6 || err != nil {
		b.Errorf("List of all: %d, %v; want 6", len(all), err)
	}
	if own, err := s.List(b.Context(), admin, false); len(own) != 1 || err != nil {
		b.Errorf("List of one's own: %d, %v; want 1", len(own), err)
	}
	for _, p := range []access.Principal{operator, byToken} {
		if _, err := s.List(b.Context(), p, true); fault.KindOf(err) != fault.Forbidden {
			b.Errorf("List of all by somebody else: %v, want forbidden", err)
		}
	}
	for range access.MaxTokens - 1 {
		b.token(s, operator, access.ScopeRead)
	}
	if _, _, err := s.Create(b.Context(), operator, ok); fault.KindOf(err) != fault.Conflict {
		b.Errorf("one token too many: %v, want conflict", err)
	}
}

// testAllowance takes from one allowance in many transactions at once.
func testAllowance(b *bench) {
	const limit, block = 100, 7
	var all sync.WaitGroup
	var mu sync.Mutex
	minutes, sum := map[time.Time]int64{}, int64(0) // what was granted in each, by its end
	take := func(who, kind string) int64 {
		var granted int64
		var left time.Duration
		err := b.db.Update(context.Background(), func(tx *store.Tx) (err error) {
			granted, left, err = tx.TakeAllowance(who, kind, block, limit)
			return err
		})
		if err != nil || granted < 0 || granted > block || left <= 0 || left > time.Minute {
			b.Errorf("TakeAllowance: %d for %v, %v", granted, left, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if who == "ann" {
			minutes[time.Now().Add(left).Round(time.Minute)] += granted
			sum += granted
		}
		return granted
	}
	for range 8 {
		all.Go(func() {
			for range 5 {
				take("ann", "read")
			}
		})
	}
	all.Wait()
	for minute, granted := range minutes {
		if granted > limit {
			b.Errorf("in the minute to %v %d were granted, want at most %d", minute, granted, limit)
		}
	}
	if sum < limit {
		b.Errorf("%d were granted, want all %d", sum, limit)
	}
	for _, other := range [][2]string{{"bob", "read"}, {"ann", "operate"}} {
		if got := take(other[0], other[1]); got != block {
			b.Errorf("another's, or of another kind: %d granted, want %d", got, block)
		}
	}
}

func testAccessIsCollected(b *bench) {
	ann := b.member(access.KindPerson, "Ann", access.Viewer)
	b.begin(b.sessions(), ann)
	now, old := time.Now().UnixMicro(), time.Now().Add(-time.Hour).UnixMicro()
	session := "INSERT INTO session (id, sha256, membership_id, created_us, expires_us, ended_us) VALUES (?, ?, ?, 0, ?, ?)"
	rows := []struct {
		statement string
		args      []any
		goes      bool
	}{
		{session, []any{"expired", "a", ann, old, nil}, true},
		{session, []any{"ended", "b", ann, now * 2, old}, true},
		{session, []any{"in use", "c", ann, now * 2, nil}, false},
		{"INSERT INTO used_sign_in (sha256, expires_us) VALUES (?, ?)", []any{"a", old}, true},
		{"INSERT INTO used_sign_in (sha256, expires_us) VALUES (?, ?)", []any{"b", now}, false},
		{"INSERT INTO allowance (who, kind, minute_us, taken) VALUES ('ann', 'read', ?, 1)", []any{old}, true},
		{"INSERT INTO allowance (who, kind, minute_us, taken) VALUES ('ann', 'read', ?, 1)", []any{now}, false},
	}
	for _, row := range rows {
		b.exec(row.statement, row.args...)
	}
	c := &access.Collector{Update: store.For[access.CollectTx](b.db.Update), Log: slog.New(slog.DiscardHandler)}
	if err := c.Collect(b.Context()); err != nil {
		b.Fatalf("Collect: %v", err)
	}
	for _, row := range rows { // what is there cannot be put there again
		if err := b.db.Exec(b.Context(), row.statement, row.args...); (err == nil) != row.goes {
			b.Errorf("%s %v: deleted is %t, want %t", row.statement, row.args, err == nil, row.goes)
		}
	}
	if err := c.Collect(b.Context()); err != nil {
		b.Fatalf("Collect: %v", err)
	}
	if err := b.db.Exec(b.Context(), rows[0].statement, rows[0].args...); err == nil {
		b.Error("it was collected twice in an hour, want turns")
	}
}
