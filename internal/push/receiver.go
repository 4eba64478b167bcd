package push

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/observe"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// What the receiver keeps to.
const (
	maxBody   = 8 << 20          // of a push
	perMinute = 120              // pushes of one registration
	bodyTime  = 30 * time.Second // for a body to arrive
	storeTime = 10 * time.Second // for the record to take it
	atOnce    = 64               // pushes that are read at once
	soon      = 200 * time.Millisecond
)

// tokenHeaders are those in which agents show the token of a registration.
var tokenHeaders = []string{"A2A-Notification-Token", "X-A2A-Notification-Token"}

// Receiver takes pushes in. It needs no session: an agent shows that it is the one
// that was asked by any of the secrets that it got with the registration. Answers say
// nothing of what is here: a wrong secret, and a registration that never was, are 401.
type Receiver struct {
	Update func(context.Context, func(Tx) error) error
	Keys   Keys
	NewID  func() string
	Log    *slog.Logger
	Meter  observe.Meter // nil measures nothing
	Bytes  task.Bytes    // keeps the bytes of parts
	Limits task.Limits   // of what the ledger keeps of a task whole
	Body   time.Duration // for the body of a push to arrive; 0 is 30 s

	reading chan struct{}
}

// NewReceiver returns a Receiver that is ready to use.
func NewReceiver(update func(context.Context, func(Tx) error) error, keys Keys, newID func() string, log *slog.Logger) *Receiver {
	return &Receiver{Update: update, Keys: keys, NewID: newID, Log: log, reading: make(chan struct{}, atOnce)}
}

// ServeHTTP implements http.Handler, for what is below Path. It answers with 204 once
// a push is in the record, or was before; with 503 if the record is away, so that the
// agent pushes again; with 429 if there were too many.
func (p *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	id, ok := p.registration(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "This address and token are of no registration.")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "Pushes are posted.")
		return
	}
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	default:
		tryAgain(w, http.StatusServiceUnavailable, "5", "Too many pushes arrive at once.")
		return
	}
	if registration, ok := p.counted(w, r, id); ok {
		if body, ok := p.read(w, r); ok {
			p.take(w, r, registration, body)
		}
	}
}

// registration returns the ID of the registration that a request is for, if it shows
// one of its secrets. It asks no database.
func (p *Receiver) registration(r *http.Request) (id string, ok bool) {
	id, inPath, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return "", false
	}
	shown := proves(p.Keys, inAddress, id, inPath)
	for _, name := range tokenHeaders {
		shown = proves(p.Keys, inHeader, id, r.Header.Get(name)) || shown
	}
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		shown = proves(p.Keys, inHeader, id, strings.TrimSpace(credentials)) || shown
	}
	return id, shown
}

// counted counts the push and reports whether it may go on, and for which registration.
func (p *Receiver) counted(w http.ResponseWriter, r *http.Request, id string) (registration Registration, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), storeTime)
	defer cancel()
	var allowed bool
	err := p.Update(ctx, func(tx Tx) (err error) {
		if allowed, err = tx.CountPush(id, perMinute); err != nil {
			return err
		}
		registration, err = tx.Registration(id)
		return err
	})
	switch {
	case err != nil:
		p.failed(w, r, id, err)
	case !allowed:
		tryAgain(w, http.StatusTooManyRequests, "60", "There may be 120 pushes of a task in a minute.")
	default:
		return registration, true
	}
	return registration, false
}

// read reads the body of a push, whatever type it says that it has.
func (p *Receiver) read(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(cmp.Or(p.Body, bodyTime))) // tests have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "A push may have 8 MiB.")
	case err != nil:
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestTimeout, "The body did not arrive in time.")
	default:
		return body, true
	}
	return nil, false
}

// take puts a push into the record and answers.
func (p *Receiver) take(w http.ResponseWriter, r *http.Request, to Registration, body []byte) {
	seen, ok := remote.ReadPush(body)
	if !ok {
		p.note(r.Context(), to.ID, "The agent pushed something that is no A2A event.")
		refuse(w, http.StatusBadRequest, "A push is a StreamResponse of A2A 1.0, or an event of 0.3, in JSON.")
		return
	}
	if about := task.RemoteID(seen); about != "" && about != to.RemoteTaskID {
		p.Log.Warn("a push spoke of another task than the one that it was registered for", "registration", to.ID)
		p.note(r.Context(), to.ID, "The agent pushed something about another task, which was refused.")
		refuse(w, http.StatusUnprocessableEntity, "This is about another task than the one that the registration is for.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTime)
	defer cancel()
	outcome, err := p.ingest(ctx, to, seen)
	if err != nil {
		p.failed(w, r, to.ID, err)
		return
	}
	if p.Meter != nil {
		p.Meter.Observed(task.SourcePush, len(body), outcome)
	}
	w.WriteHeader(http.StatusNoContent)
}

// ingest takes a push in, and plans when the agent is asked next: soon, if the push
// did not tell all. The bytes that it brings are kept before.
func (p *Receiver) ingest(ctx context.Context, to Registration, seen remote.Observation) (outcome task.Outcome, err error) {
	prepared, err := task.Prepare(ctx, p.Bytes, task.Observed{
		TaskID: to.TaskID, Source: task.SourcePush, SourceKey: task.PushKey(seen.Raw), Observation: seen, Limits: p.Limits,
	})
	if err != nil {
		return outcome, err
	}
	err = p.Update(ctx, func(tx Tx) (err error) {
		if outcome, err = task.Ingest(tx, p.NewID, prepared); err != nil {
			return err
		}
		if err := tx.Pushed(to.ID); err != nil {
			return err
		}
		if outcome.Head.State.Terminal() {
			if err := tx.RetireRegistration(outcome.TaskID); err != nil {
				return err
			}
		}
		return plan(tx, outcome)
	})
	return outcome, err
}

// plan plans when the agent is asked after a push.
func plan(tx Tx, outcome task.Outcome) error {
	now := outcome.Head
	if now.Unsettled.IsZero() && !outcome.Duplicate && !outcome.HasForm {
		at, interval := task.NextCheck(now, true, 0, tx.Now())
		return tx.ScheduleCheck(now.TaskID, at, interval)
	}
	if now.State.Terminal() && now.Unsettled.IsZero() {
		return nil
	}
	tx.Signal(live.ChecksTopic)
	return tx.HastenCheck(now.TaskID, tx.Now().Add(soon))
}

// failed answers when the record did not take a push.
func (p *Receiver) failed(w http.ResponseWriter, r *http.Request, id string, err error) {
	if fault.KindOf(err) == fault.NotFound {
		refuse(w, http.StatusNotFound, "The task that this was registered for is gone.")
		return
	}
	if r.Context().Err() == nil {
		p.Log.Error("take a push in", "registration", id, "error", err)
	}
	tryAgain(w, http.StatusServiceUnavailable, "10", "This cannot be stored at the moment.")
}

// note keeps what was wrong with a push. It is no matter if that fails.
func (p *Receiver) note(ctx context.Context, id, problem string) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if err := p.Update(ctx, func(tx Tx) error { return tx.PushProblem(id, problem) }); err != nil && ctx.Err() == nil {
		p.Log.Error("note what was wrong with a push", "registration", id, "error", err)
	}
}

func refuse(w http.ResponseWriter, status int, text string) { http.Error(w, text, status) }

func tryAgain(w http.ResponseWriter, status int, seconds, text string) {
	w.Header().Set("Retry-After", seconds)
	refuse(w, status, text)
}
