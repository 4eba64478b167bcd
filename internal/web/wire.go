package web

import (
	"context"
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/views"
	"github.com/agent-taskbay/taskbay/internal/wire"
)

// Wire shows what went over the wire, without secrets. What the principal may not
// see is fault.NotFound.
type Wire interface {
	OfAgent(ctx context.Context, p access.Principal, agentID string) (wire.Page, error)
	OfTask(ctx context.Context, p access.Principal, taskID string) (wire.Page, error)
	// Get returns one exchange with those of its events that are kept.
	Get(ctx context.Context, p access.Principal, id string) (wire.Exchange, []wire.Event, error)
	// Refusal returns the latest answered call of an agent if the agent turned the
	// caller away with it, and whether it did.
	Refusal(ctx context.Context, p access.Principal, agentID string) (wire.Exchange, bool, error)
}

// agentWire shows what went over the wire to an agent.
func (s *server) agentWire(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Agents.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	found, err := s.Wire.OfAgent(r.Context(), s.Principal(r), a.ID)
	if err != nil {
		return err
	}
	return s.wirePage(w, r, sectionAgents, views.WirePage{Up: "/agents/" + a.ID, Name: a.Name, Page: found})
}

// taskWire shows what went over the wire for a task.
func (s *server) taskWire(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Tasks.Get(r.Context(), s.Principal(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	found, err := s.Wire.OfTask(r.Context(), s.Principal(r), t.ID)
	if err != nil {
		return err
	}
	return s.wirePage(w, r, sectionTasks, views.WirePage{Up: "/tasks/" + t.ID, Name: t.Title, Page: found})
}

// wirePage completes a page that has its exchanges, and shows it, with the one
// unfolded that the address names.
func (s *server) wirePage(w http.ResponseWriter, r *http.Request, section string, p views.WirePage) error {
	var err error
	if p.Shell, err = s.shell(r, "On the wire", section); err != nil {
		return err
	}
	p.Shell.WithSheets("wire.css")
	p.Base = p.Up + "/wire"
	wanted := r.URL.Query().Get("open")
	for _, e := range p.Page.Items {
		if e.ID != wanted {
			continue
		}
		whole, events, err := s.Wire.Get(r.Context(), s.Principal(r), e.ID)
		if err != nil {
			return err
		}
		p.Open = &views.OpenExchange{Exchange: whole, Kept: events}
	}
	return page(r.Context(), w, http.StatusOK, views.Wire(p))
}
