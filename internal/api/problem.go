package api

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Problem is an RFC 9457 problem document. It never repeats what was submitted.
type Problem struct {
	Type   string        `json:"type" doc:"Always about:blank: status and title say all there is."`
	Title  string        `json:"title" doc:"The name of the status."`
	Status int           `json:"status"`
	Detail string        `json:"detail" doc:"What happened, in plain words."`
	Errors []fault.Field `json:"errors,omitempty" nullable:"false" doc:"The inputs at fault: location is a JSON Pointer into the body, the key of a form's field, or a parameter such as query.limit."`
}

const problemMediaType = "application/problem+json"

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type of every problem document.
func (p *Problem) ContentType(string) string { return problemMediaType }

// retryAfter is when to try again what could not be done for now, in seconds.
const retryAfter = "5"

// GetHeaders returns the headers that go with the document.
func (p *Problem) GetHeaders() http.Header {
	if p.Status != http.StatusServiceUnavailable {
		return nil
	}
	return http.Header{"Retry-After": {retryAfter}}
}

func newProblem(status int, detail string, errors []fault.Field) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Errors: errors}
}

func faultProblem(err *fault.Error) *Problem {
	return newProblem(err.Kind.Status(), err.Message, err.Fields)
}

// problem returns what a caller may know of err, and logs what it may not. What
// fails because the request is given up, as when the server stops, may be tried
// again.
func (s *server) problem(ctx context.Context, operation string, err error) *Problem {
	if fault.KindOf(err) == fault.Internal && ctx.Err() != nil {
		return faultProblem(fault.New(fault.Unavailable, "The request was given up, as the server is stopping. Try it again in a moment."))
	}
	if fault.KindOf(err) == fault.Internal {
		s.Log.ErrorContext(ctx, "an API request failed", slog.String("operation", operation), slog.Any("error", err))
	}
	return faultProblem(fault.Public(err))
}

// writeProblem answers a request that no operation handles.
func writeProblem(w http.ResponseWriter, p *Problem) {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(p); err != nil {
		http.Error(w, p.Title, p.Status)
		return
	}
	w.Header().Set("Content-Type", problemMediaType)
	maps.Copy(w.Header(), p.GetHeaders())
	w.WriteHeader(p.Status)
	_, _ = w.Write(out.Bytes()) // a reader that went away has nobody to tell
}

// transformProblem turns what huma finds wrong with a request into a Problem:
// without the value that was at fault, and with 400 for a parameter that breaks
// a rule, since 422 is for form answers.
func transformProblem(ctx huma.Context, _ string, v any) (any, error) {
	found, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	status := found.Status
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	if r, ok := ctx.(*request); ok {
		r.override = status
	}
	var fields []fault.Field
	if status == http.StatusBadRequest {
		for _, e := range found.Errors {
			fields = append(fields, fault.Field{Location: e.Location, Message: e.Message})
		}
	}
	return newProblem(status, details[status], fields), nil
}

var details = map[int]string{
	http.StatusBadRequest:            "The request breaks a rule of this address.",
	http.StatusRequestTimeout:        "The body took too long to arrive.",
	http.StatusRequestEntityTooLarge: "The body is larger than 16 MiB.",
	http.StatusInternalServerError:   "The body could not be received.",
}
