package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/task"
)

const (
	formAgent   = "0190aaaa-0000-7000-8000-000000000001"
	goneAgent   = "0190aaaa-0000-7000-8000-000000000002"
	oddAgent    = "0190aaaa-0000-7000-8000-000000000003"
	askingTask  = "0190bbbb-0000-7000-8000-000000000001"
	workingTask = "0190bbbb-0000-7000-8000-000000000002"
	doneTask    = "0190bbbb-0000-7000-8000-000000000003"
	failedTask  = "0190bbbb-0000-7000-8000-000000000004"
	unsureTask  = "0190bbbb-0000-7000-8000-000000000005"
	plainTask   = "0190bbbb-0000-7000-8000-000000000006"
	oddTask     = "0190bbbb-0000-7000-8000-000000000007"
	directTask  = "0190bbbb-0000-7000-8000-000000000008"
	authTask    = "0190bbbb-0000-7000-8000-000000000009"

	lostDigest   = "1111111111111111111111111111111111111111111111111111111111111111"
	sampleDigest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	// hostile is what an agent writes that wants out of its place.
	hostile = "</div><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\r\nid: 99\r\n\r\ndata: forged"
)

const deployment = `{"title":"Deployment","description":"Tell me where to and how much of it.","submitLabel":"Deploy",
	"schema":{"type":"object","required":["environment","replicas"],"properties":{
	"environment":{"title":"Environment","enum":["staging","production"],"enumNames":["Staging","Production"]},
	"replicas":{"title":"Replicas","type":"integer","minimum":1,"maximum":10,"default":2},
	"note":{"title":"Note","type":"string","maxLength":200,"description":"Shown in the log of the deployment."},
	"dryRun":{"title":"Only try it, change nothing","type":"boolean"}}}}`

const ticket = `{"title":"New ticket","schema":{"type":"object","required":["service"],"properties":{
	"service":{"title":"Service","type":"string"},
	"priority":{"title":"Priority","enum":["low","normal","high"],"default":"normal"}}}}`

func parsed(definition string) *form.Form {
	f, err := form.Parse([]byte(definition))
	if err != nil {
		panic(err)
	}
	return f
}

func text(s string) []a2a.Part { return []a2a.Part{a2a.TextPart(s)} }

func data(raw, mediaType string) a2a.Part { return a2a.DataPart(json.RawMessage(raw), mediaType) }

func sampleAgents() []agent.Agent {
	card := agent.Card{
		Name: "Deployment desk", Version: "2.1.0", ProtocolVersion: "1.0", Streaming: true,
		Provider: agent.Provider{Organization: "Example Operations"},
		Interfaces: []remote.Interface{
			{URL: "https://agents.example.com/deploy/grpc", Binding: remote.GRPC, ProtocolVersion: "0.3"},
			{URL: "https://agents.example.com/deploy/a2a", Binding: remote.JSONRPC, ProtocolVersion: "1.0", Tenant: "blue"},
		},
		Extensions: []agent.Extension{
			{URI: form.URI, Description: "Asks with typed forms.", Params: json.RawMessage(`{"startForm":` + ticket + `}`)},
			{URI: "https://example.com/extensions/traffic-light/v3"},
		},
		Skills: []agent.Skill{
			{ID: "deploy", Name: "Deploy a service", Description: "Rolls a service out, in steps that can be undone.", Tags: []string{"operations", "deployment"},
				Examples: []string{"Deploy the shop to staging", "Deploy billing, three replicas, but only try it"}},
			{ID: "status", Name: "Say how a service is", Examples: []string{"How is the shop?"}},
		},
		DefaultInputModes: []string{"text/plain", "application/json"}, DefaultOutputModes: []string{"text/plain"},
		SecuritySchemes: []agent.SecurityScheme{{Name: "key", Type: agent.SchemeAPIKey, Detail: "header X-API-Key"}},
	}
	odd := agent.Card{
		Name: "Odd" + hostile, ProtocolVersion: "2.0",
		Interfaces: []remote.Interface{{URL: "https://odd.example.net/", Binding: remote.JSONRPC, ProtocolVersion: "2.0"}},
		Extensions: []agent.Extension{{URI: "https://example.com/extensions/secret-handshake/v1", Required: true, Description: "Nobody gets in without it."}},
	}
	return []agent.Agent{
		{ID: formAgent, CardURL: "https://agents.example.com/deploy", ResolvedCardURL: "https://agents.example.com/deploy/.well-known/agent-card.json",
			Name: card.Name, Description: "Deploys services and tells how they are. Asks before it touches anything that people use.",
			Health: agent.Health{Status: agent.HealthReachable, CheckedAt: at(3)}, Card: card,
			CardRaw:       json.RawMessage(`{"name":"Deployment desk","version":"2.1.0","limits":{"exact":1.10}}`),
			CardFetchedAt: at(3), Findings: []agent.Finding{
				{Severity: agent.Warning, Path: "/skills/1/description", Message: "description is missing, and the specification requires it.", Section: "4.4.5"},
				{Severity: agent.Error, Path: "/skills/0/tags/0", Message: "Tags are lower-case words.", Section: "4.4.5"},
				{Severity: agent.Info, Path: "", Message: "The card carries no signature.", Section: "4.4.7"},
			}},
		{ID: goneAgent, CardURL: "http://127.0.0.1:4999/", Name: "127.0.0.1:4999",
			Health: agent.Health{Status: agent.HealthUnreachable, CheckedAt: at(70), Error: "Nothing listens at 127.0.0.1:4999.", Attempts: []agent.Attempt{
				{URL: "http://127.0.0.1:4999/.well-known/agent-card.json", Problem: "connection refused"},
				{URL: "http://127.0.0.1:4999/.well-known/agent.json", Problem: "connection refused"},
			}}},
		{ID: oddAgent, CardURL: "https://odd.example.net/card.json", Name: odd.Name, Description: "שלום, " + hostile,
			Health: agent.Health{Status: agent.HealthMismatch, CheckedAt: at(1), Error: "The card is not signed any more, says " + hostile}, Card: odd, CardRaw: json.RawMessage(`{}`), CardFetchedAt: at(1)},
	}
}

func sampleTasks() []task.Task {
	return []task.Task{
		askingSample(), workingSample(), doneSample(), failedSample(), unsureSample(), plainSample(), oddSample(), directSample(), authSample(),
	}
}

func sampleTask(id, title string, state a2a.State, minutes int) task.Task {
	return task.Task{
		ID: id, OrganisationID: "local", RemoteTaskID: "remote-" + id[len(id)-2:], AgentID: formAgent, AgentName: "Deployment desk",
		ContextID: "context-7", Kind: task.KindTask, State: state, Title: title, Version: 9,
		CreatedAt: at(minutes + 12), UpdatedAt: at(minutes), ObservedAt: at(minutes),
		Transitions: []task.Transition{{Seq: 2, Version: 1, State: a2a.StateWorking, At: at(minutes + 11)}},
	}
}

func sentMessage(seq int64, status, problem string, minutes int, parts ...a2a.Part) task.Message {
	return task.Message{
		Seq: seq, Version: seq, ID: fmt.Sprint("own-", seq), Role: a2a.RoleUser, Parts: parts, At: at(minutes), Author: "Local operator",
		Delivery: &task.Delivery{CommandID: "c", Status: status, Error: problem},
	}
}

func agentMessage(seq int64, minutes int, parts ...a2a.Part) task.Message {
	return task.Message{Seq: seq, Version: seq, ID: fmt.Sprint("theirs-", seq), Role: a2a.RoleAgent, Parts: parts, At: at(minutes)}
}

func askingSample() task.Task {
	t := sampleTask(askingTask, "Deploy the shop", a2a.StateInputRequired, 4)
	asked := agentMessage(4, 4, a2a.TextPart("Where should the shop go?\nStaging is free right now."), data(deployment, form.MediaType))
	asked.Current = true
	t.NeedsYou = true
	t.Messages = []task.Message{sentMessage(1, "succeeded", "", 16, text("Deploy the shop")...), agentMessage(3, 9, text("On it. I am looking at what is deployed now.")...), asked}
	t.Transitions = append(t.Transitions, task.Transition{Seq: 5, Version: 4, State: a2a.StateInputRequired, At: at(4)})
	t.Question = &task.Question{MessageID: asked.ID, Prompt: *asked.Parts[0].Text, Parts: asked.Parts, Form: parsed(deployment), FormPart: 1}
	return t
}

func workingSample() task.Task {
	t := sampleTask(workingTask, "Write the release notes for November", a2a.StateWorking, 1)
	t.Messages = []task.Message{sentMessage(1, "succeeded", "", 12, text("Write the release notes for November")...)}
	t.Artifacts = []task.Artifact{{Seq: 3, Version: 3, ID: "notes", Name: "Release notes", Description: "Grows while I write.", At: at(2), Parts: []a2a.Part{
		a2a.TextPart("# November\n\n- Forms keep what was typed.\n- Lists are quicker."),
		{Artifact: &a2a.Blob{SHA256: sampleDigest, Size: 48_213}, Filename: "changes.csv", MediaType: "text/csv"},
		{Artifact: &a2a.Blob{SHA256: lostDigest, Size: 80 << 20, Limit: 64 << 20}, Filename: "recording.mov", MediaType: "video/quicktime"},
		{URL: "https://example.com/a/very/long/address?with=many&parameters=" + strings.Repeat("x", 120)},
	}}}
	return t
}

func doneSample() task.Task {
	t := sampleTask(doneTask, "Deploy billing, three replicas", a2a.StateCompleted, 130)
	answer := sentMessage(4, "succeeded", "", 135, data(`{"environment":"production","replicas":3,"dryRun":false}`, form.AnswerMediaType))
	answer.Answers, answer.AnswerTo = "theirs-3", parsed(deployment)
	start := sentMessage(1, "succeeded", "", 142, data(`{"service":"billing","priority":"high"}`, form.AnswerMediaType))
	start.StartForm = parsed(ticket)
	t.Messages = []task.Message{
		start, agentMessage(3, 140, a2a.TextPart("Where to?"), data(deployment, form.MediaType)), answer,
		agentMessage(5, 130, a2a.TextPart("Deploying 3 replicas to production."), data(`{"exact":100000000000000000001.10,"text":"a\u0000b"}`, "application/json")),
	}
	t.Transitions = append(t.Transitions, task.Transition{Seq: 6, Version: 6, State: a2a.StateCompleted, At: at(130)})
	return t
}

func failedSample() task.Task {
	t := sampleTask(failedTask, "How is the search service?", a2a.StateUnspecified, 300)
	t.RemoteTaskID, t.Transitions = "", nil
	t.Sent = &task.Delivery{CommandID: "c", Status: "failed"}
	t.Messages = []task.Message{sentMessage(1, "failed", "Nothing listens at agents.example.com:443.", 300, text("How is the search service?")...)}
	return t
}

func unsureSample() task.Task {
	t := sampleTask(unsureTask, "Roll the shop back", a2a.StateUnspecified, 1500)
	t.RemoteTaskID, t.Transitions = "", nil
	t.Sent = &task.Delivery{CommandID: "c", Status: "uncertain"}
	t.CheckError = "The agent closed the connection."
	t.Messages = []task.Message{sentMessage(1, "uncertain", "The connection was reset after the request was sent.", 1500, text("Roll the shop back")...)}
	return t
}

func plainSample() task.Task {
	t := sampleTask(plainTask, "Book a room for Thursday", a2a.StateInputRequired, 40)
	t.Ledger = task.Ledger{Events: 90, CutEvents: 1200, CutBytes: 5 << 20}
	asked := agentMessage(4, 40, a2a.TextPart("Which of these?"), data(`{"rooms":["Ada","Grace"]}`, form.MediaType))
	asked.Current = true
	asked.NotForm = []form.Note{{Path: "/schema", Message: "schema is missing."}}
	t.NeedsYou, t.AgentID, t.AgentName = true, oddAgent, "Odd"
	t.Messages = []task.Message{sentMessage(1, "succeeded", "", 52, text("Book a room for Thursday")...), asked}
	t.Question = &task.Question{MessageID: asked.ID, Prompt: "Which of these?", Parts: asked.Parts, FormPart: -1, NotForm: asked.NotForm}
	return t
}

func oddSample() task.Task {
	t := sampleTask(oddTask, "Odd "+hostile, "TASK_STATE_PAUSED_FOR_LUNCH", 6000)
	earlier := agentMessage(4, 6001, data(`{"title":"Nested","schema":{}}`, form.MediaType))
	earlier.NotForm = []form.Note{{Path: "/schema/type", Message: hostile}}
	t.AgentName = "Odd" + hostile
	t.Messages = []task.Message{
		sentMessage(1, "pending", "", 6003, text("Look at this")...),
		agentMessage(3, 6002, a2a.TextPart(hostile), a2a.Part{URL: "javascript:alert(3)"}, data(fmt.Sprintf("%q", hostile), "text/html\" onclick=\"x"),
			a2a.Part{Unknown: json.RawMessage(`{"video":"` + strings.Repeat("v", 3000) + `"}`)}, a2a.TextPart(strings.Repeat("A long story. ", 500)), a2a.TextPart("pay\u202eme\u200b now")),
		earlier,
	}
	return t
}

func directSample() task.Task {
	t := sampleTask(directTask, "What time is it?", "", 9000)
	t.Kind, t.RemoteTaskID, t.Transitions = task.KindMessage, "", nil
	t.Messages = []task.Message{sentMessage(1, "succeeded", "", 9000, text("What time is it?")...), agentMessage(2, 9000, text("High time.")...)}
	return t
}

func authSample() task.Task {
	t := sampleTask(authTask, "Read the mailbox", a2a.StateAuthRequired, 20)
	asked := agentMessage(4, 20, text("Please allow me to read your mailbox, then say “done”.")...)
	asked.Current = true
	t.NeedsYou = true
	t.Messages = []task.Message{sentMessage(1, "succeeded", "", 22, text("Read the mailbox")...), asked}
	t.Question = &task.Question{MessageID: asked.ID, Prompt: *asked.Parts[0].Text, Parts: asked.Parts, FormPart: -1}
	return t
}
