package web

import (
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// action answers one route. What it returns as an error, before it has written
// anything, becomes an error page or a problem document.
type action func(w http.ResponseWriter, r *http.Request) error

// route is one page or action, with what those who ask for it need.
type route struct {
	pattern string
	need    access.Need
	handle  action
}

// The sections of the navigation.
const (
	sectionTasks     = "tasks"
	sectionAgents    = "agents"
	sectionFormCheck = "form-check"
	sectionSettings  = "settings"
	sectionAudit     = "audit"
)

// routes lists every page and action; each is in a file of its name.
func (s *server) routes() []route {
	return append(s.signInRoutes(), []route{
		{"GET /{$}", access.NeedRead, s.home},
		{"POST /welcome", access.NeedRead, s.welcomeDismiss},

		{"GET /agents", access.NeedRead, s.agentsList},
		{"GET /agents/new", access.NeedAdminister, s.agentNew},
		{"POST /agents", access.NeedAdminister, s.agentAdd},
		{"POST /agents/preview", access.NeedAdminister, s.agentPreview},
		{"GET /agents/{id}", access.NeedRead, s.agentShow},
		{"POST /agents/{id}/discover", access.NeedOperate, s.agentDiscover},
		{"POST /agents/{id}/tasks", access.NeedOperate, s.taskStart},
		{"GET /agents/{id}/credential", access.NeedAdminister, s.credentialShow},
		{"POST /agents/{id}/credential", access.NeedAdminister, s.credentialSet},
		{"POST /agents/{id}/remove", access.NeedAdminister, s.agentRemove},
		{"POST /agents/{id}/credential/revoke", access.NeedAdminister, s.credentialRevoke},
		{"GET /agents/{id}/wire", access.NeedRead, s.agentWire},
		{"GET /agents/{id}/interface", access.NeedAdminister, s.interfaceShow},
		{"POST /agents/{id}/interface", access.NeedAdminister, s.interfaceSet},
		{"GET /agents/{id}/trust", access.NeedAdminister, s.trustShow},
		{"POST /agents/{id}/trust", access.NeedAdminister, s.trustPin},
		{"POST /agents/{id}/trust/{pin}/remove", access.NeedAdminister, s.trustRemove},
		{"GET /agents/{id}/access", access.NeedAdminister, s.agentSight},
		{"POST /agents/{id}/access", access.NeedAdminister, s.grantAdd},
		{"POST /agents/{id}/access/{grant}", access.NeedAdminister, s.grantChange},
		{"POST /agents/{id}/access/{grant}/remove", access.NeedAdminister, s.grantRemove},

		{"GET /tasks", access.NeedRead, s.tasksList},
		{"GET /tasks/{id}", access.NeedRead, s.taskShow},
		{"GET /tasks/{id}/events", access.NeedRead, s.taskEvents},
		{"GET /tasks/{id}/wire", access.NeedRead, s.taskWire},
		{"GET /tasks/{id}/trail", access.NeedRead, s.taskTrail},
		{"POST /tasks/{id}/messages", access.NeedOperate, s.messageSend},
		{"POST /tasks/{id}/answer", access.NeedOperate, s.questionAnswer},
		{"POST /tasks/{id}/cancel", access.NeedOperate, s.taskCancel},
		{"POST /tasks/{id}/refresh", access.NeedOperate, s.taskRefresh},
		{"POST /commands/{id}/resend", access.NeedOperate, s.commandResend},
		{"GET /artifacts/{sha256}", access.NeedRead, s.artifactDownload},

		{"GET /events", access.NeedRead, s.events},

		{"GET /form-check", access.NeedRead, s.formCheck},
		{"POST /form-check", access.NeedRead, s.formCheck},

		{"GET /audit", access.NeedAdminister, s.auditShow},
		{"GET /audit/export", access.NeedAdminister, s.auditExport},

		{"GET /settings", access.NeedRead, s.settingsShow},
		{"GET /settings/sessions", access.NeedRead, s.sessionsList},
		{"POST /settings/sessions/end", access.NeedOwn, s.sessionsEnd},
		{"GET /settings/tokens", access.NeedRead, s.tokensList},
		{"GET /settings/tokens/new", access.NeedOwn, s.tokenNew},
		{"POST /settings/tokens", access.NeedOwn, s.tokenMake},
		{"POST /settings/tokens/{id}/revoke", access.NeedOwn, s.tokenRevoke},
		{"GET /settings/people", access.NeedAdminister, s.peopleList},
		{"GET /settings/people/new", access.NeedAdminister, s.personNew},
		{"POST /settings/people", access.NeedAdminister, s.personAdd},
		{"GET /settings/people/{id}", access.NeedAdminister, s.personShow},
		{"POST /settings/people/{id}", access.NeedAdminister, s.personChange},
		{"POST /settings/people/{id}/disable", access.NeedAdminister, s.personDisable},
		{"POST /settings/people/{id}/enable", access.NeedAdminister, s.personEnable},
		{"GET /settings/teams", access.NeedAdminister, s.teamsList},
		{"GET /settings/teams/new", access.NeedAdminister, s.teamNew},
		{"POST /settings/teams", access.NeedAdminister, s.teamAdd},
		{"GET /settings/teams/{id}", access.NeedAdminister, s.teamShow},
		{"POST /settings/teams/{id}", access.NeedAdminister, s.teamChange},
		{"POST /settings/teams/{id}/remove", access.NeedAdminister, s.teamRemove},
		{"GET /settings/access", access.NeedAdminister, s.grantsList},
		{"GET /settings/retention", access.NeedAdminister, s.retentionShow},
		{"POST /settings/retention", access.NeedAdminister, s.retentionSet},
		{"POST /settings/retention/run", access.NeedAdminister, s.retentionRun},
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
// path does not exist or does not take a method, become pages as well, for those who
// may read.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	own, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	nothing := func(w http.ResponseWriter, r *http.Request) { s.answerNothing(w, r, own) }
	s.Door.Admit(access.NeedRead, http.HandlerFunc(nothing), s.refuse).ServeHTTP(w, r)
}

// answerNothing answers where the table has nothing, with a page in the place of the plain answer own.
func (s *server) answerNothing(w http.ResponseWriter, r *http.Request, own http.Handler) {
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
