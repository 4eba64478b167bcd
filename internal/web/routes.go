package web

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// action answers one route. What it returns as an error, before it has written
// anything, becomes an error page or a problem document.
type action func(w http.ResponseWriter, r *http.Request) error

type route struct {
	pattern string
	handle  action
}

// The sections of the navigation.
const (
	sectionTasks     = "tasks"
	sectionAgents    = "agents"
	sectionFormCheck = "form-check"
	sectionSettings  = "settings"
)

// routes lists every page and action; each is in a file of its name.
func (s *server) routes() []route {
	return append(s.signInRoutes(), []route{
		{"GET /{$}", s.home},
		{"POST /welcome", s.welcomeDismiss},

		{"GET /agents", s.agentsList},
		{"GET /agents/new", s.agentNew},
		{"POST /agents", s.agentAdd},
		{"POST /agents/preview", s.agentPreview},
		{"GET /agents/{id}", s.agentShow},
		{"POST /agents/{id}/discover", s.agentDiscover},
		{"POST /agents/{id}/tasks", s.taskStart},
		{"GET /agents/{id}/credential", s.credentialShow},
		{"POST /agents/{id}/credential", s.credentialSet},
		{"POST /agents/{id}/remove", s.agentRemove},
		{"POST /agents/{id}/credential/revoke", s.credentialRevoke},
		{"GET /agents/{id}/wire", s.agentWire},
		{"GET /agents/{id}/interface", s.interfaceShow},
		{"POST /agents/{id}/interface", s.interfaceSet},
		{"GET /agents/{id}/trust", s.trustShow},
		{"POST /agents/{id}/trust", s.trustPin},
		{"POST /agents/{id}/trust/{pin}/remove", s.trustRemove},

		{"GET /tasks", s.tasksList},
		{"GET /tasks/{id}", s.taskShow},
		{"GET /tasks/{id}/events", s.taskEvents},
		{"GET /tasks/{id}/wire", s.taskWire},
		{"POST /tasks/{id}/messages", s.messageSend},
		{"POST /tasks/{id}/answer", s.questionAnswer},
		{"POST /tasks/{id}/cancel", s.taskCancel},
		{"POST /tasks/{id}/refresh", s.taskRefresh},
		{"POST /commands/{id}/resend", s.commandResend},
		{"GET /artifacts/{sha256}", s.artifactDownload},

		{"GET /events", s.events},

		{"GET /form-check", s.formCheck},
		{"POST /form-check", s.formCheck},

		{"GET /settings", s.settingsShow},
		{"GET /settings/retention", s.retentionShow},
		{"POST /settings/retention", s.retentionSet},
		{"POST /settings/retention/run", s.retentionRun},
	}...)
}

func (s *server) serve(handle action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err != nil && r.Context().Err() == nil { // else there is nobody to tell
			s.answerFault(w, r, err)
		}
	})
}

// route dispatches by the route table. The table's own plain answers, that a
// path does not exist or does not take a method, become pages as well.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	own, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	probe := discard{header: http.Header{}}
	own.ServeHTTP(&probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		s.answerMethod(w, r)
		return
	}
	s.answerFault(w, r, fault.New(fault.NotFound, "There is no page at this address."))
}

// discard is a response that nobody reads but for its status and header.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

// wantsJSON reports whether a module of ours asks, rather than the browser.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}
