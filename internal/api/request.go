package api

import (
	"context"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// adapted is what huma makes of a request, under a name that can be embedded:
// its own has a method Context.
type adapted huma.Context

// request is a request as the operations see it.
type request struct {
	adapted
	override int // the status to answer with instead of huma's; 0 for huma's
}

// Unwrap returns the context beneath, for the adapter.
func (r *request) Unwrap() huma.Context { return r.adapted }

// SetStatus sets the status of the response.
func (r *request) SetStatus(status int) {
	if r.override != 0 {
		status = r.override
	}
	r.adapted.SetStatus(status)
}

// prepare refuses a body that is no JSON and parameters that the operation would not
// see.
func prepare(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if ctx.Operation().RequestBody != nil && !isJSON(r.Header.Get("Content-Type")) {
		writeProblem(w, newProblem(http.StatusUnsupportedMediaType, "The body must be application/json.", nil))
		return
	}
	if fields := parameterFaults(r, ctx.Operation().Parameters); len(fields) > 0 {
		writeProblem(w, newProblem(http.StatusBadRequest, "The request has parameters that are unknown or repeated.", fields))
		return
	}
	next(&request{adapted: ctx})
}

// parameterFaults returns the parameters of the query that an operation does not
// take, and what is given more than once in the query or in a header of its own:
// neither is to be left out unseen.
func parameterFaults(r *http.Request, takes []*huma.Param) []fault.Field {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return []fault.Field{{Location: "query", Message: "Cannot be read."}}
	}
	var fields []fault.Field
	var names []string
	for _, p := range takes {
		values := given[p.Name]
		if p.In == "header" {
			values = r.Header.Values(p.Name)
		}
		if p.In == "query" {
			names = append(names, p.Name)
		}
		if len(values) > 1 && p.In != "path" {
			fields = append(fields, fault.Field{Location: p.In + "." + p.Name, Message: "Given more than once."})
		}
	}
	message := "Not known here; there are: " + strings.Join(names, ", ") + "."
	if len(names) == 0 {
		message = "Not known here: this address takes no parameters."
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			fields = append(fields, fault.Field{Location: "query." + shorten(name), Message: message})
		}
	}
	return fields[:min(len(fields), maxFaults)]
}

func isJSON(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}

// handle makes an operation of a method: it adds the principal and turns every
// error into a problem document.
func handle[I, O any](s *server, name string, method func(context.Context, access.Principal, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		out, err := method(ctx, httpguard.Principal(ctx), in)
		if err != nil {
			return nil, s.problem(ctx, name, err)
		}
		return out, nil
	}
}
