package api

import (
	"context"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/access"
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

type principalKey struct{}

// prepare adds who asks, and refuses a body that is no JSON.
func (s *server) prepare(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if ctx.Operation().RequestBody != nil && !isJSON(r.Header.Get("Content-Type")) {
		writeProblem(w, newProblem(http.StatusUnsupportedMediaType, "The body must be application/json.", nil))
		return
	}
	ctx = huma.WithValue(ctx, principalKey{}, s.Principal(r))
	next(&request{adapted: ctx})
}

func isJSON(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}

// handle makes an operation of a method: it adds the principal and turns every
// error into a problem document.
func handle[I, O any](s *server, name string, method func(context.Context, access.Principal, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		p, _ := ctx.Value(principalKey{}).(access.Principal)
		out, err := method(ctx, p, in)
		if err != nil {
			return nil, s.problem(ctx, name, err)
		}
		return out, nil
	}
}
