package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// AuditEntry is one deed on the trail. A member that does not apply is empty.
type AuditEntry struct {
	ID             string            `json:"id"`
	Seq            int64             `json:"seq"` // its place in the chain; 0 for the moment before it has one
	At             time.Time         `json:"at"`
	DeedID         string            `json:"deedId"` // the ID of the first of the entries that were written together
	Actor          AuditActor        `json:"actor"`
	Action         string            `json:"action"` // such as message-sent
	Kind           string            `json:"kind"`   // command, agent, credential, sign-in, access, setting or record
	What           string            `json:"what"`   // the entry in words
	AgentID        string            `json:"agentId"`
	AgentName      string            `json:"agentName"` // as it was then
	TaskID         string            `json:"taskId"`
	CommandID      string            `json:"commandId"`
	MessageID      string            `json:"messageId"`
	ContentSHA256  string            `json:"contentSha256"` // of what a command sends
	ObjectID       string            `json:"objectId"`
	ObjectName     string            `json:"objectName"` // as it was then
	Detail         map[string]string `json:"detail"`
	OrganisationID string            `json:"organisationId"`
	Previous       string            `json:"previous"` // the hash of the entry before it
	Hash           string            `json:"hash"`     // only for administrators
}

// AuditActor is who did it.
type AuditActor struct {
	Kind      string `json:"kind"` // local, person, service, command, system or unknown
	ID        string `json:"id"`
	Name      string `json:"name"`      // as it was then
	SessionID string `json:"sessionId"` // only for administrators
	TokenID   string `json:"tokenId"`   // only for administrators
}

// AuditFilter narrows the trail; zero members narrow nothing.
type AuditFilter struct {
	TaskID   string
	Kind     string
	PersonID string    // the ID of an actor
	From     time.Time // not before
	To       time.Time // before
	PageSize int       // how many to ask for at once, at most 200; 0 is 50
}

// AuditPage is one page of the trail.
type AuditPage struct {
	Items []AuditEntry
	Next  string // the cursor of the next page; "" on the last
}

func (f AuditFilter) query() url.Values {
	return queryOf(map[string]string{"taskId": f.TaskID, "kind": f.Kind, "personId": f.PersonID, "from": timeOf(f.From), "to": timeOf(f.To)})
}

func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// AuditPage returns one page of the trail of the organisation, newest first: the first
// page for the cursor "". It is for administrators.
func (c *Client) AuditPage(ctx context.Context, f AuditFilter, cursor string) (AuditPage, error) {
	items, next, err := fetchPage[AuditEntry](ctx, c, "/audit", f.query(), cursor, f.PageSize)
	return AuditPage{items, next}, err
}

// TaskAuditPage returns one page of the trail of a task, newest first, without entries
// about sign-in and access: the first page for the cursor "". A pageSize of 0 is 50.
func (c *Client) TaskAuditPage(ctx context.Context, taskID, cursor string, pageSize int) (AuditPage, error) {
	items, next, err := fetchPage[AuditEntry](ctx, c, pathOf("/tasks/{}/audit", taskID), url.Values{}, cursor, pageSize)
	return AuditPage{items, next}, err
}

// Audit returns the trail of the organisation, newest first, page by page as it is taken.
// An error is the last thing that it yields.
func (c *Client) Audit(ctx context.Context, f AuditFilter) iter.Seq2[AuditEntry, error] {
	return pages(func(cursor string) ([]AuditEntry, string, error) {
		p, err := c.AuditPage(ctx, f, cursor)
		return p.Items, p.Next, err
	})
}

// ExportAudit gets the trail, or what a filter leaves of it, oldest first, as csv or
// jsonl. The caller closes what it returns; if reading it ends with an error, what came
// is not all.
func (c *Client) ExportAudit(ctx context.Context, f AuditFilter, format string) (io.ReadCloser, error) {
	query := f.query()
	query.Set("format", format)
	response, err := c.send(ctx, call{method: http.MethodGet, path: "/audit/export", query: query})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}
