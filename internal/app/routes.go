package app

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/api"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// routes puts the pages, the API and the liveness check behind one door. The
// pages stand behind a guard of their own, which refuses with a page.
func routes(pages, programs, health http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/api/", httpguard.New(programs, api.Refuse))
	mux.Handle("/healthz", httpguard.New(health, api.Refuse))
	return mux
}
