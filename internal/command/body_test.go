package command_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/command"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

func nested(levels int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

func TestWhatCouldNotBeReadAgainIsRefused(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	part := func(p a2a.Part) command.Body { return command.Body{Parts: []a2a.Part{a2a.TextPart("a"), p}} }
	config := func(c command.Config) command.Body { return command.Body{Text: "a", Config: c} }
	named := a2a.TextPart("b")
	named.Filename = "a\ab"
	typed := a2a.TextPart("b")
	typed.MediaType = "\r\nX: y"
	long := a2a.TextPart("b")
	long.Filename = strings.Repeat("a", 70_000)
	described := a2a.TextPart("b")
	described.Metadata = json.RawMessage(`{"x":` + string(nested(600)) + `}`)
	tooFar := math.MaxInt32 + 1
	for name, test := range map[string]struct {
		body  command.Body
		where string
	}{
		"deep data":              {part(a2a.DataPart(nested(501), "")), "/parts/1/data"},
		"data that is none":      {part(a2a.DataPart(json.RawMessage(`{`), "")), "/parts/1"},
		"deep metadata":          {part(described), "/parts/1/metadata"},
		"a bell in a name":       {part(named), "/parts/1/filename"},
		"a name too long":        {part(long), "/parts/1/filename"},
		"a line in a type":       {part(typed), "/parts/1/mediaType"},
		"no content":             {part(a2a.Part{}), "/parts/1"},
		"with a text before it":  {command.Body{Text: "a", Parts: []a2a.Part{named}}, "/parts/0/filename"},
		"deep configuration":     {config(command.Config{Metadata: described.Metadata}), "/config/metadata"},
		"a list as metadata":     {config(command.Config{Metadata: json.RawMessage(`[]`)}), "/config/metadata"},
		"a history without end":  {config(command.Config{HistoryLength: &tooFar}), "/config/historyLength"},
		"an extension of lines":  {config(command.Config{Extensions: []string{"urn:a", "\r\nX-Evil: 1"}}), "/config/extensions/1"},
		"two extensions in one":  {config(command.Config{Extensions: []string{"urn:a,urn:b"}}), "/config/extensions/0"},
		"an extension of a word": {config(command.Config{Extensions: []string{"form"}}), "/config/extensions/0"},
		"no extension":           {config(command.Config{Extensions: []string{""}}), "/config/extensions/0"},
		"a mode of lines":        {config(command.Config{AcceptedOutputModes: []string{"\r\n"}}), "/config/acceptedOutputModes/0"},
		"no task":                {config(command.Config{ReferenceTaskIDs: []string{""}}), "/config/referenceTaskIds/0"},
		"a line in an ID":        {command.Body{Text: "a", MessageID: "a\nb"}, "/messageId"},
	} {
		_, err := b.submit(newID(), test.body)
		fields := fault.Public(err).Fields
		if fault.KindOf(err) != fault.Invalid || len(fields) != 1 || fields[0].Location != test.where {
			t.Errorf("%s: %v, fields %v; want it invalid at %s", name, err, fields, test.where)
		}
	}
	b.remote.says(question)
	deepest := command.Body{Parts: []a2a.Part{a2a.DataPart(nested(a2a.MaxDepth), "")}, Config: command.Config{Extensions: []string{"https://example.com/x/v1?a=b#c", "urn:x"}}}
	if c := b.send(deepest); c.Status != command.Succeeded {
		t.Errorf("what is just within bounds is %s (%s), want it sent", c.Status, c.Error)
	}
}

func TestACommandThatCannotBeReadFailsAlone(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	spoiled := make(chan struct{})
	b.remote.answers = append(b.remote.answers, func() (remote.Observation, error) {
		<-spoiled
		return remote.Observation{}, &remote.Error{Delivery: remote.NotSent, Message: "It broke."}
	})
	c, err := b.submit(newID(), command.Body{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	// After its first attempt, which sends nothing, it is as an earlier release
	// could have stored it.
	err = b.db.Exec(context.Background(), "UPDATE command SET request = ? WHERE id = ?", []byte(`{"parts":[{"filename":"x"}]}`), c.ID)
	close(spoiled)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = b.service.Wait(context.Background(), b.person, c.ID, 30*time.Second); err != nil || c.Status != command.Failed || c.Error == "" {
		t.Fatalf("it is %s (%q), %v; want it failed with a reason", c.Status, c.Error, err)
	}
	b.remote.says(question)
	if other := b.send(command.Body{Text: "another"}); other.Status != command.Succeeded {
		t.Errorf("another command is %s, want it sent", other.Status)
	}
	if n := len(b.remote.calls()); n > 2 {
		t.Errorf("%d calls, want that what cannot be read was not sent", n)
	}
}
