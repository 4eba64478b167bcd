package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// ops is a deed of somebody who runs commands.
var ops = audit.Entry{OrganisationID: access.LocalOrganisation, Actor: access.Command("ops").Actor()}

func (b *bench) sealer() *audit.Sealer {
	return &audit.Sealer{Update: store.For[audit.SealTx](b.db.Update), View: store.For[audit.SealTx](b.db.View), Live: &live.Hub{}, Log: slog.New(slog.DiscardHandler)}
}

func (b *bench) trail() *trail.Reader {
	return &trail.Reader{
		Update: store.For[trail.ReadTx](b.db.Update), View: store.For[trail.ReadTx](b.db.View),
		Tasks: &task.Reader{View: store.For[task.ReadTx](b.db.View)}, Sealer: b.sealer(),
	}
}

func (b *bench) verify(known audit.Head) audit.Verdict {
	b.Helper()
	v := audit.Verifier{View: store.For[audit.VerifyTx](b.db.View), Sealer: b.sealer()}
	verdict, err := v.Verify(context.Background(), access.LocalOrganisation, known)
	if err != nil {
		b.Fatalf("Verify: %v", err)
	}
	return verdict
}

// deed puts entries on the trail in one transaction.
func (b *bench) deed(entries ...audit.Entry) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		for _, e := range entries {
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// deeds puts n transactions of two entries each on the trail, and seals them.
func (b *bench) deeds(n int) {
	b.Helper()
	for i := range n {
		first, second := ops, ops
		first.Action, first.AgentID, first.AgentName = audit.AgentRegistered, fmt.Sprint("agent-", i), "Ägent <b>"
		second.Action, second.TaskID, second.CommandID, second.MessageID = audit.MessageSent, "task", "command", "message"
		second.ContentSHA256, second.ObjectID, second.ObjectName = strings.Repeat("a", 64), "object", "Object"
		second.Actor.SessionID, second.Actor.TokenID = "session", "token"
		second.Detail = map[string]string{"z": "1 \u2028", "a": fmt.Sprint(i), "": "x"}
		b.deed(first, second)
	}
	b.seal()
}

func (b *bench) seal() {
	b.Helper()
	if err := b.sealer().Seal(context.Background()); err != nil {
		b.Fatalf("Seal: %v", err)
	}
}

// testAuditIsAppendOnly: the database refuses to change or delete what is on the trail,
// and to put something else in its place.
func testAuditIsAppendOnly(b *bench) {
	b.deeds(1)
	before := b.verify(audit.Head{})
	for _, statement := range []string{
		"UPDATE audit_entry SET actor_name = 'x'",
		"UPDATE audit_link SET hash = 'x'",
		"DELETE FROM audit_entry",
		"DELETE FROM audit_link",
		"TRUNCATE audit_entry",
		"TRUNCATE audit_link",
		"INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry",
		"INSERT OR REPLACE INTO audit_link SELECT organisation_id, seq, 'other', previous, hash FROM audit_link",
		"INSERT OR REPLACE INTO audit_link SELECT organisation_id, seq + 9, entry_id, previous, hash FROM audit_link",
		"INSERT INTO audit_entry SELECT * FROM audit_entry WHERE TRUE ON CONFLICT (id) DO UPDATE SET actor_name = 'x'",
		"INSERT INTO audit_link SELECT * FROM audit_link WHERE TRUE ON CONFLICT (entry_id) DO UPDATE SET hash = 'x'",
	} {
		if err := b.db.Exec(context.Background(), statement); err == nil {
			b.Errorf("%s is not refused", statement)
		}
	}
	if after := b.verify(audit.Head{}); after != before || after.Entries != 2 {
		b.Errorf("the chain is %+v after what was refused, want %+v", after, before)
	}
}

// testAuditTells: an entry is what was written, in its place, and nothing of a deed that
// failed is on the trail.
func testAuditTells(b *bench) {
	b.deeds(2)
	err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		e := ops
		e.Action = audit.AgentRemoved
		if err := tx.Audit(e); err != nil {
			return err
		}
		return fault.New(fault.Conflict, "No.")
	})
	if fault.KindOf(err) != fault.Conflict {
		b.Fatalf("Update: %v, want a conflict", err)
	}
	for name, e := range map[string]audit.Entry{
		"no action":       {OrganisationID: ops.OrganisationID, Actor: ops.Actor},
		"another action":  {OrganisationID: ops.OrganisationID, Actor: ops.Actor, Action: "did-something"},
		"nobody":          {OrganisationID: ops.OrganisationID, Action: audit.SignedIn},
		"no organisation": {Actor: ops.Actor, Action: audit.SignedIn},
	} {
		if err := b.db.Update(context.Background(), func(tx *store.Tx) error { return tx.Audit(e) }); err == nil {
			b.Errorf("an entry of %s is taken", name)
		}
	}
	page, err := b.trail().List(context.Background(), access.LocalOperator(), trail.Filter{})
	if err != nil || len(page.Items) != 4 || page.Next != "" {
		b.Fatalf("the trail has %d entries, %v; want 4", len(page.Items), err)
	}
	slices.Reverse(page.Items)
	for i, e := range page.Items {
		if e.Seq != int64(i+1) || len(e.Hash) != 64 || e.DeedID != page.Items[i-i%2].ID || e.At.IsZero() {
			b.Errorf("entry %d is %+v", i, e)
		}
	}
	got := page.Items[1]
	if got.Kind != audit.KindCommand || got.Actor.Name != "ops (command line)" || got.Actor.TokenID != "token" || got.Detail["z"] != "1 \u2028" || got.ContentSHA256 != strings.Repeat("a", 64) {
		b.Errorf("the entry is %+v", got)
	}
}

// testAuditTampering changes the trail behind the back of the triggers, in every way, and
// wants each change to be found where it was made.
func testAuditTampering(b *bench) {
	b.deeds(5)
	b.unguarded()
	head := b.verify(audit.Head{}).Head
	place := func(seq int) string { return fmt.Sprintf("(SELECT entry_id FROM audit_link WHERE seq = %d)", seq) }
	type tampering struct {
		name       string
		statements []string
		problem    audit.Problem
		seq        int64
	}
	tests := []tampering{
		{"an entry is deleted", []string{"DELETE FROM audit_entry WHERE id = " + place(4)}, audit.Missing, 4},
		{"an entry and its place are deleted", []string{"DELETE FROM audit_entry WHERE id = " + place(4), "DELETE FROM audit_link WHERE seq = 4"}, audit.Missing, 4},
		{"a gap is closed", []string{
			"DELETE FROM audit_entry WHERE id = " + place(4), "DELETE FROM audit_link WHERE seq = 4",
			"UPDATE audit_link SET seq = seq + 1000 WHERE seq > 4", "UPDATE audit_link SET seq = seq - 1001 WHERE seq > 1000",
		}, audit.Reordered, 4},
		{"the first one is deleted", []string{"DELETE FROM audit_entry WHERE id = " + place(1), "DELETE FROM audit_link WHERE seq = 1"}, audit.Missing, 1},
		{"the last one is deleted", []string{"DELETE FROM audit_entry WHERE id = " + place(10), "DELETE FROM audit_link WHERE seq = 10"}, audit.Missing, 10},
		{"places are swapped", []string{
			"UPDATE audit_link SET seq = 99 WHERE seq = 3", "UPDATE audit_link SET seq = 3 WHERE seq = 6", "UPDATE audit_link SET seq = 6 WHERE seq = 99",
		}, audit.Reordered, 3},
		{"entries are swapped", []string{
			"UPDATE audit_entry SET id = 'x' WHERE id = " + place(3), "UPDATE audit_entry SET id = " + place(3) + " WHERE id = " + place(6),
			"UPDATE audit_entry SET id = " + place(6) + " WHERE id = 'x'",
		}, audit.Changed, 3},
		{"a link is changed", []string{"UPDATE audit_link SET hash = previous WHERE seq = 5"}, audit.Changed, 5},
		{"a place is taken away", []string{"DELETE FROM audit_link WHERE seq = 5"}, audit.Missing, 5},
		{"the last place is taken away, and the noted head set back", []string{
			"UPDATE audit_head SET seq = 9, hash = (SELECT previous FROM audit_link WHERE seq = 10)", "DELETE FROM audit_link WHERE seq = 10",
		}, audit.Unsealed, 0},
		{"the noted head is set back", []string{"UPDATE audit_head SET seq = 7, hash = (SELECT hash FROM audit_link WHERE seq = 7)"}, audit.Changed, 8},
		{"the noted head is changed", []string{"UPDATE audit_head SET hash = 'x'"}, audit.Changed, 10},
		{"an entry is put in", []string{"INSERT INTO audit_entry SELECT 'x' || substr(e.id, 2)" + auditRest + " FROM audit_entry e WHERE e.id = " + place(2)}, audit.Unsealed, 0},
		{"an entry that waits is deleted", []string{"INSERT INTO audit_pending VALUES ('local', 'x', 'x')"}, audit.Missing, 0},
	}
	for _, column := range strings.Split("deed_id actor_kind actor_id actor_name session_id token_id action kind agent_id agent_name task_id command_id message_id content_sha256 object_id object_name detail", " ") {
		tests = append(tests, tampering{column + " is changed", []string{"UPDATE audit_entry SET " + column + " = " + column + " || ' ' WHERE id = " + place(2)}, audit.Changed, 2})
	}
	tests = append(tests, tampering{"at_us is changed", []string{"UPDATE audit_entry SET at_us = at_us + 1 WHERE id = " + place(2)}, audit.Changed, 2},
		tampering{"organisation_id is changed", []string{"UPDATE audit_entry SET organisation_id = 'other' WHERE id = " + place(2)}, audit.Changed, 2})
	for _, tt := range tests {
		b.tampered(tt.name, tt.problem, tt.seq, tt.statements)
	}
	b.cutTail(head)
}

// auditRest are the columns of an entry behind its ID.
const auditRest = ", organisation_id, deed_id, at_us, actor_kind, actor_id, actor_name, session_id, token_id, action, kind, agent_id, agent_name, task_id, command_id, message_id, content_sha256, object_id, object_name, detail"

// unguarded takes the triggers away.
func (b *bench) unguarded() {
	b.Helper()
	ctx := context.Background()
	lite := b.db.Exec(ctx, "DROP TRIGGER audit_entry_no_replace") == nil
	for _, table := range []string{"audit_entry", "audit_link"} {
		if !lite {
			b.exec("ALTER TABLE " + table + " DISABLE TRIGGER ALL")
			continue
		}
		b.exec("DROP TRIGGER " + table + "_no_update")
		b.exec("DROP TRIGGER " + table + "_no_delete")
		b.exec("DROP TRIGGER IF EXISTS " + table + "_no_replace")
	}
}

var auditTables = []string{"audit_entry", "audit_link", "audit_head", "audit_pending"}

// tampered runs statements, wants Verify to find the problem at seq, and puts everything
// back.
func (b *bench) tampered(name string, want audit.Problem, seq int64, statements []string) {
	b.Helper()
	for _, table := range auditTables {
		b.exec("CREATE TABLE kept_" + table + " AS SELECT * FROM " + table)
	}
	for _, statement := range statements {
		b.exec(statement)
	}
	if f := b.verify(audit.Head{}).Fault; f == nil || f.Problem != want || f.Seq != seq || f.Words == "" {
		b.Errorf("%s: Verify found %+v, want %s at %d", name, f, want, seq)
	}
	for _, table := range auditTables {
		b.exec("DELETE FROM " + table)
		b.exec("INSERT INTO " + table + " SELECT * FROM kept_" + table)
		b.exec("DROP TABLE kept_" + table)
	}
	if v := b.verify(audit.Head{}); v.Fault != nil || v.Entries != 10 {
		b.Fatalf("%s: when all is back, Verify says %+v, %+v", name, v, v.Fault)
	}
}

// cutTail: that the end was cut off, with all that tells of it, shows only to somebody
// who noted the head; and so does a chain that was made anew.
func (b *bench) cutTail(head audit.Head) {
	b.Helper()
	for _, known := range []audit.Head{{Seq: head.Seq, Hash: strings.Repeat("0", 64)}, {Seq: head.Seq + 1, Hash: head.Hash}} {
		if f := b.verify(known).Fault; f == nil {
			b.Errorf("the head %s is found in a chain that ends with %s", known, head)
		}
	}
	if v := b.verify(head); v.Fault != nil {
		b.Errorf("the chain has its own head, and Verify says %+v", v.Fault)
	}
	b.exec("DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_link WHERE seq > 8)")
	b.exec("UPDATE audit_head SET seq = 8, hash = (SELECT hash FROM audit_link WHERE seq = 8)")
	b.exec("DELETE FROM audit_link WHERE seq > 8")
	if v := b.verify(audit.Head{}); v.Fault != nil {
		b.Errorf("without a known head, Verify says %+v of a chain whose end was cut off", v.Fault)
	}
	if f := b.verify(head).Fault; f == nil || f.Problem != audit.Missing || f.Seq != 9 {
		b.Errorf("with a known head, Verify says %+v of a chain whose end was cut off", f)
	}
}

// testAuditWriters: many writers and sealers at once make one chain without gaps, in
// which what was done together is together.
func testAuditWriters(b *bench) {
	const writers, each = 24, 15
	ctx, stop := context.WithCancel(context.Background())
	var sealers, all sync.WaitGroup
	for range 3 {
		sealers.Go(func() { _ = b.sealer().Run(ctx) })
	}
	for w := range writers {
		all.Go(func() {
			for i := range each {
				first, second := ops, ops
				first.Action, first.AgentName = audit.AgentRegistered, fmt.Sprint(w, " ", i)
				second.Action, second.AgentName = audit.CredentialSet, first.AgentName
				err := b.db.Update(ctx, func(tx *store.Tx) error {
					if err := tx.Audit(first); err != nil {
						return err
					}
					return tx.Audit(second)
				})
				if err != nil {
					b.Errorf("Update: %v", err)
				}
			}
		})
	}
	all.Wait()
	stop()
	sealers.Wait()
	verdict := b.verify(audit.Head{})
	if verdict.Fault != nil || verdict.Entries != 2*writers*each {
		b.Fatalf("Verify: %+v, %+v; want %d entries", verdict, verdict.Fault, 2*writers*each)
	}
	var before audit.Linked
	b.view(func(tx *store.Tx) error {
		links, err := tx.AuditLinks(access.LocalOrganisation, 0, 2*writers*each)
		for i, l := range links {
			if i%2 == 1 && (l.DeedID != before.DeedID || l.Action != audit.CredentialSet || l.AgentName != before.AgentName) {
				b.Errorf("at %d, what was done together is apart: %+v behind %+v", l.Seq, l.Entry, before.Entry)
			}
			before = l
		}
		return err
	})
}

// testAuditPages: every filter finds what it should, page by page, once.
func testAuditPages(b *bench) {
	id, agentID := b.task("t")
	merged := b.taskOf(agentID, "u")
	b.exec("UPDATE task SET merged_into = ? WHERE id = ?", id, merged)
	b.broken = true
	other := audit.Entry{OrganisationID: access.LocalOrganisation, Actor: access.LocalOperator().Actor(), Action: audit.SignedIn, TaskID: id}
	elsewhere := ops
	elsewhere.OrganisationID, elsewhere.Action = "other", audit.SignedIn
	start := time.Now()
	for i := range 7 {
		e := ops
		e.Action, e.TaskID = audit.MessageSent, []string{id, merged}[i%2]
		e.Actor.SessionID = "session"
		b.deed(e, other, elsewhere)
	}
	admin, r, ctx := access.LocalOperator(), b.trail(), context.Background()
	pages := func(read func(trail.Filter) (trail.Page, error), f trail.Filter) (items []audit.Sealed) {
		b.Helper()
		for f.Limit = 3; ; {
			page, err := read(f)
			if err != nil {
				b.Fatalf("%+v: %v", f, err)
			}
			items = append(items, page.Items...)
			if f.Cursor = page.Next; f.Cursor == "" {
				return items
			}
		}
	}
	list := func(f trail.Filter) (trail.Page, error) { return r.List(ctx, admin, f) }
	for _, tt := range []struct {
		f    trail.Filter
		want int
	}{
		{trail.Filter{}, 14}, {trail.Filter{Kind: audit.KindSignIn}, 7}, {trail.Filter{PersonID: ops.Actor.ID}, 7}, {trail.Filter{TaskID: id}, 14},
		{trail.Filter{TaskID: merged}, 14}, {trail.Filter{TaskID: "none"}, 0}, {trail.Filter{To: start.Add(-time.Second)}, 0},
		{trail.Filter{From: start.Add(-time.Second), To: time.Now().Add(time.Second), Kind: audit.KindCommand, PersonID: ops.Actor.ID, TaskID: id}, 7},
	} {
		items := pages(list, tt.f)
		seen := map[string]bool{}
		for _, item := range items {
			seen[item.ID] = true
		}
		if len(items) != tt.want || len(seen) != tt.want {
			b.Errorf("%+v finds %d entries, %d of them once; want %d", tt.f, len(items), len(seen), tt.want)
		}
	}
	mine := pages(func(f trail.Filter) (trail.Page, error) { return r.OfTask(ctx, admin, id, f) }, trail.Filter{})
	for _, item := range mine {
		if item.Kind == audit.KindSignIn || item.Actor.SessionID != "" || item.Hash != "" {
			b.Errorf("the trail of a task shows %+v", item)
		}
	}
	if len(mine) != 7 {
		b.Errorf("the trail of a task has %d entries, want 7", len(mine))
	}
	people, err := r.People(ctx, admin)
	if want := []trail.Person{{ID: "local-operator", Name: "Local operator"}, {ID: "command:ops", Name: "ops (command line)"}}; err != nil || !slices.Equal(people, want) {
		b.Errorf("People: %v, %v; want %v", people, err, want)
	}
	b.refusals(r, id)
}

func (b *bench) refusals(r *trail.Reader, id string) {
	b.Helper()
	ctx, admin := context.Background(), access.LocalOperator()
	for _, cursor := range []string{"x", "!", "MSAy"} {
		if _, err := r.List(ctx, admin, trail.Filter{Cursor: cursor}); err != nil && fault.KindOf(err) != fault.Invalid {
			b.Errorf("cursor %q: %v", cursor, err)
		}
	}
	operator, stranger := admin, admin
	operator.Role, stranger.OrganisationID = access.Operator, "other"
	if _, err := r.List(ctx, operator, trail.Filter{}); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("an operator lists the trail: %v", err)
	}
	if _, err := r.People(ctx, operator); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("an operator reads who is on the trail: %v", err)
	}
	if _, err := r.Export(ctx, operator, trail.Filter{}, trail.CSV); fault.KindOf(err) != fault.Forbidden {
		b.Errorf("an operator exports the trail: %v", err)
	}
	if _, err := r.OfTask(ctx, stranger, id, trail.Filter{}); fault.KindOf(err) != fault.NotFound {
		b.Errorf("somebody of another organisation reads the trail of a task: %v", err)
	}
}

// testAuditExport: an export has every sealed entry once, itself too, and each line is
// enough to recompute the chain with.
func testAuditExport(b *bench) {
	b.deeds(6)
	ctx, admin := context.Background(), access.LocalOperator()
	export, err := b.trail().Export(ctx, admin, trail.Filter{}, trail.JSONLines)
	if err != nil {
		b.Fatalf("Export: %v", err)
	}
	b.deeds(1) // later than the export
	var out bytes.Buffer
	if err := export.Write(ctx, &out); err != nil {
		b.Fatalf("Write: %v", err)
	}
	previous, lines := "", strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			b.Fatal(err)
		}
		if members["seq"] != float64(i+1) || members["previous"] != previous {
			b.Errorf("line %d is %s", i, line)
		}
		previous = members["hash"].(string)
		delete(members, "seq")
		delete(members, "hash")
		text, err := json.Marshal(members)
		value := jsontext.Value(text)
		if err == nil {
			err = value.Canonicalize()
		}
		if sum := sha256.Sum256(value); err != nil || hex.EncodeToString(sum[:]) != previous {
			b.Errorf("the hash of line %d does not follow from it: %s, %v", i, line, err)
		}
	}
	if len(lines) != 13 || !strings.Contains(lines[12], `"audit-exported"`) || (audit.Head{Seq: 13, Hash: previous}) != export.Head {
		b.Errorf("the export has %d lines and the head %v, ending with %s", len(lines), export.Head, lines[len(lines)-1])
	}
}
