package storetest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// testSignInsComeBackOnce has one of many that come back at the same time be the first.
func testSignInsComeBackOnce(b *bench) {
	use := func(digest string) (first bool) {
		err := store.For[signin.Tx](b.db.Update)(context.Background(), func(tx signin.Tx) (err error) {
			first, err = tx.UseSignIn(digest, time.Now().Add(time.Hour))
			return err
		})
		if err != nil {
			b.Errorf("UseSignIn: %v", err)
		}
		return first
	}
	var firsts atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if use("one") {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	if n := firsts.Load(); n != 1 {
		b.Errorf("%d of 8 are the first, want 1", n)
	}
	if !use("two") || use("two") {
		b.Error("another sign-in does not come back once")
	}
}

func testExactIdentities(b *bench) {
	const issuer = "https://login.example"
	ada := b.member(access.KindPerson, "Ada", access.Viewer)
	gone := b.member(access.KindPerson, "Gone", access.Admin)
	program := b.member(access.KindService, "Program", access.Admin)
	b.exec("UPDATE membership SET subject = 'Ada' WHERE id = ?", ada)
	b.exec("UPDATE membership SET subject = 'Gone', disabled_us = 1 WHERE id = ?", gone)
	find := func(issuer, subject string) (m signin.Member, err error) {
		err = store.For[signin.Tx](b.db.View)(context.Background(), func(tx signin.Tx) error {
			m, err = tx.MemberByIdentity(issuer, subject)
			return err
		})
		return m, err
	}
	if m, err := find(issuer, "Ada"); err != nil || m.ID != ada || m.Disabled {
		b.Errorf("Ada is %+v, %v; want %s", m, err, ada)
	}
	if m, err := find(issuer, "Gone"); err != nil || m.ID != gone || !m.Disabled {
		b.Errorf("who is disabled is %+v, %v; want %s, disabled", m, err, gone)
	}
	for _, other := range [][2]string{
		{issuer, "ada"}, {issuer, "ADA"}, {issuer, "Ada "}, {issuer, " Ada"}, {issuer, "Ad_"}, {issuer, "%"}, {issuer, "A\u0301da"}, {issuer, ""},
		{issuer + "/", "Ada"}, {strings.ToUpper(issuer), "Ada"}, {"", "Ada"}, {"", ""}, {"", program},
	} {
		if m, err := find(other[0], other[1]); fault.KindOf(err) != fault.NotFound || m.ID != "" {
			b.Errorf("%q of %q is %+v, %v; want %s", other[1], other[0], m, err, fault.NotFound)
		}
	}
}
