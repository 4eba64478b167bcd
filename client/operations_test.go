package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// document is the OpenAPI document, as far as the tests read it.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	OperationID string
	RequestBody *struct {
		Content map[string]struct{ Schema schema }
	}
	Parameters []struct{ Name, In string }
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any    // a name, or several
	AnyOf      []schema
	Properties map[string]schema
}

func readDocument(t *testing.T) document {
	t.Helper()
	raw, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// calls has a call of each operation, with all of its parameters.
var calls = map[string]func(context.Context, *Client) error{
	"list-agents":      func(ctx context.Context, c *Client) error { return second(c.Agents(ctx)) },
	"register-agent":   func(ctx context.Context, c *Client) error { return second(c.RegisterAgent(ctx, "u")) },
	"preview-agent":    func(ctx context.Context, c *Client) error { return second(c.PreviewAgent(ctx, "u")) },
	"get-agent":        func(ctx context.Context, c *Client) error { return second(c.Agent(ctx, "id")) },
	"remove-agent":     func(ctx context.Context, c *Client) error { return second(c.RemoveAgent(ctx, "id")) },
	"discover-agent":   func(ctx context.Context, c *Client) error { return second(c.DiscoverAgent(ctx, "id")) },
	"get-interface":    func(ctx context.Context, c *Client) error { return second(c.Interface(ctx, "id")) },
	"set-interface":    func(ctx context.Context, c *Client) error { return second(c.SetInterface(ctx, "id", Interface{})) },
	"reset-interface":  func(ctx context.Context, c *Client) error { return second(c.ResetInterface(ctx, "id")) },
	"submit-command":   func(ctx context.Context, c *Client) error { return second(c.Submit(ctx, "id", CommandBody{})) },
	"get-command":      func(ctx context.Context, c *Client) error { return second(c.Command(ctx, "id", time.Minute)) },
	"resend-command":   func(ctx context.Context, c *Client) error { return second(c.Resend(ctx, "id")) },
	"get-task":         func(ctx context.Context, c *Client) error { return second(c.Task(ctx, "id")) },
	"refresh-task":     func(ctx context.Context, c *Client) error { return second(c.RefreshTask(ctx, "id")) },
	"get-artifact":     func(ctx context.Context, c *Client) error { return second(c.Download(ctx, "id")) },
	"check-form":       func(ctx context.Context, c *Client) error { return second(c.CheckForm(ctx, raw)) },
	"answer-form":      func(ctx context.Context, c *Client) error { return second(c.AnswerForm(ctx, raw, raw)) },
	"agent-exchanges":  func(ctx context.Context, c *Client) error { return second(c.AgentExchanges(ctx, "id")) },
	"task-exchanges":   func(ctx context.Context, c *Client) error { return second(c.TaskExchanges(ctx, "id")) },
	"get-exchange":     func(ctx context.Context, c *Client) error { return second(c.Exchange(ctx, "id")) },
	"list-credentials": func(ctx context.Context, c *Client) error { return second(c.Credentials(ctx)) },
	"get-credential":   func(ctx context.Context, c *Client) error { return second(c.AgentAccess(ctx, "id")) },
	"set-credential": func(ctx context.Context, c *Client) error {
		return second(c.SetCredential(ctx, "id", CredentialInput{}))
	},
	"revoke-credential":  func(ctx context.Context, c *Client) error { return second(c.RevokeCredential(ctx, "id")) },
	"list-pins":          func(ctx context.Context, c *Client) error { return second(c.Pins(ctx)) },
	"add-pin":            func(ctx context.Context, c *Client) error { return second(c.AddPin(ctx, PinInput{})) },
	"remove-pin":         func(ctx context.Context, c *Client) error { return second(c.RemovePin(ctx, "id")) },
	"get-retention":      func(ctx context.Context, c *Client) error { return second(c.Retention(ctx)) },
	"set-retention":      func(ctx context.Context, c *Client) error { return second(c.SetRetention(ctx, 1)) },
	"try-retention":      func(ctx context.Context, c *Client) error { return second(c.TryRetention(ctx, 1)) },
	"get-session":        func(ctx context.Context, c *Client) error { return second(c.Session(ctx)) },
	"list-sessions":      func(ctx context.Context, c *Client) error { return second(c.Sessions(ctx)) },
	"end-other-sessions": func(ctx context.Context, c *Client) error { return second(c.EndOtherSessions(ctx)) },
	"list-tokens":        func(ctx context.Context, c *Client) error { return second(c.Tokens(ctx, true)) },
	"create-token":       func(ctx context.Context, c *Client) error { return second(c.CreateToken(ctx, TokenInput{})) },
	"revoke-token":       func(ctx context.Context, c *Client) error { return second(c.RevokeToken(ctx, "id")) },
	"list-members":       func(ctx context.Context, c *Client) error { return second(c.Members(ctx)) },
	"add-member":         func(ctx context.Context, c *Client) error { return second(c.AddMember(ctx, MemberInput{})) },
	"get-member":         func(ctx context.Context, c *Client) error { return second(c.Member(ctx, "id")) },
	"change-member":      func(ctx context.Context, c *Client) error { return second(c.ChangeMember(ctx, "id", MemberChange{})) },
	"member-sights":      func(ctx context.Context, c *Client) error { return second(c.MemberAccess(ctx, "id")) },
	"list-teams":         func(ctx context.Context, c *Client) error { return second(c.Teams(ctx)) },
	"make-team":          func(ctx context.Context, c *Client) error { return second(c.MakeTeam(ctx, TeamInput{})) },
	"get-team":           func(ctx context.Context, c *Client) error { return second(c.Team(ctx, "id")) },
	"change-team":        func(ctx context.Context, c *Client) error { return second(c.ChangeTeam(ctx, "id", TeamChange{})) },
	"remove-team":        func(ctx context.Context, c *Client) error { return second(c.RemoveTeam(ctx, "id")) },
	"add-team-member":    func(ctx context.Context, c *Client) error { return second(c.AddTeamMember(ctx, "id", "id")) },
	"remove-team-member": func(ctx context.Context, c *Client) error { return second(c.RemoveTeamMember(ctx, "id", "id")) },
	"list-grants": func(ctx context.Context, c *Client) error {
		return second(c.Grants(ctx, GrantFilter{AgentID: "a", MemberID: "m", TeamID: "t"}))
	},
	"add-grant":    func(ctx context.Context, c *Client) error { return second(c.AddGrant(ctx, GrantInput{})) },
	"get-grant":    func(ctx context.Context, c *Client) error { return second(c.Grant(ctx, "id")) },
	"change-grant": func(ctx context.Context, c *Client) error { return second(c.ChangeGrant(ctx, "id", GrantChange{})) },
	"remove-grant": func(ctx context.Context, c *Client) error { return second(c.RemoveGrant(ctx, "id")) },
	"agent-sights": func(ctx context.Context, c *Client) error { return second(c.AgentSights(ctx, "id")) },
	"list-tasks": func(ctx context.Context, c *Client) error {
		return second(c.TaskPage(ctx, TaskFilter{State: "s", AgentID: "a", Text: "t", PageSize: 3}, "c"))
	},
	"list-audit": func(ctx context.Context, c *Client) error {
		return second(c.AuditPage(ctx, AuditFilter{TaskID: "t", Kind: "agent", PersonID: "p", From: time.Unix(1, 0), To: time.Unix(2, 0), PageSize: 3}, "c"))
	},
	"task-audit": func(ctx context.Context, c *Client) error { return second(c.TaskAuditPage(ctx, "id", "c", 3)) },
	"export-audit": func(ctx context.Context, c *Client) error {
		return second(c.ExportAudit(ctx, AuditFilter{TaskID: "t", Kind: "agent", PersonID: "p", From: time.Unix(1, 0), To: time.Unix(2, 0)}, "csv"))
	},
	"watch-task": func(ctx context.Context, c *Client) error {
		for _, err := range c.WatchTask(ctx, "id", 7) {
			return err
		}
		return nil
	},
}

var raw = json.RawMessage("{}")

// elsewhere are operations and types that the package leaves to others: AG-UI front
// ends have clients of their own.
var elsewhere = []string{"run-agent", "cancel-run", "RunAgentInput", "AGUIMessage", "AGUIResume", "AGUICanceled", "AGUIEvent", "Refusal"}

func second[T any](_ T, err error) error { return err }

// answering answers each request in the same way, and keeps the last one.
type answering struct {
	mediaType, body string
	last            *http.Request
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.last = r
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.mediaType}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

// TestEveryOperationHasAMethod fails when the API grows an operation or a parameter
// that no method reaches.
func TestEveryOperationHasAMethod(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for path, item := range readDocument(t).Paths {
		for method, o := range item {
			known[o.OperationID] = true
			if slices.Contains(elsewhere, o.OperationID) {
				continue
			}
			reach := calls[o.OperationID]
			if reach == nil {
				t.Errorf("no method reaches %s: %s %s", o.OperationID, method, path)
				continue
			}
			server := &answering{mediaType: "application/json", body: "{}"}
			if o.OperationID == "watch-task" || o.OperationID == "watch-organisation" {
				server = &answering{mediaType: "text/event-stream", body: "event: snapshot\nid: 1\ndata: {}\n\n"}
			}
			c, err := New("http://bay.example/base/", Options{HTTPClient: &http.Client{Transport: server}})
			if err != nil {
				t.Fatal(err)
			}
			if err := reach(t.Context(), c); err != nil {
				t.Errorf("%s: %v", o.OperationID, err)
				continue
			}
			checkRequest(t, o, server.last, strings.ToUpper(method), "/base/api/v1"+path)
		}
	}
	for id := range calls {
		if !known[id] {
			t.Errorf("the API has no operation %s", id)
		}
	}
}

var pathParameter = regexp.MustCompile(`\\\{[^/]*\\\}`)

func checkRequest(t *testing.T, o operation, r *http.Request, method, path string) {
	t.Helper()
	want := regexp.MustCompile("^" + pathParameter.ReplaceAllString(regexp.QuoteMeta(path), "id") + "$")
	if r.Method != method || !want.MatchString(r.URL.Path) {
		t.Errorf("%s is called as %s %s, want %s %s", o.OperationID, r.Method, r.URL.Path, method, path)
	}
	for _, p := range o.Parameters {
		if p.In == "query" && !r.URL.Query().Has(p.Name) || p.In == "header" && r.Header.Get(p.Name) == "" {
			t.Errorf("no method gives %s its %s parameter %s", o.OperationID, p.In, p.Name)
		}
	}
	if (o.RequestBody != nil) != (r.Body != nil) {
		t.Errorf("%s has a body: %t, want %t", o.OperationID, r.Body != nil, o.RequestBody != nil)
	}
}

// shapes are the types of what the document describes, by its names.
var shapes = map[string]reflect.Type{
	"AgentList": reflect.TypeFor[page[Agent]](), "TaskList": reflect.TypeFor[page[TaskSummary]](),
	"CredentialList": reflect.TypeFor[items[Credential]](), "PinList": reflect.TypeFor[items[Pin]](),
	"AuditList": reflect.TypeFor[page[AuditEntry]](), "AuditEntry": reflect.TypeFor[AuditEntry](), "AuditActor": reflect.TypeFor[AuditActor](),
	"TokenList": reflect.TypeFor[page[Token]](), "BrowserList": reflect.TypeFor[page[Browser]](), "Session": reflect.TypeFor[Session](), "Browser": reflect.TypeFor[Browser](),
	"Token": reflect.TypeFor[Token](), "MadeToken": reflect.TypeFor[MadeToken](), "TokenInput": reflect.TypeFor[TokenInput](), "EndedSessions": reflect.TypeFor[endedSessions](),
	"MemberList": reflect.TypeFor[page[Member]](), "Member": reflect.TypeFor[Member](), "MemberInput": reflect.TypeFor[MemberInput](), "MemberChange": reflect.TypeFor[MemberChange](),
	"TeamList": reflect.TypeFor[page[Team]](), "Team": reflect.TypeFor[Team](), "TeamInput": reflect.TypeFor[TeamInput](), "TeamChange": reflect.TypeFor[teamChange](),
	"GrantList": reflect.TypeFor[page[Grant]](), "Grant": reflect.TypeFor[Grant](), "GrantInput": reflect.TypeFor[GrantInput](), "GrantChange": reflect.TypeFor[GrantChange](),
	"SightList": reflect.TypeFor[page[Sight]](), "Sight": reflect.TypeFor[Sight](), "MemberAccess": reflect.TypeFor[MemberAccess](),
	"Registration": reflect.TypeFor[registration](), "RetentionInput": reflect.TypeFor[retentionInput](),
	"FormDefinition": reflect.TypeFor[formDefinition](), "FormEntries": reflect.TypeFor[formEntries](),
	"Agent": reflect.TypeFor[Agent](), "AgentAccess": reflect.TypeFor[AgentAccess](), "AgentHealth": reflect.TypeFor[AgentHealth](),
	"AgentListing": reflect.TypeFor[AgentListing](), "Artifact": reflect.TypeFor[Artifact](), "Attempt": reflect.TypeFor[Attempt](),
	"Blob": reflect.TypeFor[Blob](), "ChosenInterface": reflect.TypeFor[ChosenInterface](), "Command": reflect.TypeFor[Command](),
	"CommandBody": reflect.TypeFor[CommandBody](), "CommandResult": reflect.TypeFor[CommandResult](), "Credential": reflect.TypeFor[Credential](),
	"CredentialInput": reflect.TypeFor[CredentialInput](), "CredentialScheme": reflect.TypeFor[CredentialScheme](), "Cut": reflect.TypeFor[Cut](),
	"Exchange": reflect.TypeFor[Exchange](), "ExchangeContent": reflect.TypeFor[ExchangeContent](), "ExchangeList": reflect.TypeFor[ExchangeList](),
	"Extension": reflect.TypeFor[Extension](), "Field": reflect.TypeFor[Field](), "Finding": reflect.TypeFor[Finding](), "Form": reflect.TypeFor[Form](),
	"FormReport": reflect.TypeFor[FormReport](), "FormVerdict": reflect.TypeFor[FormVerdict](), "InputFault": reflect.TypeFor[InputFault](),
	"Interface": reflect.TypeFor[Interface](), "Message": reflect.TypeFor[Message](), "Note": reflect.TypeFor[Note](), "Option": reflect.TypeFor[Option](),
	"Part": reflect.TypeFor[Part](), "Pin": reflect.TypeFor[Pin](), "PinInput": reflect.TypeFor[PinInput](), "Preview": reflect.TypeFor[Preview](),
	"Problem": reflect.TypeFor[Problem](), "Push": reflect.TypeFor[Push](), "Question": reflect.TypeFor[Question](),
	"RetentionFound": reflect.TypeFor[RetentionFound](), "RetentionSetting": reflect.TypeFor[RetentionSetting](),
	"SendConfig": reflect.TypeFor[SendConfig](), "SendPart": reflect.TypeFor[SendPart](), "Task": reflect.TypeFor[Task](),
	"TaskSummary": reflect.TypeFor[TaskSummary](), "Transition": reflect.TypeFor[Transition](),
	"WireEvent": reflect.TypeFor[WireEvent](), "WireMessage": reflect.TypeFor[WireMessage](),
}

// TestTypesHaveEveryMember fails when the API grows a member that a type here lacks,
// or has of another type.
func TestTypesHaveEveryMember(t *testing.T) {
	t.Parallel()
	described := readDocument(t).Components.Schemas
	for name, s := range described {
		shape := shapes[name]
		if slices.Contains(elsewhere, name) {
			continue
		}
		if shape == nil {
			t.Errorf("there is no type for %s", name)
			continue
		}
		want := make(map[string]string)
		for member, of := range s.Properties {
			want[member] = of.kind()
		}
		got := members(shape)
		for member, kind := range got {
			if want[member] == "any" {
				got[member] = "any"
			} else if kind == "any" {
				want[member] = "any"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-described +here):\n%s", name, diff)
		}
	}
	for name := range shapes {
		if _, ok := described[name]; !ok {
			t.Errorf("the document describes no %s", name)
		}
	}
}

// kind is what a value of the schema is in JSON.
func (s schema) kind() string {
	if s.Ref != "" {
		return "object"
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].kind() // or null
	}
	kind := "any"
	names, _ := s.Type.([]any)
	for _, name := range append(slices.Clone(names), s.Type) {
		if name, ok := name.(string); ok && name != "null" {
			kind = name
		}
	}
	if kind == "integer" {
		return "number"
	}
	return kind
}

// members returns what the members of a type are in JSON, by name.
func members(t reflect.Type) map[string]string {
	out := make(map[string]string)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			for inner, kind := range members(f.Type) {
				out[inner] = kind
			}
		case name != "-":
			out[name] = kindOf(f.Type)
		}
	}
	return out
}

func kindOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t == reflect.TypeFor[time.Time]():
		return "string"
	case t == reflect.TypeFor[json.Number]():
		return "number"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "number"
}
