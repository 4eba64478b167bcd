package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

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

// A ReadyCheck is one thing that a process needs to do its part.
type ReadyCheck struct {
	Name string
	// Run returns nil, or why the process is not ready. Those who look read the
	// message of a fault; of any other error only the log has it.
	Run func(context.Context) error
}

// readyTime is how long all checks together may take.
const readyTime = 5 * time.Second

type readiness struct {
	Status string      `json:"status"` // ok or unavailable
	Checks []readyItem `json:"checks"`
}

type readyItem struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Ready returns the handler of /readyz: 200 if every check passes, else 503, and in
// both cases a JSON object that says so of each. It takes GET and HEAD.
func Ready(log *slog.Logger, checks ...ReadyCheck) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuseMethod("GET, HEAD")(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		status, result := http.StatusOK, readiness{Status: "ok"}
		for _, c := range checks {
			item := readyItem{Name: c.Name, Status: "ok"}
			if err := c.Run(ctx); err != nil {
				if fault.KindOf(err) == fault.Internal && r.Context().Err() == nil {
					log.ErrorContext(ctx, "not ready", slog.String("check", c.Name), slog.Any("error", err))
				}
				status, result.Status = http.StatusServiceUnavailable, "unavailable"
				item.Status, item.Detail = "unavailable", fault.Public(err).Message
			}
			result.Checks = append(result.Checks, item)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(result) // a reader that went away has nobody to tell
	})
}
