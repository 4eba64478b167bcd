package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// cardWith returns a faultless card with some members replaced.
func cardWith(t *testing.T, members string) []byte {
	t.Helper()
	card := map[string]json.RawMessage{}
	for _, document := range []string{`{
		"name": "N", "description": "D", "version": "1", "capabilities": {}, "skills": [],
		"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
		"supportedInterfaces": [{"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
	}`, members} {
		if err := json.Unmarshal([]byte(document), &card); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustParse(t *testing.T, raw []byte) (agent.Card, []agent.Finding) {
	t.Helper()
	card, findings, err := agent.ParseCard(raw, "https://a.example/card.json")
	if err != nil {
		t.Fatalf("ParseCard: %v", err)
	}
	return card, findings
}

func TestParseCardDocument(t *testing.T) {
	t.Parallel()
	plain := string(cardWith(t, `{}`))
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"faultless":       {plain, []string{}},
		"byte order mark": {"\ufeff" + plain, []string{"warning  4.4.1"}},
		"something after": {plain + "\n{}", []string{"error  4.4.1"}},
		"space after":     {plain + "\n\n", []string{}},
		"broken UTF-8":    {strings.Replace(plain, `"D"`, "\"\xff\"", 1), []string{"error  4.4.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card, findings := mustParse(t, []byte(test.raw))
			if card.Name != "N" {
				t.Errorf("Name = %q, want N", card.Name)
			}
			if diff := cmp.Diff(test.want, outline(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseCardRefuses(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                        "the document is empty",
		" \n":                     "the document is empty",
		"<!doctype html><p>Hello": "the document is a web page or XML, not JSON",
		`{"name": "cut o`:         "the document starts like JSON but is broken or cut off",
		"not found":               "the document is not JSON",
		"[]":                      "the document is an array",
		"null":                    "the document is null",
		`"card"`:                  "the document is a string",
		`{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "nested 101 levels deep",
	} {
		_, _, err := agent.ParseCard([]byte(raw), "")
		var public *fault.Error
		if !errors.As(err, &public) {
			t.Errorf("ParseCard(%q) = %v, want a *fault.Error", raw, err)
			continue
		}
		if public.Kind != fault.Unprocessable || !strings.Contains(public.Message, want) {
			t.Errorf("ParseCard(%q) = %s %q, want %q in it", raw, public.Kind, public.Message, want)
		}
	}
}

func TestParseCardInterfaces(t *testing.T) {
	t.Parallel()
	// one stands for a single interface of 1.0 with these members.
	one := func(url, binding, version string) string {
		return fmt.Sprintf(`{"supportedInterfaces": [{"url": %q, "protocolBinding": %q, "protocolVersion": %q}]}`, url, binding, version)
	}
	rpc := func(url, version string) []remote.Interface {
		return []remote.Interface{{URL: url, Binding: remote.JSONRPC, ProtocolVersion: version}}
	}
	for name, test := range map[string]struct {
		members string
		want    []remote.Interface
		outline []string
	}{
		"version without minor": {one("https://a.example", "JSONRPC", "1"), rpc("https://a.example", "1.0"), []string{"warning /supportedInterfaces/0/protocolVersion 3.6"}},
		"version with patch":    {one("https://a.example", "JSONRPC", "1.0.3"), rpc("https://a.example", "1.0"), []string{"warning /supportedInterfaces/0/protocolVersion 3.6"}},
		"version with v":        {one("https://a.example", "JSONRPC", "v1.0"), rpc("https://a.example", "1.0"), []string{"warning /supportedInterfaces/0/protocolVersion 3.6"}},
		"later minor version":   {one("https://a.example", "JSONRPC", "1.7"), rpc("https://a.example", "1.7"), []string{}},
		"no version at all":     {one("https://a.example", "JSONRPC", "latest"), rpc("https://a.example", "1.0"), []string{"error /supportedInterfaces/0/protocolVersion 3.6"}},
		"lower case":            {one("https://a.example", "json-rpc", "1.0"), rpc("https://a.example", "1.0"), []string{"error /supportedInterfaces/0/protocolBinding 4.4.6"}},
		"REST": {
			one("https://a.example", "REST", "1.0"),
			[]remote.Interface{{URL: "https://a.example", Binding: remote.HTTPJSON, ProtocolVersion: "1.0"}},
			[]string{"error /supportedInterfaces/0/protocolBinding 4.4.6"},
		},
		"custom binding": {
			one("https://a.example", "https://example.com/bindings/pigeon", "1.0"),
			[]remote.Interface{{URL: "https://a.example", Binding: "https://example.com/bindings/pigeon", ProtocolVersion: "1.0"}},
			[]string{"info /supportedInterfaces/0/protocolBinding 4.4.6"},
		},
		"gRPC target": {
			one("a.example:50051", "GRPC", "1.0"),
			[]remote.Interface{{URL: "a.example:50051", Binding: remote.GRPC, ProtocolVersion: "1.0"}},
			[]string{},
		},
		"gRPC scheme": {
			one("grpcs://a.example:50051", "GRPC", "1.0"),
			[]remote.Interface{{URL: "https://a.example:50051", Binding: remote.GRPC, ProtocolVersion: "1.0"}},
			[]string{"warning /supportedInterfaces/0/url 4.4.6"},
		},
		"gRPC resolver":        {one("dns:///a.example:50051", "GRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"relative URL":         {one("../rpc", "JSONRPC", "1.0"), rpc("https://a.example/rpc", "1.0"), []string{"error /supportedInterfaces/0/url 4.4.6"}},
		"plain http":           {one("http://a.example", "JSONRPC", "1.0"), rpc("http://a.example", "1.0"), []string{"warning /supportedInterfaces/0/url 7.1"}},
		"plain http, loopback": {one("http://127.0.0.1:1", "JSONRPC", "1.0"), rpc("http://127.0.0.1:1", "1.0"), []string{}},
		"query and fragment":   {one("https://a.example/rpc?x=1#y", "JSONRPC", "1.0"), rpc("https://a.example/rpc?x=1", "1.0"), []string{"warning /supportedInterfaces/0/url 4.4.6"}},
		"password":             {one("https://user:secret@a.example", "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"other scheme":         {one("file:///etc/passwd", "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"host as scheme":       {one("localhost:80", "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"no host":              {one("https:///rpc", "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"no URL":               {one("http://[::1", "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"long URL":             {one("https://a.example/"+strings.Repeat("x", 1100), "JSONRPC", "1.0"), nil, []string{"error /supportedInterfaces/0/url 4.4.6", "error  8.3.1"}},
		"no binding":           {one("https://a.example", "", "1.0"), nil, []string{"error /supportedInterfaces/0 4.4.6", "error  8.3.1"}},
		"none":                 {`{"supportedInterfaces": []}`, nil, []string{"error  8.3.1"}},
		"missing":              {`{"supportedInterfaces": null}`, nil, []string{"error /supportedInterfaces 4.4.1"}},
		"long tenant": {
			fmt.Sprintf(`{"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": %q}]}`, strings.Repeat("t", 201)),
			nil,
			[]string{"error /supportedInterfaces/0/tenant 4.4.6", "error  8.3.1"},
		},
		"0.3 without a transport": {
			`{"supportedInterfaces": null, "protocolVersion": "0.3.0", "url": "https://a.example"}`,
			rpc("https://a.example", "0.3"),
			[]string{"info /preferredTransport 4.4.1"},
		},
		"0.3 members, version 1.0": {
			`{"supportedInterfaces": null, "protocolVersion": "1.0", "url": "https://a.example", "preferredTransport": "JSONRPC"}`,
			rpc("https://a.example", "1.0"),
			[]string{},
		},
		"version of the whole card": {
			`{"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC"}], "protocolVersions": ["1.2"]}`,
			rpc("https://a.example", "1.2"),
			[]string{"error /supportedInterfaces/0/protocolVersion 4.4.6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card, findings := mustParse(t, cardWith(t, test.members))
			if diff := cmp.Diff(test.want, card.Interfaces); diff != "" {
				t.Errorf("interfaces (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.outline, outline(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseCardSecurity(t *testing.T) {
	t.Parallel()
	const schemes = `"securitySchemes": {"a": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}, "b/c": {"mtlsSecurityScheme": {}}}`
	for name, test := range map[string]struct {
		members string
		want    bool
		outline []string
	}{
		"schemes alone":          {`{` + schemes + `}`, false, []string{}},
		"empty list":             {`{` + schemes + `, "securityRequirements": []}`, false, []string{}},
		"one":                    {`{` + schemes + `, "securityRequirements": [{"schemes": {"a": {"list": []}}}]}`, true, []string{}},
		"written as in 0.3":      {`{` + schemes + `, "security": [{"a": []}]}`, true, []string{}},
		"anonymous alternative":  {`{` + schemes + `, "securityRequirements": [{"schemes": {"a": {}}}, {"schemes": {}}]}`, false, []string{}},
		"unknown scheme":         {`{` + schemes + `, "securityRequirements": [{"schemes": {"z": {}}}]}`, true, []string{"error /securityRequirements/0/schemes 4.5.1"}},
		"unreadable requirement": {`{` + schemes + `, "securityRequirements": [7]}`, true, []string{"error /securityRequirements/0 4.5.1"}},
		"unreadable list":        {`{` + schemes + `, "securityRequirements": "a"}`, true, []string{"error /securityRequirements 4.4.1", "error /securityRequirements/0 4.5.1"}},
		"pointer is escaped":     {`{"securitySchemes": {"b/~c": 1}}`, false, []string{"error /securitySchemes/b~1~0c 4.5.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card, findings := mustParse(t, cardWith(t, test.members))
			if card.SecurityRequired != test.want {
				t.Errorf("SecurityRequired = %t, want %t", card.SecurityRequired, test.want)
			}
			if diff := cmp.Diff(test.outline, outline(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseCardBounds(t *testing.T) {
	t.Parallel()
	many := func(n int, element func(i int) string) string {
		var list []string
		for i := range n {
			list = append(list, element(i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	long := strings.Repeat("é\U0001F600", 3000)
	card, findings := mustParse(t, cardWith(t, fmt.Sprintf(`{"name": %q, "description": %q, "skills": %s, "supportedInterfaces": %s, "capabilities": {"extensions": %s}}`,
		long, long,
		many(300, func(i int) string { return fmt.Sprintf(`{"id": "s%d", "name": "S", "description": %q}`, i, long[:60]) }),
		many(40, func(i int) string {
			return fmt.Sprintf(`{"url": "https://a.example/%d", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}`, i)
		}),
		many(80, func(i int) string { return fmt.Sprintf(`{"uri": "urn:%d"}`, i) }),
	)))
	if n := utf8.RuneCountInString(card.Name); n != 200 || !strings.HasSuffix(card.Name, "\U0001F600") {
		t.Errorf("name has %d characters, want 200 whole ones", n)
	}
	if n := utf8.RuneCountInString(card.Description); n != 4000 {
		t.Errorf("description has %d characters, want 4000", n)
	}
	if len(card.Skills) != 200 || len(card.Interfaces) != 20 || len(card.Extensions) != 50 {
		t.Errorf("%d skills, %d interfaces, %d extensions; want 200, 20, 50", len(card.Skills), len(card.Interfaces), len(card.Extensions))
	}
	if len(findings) != 201 || !strings.Contains(findings[200].Message, "remarks are not listed") {
		t.Errorf("%d findings, the last %v; want 200 and one about the rest", len(findings), findings[len(findings)-1])
	}
}

// TestFindingsAreForPeople holds every message to be a sentence, and to show
// nothing invisible of what the agent wrote.
func TestFindingsAreForPeople(t *testing.T) {
	t.Parallel()
	_, findings := mustParse(t, cardWith(t, `{
		"defaultInputModes": ["\u202etext"], "url": "x", "security": [{"\u200b": []}],
		"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "\u202eJSONRPC", "protocolVersion": "\u0000"}]
	}`))
	if len(findings) < 4 {
		t.Fatalf("only %d findings: %v", len(findings), findings)
	}
	for _, f := range findings {
		if !strings.HasSuffix(f.Message, ".") || strings.ContainsAny(f.Message, "\u202e\u200b\x00") {
			t.Errorf("message %q", f.Message)
		}
		if !slices.Contains([]agent.Severity{agent.Error, agent.Warning, agent.Info}, f.Severity) {
			t.Errorf("severity %q", f.Severity)
		}
	}
}
