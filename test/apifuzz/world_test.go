package apifuzz

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// world is a server with a bit of everything in it, for requests to be about.
type world struct {
	*apptest.Server
	document   *document
	log        *logBuffer
	principals []principal
	origin     string            // of the sample agents
	spare      map[string]string // what to remove, by the first segment of its path
	granted    string            // an agent that may be granted to anybody
	addresses  []string          // where agents are, or are not
	questions  []string
	ids        map[string][]string // by the first segment of their paths
}

// principal is somebody who makes requests, by the headers that say who it is.
type principal struct {
	name   string
	header http.Header
	token  string // "" for none; it may not come back
}

// logBuffer keeps the log for the end.
type logBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *logBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{document: readDocument(t), log: &logBuffer{}}
	w.Server = apptest.Start(t, apptest.Options{
		SampleAgents: true,
		Log:          slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	w.origin = strings.TrimSuffix(w.SampleCardURL("form"), "/form/card.json")
	w.addresses = []string{
		w.SampleCardURL("form"), w.SampleCardURL("plain"), w.SampleCardURL("kitchen-sink"), w.SampleCardURL("invalid"), w.SampleCardURL("unknown"), w.origin + "/form",
		"http://127.0.0.1:1/", "http://[::1]:1/card.json", "http://0x7f000001:1/", "http://169.254.169.254/latest", "file:///etc/passwd", "javascript:alert(1)",
		"http://user:kanarie@127.0.0.1:1/", "http://127.0.0.1:99999/", "//x", "http://", "gopher://127.0.0.1:1",
	}
	w.populate(t)
	w.admit()
	return w
}

// admit adds those who make the requests, most often the local operator, who may do
// everything; and those that are nobody.
func (w *world) admit() {
	bearer := func(name, token string) principal {
		return principal{name: name, header: http.Header{"Authorization": {"Bearer " + token}}, token: token}
	}
	w.principals = []principal{
		{name: "the local operator"},
		bearer("an administrator", w.ServiceToken("A", access.Admin, access.ScopeAdminister)),
		bearer("an administrator who reads", w.ServiceToken("B", access.Admin, access.ScopeRead)),
		bearer("an operator of an agent", w.ServiceToken("C", access.Operator, access.ScopeOperate, w.ids["agents"][0])),
		bearer("a viewer of nothing", w.ServiceToken("D", access.Viewer, access.ScopeRead)),
		bearer("nobody", "tbay_0000000000000000000000000000000000000000000GEHEIM"),
		{name: "the local operator with a password that nobody asks for", header: http.Header{"Authorization": {"Basic a2FuYXJpZTpnZWhlaW0="}}, token: "a2FuYXJpZTpnZWhlaW0="},
	}
}

// sees reports whether a principal may see the agents of the sample.
func (p principal) sees() bool {
	return p.name != "a viewer of nothing" && !strings.HasPrefix(p.name, "nobody")
}

// populate makes tasks that wait, have ended and hold a file.
func (w *world) populate(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	c, err := client.New(w.URL(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	form, plain := w.SampleAgent("form").ID, w.SampleAgent("plain").ID
	filer, vanishing := w.Register(fileAgent(t)+"/card.json").ID, w.Register(fileAgent(t)+"/vanish/card.json").ID
	w.spare = map[string]string{"agents": w.Register("http://127.0.0.1:1/spare").ID}
	w.granted = w.Register("http://127.0.0.1:1/granted").ID
	w.ids = map[string][]string{"agents": {form, plain, w.SampleAgent("kitchen-sink").ID, filer}}
	for _, agent := range []string{form, form, plain, filer} {
		command, err := c.Submit(ctx, agent, client.CommandBody{Text: "Deploy the billing service"})
		if err != nil {
			t.Fatal(err)
		}
		task, err := c.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Question != nil || t.Ended() })
		if err != nil {
			t.Fatal(err)
		}
		w.ids["tasks"], w.ids["commands"] = append(w.ids["tasks"], task.ID), append(w.ids["commands"], command.ID)
		if task.Question != nil {
			w.questions = append(w.questions, task.Question.MessageID)
		}
		if agent == filer {
			w.ids["artifacts"] = []string{task.Artifacts[0].Parts[0].Artifact.SHA256}
		}
	}
	command, err := c.Submit(ctx, vanishing, client.CommandBody{Text: "Are you there?"})
	if err == nil {
		command, err = c.WaitCommand(ctx, command.ID)
	}
	if err != nil || command.Status != "uncertain" {
		t.Fatalf("the command to an agent that vanishes is %s: %v", command.Status, err)
	}
	w.ids["commands"] = append(w.ids["commands"], command.ID)
	w.Eventually("the exchanges", func() bool {
		list, err := c.TaskExchanges(ctx, w.ids["tasks"][0])
		if err == nil && len(list.Items) > 0 {
			w.ids["exchanges"] = []string{list.Items[0].ID}
		}
		return len(w.ids["exchanges"]) > 0
	})
	for i, agent := range w.ids["agents"] {
		run := fmt.Sprintf("run-%d", i)
		w.Call("POST", "/api/v1/agents/"+agent+"/ag-ui", map[string]any{
			"threadId": "t", "runId": run, "messages": []any{map[string]string{"id": "m", "role": "user", "content": "Deploy the billing service"}},
		}, nil)
		w.ids["runs"] = append(w.ids["runs"], run)
	}
	var pin struct{ ID string }
	w.Call("POST", "/api/v1/pins", map[string]string{
		"origin": "https://a.example.com", "key": `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "expiresAt": "2027-06-01T00:00:00Z",
	}, &pin)
	w.ids["pins"] = []string{pin.ID}
	var token struct{ ID string }
	w.Call("POST", "/api/v1/tokens", map[string]string{"name": "Spare", "scope": "read"}, &token)
	w.ids["tokens"] = []string{token.ID}
	w.grant(t, c)
}

// grant makes members, teams and grants, none of them of those who make the requests.
func (w *world) grant(t *testing.T, c *client.Client) {
	t.Helper()
	for i := range 4 {
		name := fmt.Sprintf("Member %d", i)
		m, err := c.AddMember(t.Context(), client.MemberInput{Kind: "service", Name: name, Role: "operator"})
		if err != nil {
			t.Fatal(err)
		}
		team, err := c.MakeTeam(t.Context(), client.TeamInput{Name: name, Members: []string{m.ID}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := c.AddGrant(t.Context(), client.GrantInput{AgentID: w.granted, MemberID: m.ID, Permission: "read"})
		if err != nil {
			t.Fatal(err)
		}
		w.ids["members"] = append(w.ids["members"], m.ID)
		if i == 0 {
			w.spare["teams"], w.spare["grants"] = team.ID, g.ID
			continue
		}
		w.ids["teams"], w.ids["grants"] = append(w.ids["teams"], team.ID), append(w.ids["grants"], g.ID)
	}
}

// id returns the ID of something that is there, by the first segment of its path.
func (w *world) id(m *maker, kind string) string {
	if len(w.ids[kind]) == 0 {
		return "01a230ca-f655-7712-9a90-5a44a3e00e7d"
	}
	return pick(m, w.ids[kind]...)
}

// fileAgent sends a file, or, under /vanish, nothing at all. It
// returns its address.
func fileAgent(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Files","supportedInterfaces":[{"url":"http://%s%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, r.Host, path.Dir(r.URL.Path))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/vanish/") {
			panic(http.ErrAbortHandler)
		}
		var in struct{ ID json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&in) // what cannot be read has no ID
		file := base64.StdEncoding.EncodeToString([]byte("a file"))
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},
			"artifacts":[{"artifactId":"a","parts":[{"raw":%q,"filename":"a.txt"}]}]}}}`, in.ID, file)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
