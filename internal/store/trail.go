package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
)

// AuditEntries implements trail.ReadTx. For each filter there is an index in the order
// of the list, so that a page costs the same however long the trail is.
func (tx *Tx) AuditEntries(organisationID string, s trail.Selection) ([]audit.Sealed, string, error) {
	var tasks []string
	if s.TaskID != "" {
		var err error
		if tasks, err = tx.became(s.TaskID); err != nil {
			return nil, "", err
		}
	}
	query, args, err := auditQuery(organisationID, tasks, s)
	if err != nil {
		return nil, "", err
	}
	items, err := collect(tx, func(row scanner) (audit.Sealed, error) {
		var r auditRow
		var sealed audit.Sealed
		err := row.Scan(append(r.dest(), &sealed.Seq, &sealed.Previous, &sealed.Hash)...)
		sealed.Entry = r.entry()
		return sealed, err
	}, query, args...)
	if err != nil {
		return nil, "", fmt.Errorf("read the trail: %w", err)
	}
	if len(items) <= s.Limit {
		return items, "", nil
	}
	items = items[:s.Limit]
	last := items[s.Limit-1]
	return items, writeCursor(last.At, last.ID), nil
}

// became returns the tasks that have become one, and it.
func (tx *Tx) became(taskID string) ([]string, error) {
	ids, err := collect(tx, scanString, `WITH RECURSIVE merged (id) AS (
			SELECT id FROM task WHERE merged_into = ? UNION SELECT t.id FROM task t JOIN merged m ON t.merged_into = m.id)
		SELECT id FROM merged`, taskID)
	if err != nil {
		return nil, fmt.Errorf("look which tasks became task %s: %w", taskID, err)
	}
	return append(ids, taskID), nil
}

// auditQuery is the statement that lists entries, one more than the limit.
func auditQuery(organisationID string, tasks []string, s trail.Selection) (string, []any, error) {
	var w where
	w.and("e.organisation_id = ?", organisationID)
	if len(tasks) == 1 {
		w.and("e.task_id = ?", tasks[0])
	} else if len(tasks) > 1 {
		args := make([]any, len(tasks))
		for i, id := range tasks {
			args[i] = id
		}
		w.and("e.task_id IN "+places(len(tasks)), args...)
	}
	if s.Kind != "" {
		w.and("e.kind = ?", string(s.Kind))
	}
	if s.Public {
		w.and("e.kind NOT IN (?, ?)", string(audit.KindSignIn), string(audit.KindAccess))
	}
	if s.PersonID != "" {
		w.and("e.actor_id = ?", s.PersonID)
	}
	if !s.From.IsZero() {
		w.and("e.at_us >= ?", us(s.From))
	}
	if !s.To.IsZero() {
		w.and("e.at_us < ?", us(s.To))
	}
	if s.Sealed > 0 {
		w.and("l.seq <= ?", s.Sealed)
	}
	behind, order := "<", " DESC"
	if s.Earliest {
		behind, order = ">", ""
	}
	if s.Cursor != "" {
		at, id, err := readCursor(s.Cursor)
		if err != nil {
			return "", nil, err
		}
		w.and("(e.at_us, e.id) "+behind+" (?, ?)", at, id)
	}
	return "SELECT " + auditColumns + ", COALESCE(l.seq, 0), COALESCE(l.previous, ''), COALESCE(l.hash, '') FROM audit_entry e LEFT JOIN audit_link l ON l.entry_id = e.id WHERE " +
		w.sql() + " ORDER BY e.at_us" + order + ", e.id" + order + " LIMIT ?", append(w.args, s.Limit+1), nil
}

// AuditPeople implements trail.ReadTx. It goes from one to the next in the index, and
// does not read the trail.
func (tx *Tx) AuditPeople(organisationID string, limit int) ([]trail.Person, error) {
	people, err := collect(tx, func(s scanner) (trail.Person, error) {
		var p trail.Person
		return p, s.Scan(&p.ID, &p.Name)
	}, `WITH RECURSIVE actor (id) AS (
			SELECT MIN(actor_id) FROM audit_entry WHERE organisation_id = ?
			UNION ALL
			SELECT (SELECT MIN(e.actor_id) FROM audit_entry e WHERE e.organisation_id = ? AND e.actor_id > a.id) FROM actor a WHERE a.id IS NOT NULL)
		SELECT a.id, (SELECT e.actor_name FROM audit_entry e WHERE e.organisation_id = ? AND e.actor_id = a.id ORDER BY e.at_us DESC, e.id DESC LIMIT 1)
		FROM actor a WHERE a.id IS NOT NULL LIMIT ?`, organisationID, organisationID, organisationID, limit)
	if err != nil {
		return nil, fmt.Errorf("read who is on the trail: %w", err)
	}
	slices.SortFunc(people, func(a, b trail.Person) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return people, nil
}
