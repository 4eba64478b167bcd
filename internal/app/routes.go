package app

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/push"
)

// routes puts the pages, the API and what operators of the process look at side by
// side. Each stands behind the door by itself, which refuses with a page or a problem
// document. No ServeMux decides here: it would answer CONNECT and paths to clean before
// the door does. So what is chosen here says itself which pattern it matched, for the
// metrics.
//
// Pushes come from agents, by any name of this server, and are let in by their secrets
// alone; nil takes none in.
func routes(pages, programs http.Handler, operations operations, pushes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz":
			r.Pattern = path
			operations.health.ServeHTTP(w, r)
		case path == "/readyz":
			r.Pattern = path
			operations.ready.ServeHTTP(w, r)
		case path == "/metrics" && operations.metrics != nil:
			r.Pattern = path
			operations.metrics.ServeHTTP(w, r)
		case path == "/api" || strings.HasPrefix(path, "/api/"):
			programs.ServeHTTP(w, r)
		case pushes != nil && strings.HasPrefix(path, push.Path):
			pushes.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}
