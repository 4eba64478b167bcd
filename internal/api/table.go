package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// needKey is where an operation has what those who make it need.
const needKey = "need"

// needs declares what those who make an operation need. The document says so too: by
// every way in, that is what has to be allowed.
func needs(need access.Need, op huma.Operation) huma.Operation {
	op.Metadata = map[string]any{needKey: need}
	op.Security = []map[string][]string{{wayToken: {string(need)}}, {waySession: {string(need)}}}
	return op
}

// The ways in, as the document names them.
const (
	wayToken   = "token"
	waySession = "session"
)

func waysIn() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		wayToken: {Type: "http", Scheme: "bearer", Description: "An API token. Without sign-in none is needed: the API is then the local operator's."},
		waySession: {Type: "apiKey", In: "cookie", Name: "__Host-taskbay",
			Description: "The session of a signed-in browser. What changes something has to come from a page of this very origin."},
	}
}

// table is every address of the API with what those who ask there need.
type table struct {
	mux   *http.ServeMux
	needs map[string]access.Need // by pattern
}

func newTable() *table {
	return &table{mux: http.NewServeMux(), needs: map[string]access.Need{}}
}

// add adds an address that tells nothing but how the API looks, for those who may read.
func (t *table) add(pattern string, serve http.HandlerFunc) {
	t.mux.HandleFunc(pattern, serve)
	t.needs[pattern] = access.NeedRead
}

// declare takes over what the operations declare.
func (t *table) declare(document *huma.OpenAPI) {
	for path, item := range document.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete, item.Patch} {
			if op == nil {
				continue
			}
			need, _ := op.Metadata[needKey].(access.Need) // one that declares none is let in by nobody
			t.needs[op.Method+" "+prefix+path] = need
		}
	}
}

// admit is the table behind the door.
func (t *table) admit(door *httpguard.Door) http.Handler {
	doors := map[access.Need]http.Handler{}
	for _, need := range t.needs {
		doors[need] = door.Admit(need, t.mux, Refuse)
	}
	closed := door.Admit("", t.mux, Refuse)
	nothing := door.Admit(access.NeedRead, http.HandlerFunc(answerNothing), Refuse)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if unclean(r) {
			nothing.ServeHTTP(w, r)
			return
		}
		_, pattern := t.mux.Handler(r)
		r.Pattern = pattern // which the metrics read: the door passes on another request
		if admit, ok := doors[t.needs[pattern]]; ok {
			admit.ServeHTTP(w, r)
			return
		}
		closed.ServeHTTP(w, r)
	})
}
