package api

import (
	"log/slog"
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Health returns the handler of /healthz: {"status":"ok"} while the database
// answers, and a problem document with 503 when it does not. It takes GET and HEAD.
func Health(db Database, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuseMethod("GET, HEAD")(w, r)
			return
		}
		if err := db.Ping(r.Context()); err != nil {
			if r.Context().Err() == nil {
				log.ErrorContext(r.Context(), "the database does not answer", slog.Any("error", err))
			}
			writeProblem(w, faultProblem(fault.New(fault.Unavailable, "The database does not answer.")))
			return
		}
		serveBytes("application/json", []byte(`{"status":"ok"}`+"\n"))(w, r)
	})
}
