package storetest

import (
	"context"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// testFormers keeps the secrets of credentials that ended.
func testFormers(b *bench) {
	agentID, otherID := b.agent(), b.agent()
	insert := func(id string, ago time.Duration) string {
		r := b.credential(id, "live")
		b.update(func(tx *store.Tx) error {
			return tx.InsertFormer(credential.Former{CredentialID: r.ID, OrganisationID: r.OrganisationID, AgentID: id, Sealed: "sealed", EndedAt: tx.Now().Add(-ago)})
		})
		return r.ID
	}
	insert(otherID, 0)
	insert(agentID, credential.FormerAge+time.Hour) // gone at once
	var ids []string
	for i := range credential.MaxFormer + 2 {
		ids = append(ids, insert(agentID, time.Duration(credential.MaxFormer-i)*time.Minute))
	}
	newest := ids[len(ids)-1]
	b.update(func(tx *store.Tx) error {
		if changed, err := tx.ResealFormer(newest, "other", "fresh"); changed || err != nil {
			b.Errorf("ResealFormer of another ciphertext: %v, %v; want nothing", changed, err)
		}
		_, err := tx.ResealFormer(newest, "sealed", "fresh")
		return err
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Formers(agentID)
		if len(got) != credential.MaxFormer || got[0].CredentialID != newest || got[0].Sealed != "fresh" || got[0].EndedAt.IsZero() || got[len(got)-1].CredentialID != ids[2] {
			b.Errorf("Formers = %+v, %v; want the last %d of %v, newest first", got, err, credential.MaxFormer, ids)
		}
		all, err := tx.OrganisationFormers(access.LocalOrganisation)
		if len(all) != credential.MaxFormer+1 {
			b.Errorf("OrganisationFormers: %d, want those of both agents", len(all))
		}
		return err
	})
}

func (b *bench) credential(agentID, sealed string) credential.Record {
	b.Helper()
	r := credential.Record{Sealed: sealed, Binding: credential.Binding{
		ID: newID(), OrganisationID: access.LocalOrganisation, AgentID: agentID, AgentCardURL: "http://127.0.0.1/" + agentID,
		Kind: scheme.APIKey, Header: "X-Key", Origins: []string{"https://a.example", "https://b.example"}, Key: "one",
		CreatedBy: credential.Person{ID: "ann", Name: "Ann"},
	}}
	b.update(func(tx *store.Tx) error {
		r.CreatedAt = tx.Now()
		return tx.InsertCredential(r)
	})
	return r
}

func testCredentials(b *bench) {
	agentID := b.agent()
	b.view(func(tx *store.Tx) error {
		if _, err := tx.Credential(agentID); fault.KindOf(err) != fault.NotFound {
			b.Errorf("Credential before there is one: %v, want not found", err)
		}
		return nil
	})
	first := b.credential(agentID, "sealed-1")
	second := b.credential(agentID, "sealed-2")
	bob := credential.Person{ID: "bob", Name: "Bob"}
	b.update(func(tx *store.Tx) error {
		if ok, err := tx.ResealCredential(second.ID, "sealed-1", "sealed-3", "two"); ok || err != nil {
			b.Errorf("ResealCredential of what is not there: %v, %v; want nothing done", ok, err)
		}
		if ok, err := tx.ResealCredential(second.ID, "sealed-2", "sealed-3", "two"); !ok || err != nil {
			b.Errorf("ResealCredential: %v, %v; want it done", ok, err)
		}
		second.Sealed, second.Key, second.UsedAt = "sealed-3", "two", tx.Now()
		return tx.TouchCredential(second.ID)
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Credential(agentID)
		if diff := cmp.Diff(second, got); diff != "" {
			b.Errorf("credential mismatch (-want +got):\n%s", diff)
		}
		return err
	})
	for i, want := range []bool{true, false} {
		b.update(func(tx *store.Tx) error {
			if ended, err := tx.EndCredential(agentID, credential.Revoked, bob); ended != want || err != nil {
				b.Errorf("EndCredential %d: %v, %v; want %v", i, ended, err, want)
			}
			return nil
		})
	}
	b.view(func(tx *store.Tx) error {
		all, err := tx.AgentCredentials(agentID)
		if len(all) != 2 || all[0].ID != second.ID || all[0].Ended != credential.Revoked || all[0].EndedBy != bob ||
			all[1].ID != first.ID || all[1].Ended != credential.Replaced || all[0].Sealed+all[1].Sealed != "" {
			b.Errorf("AgentCredentials: %+v, want the revoked one and the replaced one, without their secrets", all)
		}
		return err
	})
	b.credentialsStay(agentID)
}

// credentialsStay tries to change what has ended, and what never changes.
func (b *bench) credentialsStay(agentID string) {
	b.Helper()
	b.credential(agentID, "sealed-4")
	for _, statement := range []string{
		"DELETE FROM credential",
		"UPDATE credential SET sealed = 'x', ended = NULL, ended_by = NULL, ended_by_name = NULL, ended_us = NULL WHERE ended = 'revoked'",
		"UPDATE credential SET origins = '[]' WHERE ended IS NULL",
		"UPDATE credential SET kind = 'bearer', header = '' WHERE ended IS NULL",
		"UPDATE credential SET sealed = NULL WHERE ended IS NULL",
	} {
		if err := b.db.Exec(context.Background(), statement); err == nil {
			b.Errorf("%s was done", statement)
		}
	}
	b.view(func(tx *store.Tx) error {
		latest, err := tx.LatestCredentials(access.LocalOrganisation)
		if len(latest) != 1 || latest[0].Sealed != "sealed-4" || latest[0].CreatedAt.After(time.Now()) {
			b.Errorf("LatestCredentials: %+v, want the one in use", latest)
		}
		others, err2 := tx.LatestCredentials("other")
		if len(others) != 0 || err2 != nil {
			b.Errorf("LatestCredentials of others: %+v, %v; want none", others, err2)
		}
		return err
	})
}
