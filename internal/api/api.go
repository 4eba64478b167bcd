// Package api is the JSON API, version 1, under /api/v1. It calls the same
// services as the pages. Requests and responses have types of their own, so that
// the API changes only when somebody means it to; its OpenAPI document is made
// from them, and docs/openapi.json is checked against it.
package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/agui"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// Version is the version of the API's description. Whatever changes
// docs/openapi.json changes it, with a line in CHANGELOG.md.
const Version = "1.18.0"

const (
	prefix       = "/api/v1"
	maxBodyBytes = httpguard.MaxBody
	bodyTimeout  = 2 * time.Minute  // to receive a request's body
	keepAlive    = 15 * time.Second // between signs of life of a quiet event stream
)

// Config is what the API needs. All of it must be set, but for AGUI.
type Config struct {
	Agents        Agents
	AgentSettings AgentSettings
	Credentials   Credentials
	Commands      Commands
	Checks        Checks
	Tasks         Tasks
	Live          Live
	Blobs         Blobs
	Wire          Wire
	Retention     Retention
	Trail         Trail
	AGUI          AGUI            // nil if AG-UI front ends are not served
	Door          *httpguard.Door // lets requests in
	Sessions      Sessions
	Tokens        Tokens
	Members       Members
	Teams         Teams
	Grants        Grants
	Log           *slog.Logger
}

// server answers the requests of one Config.
type server struct {
	Config
	tick func() (ticks <-chan time.Time, stop func()) // when a quiet event stream gives a sign of life
}

// New returns the handler of everything under /api/, behind the door. Event streams end with
// their request's context: whoever shuts the server down cancels it.
func New(c Config) http.Handler {
	return (&server{Config: c, tick: everyKeepAlive}).handler()
}

func everyKeepAlive() (<-chan time.Time, func()) {
	ticker := time.NewTicker(keepAlive)
	return ticker.C, ticker.Stop
}

func (s *server) handler() http.Handler { return s.Door.Guard(s.table().admit(s.Door), Refuse) }

// table returns every address of the API.
func (s *server) table() *table {
	t := newTable()
	document := s.describe(t.mux)
	t.declare(document)
	for path, serve := range map[string]http.HandlerFunc{
		"/openapi.json": serveBytes("application/json", encodeDocument(document)),
		"/docs":         serveBytes("text/html; charset=utf-8", referencePage(document)),
		"/docs.css":     serveBytes("text/css; charset=utf-8", referenceStyle),
	} {
		t.add("GET "+prefix+path, serve)
		t.add(prefix+path, refuseMethod("GET, HEAD"))
	}
	for path, item := range document.Paths {
		for _, method := range refused(item) { // one by one, so that no pattern stands against another's method
			t.add(method+" "+prefix+path, refuseMethod(allowed(item)))
		}
	}
	t.add(rest, refuseRest(t.mux))
	t.add("/api", answerNothing)
	return t
}

// unclean reports whether an address has empty segments or dots, which ServeMux would
// send a program elsewhere for: an ID that is such is no ID.
func unclean(r *http.Request) bool {
	given := r.URL.EscapedPath()
	clean := path.Clean(given)
	return given != clean && given != clean+"/"
}

func answerNothing(w http.ResponseWriter, _ *http.Request) { writeProblem(w, nothingHere()) }

func nothingHere() *Problem {
	return newProblem(http.StatusNotFound, "There is nothing at this address; "+prefix+"/docs lists what there is.", nil)
}

// describe registers every operation on mux and returns their description.
func (s *server) describe(mux *http.ServeMux) *huma.OpenAPI {
	format := huma.Format{Marshal: writeJSON, Unmarshal: readBody}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{
				Title:       "Agent Taskbay",
				Version:     Version,
				Description: "Agents, tasks, commands and forms of one Taskbay server. Errors are problem documents (RFC 9457).",
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{Schemas: schemas(), SecuritySchemes: waysIn()},
			Tags: []*huma.Tag{
				{Name: "Agents", Description: "The catalogue of agents."},
				{Name: "Credentials", Description: "What Taskbay authenticates to agents with. Secrets go in and never come out."},
				{Name: "Trust", Description: "The public keys that cards may be signed with."},
				{Name: "Commands", Description: "What is sent to agents: durable, and sent at most once."},
				{Name: "Tasks", Description: "What agents do, and what they ask."},
				{Name: "AG-UI", Description: "For front ends that speak AG-UI: a run is one command, shown as events."},
				{Name: "Wire", Description: "What was really said to agents and by them, without secrets."},
				{Name: "Retention", Description: "For how long what agents sent is kept, byte for byte."},
				{Name: "Audit", Description: "Who did what: a trail that is only ever added to."},
				{Name: "Access", Description: "Who one is, where one is signed in, and the tokens of programs."},
				{Name: "Rights", Description: "Who is in the organisation, and who may see and operate which agents."},
				{Name: "Forms", Description: "Checks for those who write form definitions."},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format}, // the latter for +json
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{transformProblem},
	}
	config.AllowAdditionalPropertiesByDefault = true // answers may grow
	api := humago.NewWithPrefix(mux, prefix, config)
	api.UseMiddleware(prepare)
	s.registerAgents(api)
	s.registerReach(api)
	s.registerCredentials(api)
	s.registerCommands(api)
	s.registerTasks(api)
	s.registerEvents(api)
	s.registerArtifacts(api)
	s.registerForms(api)
	s.registerWire(api)
	s.registerRetention(api)
	s.registerAudit(api)
	s.registerAccess(api)
	s.registerAGUI(api)
	s.registerMembers(api)
	s.registerTeams(api)
	s.registerGrants(api)
	allowNull(api.OpenAPI().Components.Schemas)
	return api.OpenAPI()
}

// allowed returns the methods of a path, as an Allow header lists them.
func allowed(item *huma.PathItem) string {
	var methods []string
	if item.Get != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if item.Post != nil {
		methods = append(methods, http.MethodPost)
	}
	if item.Put != nil {
		methods = append(methods, http.MethodPut)
	}
	if item.Delete != nil {
		methods = append(methods, http.MethodDelete)
	}
	return strings.Join(methods, ", ")
}

// refused returns the methods that a path does not take.
func refused(item *huma.PathItem) []string {
	all := map[string]bool{
		http.MethodGet: item.Get == nil, http.MethodPost: item.Post == nil, http.MethodPut: item.Put == nil,
		http.MethodDelete: item.Delete == nil, http.MethodPatch: true, http.MethodOptions: true,
	}
	maps.DeleteFunc(all, func(_ string, refused bool) bool { return !refused })
	return slices.Collect(maps.Keys(all))
}

func refuseMethod(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, "This address takes "+allow+".", nil))
	}
}

// rest matches what no other pattern of the API does.
const rest = "/api/"

// refuseRest refuses addresses where there is nothing, and methods that no
// pattern names, such as TRACE. Those are refused as PATCH is, which every
// address refuses.
func refuseRest(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asPatch := r.Clone(r.Context())
		asPatch.Method = http.MethodPatch
		if refuse, pattern := mux.Handler(asPatch); pattern != rest {
			refuse.ServeHTTP(w, asPatch)
			return
		}
		writeProblem(w, nothingHere())
	}
}

// Refuse answers with a problem document, or as AG-UI clients read errors where they
// call. It is how a guard in front of the API says no.
func Refuse(w http.ResponseWriter, r *http.Request, err *fault.Error) {
	if agui.IsRoute(r.URL.Path) {
		agui.Refuse(w, err)
		return
	}
	writeProblem(w, faultProblem(err))
}

func serveBytes(mediaType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write(body) // a reader that went away has nobody to tell
	}
}

// encodeDocument returns the document with sorted members and a line for each,
// so that a change of it can be read.
func encodeDocument(document *huma.OpenAPI) []byte {
	raw, err := json.Marshal(document)
	if err != nil {
		panic("api: the OpenAPI document cannot be encoded: " + err.Error())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		panic("api: the OpenAPI document is not JSON: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// writeJSON encodes all of v before the first byte is written.
func writeJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, _ = w.Write(out.Bytes()) // a reader that went away has nobody to tell
	return nil
}
