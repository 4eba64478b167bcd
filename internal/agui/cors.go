package agui

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// agentsPath is where the routes of agents are, the adapter's among them.
const agentsPath = "/api/v1/agents/"

// AllowOrigins lets pages of these origins use the adapter, and get the files that it
// names, with an API token and with nothing else: cookies that a browser sends along
// are taken away, so that no page acts as whoever is signed in. What it lets through
// looks like a request of a program to the guards behind it.
func AllowOrigins(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		methods := methodsOf(r.URL.Path)
		if methods == "" || !slices.Contains(origins, origin) || len(r.Header.Values("Origin")) != 1 {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			Refuse(w, fault.New(fault.SignedOut, "A page of another origin needs an API token, as Authorization: Bearer."))
			return
		}
		h.Set("Access-Control-Expose-Headers", "Content-Disposition, Retry-After")
		r = r.Clone(r.Context())
		for _, name := range []string{"Cookie", "Origin", "Referer", "Sec-Fetch-Site"} {
			r.Header.Del(name)
		}
		next.ServeHTTP(w, r)
	})
}

// methodsOf returns the methods that pages elsewhere may use on a path; "" for none.
func methodsOf(path string) string {
	if sha256, ok := strings.CutPrefix(path, artifactPath); ok && !strings.Contains(sha256, "/") {
		return "GET, HEAD"
	}
	if IsRoute(path) {
		return "POST"
	}
	return ""
}

// IsRoute reports whether a path is one of the adapter's.
func IsRoute(path string) bool {
	rest, ok := strings.CutPrefix(path, agentsPath)
	_, rest, found := strings.Cut(rest, "/")
	return ok && found && (rest == "ag-ui" || strings.HasPrefix(rest, "ag-ui/runs/") && strings.HasSuffix(rest, "/cancel"))
}
