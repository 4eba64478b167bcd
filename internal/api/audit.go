package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/audit/trail"
)

// Trail is who did what. All of it is for administrators: List and Export are
// fault.Forbidden for others.
type Trail interface {
	List(ctx context.Context, p access.Principal, f trail.Filter) (trail.Page, error)
	// OfTask returns the entries of a task for everybody who may read it, without those
	// about sign-in and access; fault.NotFound for everybody else.
	OfTask(ctx context.Context, p access.Principal, taskID string, f trail.Filter) (trail.Page, error)
	// Export puts on the trail that entries are exported, and returns them to be written.
	Export(ctx context.Context, p access.Principal, f trail.Filter, format trail.Format) (trail.Export, error)
}

// AuditEntry is one deed. A member that does not apply is empty.
type AuditEntry struct {
	ID             string            `json:"id" format:"uuid"`
	Seq            int64             `json:"seq" doc:"Its place in the chain of the organisation; 0 for the moment before it has one."`
	At             time.Time         `json:"at"`
	DeedID         string            `json:"deedId" format:"uuid" doc:"The ID of the first of the entries that were written together."`
	Actor          AuditActor        `json:"actor"`
	Action         string            `json:"action" doc:"Such as message-sent; docs/audit.md lists them."`
	Kind           string            `json:"kind" enum:"command,agent,credential,sign-in,access,setting,record"`
	What           string            `json:"what" doc:"The entry in words."`
	AgentID        string            `json:"agentId"`
	AgentName      string            `json:"agentName" doc:"As it was then."`
	TaskID         string            `json:"taskId" doc:"Local ID."`
	CommandID      string            `json:"commandId"`
	MessageID      string            `json:"messageId" doc:"The A2A messageId."`
	ContentSHA256  string            `json:"contentSha256" doc:"Of what a command sends, as it is stored. The content itself is not on the trail."`
	ObjectID       string            `json:"objectId" doc:"Of whatever else it is about, such as a token or a member."`
	ObjectName     string            `json:"objectName" doc:"As it was then."`
	Detail         map[string]string `json:"detail"`
	OrganisationID string            `json:"organisationId"`
	Previous       string            `json:"previous" doc:"The hash of the entry before it; empty for the first, and where it is not shown."`
	Hash           string            `json:"hash" doc:"Of the entry and of previous, see docs/audit.md; only for administrators."`
}

// AuditActor is who did it.
type AuditActor struct {
	Kind      string `json:"kind" enum:"local,person,service,command,system,unknown"`
	ID        string `json:"id"`
	Name      string `json:"name" doc:"As it was then."`
	SessionID string `json:"sessionId" doc:"The session that they came by; only for administrators."`
	TokenID   string `json:"tokenId" doc:"The API token that they came by; only for administrators."`
}

// AuditList is one page of the trail, newest first.
type AuditList struct {
	Items []AuditEntry `json:"items" nullable:"false"`
	Next  *string      `json:"next" doc:"The cursor of the next page; null on the last."`
}

// AuditFilter says which entries are wanted.
type AuditFilter struct {
	TaskID   string    `query:"taskId" doc:"Local ID of a task."`
	Kind     string    `query:"kind" enum:"command,agent,credential,sign-in,access,setting,record"`
	PersonID string    `query:"personId" doc:"The ID of an actor."`
	From     time.Time `query:"from" doc:"Not before."`
	To       time.Time `query:"to" doc:"Before."`
}

type (
	listAudit struct {
		AuditFilter
		Cursor string `query:"cursor" doc:"next of the page before."`
		Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	}
	exportAudit struct {
		AuditFilter
		Format string `query:"format" enum:"csv,jsonl" default:"jsonl"`
	}
	taskAudit struct {
		ID     string `path:"id" doc:"Local ID of the task."`
		Cursor string `query:"cursor" doc:"next of the page before."`
		Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	}
	auditOut struct {
		Body AuditList
	}
)

func (s *server) registerAudit(api huma.API) {
	tags := []string{"Audit"}
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: "/audit", Tags: tags,
		Summary: "Read the trail, newest first", Description: "For administrators.", Responses: failures(api),
	}), handle(s, "list-audit", s.listAudit))
	responses := failures(api)
	text := &huma.Schema{Type: "string"}
	responses["200"] = &huma.Response{
		Description: "The entries, to be saved as a file",
		Content:     map[string]*huma.MediaType{"application/jsonl": {Schema: text}, "text/csv": {Schema: text}},
	}
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "export-audit", Method: http.MethodGet, Path: "/audit/export", Tags: tags,
		Summary: "Export the trail, oldest first",
		Description: "For administrators. All entries that have a place in the chain, or those that a filter leaves, as CSV or JSON Lines. " +
			"That they were exported is an entry itself. A transfer that breaks off is not complete.",
		Responses: responses,
	}), handle(s, "export-audit", s.exportAudit))
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "task-audit", Method: http.MethodGet, Path: "/tasks/{id}/audit", Tags: tags,
		Summary: "Read the trail of a task, newest first", Description: "Without entries about sign-in and access, and without how people came in.",
		Responses: failures(api, http.StatusNotFound),
	}), handle(s, "task-audit", s.taskAudit))
}

func (f AuditFilter) filter() trail.Filter {
	return trail.Filter{TaskID: f.TaskID, Kind: audit.Kind(f.Kind), PersonID: f.PersonID, From: f.From, To: f.To}
}

func (s *server) listAudit(ctx context.Context, p access.Principal, in *listAudit) (*auditOut, error) {
	f := in.filter()
	f.Cursor, f.Limit = in.Cursor, in.Limit
	return auditShape(s.Trail.List(ctx, p, f))
}

func (s *server) taskAudit(ctx context.Context, p access.Principal, in *taskAudit) (*auditOut, error) {
	return auditShape(s.Trail.OfTask(ctx, p, in.ID, trail.Filter{Cursor: in.Cursor, Limit: in.Limit}))
}

// exportAudit answers an error before the first byte as a problem document; after it, the
// transfer is cut off, so that nobody takes a part for the whole.
func (s *server) exportAudit(ctx context.Context, p access.Principal, in *exportAudit) (*huma.StreamResponse, error) {
	export, err := s.Trail.Export(ctx, p, in.filter(), trail.Format(in.Format))
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		for name, values := range export.Header() {
			hctx.SetHeader(name, values[0])
		}
		if err := export.Write(ctx, hctx.BodyWriter()); err != nil {
			if ctx.Err() == nil {
				s.Log.ErrorContext(ctx, "an export of the trail broke off", slog.Any("error", err))
			}
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

func auditShape(page trail.Page, err error) (*auditOut, error) {
	if err != nil {
		return nil, err
	}
	out := &auditOut{Body: AuditList{Items: make([]AuditEntry, 0, len(page.Items))}}
	for _, e := range page.Items {
		out.Body.Items = append(out.Body.Items, auditEntryShape(e))
	}
	if page.Next != "" {
		out.Body.Next = &page.Next
	}
	return out, nil
}

func auditEntryShape(e audit.Sealed) AuditEntry {
	return AuditEntry{
		ID: e.ID, Seq: e.Seq, At: e.At.UTC(), DeedID: e.DeedID, Actor: AuditActor(e.Actor), Action: string(e.Action), Kind: string(e.Kind), What: e.Sentence(),
		AgentID: e.AgentID, AgentName: e.AgentName, TaskID: e.TaskID, CommandID: e.CommandID, MessageID: e.MessageID, ContentSHA256: e.ContentSHA256,
		ObjectID: e.ObjectID, ObjectName: e.ObjectName, Detail: e.Detail, OrganisationID: e.OrganisationID, Previous: e.Previous, Hash: e.Hash,
	}
}
