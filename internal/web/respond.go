package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// maxBody bounds what a form may post: 30 fields of 10,000 characters, each of
// which may take twelve bytes in a form's encoding, and some room.
const maxBody = httpguard.MaxBody

// page renders a whole page. Nothing is written unless all of it could be made.
func page(ctx context.Context, w http.ResponseWriter, status int, c templ.Component) error {
	var body bytes.Buffer
	if err := c.Render(ctx, &body); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // a browser that went away is nobody to tell
	return nil
}

// shell returns what the frame around a page shows.
func (s *server) shell(r *http.Request, title, section string) (views.Shell, error) {
	counts, err := s.Tasks.Counts(r.Context(), s.Principal(r))
	if err != nil {
		return views.Shell{}, err
	}
	frame := s.bareShell(title, section)
	frame.NeedsYou = counts.NeedsYou
	frame.Live = "/events"
	frame.Administers = access.Allow(s.Principal(r), access.NeedAdminister) == nil
	if p := s.Principal(r); p.Kind == access.KindPerson {
		frame.Who = views.Who{ID: p.PersonID, Name: p.Name, Role: p.Role}
	}
	return frame, nil
}

// bareShell is a shell that needs nothing from the services.
func (s *server) bareShell(title, section string) views.Shell {
	return views.Shell{Title: title, Section: section, Version: s.Version, Asset: s.assets.URL}
}

// posted reads the fields of a posted form.
func posted(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return fault.Wrap(err, fault.TooLarge, "That is more than Taskbay takes at once (16 MiB).")
		}
		return fault.Wrap(err, fault.Invalid, "The form that arrived could not be read.")
	}
	return nil
}

// moved answers an action that was done: the browser goes to the page where the
// outcome is, and a module of ours is told where that is.
func moved(w http.ResponseWriter, r *http.Request, location string) error {
	if !wantsJSON(r) {
		http.Redirect(w, r, location, http.StatusSeeOther)
		return nil
	}
	return answerJSON(w, http.StatusOK, "application/json", map[string]string{"location": location})
}

func answerJSON(w http.ResponseWriter, status int, mediaType string, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // as in page
	return nil
}

// problem is an RFC 9457 problem document, as our modules read it.
type problem struct {
	Title  string        `json:"title"`
	Detail string        `json:"detail"`
	Status int           `json:"status"`
	Errors []fault.Field `json:"errors,omitempty"`
}

// answerFault answers an error as a page, or as a problem document if a module
// asked. What is not public goes to the log alone.
func (s *server) answerFault(w http.ResponseWriter, r *http.Request, err error) {
	if fault.KindOf(err) == fault.Internal && r.Context().Err() != nil {
		err = fault.New(fault.Unavailable, "The request was given up, as the server is stopping. Try it again in a moment.")
	}
	if fault.KindOf(err) == fault.Internal {
		s.Log.ErrorContext(r.Context(), "a page failed", slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	if fault.KindOf(err) == fault.SignedOut && s.sendToSignIn(w, r) {
		return
	}
	public := fault.Public(err)
	s.answerProblem(w, r, public.Kind.Status(), public.Message, public.Fields)
}

func (s *server) answerMethod(w http.ResponseWriter, r *http.Request) {
	s.answerProblem(w, r, http.StatusMethodNotAllowed,
		"This address does not take the request that was made. Nothing was changed.", nil)
}

func (s *server) answerProblem(w http.ResponseWriter, r *http.Request, status int, detail string, fields []fault.Field) {
	title := problemTitle(status)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	var err error
	if wantsJSON(r) {
		err = answerJSON(w, status, "application/problem+json", problem{title, detail, status, fields})
	} else {
		err = page(r.Context(), w, status, views.Problem(s.problemShell(r, status, title), status, title, detail))
	}
	if err != nil {
		s.Log.ErrorContext(r.Context(), "an error page failed", slog.Any("error", err))
	}
}

// problemShell is the frame of an error page. After a fault of our own it asks
// nothing of the services, and nor does it for somebody who asks too much.
func (s *server) problemShell(r *http.Request, status int, title string) views.Shell {
	if s.signsIn() && !s.signedIn(r) {
		return s.outsideShell(title)
	}
	if status != http.StatusInternalServerError && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
		if frame, err := s.shell(r, title, ""); err == nil {
			return frame
		}
	}
	return s.bareShell(title, "")
}

func problemTitle(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "That request could not be understood"
	case http.StatusUnauthorized:
		return "You are not signed in"
	case http.StatusForbidden:
		return "That is not allowed"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusGone:
		return "Lost"
	case http.StatusMethodNotAllowed:
		return "That does not work here"
	case http.StatusConflict:
		return "That has changed meanwhile"
	case http.StatusRequestEntityTooLarge:
		return "That is too large"
	case http.StatusUnprocessableEntity:
		return "Something needs correcting"
	case http.StatusTooManyRequests:
		return "Too much at once"
	case http.StatusServiceUnavailable:
		return "Not available at the moment"
	}
	return "Something went wrong"
}

func (s *server) refuse(w http.ResponseWriter, r *http.Request, reason *fault.Error) {
	s.answerFault(w, r, reason)
}

// recoverPanics turns a fault of a handler into an error page, if nothing was
// answered yet, and keeps the server running.
func (s *server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch reason := recover(); reason {
			case nil:
			case http.ErrAbortHandler:
				panic(reason)
			default:
				s.answerFault(w, r, fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
