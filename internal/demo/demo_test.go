package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/demo"
)

func get(t *testing.T, url string) []byte {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", url, response.Status, err)
	}
	return body
}

func TestCards(t *testing.T) {
	t.Parallel()
	agents := serve(t, noPause)
	extensions := map[string][]string{
		demo.Form: {form.URI}, demo.Plain: nil, demo.Invalid: {form.URI},
		demo.KitchenSink: {form.URI}, demo.Slow: {form.URI}, demo.Unknown: {"urn:example:mood:v1"},
	}
	seen := map[string]bool{}
	for _, v := range agents.Variants() {
		url := agents.CardURL(v.Name)
		raw := get(t, url)
		card, findings, err := agent.ParseCard(raw, url)
		if err != nil || len(findings) > 0 {
			t.Errorf("%s: card has findings %v, error %v", v.Name, findings, err)
		}
		wellKnown := strings.TrimSuffix(url, "card.json") + ".well-known/agent-card.json"
		if string(get(t, wellKnown)) != string(raw) {
			t.Errorf("%s: %s differs from %s", v.Name, wellKnown, url)
		}
		if card.Name != v.Title || card.Description != v.Description || !card.Streaming || len(card.Interfaces) != 2 {
			t.Errorf("%s: card %+v", v.Name, card)
		}
		if _, err := card.Choose(); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		var uris []string
		for _, e := range card.Extensions {
			uris = append(uris, e.URI)
		}
		if !slices.Equal(uris, extensions[v.Name]) {
			t.Errorf("%s: extensions %v, want %v", v.Name, uris, extensions[v.Name])
		}
		seen[v.Name] = true
	}
	if len(seen) != len(extensions) {
		t.Errorf("variants %v, want those of %v", seen, extensions)
	}
}

func TestStartForm(t *testing.T) {
	t.Parallel()
	agents := serve(t, noPause)
	card, _, err := agent.ParseCard(get(t, agents.CardURL(demo.Form)), "")
	if err != nil {
		t.Fatal(err)
	}
	extension, ok := card.Extension(form.URI)
	if !ok {
		t.Fatal("the form extension is not advertised")
	}
	var params struct{ StartForm json.RawMessage }
	if err := json.Unmarshal(extension.Params, &params); err != nil {
		t.Fatal(err)
	}
	f, err := form.Parse(params.StartForm)
	if err != nil {
		t.Fatal(err)
	}
	if service := f.Field("service"); service == nil || service.Kind != form.Text || !service.Required {
		t.Errorf("service = %+v, want a required text", service)
	}
	if priority := f.Field("priority"); priority == nil || priority.Kind != form.Choice {
		t.Errorf("priority = %+v, want a choice", priority)
	}
	assertOrder(t, params.StartForm, `"service"`, `"priority"`)
}

// assertOrder checks that the parts stand in this order in the bytes that were
// on the wire.
func assertOrder(t *testing.T, wire []byte, parts ...string) {
	t.Helper()
	rest := string(wire)
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%s is missing or too early in %s", part, wire)
		}
		rest = after
	}
}

func TestDeploy(t *testing.T) {
	t.Parallel()
	both(t, demo.Form, func(t *testing.T, w wire) {
		waiting := w.sendTask("", text("Deploy the billing service"))
		_, definition := question(t, waiting.Status)
		if diff := cmp.Diff([]string{form.URI}, waiting.Status.Message.Extensions); diff != "" {
			t.Errorf("extensions of the question (-want +got):\n%s", diff)
		}
		assertOrder(t, definition, `"properties"`, `"environment"`, `"replicas"`, `"note"`, `"dryRun"`)
		if _, err := form.Parse(definition); err != nil {
			t.Errorf("the form is not drawn: %v", err)
		}

		const answer = `{"environment":"production","replicas":3.0,"note":"b & <a>","dryRun":false}`
		done := w.sendTask(waiting.ID, data(answer))
		if got, want := outcome(t, done.Status, "TASK_STATE_COMPLETED"), "Deploying 3 replica(s) to production."; got != want {
			t.Errorf("status message %q, want %q", got, want)
		}
		if len(done.Artifacts) != 1 || len(done.Artifacts[0].Parts) != 1 {
			t.Fatalf("artifacts %+v, want one with the request", done.Artifacts)
		}
		// The SDK escapes &, < and > in JSON, which changes neither order nor digits.
		received := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(done.Artifacts[0].Parts[0].Data))
		if received != answer {
			t.Errorf("received %s, want %s", received, answer)
		}
	})
}

func TestDeployFromStartForm(t *testing.T) {
	t.Parallel()
	both(t, demo.Form, func(t *testing.T, w wire) {
		prompt, _ := question(t, w.sendTask("", data(`{"service":"billing","priority":"urgent"}`)).Status)
		if !strings.Contains(prompt, "deploy billing,") {
			t.Errorf("prompt %q does not name the service", prompt)
		}
	})
}

func TestDeployAsksAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ part, want string }{
		"free text":      {text("production please"), "fill in the form"},
		"too many":       {data(`{"environment":"staging","replicas":11,"dryRun":false}`), "Replicas: At most 10."},
		"unknown choice": {data(`{"environment":"moon","replicas":1,"dryRun":false}`), "Environment: Choose one of the options."},
		"unknown key":    {data(`{"environment":"staging","replicas":1,"dryRun":false,"x":1}`), "Not a field of this form."},
		"no object":      {data(`[]`), "The answer must be a JSON object."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, demo.Form, func(t *testing.T, w wire) {
				first := w.sendTask("", text("Deploy"))
				_, asked := question(t, first.Status)
				second := w.sendTask(first.ID, test.part)
				prompt, askedAgain := question(t, second.Status)
				if !strings.Contains(prompt, test.want) {
					t.Errorf("prompt %q, want %q in it", prompt, test.want)
				}
				if string(asked) != string(askedAgain) {
					t.Errorf("another form: %s", askedAgain)
				}
				if first.Status.Message.MessageID == second.Status.Message.MessageID {
					t.Error("the second question has the ID of the first")
				}
				outcome(t, w.sendTask(first.ID, data(`{"environment":"staging","replicas":1,"dryRun":true}`)).Status, "TASK_STATE_COMPLETED")
			})
		})
	}
}

func TestPlainSendsTheSameForm(t *testing.T) {
	t.Parallel()
	agents := serve(t, noPause)
	var definitions []string
	for _, name := range []string{demo.Form, demo.Plain} {
		w := wire{t, strings.TrimSuffix(agents.CardURL(name), "/card.json"), "JSONRPC"}
		waiting := w.sendTask("", text("Deploy"))
		_, definition := question(t, waiting.Status)
		definitions = append(definitions, string(definition))
		if announced := len(waiting.Status.Message.Extensions) > 0; announced != (name == demo.Form) {
			t.Errorf("%s: extensions %v", name, waiting.Status.Message.Extensions)
		}
	}
	if definitions[0] != definitions[1] {
		t.Errorf("forms differ: %v", definitions)
	}
}

func TestInvalidFormIsRejected(t *testing.T) {
	t.Parallel()
	both(t, demo.Invalid, func(t *testing.T, w wire) {
		waiting := w.sendTask("", text("Prepare everything"))
		_, definition := question(t, waiting.Status)
		var rejected *form.RejectedError
		if _, err := form.Parse(definition); !errors.As(err, &rejected) {
			t.Errorf("Parse = %v, want a rejection", err)
		}
		outcome(t, w.sendTask(waiting.ID, text("Dana, 1 Bay Street")).Status, "TASK_STATE_COMPLETED")
	})
}

func TestKitchenSinkEchoes(t *testing.T) {
	t.Parallel()
	both(t, demo.KitchenSink, func(t *testing.T, w wire) {
		waiting := w.sendTask("", text("Ask me everything"))
		_, definition := question(t, waiting.Status)
		f, err := form.Parse(definition)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Fields) != form.MaxFields || f.Fields[0].Key != "name" || f.Fields[1].Key != "size" {
			t.Errorf("%d fields, the first two %s and %s; want %d, name and size", len(f.Fields), f.Fields[0].Key, f.Fields[1].Key, form.MaxFields)
		}
		for _, digits := range []string{"9007199254740993", "0.1000000000000000055511151231257827", "123456789012345678901234567890.123456789"} {
			if !strings.Contains(string(definition), digits) {
				t.Errorf("%s was lost on the way", digits)
			}
		}
		const answer = `{"z":9007199254740993,"a":[1.10,null,{"b":1e300}],"m":null}`
		done := w.sendTask(waiting.ID, data(answer))
		outcome(t, done.Status, "TASK_STATE_COMPLETED")
		if got := string(done.Artifacts[0].Parts[0].Data); got != answer {
			t.Errorf("echo %s, want %s", got, answer)
		}
		kept := slices.ContainsFunc(done.History, func(m message) bool {
			return m.Role == "ROLE_USER" && string(m.Parts[0].Data) == answer
		})
		if !kept {
			t.Error("the history does not hold the answer as it was sent")
		}
	})
}

// TestKitchenSinkShowsEveryKind keeps the sample worth its name.
func TestKitchenSinkShowsEveryKind(t *testing.T) {
	t.Parallel()
	w := wire{t, strings.TrimSuffix(serve(t, noPause).CardURL(demo.KitchenSink), "/card.json"), "JSONRPC"}
	_, definition := question(t, w.sendTask("", text("Go")).Status)
	f, err := form.Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	kinds, options := map[form.Kind]bool{}, map[int]bool{}
	longest, empty := 0, false
	var texts strings.Builder
	for _, field := range f.Fields {
		fmt.Fprintln(&texts, field.Label, field.Description, field.Default, field.Options)
		kinds[field.Kind] = true
		options[len(field.Options)] = true
		for _, o := range field.Options {
			longest = max(longest, len(o.Value))
			empty = empty || o.Value == ""
		}
	}
	if len(kinds) != 5 || !options[7] || !options[form.MaxOptions] || longest != 200 || !empty {
		t.Errorf("kinds %v, numbers of options %v, longest option %d, empty option %t", kinds, options, longest, empty)
	}
	for _, text := range []string{"\u202e", "\u200b", "<script>", "https://\u0430pple.com", "\u05e9\u05dd", "\u0627\u0644"} {
		if !strings.Contains(texts.String(), text) {
			t.Errorf("%q is missing", text)
		}
	}
}

func TestSlowStreams(t *testing.T) {
	t.Parallel()
	both(t, demo.Slow, func(t *testing.T, w wire) {
		var report strings.Builder
		var states []string
		var last status
		var id, taskID string
		chunks, ended := 0, false
		w.stream("", text("Write the report"), func(e event) bool {
			switch {
			case e.Task != nil:
				taskID, last = e.Task.ID, e.Task.Status
			case e.StatusUpdate != nil:
				last = e.StatusUpdate.Status
				states = append(states, last.State)
			case e.ArtifactUpdate != nil:
				if chunks == 0 {
					id = e.ArtifactUpdate.Artifact.ArtifactID
				}
				if e.ArtifactUpdate.Append != (chunks > 0) || e.ArtifactUpdate.Artifact.ArtifactID != id || ended {
					t.Errorf("chunk %d: %+v", chunks, e.ArtifactUpdate)
				}
				report.WriteString(e.ArtifactUpdate.Artifact.Parts[0].Text)
				ended = e.ArtifactUpdate.LastChunk
				chunks++
			}
			return true
		})
		if chunks < 5 || !ended || !strings.HasPrefix(report.String(), "The week in review\n") || !strings.HasSuffix(report.String(), "summer party.\n") {
			t.Errorf("%d chunks, ended %t: %q", chunks, ended, &report)
		}
		if diff := cmp.Diff([]string{"TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED"}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		question(t, last)
		question(t, w.sendTask(taskID, data(`{"audience":"team","subject":"x","archive":true}`)).Status)
		question(t, w.sendTask(taskID, text("the team")).Status)
		done := w.sendTask(taskID, data(`{"audience":"team","subject":"News","archive":true}`))
		if got, want := outcome(t, done.Status, "TASK_STATE_COMPLETED"), "Published “News” for the team."; got != want {
			t.Errorf("status message %q, want %q", got, want)
		}
	})
}

func TestUnknownAnswersAtOnce(t *testing.T) {
	t.Parallel()
	both(t, demo.Unknown, func(t *testing.T, w wire) {
		done := w.sendTask("", text("How will the weather be?"))
		outcome(t, done.Status, "TASK_STATE_COMPLETED")
		if got := string(done.Artifacts[0].Parts[0].Data); !strings.Contains(got, `"high":21.50,"low":14.00`) {
			t.Errorf("forecast %s has lost digits", got)
		}
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, v := range serve(t, noPause).Variants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			both(t, v.Name, func(t *testing.T, w wire) {
				help := w.send("", text(" Help! "))
				if help.Message == nil || help.Task != nil || !strings.Contains(help.Message.Parts[0].Text, v.Description) {
					t.Errorf("help brought %+v, want a message alone", help)
				}
				outcome(t, w.sendTask("", text("fail")).Status, "TASK_STATE_FAILED")
			})
		})
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, name := range []string{demo.Form, demo.Plain, demo.Invalid, demo.KitchenSink, demo.Slow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, name, func(t *testing.T, w wire) {
				waiting := w.sendTask("", text("Go ahead"))
				canceled, err := w.cancel(waiting.ID)
				if err != nil {
					t.Fatal(err)
				}
				outcome(t, canceled.Status, "TASK_STATE_CANCELED")
			})
		})
	}
}

func TestCancelWhileWorking(t *testing.T) {
	t.Parallel()
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			agents := serve(t, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			w := wire{t, strings.TrimSuffix(agents.CardURL(demo.Slow), "/card.json"), binding}
			var last string
			w.stream("", text("Write the report"), func(e event) bool {
				if e.Task != nil {
					last = e.Task.Status.State
				}
				if e.StatusUpdate == nil {
					return true
				}
				last = e.StatusUpdate.Status.State
				if last == "TASK_STATE_WORKING" {
					canceled, err := w.cancel(e.StatusUpdate.TaskID)
					if err != nil || canceled.Status.State != "TASK_STATE_CANCELED" {
						t.Errorf("cancel: %s, %v", canceled.Status.State, err)
					}
				}
				return true
			})
			if last != "TASK_STATE_CANCELED" {
				t.Errorf("the stream ended with %s, want TASK_STATE_CANCELED", last)
			}
		})
	}
}

func TestCancelRefusesWhatIsOver(t *testing.T) {
	t.Parallel()
	both(t, demo.Unknown, func(t *testing.T, w wire) {
		if _, err := w.cancel(w.sendTask("", text("Weather?")).ID); err == nil {
			t.Error("a completed task was cancelled")
		}
	})
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	both(t, demo.Form, func(t *testing.T, w wire) {
		response := w.post("SendMessage", "/message:send", messageOf("", text(strings.Repeat("x", 3<<20))))
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("3 MiB: %s", response.Status)
		}
		if err := w.call("SendMessage", "/message:send", messageOf("", "null"), &event{}); err == nil {
			t.Error("a null part was accepted")
		}
	})
}

func TestIndexListsTheCards(t *testing.T) {
	t.Parallel()
	agents := serve(t, noPause)
	index := string(get(t, strings.TrimSuffix(agents.CardURL(demo.Form), "form/card.json")))
	for _, v := range agents.Variants() {
		if !strings.Contains(index, agents.CardURL(v.Name)) {
			t.Errorf("the card of %s is not listed", v.Name)
		}
	}
}
