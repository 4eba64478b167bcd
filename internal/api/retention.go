package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/retention"
)

// Retention purges what agents sent, byte for byte, of tasks that ended long ago. A
// number of days that is none is fault.Unprocessable.
type Retention interface {
	Get(ctx context.Context, p access.Principal) (retention.Setting, error)
	Set(ctx context.Context, p access.Principal, days int64) (retention.Setting, error)
	// Try counts what would be purged, and changes nothing.
	Try(ctx context.Context, p access.Principal, days int64) (retention.Found, error)
}

// RetentionInput is a time to keep things for.
type RetentionInput struct {
	Days *int `json:"days" nullable:"false" minimum:"0" maximum:"36500" doc:"Since the last change of a task that has ended; 0 to keep everything for ever."`
}

// RetentionSetting says for how long things are kept.
type RetentionSetting struct {
	Days  int64      `json:"days" doc:"Since the last change of a task that has ended; 0 if everything is kept for ever."`
	SetBy string     `json:"setBy,omitempty" doc:"Who set it last; absent if nobody did."`
	SetAt *time.Time `json:"setAt,omitempty"`
}

// RetentionFound is what would be purged.
type RetentionFound struct {
	Tasks         int64 `json:"tasks"`
	Observations  int64 `json:"observations"`
	Bytes         int64 `json:"bytes" doc:"Of the observations."`
	Artifacts     int64 `json:"artifacts" doc:"Files that the tasks hold."`
	ArtifactBytes int64 `json:"artifactBytes" doc:"Of them. Bytes that other tasks hold as well stay."`
}

type (
	retentionIn struct {
		Body body[RetentionInput]
	}
	retentionOut struct {
		Body RetentionSetting
	}
	retentionFoundOut struct {
		Body RetentionFound
	}
)

func (s *server) registerRetention(api huma.API) {
	tags := []string{"Retention"}
	huma.Register(api, needs(access.NeedAdminister, huma.Operation{
		OperationID: "get-retention", Method: http.MethodGet, Path: "/retention", Tags: tags,
		Summary: "Read for how long raw observations and files are kept", Responses: failures(api),
	}), handle(s, "get-retention", s.getRetention))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "set-retention", Method: http.MethodPut, Path: "/retention", Tags: tags,
		Summary: "Set for how long raw observations and files are kept", Description: "Those of tasks that ended are purged after that, within a day. What is purged is gone for good.",
		Responses: failures(api, wrongBody()...),
	})), handle(s, "set-retention", s.setRetention))
	huma.Register(api, needs(access.NeedAdminister, withBody(huma.Operation{
		OperationID: "try-retention", Method: http.MethodPost, Path: "/retention/dry-run", Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Count what would be purged", Description: "Nothing is changed.", Responses: failures(api, wrongBody()...),
	})), handle(s, "try-retention", s.tryRetention))
}

func (s *server) getRetention(ctx context.Context, p access.Principal, _ *nothing) (*retentionOut, error) {
	return retentionShape(s.Retention.Get(ctx, p))
}

func (s *server) setRetention(ctx context.Context, p access.Principal, in *retentionIn) (*retentionOut, error) {
	days, err := in.days()
	if err != nil {
		return nil, err
	}
	return retentionShape(s.Retention.Set(ctx, p, days))
}

// days returns what was given: nothing is not the same as 0.
func (in *retentionIn) days() (int64, error) {
	given, err := in.Body.decode()
	if err != nil {
		return 0, err
	}
	if given.Days == nil {
		return 0, invalid("/days", "Give the days: 0 to keep everything for ever, or 1 to 36500.")
	}
	return int64(*given.Days), nil
}

func retentionShape(setting retention.Setting, err error) (*retentionOut, error) {
	if err != nil {
		return nil, atPointers(err)
	}
	out := &retentionOut{Body: RetentionSetting{Days: setting.Days, SetBy: setting.SetBy}}
	if at := setting.SetAt.UTC(); !setting.SetAt.IsZero() {
		out.Body.SetAt = &at
	}
	return out, nil
}

func (s *server) tryRetention(ctx context.Context, p access.Principal, in *retentionIn) (*retentionFoundOut, error) {
	days, err := in.days()
	if err != nil {
		return nil, err
	}
	found, err := s.Retention.Try(ctx, p, days)
	if err != nil {
		return nil, atPointers(err)
	}
	return &retentionFoundOut{Body: RetentionFound{
		Tasks: found.Tasks, Observations: found.Events, Bytes: found.Bytes, Artifacts: found.Artifacts, ArtifactBytes: found.ArtifactBytes,
	}}, nil
}
