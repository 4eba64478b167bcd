package app

import "net/http"

// routes puts the pages, the API and the liveness check behind one door.
func routes(pages, programs, health http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/api/", programs)
	mux.Handle("/healthz", health)
	return mux
}
