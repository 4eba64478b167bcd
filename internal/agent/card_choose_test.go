package agent_test

import (
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

func at(url, binding, version string) remote.Interface {
	return remote.Interface{URL: url, Binding: binding, ProtocolVersion: version}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		interfaces []remote.Interface
		want       string
	}{
		"first of two equal":       {[]remote.Interface{at("a", remote.JSONRPC, "1.0"), at("b", remote.JSONRPC, "1.0")}, "a"},
		"the card's order":         {[]remote.Interface{at("a", remote.HTTPJSON, "1.0"), at("b", remote.JSONRPC, "1.0")}, "a"},
		"newest protocol":          {[]remote.Interface{at("a", remote.JSONRPC, "0.3"), at("b", remote.HTTPJSON, "1.0")}, "b"},
		"gRPC like the others":     {[]remote.Interface{at("a", remote.GRPC, "1.0"), at("b", remote.HTTPJSON, "1.0")}, "a"},
		"0.3 if there is no other": {[]remote.Interface{at("a", remote.GRPC, "0.3"), at("b", remote.HTTPJSON, "0.3")}, "b"},
		"0.2 as 0.3":               {[]remote.Interface{at("a", remote.JSONRPC, "0.2"), at("b", remote.JSONRPC, "0.3")}, "b"},
		"exact before later":       {[]remote.Interface{at("a", remote.JSONRPC, "1.1"), at("b", remote.JSONRPC, "1.0")}, "b"},
		"later minor will do":      {[]remote.Interface{at("a", remote.JSONRPC, "2.0"), at("b", remote.JSONRPC, "1.1")}, "b"},
		"major is not a prefix":    {[]remote.Interface{at("a", remote.JSONRPC, "10.0"), at("b", remote.JSONRPC, "1.0")}, "b"},
		"custom binding stays by":  {[]remote.Interface{at("a", "urn:pigeon", "1.0"), at("b", remote.JSONRPC, "1.0")}, "b"},
	} {
		got, err := agent.Card{Interfaces: test.interfaces}.Choose()
		if err != nil || got.URL != test.want {
			t.Errorf("%s: Choose() = %q, %v; want %q", name, got.URL, err, test.want)
		}
	}
}

func TestChooseSaysWhyNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		interfaces []remote.Interface
		want       []string
	}{
		"nowhere": {nil, []string{"no address"}},
		"other versions": {
			[]remote.Interface{at("a", remote.JSONRPC, "2.0"), at("b", remote.JSONRPC, "2.0"), at("c", remote.GRPC, "0.3")},
			[]string{"the agent offers A2A 2.0 over JSONRPC, A2A 0.3 over GRPC;", "Taskbay speaks A2A 1.0 over JSONRPC, HTTP+JSON or GRPC, A2A 0.3 over JSONRPC or HTTP+JSON."},
		},
	} {
		_, err := agent.Card{Interfaces: test.interfaces}.Choose()
		if fault.KindOf(err) != fault.Unprocessable {
			t.Errorf("%s: Choose() = %v, want it unprocessable", name, err)
			continue
		}
		for _, want := range test.want {
			if message := fault.Public(err).Message; !strings.Contains(message, want) {
				t.Errorf("%s: message %q does not contain %q", name, message, want)
			}
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	card := agent.Card{Extensions: []agent.Extension{{URI: "urn:a"}, {URI: "urn:b", Required: true}}}
	if e, ok := card.Extension("urn:b"); !ok || !e.Required {
		t.Errorf("Extension(urn:b) = %v, %t", e, ok)
	}
	if _, ok := card.Extension("urn:B"); ok {
		t.Error("Extension(urn:B) found; URIs are compared exactly")
	}
	if !agent.Understood(form.URI) || !agent.Understood(agent.SkillRoutingURI) || agent.Understood(form.URI+"/") || agent.Understood("") {
		t.Error("Understood has to know the structured form and the skill routing alone")
	}
}
