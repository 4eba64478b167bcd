package trail

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Format is how the trail is exported.
type Format string

// The formats.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
)

// MediaType is that of a format.
func (f Format) MediaType() string {
	if f == CSV {
		return "text/csv; charset=utf-8"
	}
	return "application/jsonl"
}

// Header is what an answer that carries the export says of it.
func (e Export) Header() http.Header {
	name := "taskbay-audit." + string(e.Format)
	return http.Header{
		"Content-Type":           {e.Format.MediaType()},
		"Content-Disposition":    {`attachment; filename="` + name + `"`},
		"X-Content-Type-Options": {"nosniff"},
	}
}

// exportPage is how many entries are held in memory at once.
const exportPage = 1000

// Export is a part of the trail that can be written.
type Export struct {
	Format Format
	Head   audit.Head // of the chain when it was made: nothing after it is written

	reader    *Reader
	principal access.Principal
	selection Selection
}

// Export puts on the trail that entries are exported, and returns them to be written:
// those that are sealed by now, the oldest first. It is for administrators:
// fault.Forbidden for everybody else, fault.Invalid for no format.
func (r *Reader) Export(ctx context.Context, p access.Principal, f Filter, format Format) (Export, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Export{}, err
	}
	if format != CSV && format != JSONLines {
		return Export{}, fault.New(fault.Invalid, "The trail is exported as csv or jsonl.")
	}
	detail := exportDetail(f, format)
	if f.TaskID != "" {
		id, err := r.Tasks.Find(ctx, p, f.TaskID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return Export{}, err
		}
		if err == nil {
			f.TaskID = id
		}
	}
	err := r.Update(ctx, func(tx ReadTx) error {
		return tx.Audit(audit.Entry{OrganisationID: p.OrganisationID, Actor: p.Actor(), Action: audit.AuditExported, Detail: detail})
	})
	if err != nil {
		return Export{}, err
	}
	if err := r.Sealer.Seal(ctx); err != nil {
		return Export{}, err
	}
	export := Export{Format: format, reader: r, principal: p}
	err = r.View(ctx, func(tx ReadTx) (err error) {
		export.Head, err = tx.AuditHead(p.OrganisationID)
		return err
	})
	f.Cursor, f.Limit = "", exportPage
	export.selection = Selection{Filter: f, Earliest: true, Sealed: export.Head.Seq}
	return export, err
}

func exportDetail(f Filter, format Format) map[string]string {
	detail := map[string]string{"format": string(format), "task": f.TaskID, "kind": string(f.Kind), "person": f.PersonID}
	if !f.From.IsZero() {
		detail["from"] = f.From.UTC().Format(time.RFC3339)
	}
	if !f.To.IsZero() {
		detail["to"] = f.To.UTC().Format(time.RFC3339)
	}
	return detail
}

// Write writes the entries, a page at a time.
func (e Export) Write(ctx context.Context, out io.Writer) error {
	write, flush := writeLines(out)
	if e.Format == CSV {
		write, flush = writeCSV(out)
	}
	selection := e.selection
	for {
		var items []audit.Sealed
		var next string
		err := e.reader.View(ctx, func(tx ReadTx) (err error) {
			items, next, err = tx.AuditEntries(e.principal.OrganisationID, selection)
			return err
		})
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := write(item); err != nil {
				return fmt.Errorf("write the trail: %w", err)
			}
		}
		if err := flush(); err != nil {
			return fmt.Errorf("write the trail: %w", err)
		}
		if next == "" {
			return nil
		}
		selection.Cursor = next
	}
}

func writeLines(out io.Writer) (write func(audit.Sealed) error, flush func() error) {
	write = func(s audit.Sealed) error {
		line, err := json.Marshal(s)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		return err
	}
	return write, func() error { return nil }
}

// columns of an export as CSV: the members of its lines as JSON, flat.
var columns = []string{
	"seq", "id", "organisationId", "deedId", "at", "actorKind", "actorId", "actorName", "sessionId", "tokenId", "action", "kind", "what",
	"agentId", "agentName", "taskId", "commandId", "messageId", "contentSha256", "objectId", "objectName", "detail", "previous", "hash",
}

func writeCSV(out io.Writer) (write func(audit.Sealed) error, flush func() error) {
	w := csv.NewWriter(out)
	begun := false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		return w.Write(columns)
	}
	write = func(s audit.Sealed) error {
		if err := begin(); err != nil {
			return err
		}
		l := s.Written()
		return w.Write(harmless([]string{
			strconv.FormatInt(s.Seq, 10), l.ID, l.OrganisationID, l.DeedID, l.At, l.Actor.Kind, l.Actor.ID, l.Actor.Name, l.Actor.SessionID, l.Actor.TokenID,
			string(l.Action), string(l.Kind), s.Sentence(), l.AgentID, l.AgentName, l.TaskID, l.CommandID, l.MessageID, l.ContentSHA256,
			l.ObjectID, l.ObjectName, s.DetailText(), l.Previous, s.Hash,
		}))
	}
	return write, func() error {
		err := begin()
		w.Flush()
		if err == nil {
			err = w.Error()
		}
		return err
	}
}

// formula are the characters with which a spreadsheet takes a cell for a formula, in
// their full-width forms too.
const formula = "=+-@\t\r\n＝＋－＠"

// separated finds what would be a formula where other characters than the comma part
// cells, as they do in many countries.
var separated = regexp.MustCompile(`([;|\t][ \x{A0}\x{3000}]*)([=+\-@＝＋－＠])`)

// harmless makes sure that a spreadsheet takes every cell for text: one that would be a
// formula gets an apostrophe before it.
func harmless(cells []string) []string {
	for i, cell := range cells {
		cell = separated.ReplaceAllString(cell, "$1'$2")
		cells[i] = cell
		if strings.ContainsAny(firstOf(cell), formula) || strings.ContainsAny(firstOf(strings.TrimLeft(cell, " \u00A0\u3000")), formula) {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// firstOf is the first character of a text; "" if it has none.
func firstOf(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}
