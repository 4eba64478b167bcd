// Package trail reads the trail: for pages and programs, and to be exported.
package trail

import (
	"context"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Filter says which entries are wanted; its zero value is all of them.
type Filter struct {
	TaskID   string // local; and those that became this task
	Kind     audit.Kind
	PersonID string    // an actor's
	From     time.Time // not before
	To       time.Time // before

	Cursor string // from Page.Next
	Limit  int    // entries a page; 0 is DefaultLimit
}

// Selection is what the store looks for: a filter, and what the reader adds to it.
type Selection struct {
	Filter
	Public   bool  // without the kinds that are for administrators alone
	Sealed   int64 // only what has a place in the chain up to this one; 0 for everything
	Earliest bool  // the oldest first; otherwise the newest
}

// Page is one page of entries.
type Page struct {
	Items []audit.Sealed
	Next  string // cursor of the next page; "" at the end
}

// Person is somebody who did something, with the name that they had last.
type Person struct {
	ID   string
	Name string
}

// ReadTx is a transaction of the record as Reader needs it.
type ReadTx interface {
	// AuditEntries returns up to f.Limit entries, and the cursor behind them; "" if
	// there are no more. fault.Invalid for a cursor that no page gave.
	AuditEntries(organisationID string, s Selection) (items []audit.Sealed, next string, err error)
	// AuditPeople returns who is on the trail, by name.
	AuditPeople(organisationID string, limit int) ([]Person, error)
	AuditHead(organisationID string) (audit.Head, error)
	// Audit puts an entry on the trail.
	Audit(audit.Entry) error
}

// Tasks is the tasks as the package needs them.
type Tasks interface {
	// Find returns the ID of the task that one has become, or its own; fault.NotFound
	// if there is none that the principal may see.
	Find(ctx context.Context, p access.Principal, id string) (string, error)
}

// Reader reads the trail for people and programs.
type Reader struct {
	Update func(context.Context, func(ReadTx) error) error
	View   func(context.Context, func(ReadTx) error) error
	Tasks  Tasks
	Sealer *audit.Sealer
}

// DefaultLimit and MaxLimit bound a page; so many people are offered to filter by.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	maxPeople    = 500
)

// List returns one page of the trail of an organisation, newest first, for
// administrators: fault.Forbidden for everybody else. fault.Invalid for a cursor that no
// page gave.
func (r *Reader) List(ctx context.Context, p access.Principal, f Filter) (Page, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Page{}, err
	}
	if err := r.Sealer.Seal(ctx); err != nil {
		return Page{}, err
	}
	if f.TaskID != "" {
		id, err := r.Tasks.Find(ctx, p, f.TaskID)
		if fault.KindOf(err) == fault.NotFound {
			return Page{}, nil
		}
		if err != nil {
			return Page{}, err
		}
		f.TaskID = id
	}
	return r.page(ctx, p, Selection{Filter: f})
}

// OfTask returns one page of the trail of a task, newest first, for everybody who may
// read it: without entries about sign-in and access, and without how people came in.
// fault.NotFound if there is no such task, fault.Invalid for a cursor that no page gave.
func (r *Reader) OfTask(ctx context.Context, p access.Principal, taskID string, f Filter) (Page, error) {
	id, err := r.Tasks.Find(ctx, p, taskID)
	if err != nil {
		return Page{}, err
	}
	f.TaskID = id
	page, err := r.page(ctx, p, Selection{Filter: f, Public: true})
	for i := range page.Items {
		item := &page.Items[i]
		item.Actor.SessionID, item.Actor.TokenID = "", ""
		item.Link = audit.Link{Seq: item.Seq} // its hash is of more than is shown here
	}
	return page, err
}

func (r *Reader) page(ctx context.Context, p access.Principal, s Selection) (page Page, err error) {
	if s.Limit <= 0 {
		s.Limit = DefaultLimit
	}
	s.Limit = min(s.Limit, MaxLimit)
	err = r.View(ctx, func(tx ReadTx) (err error) {
		page.Items, page.Next, err = tx.AuditEntries(p.OrganisationID, s)
		return err
	})
	return page, err
}

// People returns who is on the trail, for administrators.
func (r *Reader) People(ctx context.Context, p access.Principal) (people []Person, err error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return nil, err
	}
	err = r.View(ctx, func(tx ReadTx) (err error) {
		people, err = tx.AuditPeople(p.OrganisationID, maxPeople)
		return err
	})
	return people, err
}
