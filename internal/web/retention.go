package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/retention"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// Retention purges what agents sent, byte for byte, of tasks that ended long ago. A
// number of days that is none is fault.Unprocessable.
type Retention interface {
	Get(ctx context.Context, p access.Principal) (retention.Setting, error)
	Set(ctx context.Context, p access.Principal, days int64) (retention.Setting, error)
	// Try counts what would be purged, and changes nothing.
	Try(ctx context.Context, p access.Principal, days int64) (retention.Found, error)
	// Purge purges what is due by what is set. What it returns with an error was purged.
	Purge(ctx context.Context, p access.Principal) (retention.Found, error)
}

// purgeTime is how long somebody waits for a purge. What it leaves is purged by the
// next one, or within a day.
const purgeTime = 20 * time.Second

func (s *server) retentionShow(w http.ResponseWriter, r *http.Request) error {
	return s.retentionPage(w, r, http.StatusOK, views.RetentionPage{})
}

// retentionPage completes a page with what is set and what is due, and shows it.
func (s *server) retentionPage(w http.ResponseWriter, r *http.Request, status int, p views.RetentionPage) (err error) {
	if p.Shell, err = s.settingsShell(r, "Retention"); err != nil {
		return err
	}
	if p.Setting, err = s.Retention.Get(r.Context(), s.Principal(r)); err != nil {
		return err
	}
	if p.Due, err = s.Retention.Try(r.Context(), s.Principal(r), p.Setting.Days); err != nil {
		return err
	}
	if p.Entered == "" && p.Setting.Days > 0 {
		p.Entered = strconv.FormatInt(p.Setting.Days, 10)
	}
	return page(r.Context(), w, status, views.Retention(p))
}

// retentionSet sets for how long things are kept, or counts what would be purged if
// that were set.
func (s *server) retentionSet(w http.ResponseWriter, r *http.Request) error {
	if err := posted(w, r); err != nil {
		return err
	}
	days, err := retentionDays(r)
	if err == nil && r.PostForm.Has("count") {
		p := views.RetentionPage{Entered: r.PostForm.Get("days"), TriedDays: days}
		if p.Tried, err = s.Retention.Try(r.Context(), s.Principal(r), days); err == nil {
			return s.retentionPage(w, r, http.StatusOK, p)
		}
	} else if err == nil {
		_, err = s.Retention.Set(r.Context(), s.Principal(r), days)
	}
	if err == nil {
		return moved(w, r, "/settings/retention")
	}
	status, faults, ok := toCorrect(err, nil)
	if !ok {
		return err
	}
	return s.retentionPage(w, r, status, views.RetentionPage{Entered: r.PostForm.Get("days"), Faults: faults})
}

// retentionDays reads the days that were entered; 0 if everything is to be kept.
func retentionDays(r *http.Request) (int64, error) {
	if r.PostForm.Has("forever") {
		return 0, nil
	}
	days, err := strconv.ParseInt(strings.TrimSpace(r.PostForm.Get("days")), 10, 64)
	if err != nil || days < 1 || days > retention.MaxDays {
		return 0, fault.WithFields("This is no number of days to keep things for.", []fault.Field{{Location: "days", Message: "A whole number from 1 to " + strconv.Itoa(retention.MaxDays) + "."}})
	}
	return days, nil
}

// retentionRun purges what is due.
func (s *server) retentionRun(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), purgeTime)
	defer cancel()
	found, err := s.Retention.Purge(ctx, s.Principal(r))
	unfinished := err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && r.Context().Err() == nil
	if err != nil && !unfinished {
		return err
	}
	return s.retentionPage(w, r, http.StatusOK, views.RetentionPage{Ran: true, Purged: found, Unfinished: unfinished})
}
