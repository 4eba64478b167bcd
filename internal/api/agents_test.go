package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/agent"
)

const formExtension = "https://extensions.allsrc.dev/agent-taskbay/structured-form/v1"

func deployer() agent.Agent {
	return agent.Agent{
		ID: agentID, CardURL: "http://127.0.0.1:4010/form/card.json", ResolvedCardURL: "http://127.0.0.1:4010/form/card.json",
		Name: "Deployer", Description: "Deploys <services>", Trust: agent.TrustUnsigned,
		Health:  agent.Health{Status: agent.HealthReachable, CheckedAt: moment},
		CardRaw: json.RawMessage(`{"b":9007199254740993,"a":1e400,"name":"Deployer"}`), CardFetchedAt: moment,
		Card: agent.Card{Extensions: []agent.Extension{{URI: formExtension, Required: true}, {URI: "urn:other"}}},
	}
}

const deployerJSON = `{
	"id": "0197a0e2-0000-7000-8000-000000000001", "cardUrl": "http://127.0.0.1:4010/form/card.json",
	"resolvedCardUrl": "http://127.0.0.1:4010/form/card.json", "removedAt": null, "name": "Deployer", "description": "Deploys <services>",
	"card": {"b": 9007199254740993, "a": 1e400, "name": "Deployer"}, "cardFetchedAt": "2026-03-01T11:30:00.123Z",
	"trust": "unsigned", "health": {"status": "reachable", "checkedAt": "2026-03-01T11:30:00.123Z"}, "listing": {"status": "unknown", "lastAt": null}, "source": "managed",
	"extensions": [{"uri": "https://extensions.allsrc.dev/agent-taskbay/structured-form/v1", "required": true, "understood": true},
		{"uri": "urn:other", "required": false, "understood": false}]}`

func TestAgents(t *testing.T) {
	t.Parallel()
	f := &fakes{agent: deployer()}
	base := setup(t, f) + "/api/v1/agents"

	response, got := call(t, "GET", base, "")
	wantJSON(t, response, got, http.StatusOK, `{"items": [`+deployerJSON+`], "next": null}`)
	response, got = call(t, "GET", base+"/"+agentID, "")
	wantJSON(t, response, got, http.StatusOK, deployerJSON)
	response, got = call(t, "POST", base+"/"+agentID+"/discover", "")
	wantJSON(t, response, got, http.StatusOK, deployerJSON)
	if f.principal != access.LocalOperator() {
		t.Errorf("principal = %v, want the one of the request", f.principal)
	}
}

func TestRegisterAgent(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{agent: deployer()})
	for url, want := range map[string]int{
		"http://127.0.0.1:9/new":               http.StatusCreated,
		"http://127.0.0.1:4010/form/card.json": http.StatusOK,
	} {
		response, got := call(t, "POST", base+"/api/v1/agents", `{"cardUrl":"`+url+`"}`)
		wantJSON(t, response, got, want, deployerJSON)
		if location := response.Header.Get("Location"); location != "/api/v1/agents/"+agentID {
			t.Errorf("Location = %q, want that of the agent", location)
		}
	}
}

func TestAgentWithoutCard(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{agent: agent.Agent{
		ID: agentID, CardURL: "http://127.0.0.1:1", Name: "127.0.0.1:1", Trust: agent.TrustUnsigned,
		Health: agent.Health{Status: agent.HealthUnreachable, Error: "Nobody answers."},
	}})
	response, got := call(t, "GET", base+"/api/v1/agents/"+agentID, "")
	wantJSON(t, response, got, http.StatusOK, `{
		"id": "0197a0e2-0000-7000-8000-000000000001", "cardUrl": "http://127.0.0.1:1", "resolvedCardUrl": "", "removedAt": null,
		"name": "127.0.0.1:1", "description": "", "card": null, "cardFetchedAt": null, "trust": "unsigned",
		"health": {"status": "unreachable", "checkedAt": null, "error": "Nobody answers."}, "listing": {"status": "unknown", "lastAt": null}, "source": "managed", "extensions": []}`)
}
