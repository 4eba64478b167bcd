package audit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// VerifyTx is a transaction of the record as Verifier needs it.
type VerifyTx interface {
	// AuditOrganisations returns every organisation that has, or may have, a trail.
	AuditOrganisations() ([]string, error)
	// AuditHead returns the head of a chain as it was noted when it was last sealed.
	AuditHead(organisationID string) (Head, error)
	// AuditLinks returns the links after a place with their entries, in order.
	// An entry that is not there has no ID.
	AuditLinks(organisationID string, after int64, limit int) ([]Linked, error)
	// AuditStray returns an entry that is neither in the chain nor waits to be, the
	// oldest one, or one that waits and is not there; "" if there is none.
	AuditStray(organisationID string) (unsealed, lost string, err error)
}

// Linked is a link with the entry that it is of.
type Linked struct {
	Sealed
	EntryID string // that the link names
}

// Fault is the first thing that is wrong with a chain.
type Fault struct {
	Seq     int64  // its place; 0 for an entry that has none
	EntryID string // "" if that is not known
	Problem Problem
	Words   string // what is wrong
}

// Problem is the short form of a Fault.
type Problem string

// The problems.
const (
	Changed   Problem = "changed"
	Missing   Problem = "missing"
	Reordered Problem = "reordered"
	Unsealed  Problem = "not sealed"
)

// Verdict is what was found of the trail of an organisation.
type Verdict struct {
	OrganisationID string
	Entries        int64 // that were found to be right
	Head           Head  // of the chain that was checked
	Fault          *Fault
}

// Verifier checks chains.
type Verifier struct {
	View   func(context.Context, func(VerifyTx) error) error
	Sealer *Sealer
}

// verifyPage is how many entries are held in memory at once.
const verifyPage = 1000

// Organisations returns every organisation that may have a trail.
func (v *Verifier) Organisations(ctx context.Context) (ids []string, err error) {
	err = v.View(ctx, func(tx VerifyTx) (err error) {
		ids, err = tx.AuditOrganisations()
		return err
	})
	return ids, err
}

// Verify seals what is not sealed yet and then recomputes the chain of an organisation
// from its first entry. known is a head that was noted before, elsewhere, and has to be
// in the chain; the zero one if none was.
func (v *Verifier) Verify(ctx context.Context, organisationID string, known Head) (Verdict, error) {
	if err := v.Sealer.Seal(ctx); err != nil {
		return Verdict{}, err
	}
	verdict := Verdict{OrganisationID: organisationID}
	// Read before the links: what is sealed meanwhile only adds to them.
	var noted Head
	err := v.View(ctx, func(tx VerifyTx) (err error) {
		noted, err = tx.AuditHead(organisationID)
		return err
	})
	if err != nil {
		return verdict, err
	}
	w := &walk{known: known, noted: noted}
	for more := true; more && w.fault == nil; {
		var links []Linked
		err := v.View(ctx, func(tx VerifyTx) (err error) {
			links, err = tx.AuditLinks(organisationID, w.head.Seq, verifyPage)
			return err
		})
		if err != nil {
			return verdict, err
		}
		if err := w.check(links); err != nil {
			return verdict, err
		}
		more = len(links) == verifyPage
	}
	w.end()
	if w.fault == nil {
		err = v.View(ctx, func(tx VerifyTx) error { return w.strays(tx, organisationID) })
	}
	verdict.Entries, verdict.Head, verdict.Fault = w.head.Seq, w.head, w.fault
	return verdict, err
}

// walk goes along a chain.
type walk struct {
	known, noted Head
	head         Head // of what was found to be right
	fault        *Fault
}

// check checks the next links.
func (w *walk) check(links []Linked) error {
	for _, l := range links {
		if err := w.next(l); err != nil || w.fault != nil {
			return err
		}
	}
	return nil
}

// next checks one link. What is wrong with the entry itself comes first: it says more
// than that the link does not fit behind the one before it.
func (w *walk) next(l Linked) error {
	if l.Seq != w.head.Seq+1 {
		w.found(w.head.Seq+1, "", Missing, "there is no entry at this place, and there are later ones")
		return nil
	}
	if l.ID == "" {
		w.found(l.Seq, l.EntryID, Missing, "the entry was deleted; its place in the chain is still there")
		return nil
	}
	hash, err := l.Digest()
	switch {
	case err != nil:
		return err
	case hash != l.Hash:
		w.found(l.Seq, l.EntryID, Changed, "the entry, or its place in the chain, is not what was sealed")
	case l.Previous != w.head.Hash:
		w.found(l.Seq, l.EntryID, Reordered, "the entry was not sealed behind the one that is before it now: entries were moved, taken out or put in here")
	case w.differs(w.noted, l.Seq, hash):
		w.found(l.Seq, l.EntryID, Changed, "the chain was sealed with another entry at this place")
	case w.differs(w.known, l.Seq, hash):
		w.found(l.Seq, l.EntryID, Changed, "the head that was given has another hash: it was copied wrongly, or the chain was made anew since then")
	default:
		w.head = Head{Seq: l.Seq, Hash: hash}
	}
	return nil
}

// differs reports whether a head is of this place and of another chain.
func (w *walk) differs(h Head, seq int64, hash string) bool { return h.Seq == seq && h.Hash != hash }

// end checks that the chain goes as far as it was known to.
func (w *walk) end() {
	if w.fault != nil {
		return
	}
	switch {
	case w.noted.Seq > w.head.Seq:
		w.found(w.head.Seq+1, "", Missing, fmt.Sprintf("the chain ends before this place, and was sealed up to %d", w.noted.Seq))
	case w.known.Seq > w.head.Seq:
		w.found(w.head.Seq+1, "", Missing, fmt.Sprintf("the chain ends before this place, and the head that was given is at %d", w.known.Seq))
	}
}

func (w *walk) strays(tx VerifyTx, organisationID string) error {
	unsealed, lost, err := tx.AuditStray(organisationID)
	var noted Head
	if err == nil {
		noted, err = tx.AuditHead(organisationID)
	}
	switch {
	case err != nil:
		return err
	case noted.Seq < w.head.Seq: // both are written in one transaction
		w.found(noted.Seq+1, "", Changed, fmt.Sprintf("the head of the chain is noted to be at %d, before the end of the chain", noted.Seq))
	case unsealed != "":
		w.found(0, unsealed, Unsealed, "the entry is in no place of the chain and does not wait for one: Taskbay did not write it, or its place was taken away")
	case lost != "":
		w.found(0, lost, Missing, "the entry was written, and deleted before it was sealed")
	}
	return nil
}

func (w *walk) found(seq int64, entryID string, problem Problem, words string) {
	w.fault = &Fault{Seq: seq, EntryID: entryID, Problem: problem, Words: words}
}

// String writes a head as it is noted elsewhere: SEQ:HASH.
func (h Head) String() string { return strconv.FormatInt(h.Seq, 10) + ":" + h.Hash }

// ParseHead reads what String wrote.
func ParseHead(s string) (Head, error) {
	place, hash, found := strings.Cut(strings.TrimSpace(s), ":")
	seq, err := strconv.ParseInt(place, 10, 64)
	if !found || err != nil || seq < 0 || (len(hash) != 64) != (seq == 0 && hash == "") {
		return Head{}, fmt.Errorf("a head is SEQ:HASH, as taskbay audit verify prints it")
	}
	return Head{Seq: seq, Hash: strings.ToLower(hash)}, nil
}
