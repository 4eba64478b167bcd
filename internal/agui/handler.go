package agui

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

const (
	maxBody     = 16 << 20 // bytes of a request
	bodyTimeout = 2 * time.Minute
)

// ServeRun answers a request to run an agent. What is wrong before the stream begins
// is answered as JSON of a code and a message; once it has begun, the run ends in it.
// The stream of a request that ends before its run is broken off, since the clients
// would read an end in order as success.
func (s *Service) ServeRun(w http.ResponseWriter, r *http.Request, p access.Principal, agentID string) {
	body, err := readBody(w, r)
	var in Input
	if err == nil {
		in, err = readInput(body)
	}
	var st started
	if err == nil {
		st, err = s.begin(r.Context(), p, agentID, in)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	f := &follower{
		Service: s, started: st, principal: p, input: in, files: s.addresses(r),
		stream: openStream(w, in.legacy()), ticks: ticker.C,
	}
	if err := f.follow(r.Context()); err != nil {
		if r.Context().Err() == nil && !f.stream.broken {
			s.Log.ErrorContext(r.Context(), "an AG-UI stream was broken off", slog.Any("error", err))
		}
		panic(http.ErrAbortHandler)
	}
	f.stream.release()
}

// cancelAnswer is what is answered to a cancel.
type cancelAnswer struct {
	RunID     string `json:"runId"`
	TaskID    string `json:"taskId"`
	CommandID string `json:"commandId"`
}

// ServeCancel answers a request to cancel the task of a run. threadKey may be "".
func (s *Service) ServeCancel(w http.ResponseWriter, r *http.Request, p access.Principal, agentID, runKey, threadKey string) {
	c, err := s.Cancel(r.Context(), p, agentID, runKey, threadKey)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeAnswer(w, http.StatusAccepted, cancelAnswer{RunID: runKey, TaskID: c.TaskID, CommandID: c.ID})
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.Wrap(err, fault.TooLarge, "The body is larger than %d MiB.", maxBody>>20)
	case err != nil:
		return nil, fault.Wrap(err, fault.Invalid, "The body could not be received.")
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	return body, nil
}

// addresses returns what gives bytes an address.
func (s *Service) addresses(r *http.Request) func(sha256 string) string {
	origin := s.Origin
	if origin == "" {
		origin = "http://" + r.Host
	}
	return func(sha256 string) string { return origin + artifactPath + sha256 }
}

// Refusal is how a request is refused before its stream begins.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// codeOf is the code that clients get for an error.
func codeOf(err error) string {
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.code
	}
	return map[fault.Kind]string{
		fault.Invalid: "invalid_input", fault.SignedOut: "unauthorized", fault.Forbidden: "forbidden", fault.NotFound: "not_found",
		fault.Conflict: "conflict", fault.Unprocessable: "invalid_input", fault.TooLarge: "too_large", fault.TooMany: "too_many",
		fault.Unavailable: "unavailable", fault.Gone: "gone", fault.Internal: codeInternal,
	}[fault.KindOf(err)]
}

func (s *Service) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if fault.KindOf(err) == fault.Internal {
		s.Log.ErrorContext(r.Context(), "an AG-UI request failed", slog.Any("error", err))
	}
	Refuse(w, err)
}

// Refuse answers a request with an error as AG-UI clients read it.
func Refuse(w http.ResponseWriter, err error) {
	writeAnswer(w, fault.KindOf(err).Status(), Refusal{Code: codeOf(err), Message: fault.Public(err).Message})
}

func writeAnswer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mustJSON(v)) // a client that went away has nobody to tell
}
