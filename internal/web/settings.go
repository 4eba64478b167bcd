package web

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/web/views"
)

// Members keeps who is in the organisation, for its administrators; others get
// fault.Forbidden. What cannot be is fault.Unprocessable with its fields. Somebody who is
// a member already, and what would leave nobody to administer, is fault.Conflict.
type Members interface {
	List(ctx context.Context, p access.Principal) ([]access.Member, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Member, error)
	Add(ctx context.Context, p access.Principal, n access.NewMember) (access.Member, error)
	Change(ctx context.Context, p access.Principal, id string, c access.MemberChange) (access.Member, error)
}

// Teams keeps the teams of the organisation, with errors as those of Members. A name
// that another team has is fault.Conflict.
type Teams interface {
	List(ctx context.Context, p access.Principal) ([]access.Team, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Team, error)
	Add(ctx context.Context, p access.Principal, name string, memberIDs []string) (access.Team, error)
	Change(ctx context.Context, p access.Principal, id string, c access.TeamChange) (access.Team, error)
	Remove(ctx context.Context, p access.Principal, id string) (access.Team, error)
}

// Grants keeps who may read and operate which agents, with errors as those of Members.
// What is granted already is fault.Conflict.
type Grants interface {
	List(ctx context.Context, p access.Principal) ([]access.Grant, error)
	Get(ctx context.Context, p access.Principal, id string) (access.Grant, error)
	Add(ctx context.Context, p access.Principal, g access.Grant) (access.Grant, error)
	Change(ctx context.Context, p access.Principal, id string, permission *access.Permission, enabled *bool) (access.Grant, error)
	Remove(ctx context.Context, p access.Principal, id string) (access.Grant, error)
	// OfAgent says who can see an agent, and OfMember what a member can see, and how they
	// come to. An administrator sees everything, and has no list.
	OfAgent(ctx context.Context, p access.Principal, agentID string) ([]access.Sight, error)
	OfMember(ctx context.Context, p access.Principal, memberID string) (access.Member, []access.Sight, error)
}

// Tokens keeps API tokens: everybody's own, and those of all for administrators.
type Tokens interface {
	List(ctx context.Context, p access.Principal, all bool) ([]access.Token, error)
	// Create returns a token with its secret, which nobody can have again.
	Create(ctx context.Context, p access.Principal, asked access.NewToken) (access.Token, string, error)
	Revoke(ctx context.Context, p access.Principal, id string) (access.Token, error)
}

// settingsShow lists what there is to set for whoever looks.
func (s *server) settingsShow(w http.ResponseWriter, r *http.Request) error {
	frame, err := s.settingsShell(r, "Settings")
	if err != nil {
		return err
	}
	return page(r.Context(), w, http.StatusOK, views.Settings(frame, s.signsIn()))
}

// settingsShell is the frame of a page of the settings.
func (s *server) settingsShell(r *http.Request, title string) (views.Shell, error) {
	frame, err := s.shell(r, title, sectionSettings)
	frame.WithSheets("task.css", "agent.css", "settings.css")
	return frame, err
}

// signsIn reports whether people sign in here, rather than one local operator using it.
func (s *server) signsIn() bool { return s.SignIn != nil }

// toCorrect returns what is to be told beside a form that was not accepted, and with
// which status; ok is false for an error that is not about what was entered. Some faults
// are told beside other controls than the service names, as renamed says: that of "" is
// the control that a conflict is about.
func toCorrect(err error, renamed map[string]string) (status int, f views.Faults, ok bool) {
	public := fault.Public(err)
	if public.Kind != fault.Unprocessable && public.Kind != fault.Conflict {
		return 0, f, false
	}
	f = views.Faults{Problem: public.Message, At: map[string]string{}}
	if at := renamed[""]; at != "" && len(public.Fields) == 0 {
		f.At[at], f.Problem = public.Message, ""
	}
	for _, field := range public.Fields {
		at := cmp.Or(renamed[field.Location], field.Location)
		f.At[at] = strings.TrimSpace(f.At[at] + " " + field.Message)
	}
	return public.Kind.Status(), f, true
}
