package views

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// LatestDeeds is how many entries of its trail the page of a task shows.
const LatestDeeds = 8

// AuditPage is a page of the trail: of the organisation, or of one task.
type AuditPage struct {
	Shell    Shell
	Task     *task.Task // whose trail it is; nil for that of the organisation
	Filter   trail.Filter
	From, To string // the days of the filter, as given
	Page     trail.Page
	People   []trail.Person // to filter by
}

func (p AuditPage) narrowed() bool {
	f := p.Filter
	return f.TaskID != "" || f.Kind != "" || f.PersonID != "" || p.From != "" || p.To != ""
}

// address is the address of the page with its filter, from a cursor on.
func (p AuditPage) address(cursor string) string {
	if p.Task != nil {
		return withQuery("/tasks/"+p.Task.ID+"/trail", map[string]string{"cursor": cursor})
	}
	return withQuery("/audit", p.query(map[string]string{"cursor": cursor}))
}

// only is the address with another filter in the place of one, or beside it.
func (p AuditPage) only(name, value string) string {
	return withQuery("/audit", p.query(map[string]string{name: value}))
}

// export is the address of what the page shows, as a file.
func (p AuditPage) export(format trail.Format) string {
	return withQuery("/audit/export", p.query(map[string]string{"format": string(format)}))
}

func (p AuditPage) query(more map[string]string) map[string]string {
	query := map[string]string{"task": p.Filter.TaskID, "kind": string(p.Filter.Kind), "person": p.Filter.PersonID, "from": p.From, "to": p.To}
	maps.Copy(query, more)
	return query
}

// kindSymbols has a drawing for each kind of deed.
var kindSymbols = map[audit.Kind]string{
	audit.KindCommand: "send", audit.KindAgent: "agents", audit.KindCredential: "key", audit.KindSignIn: "enter",
	audit.KindAccess: "person", audit.KindSetting: "settings", audit.KindRecord: "file",
}

func kindSymbol(k audit.Kind) string { return cmp.Or(kindSymbols[k], "unknown") }

// wayIn says how somebody came in to do something.
func wayIn(a audit.Actor) string {
	switch {
	case a.TokenID != "":
		return "by an API token"
	case a.SessionID != "":
		return "signed in with a browser"
	}
	return map[string]string{
		"local": "on this machine", "command": "with a command of taskbay", "service": "a service account",
		audit.System: "by itself, as it was set to", audit.Unknown: "not signed in",
	}[a.Kind]
}

// auditFact is one line of what an entry says.
type auditFact struct{ name, value string }

// auditIDs are what an entry names, to be found and compared.
func auditIDs(e audit.Sealed) []auditFact {
	var facts []auditFact
	for _, f := range []auditFact{
		{"Command", e.CommandID}, {"Message", e.MessageID}, {"SHA-256 of the content", e.ContentSHA256}, {"ID", e.ObjectID},
		{"Session", e.Actor.SessionID}, {"API token", e.Actor.TokenID}, {"Entry", e.ID}, {"Hash", e.Hash},
	} {
		if f.value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// auditDetail is the detail of an entry, by name.
func auditDetail(e audit.Sealed) []auditFact {
	var facts []auditFact
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		facts = append(facts, auditFact{cmp.Or(detailNames[name], name), e.Detail[name]})
	}
	return facts
}

// detailNames are what the members of details are called.
var detailNames = map[string]string{
	"card": "Card", "health": "Health", "binding": "Binding", "version": "Version", "url": "Address", "tenant": "Tenant", "key": "Key", "until": "Until",
	"type": "Type", "origins": "Origins", "question": "Question", "days": "Days", "before": "Days before", "observations": "Observations", "bytes": "Bytes",
	"files": "Files", "fileBytes": "Bytes of files", "backupOf": "Backup of", "taskbay": "Made by Taskbay", "uncertain": "Uncertain commands", "format": "Format",
	"browser": "Browser", "sessions": "Sessions", "member": "Member", "memberId": "Member ID", "scope": "Scope", "permission": "Permission", "grantId": "Grant",
	"skillId": "Skill", "formerName": "Name before", "enabled": "Enabled",
	"task": "Task", "kind": "Kind", "person": "Person", "from": "From", "to": "To",
}
