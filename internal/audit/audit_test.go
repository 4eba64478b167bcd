package audit

import (
	"strings"
	"testing"
	"time"
)

// TestDigestIsAsDocumented: whoever has an export can recompute it, so how it is made
// never changes.
func TestDigestIsAsDocumented(t *testing.T) {
	t.Parallel()
	s := Sealed{
		Entry: Entry{
			ID: "1", OrganisationID: "local", DeedID: "1", At: time.Date(2026, 12, 1, 9, 30, 0, 120000, time.UTC),
			Actor: Actor{Kind: "person", ID: "p", Name: "Ada <&> Ä \u2028"}, Action: MessageSent, Kind: KindCommand,
			Detail: map[string]string{"b": "1", "a": "\""},
		},
		Link: Link{Seq: 7, Previous: "00"},
	}
	content, err := canonical(s.Written())
	const want = `{"action":"message-sent","actor":{"id":"p","kind":"person","name":"Ada <&> Ä ` + "\u2028" + `","sessionId":"","tokenId":""},` +
		`"agentId":"","agentName":"","at":"2026-12-01T09:30:00.000120Z","commandId":"","contentSha256":"","deedId":"1","detail":{"a":"\"","b":"1"},"id":"1",` +
		`"kind":"command","messageId":"","objectId":"","objectName":"","organisationId":"local","previous":"00","taskId":""}`
	if err != nil || string(content) != want {
		t.Errorf("what is hashed is\n%s, %v; want\n%s", content, err, want)
	}
	if got, err := s.Digest(); err != nil || got != "87aaadcfca11d87c51e38aee4f0b51d40b0394c05472f6bad0d22dfb7989f226" {
		t.Errorf("Digest = %s, %v", got, err)
	}
}

func TestEveryActionHasAKindAndWords(t *testing.T) {
	t.Parallel()
	kinds := map[Kind]bool{}
	for _, k := range Kinds() {
		kinds[k] = true
		if k.Label() == "" {
			t.Errorf("the kind %s has no label", k)
		}
	}
	for action, what := range actions {
		if !kinds[what.kind] || what.words == "" {
			t.Errorf("the action %s has the kind %q and the words %q", action, what.kind, what.words)
		}
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Entry{
		"Ada answered a question of Deploy bot": {Actor: Actor{Name: "Ada"}, Action: QuestionAnswered, AgentName: "Deploy bot"},
		"Ada granted {agent} access to x":       {Actor: Actor{Name: "Ada"}, Action: GrantMade, AgentName: "x", ObjectName: "{agent}"},
		"Ada added somebody":                    {Actor: Actor{Name: "Ada"}, Action: MemberAdded},
		"Ada of-a-later-version":                {Actor: Actor{Name: "Ada"}, Action: "of-a-later-version"},
	} {
		if got := e.Sentence(); got != want {
			t.Errorf("Sentence of %s = %q, want %q", e.Action, got, want)
		}
	}
}

// TestPrepareBoundsWhatComesFromOutside: names come from agents and browsers.
func TestPrepareBoundsWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	e, err := Entry{
		OrganisationID: "local", Actor: Taskbay(), Action: AgentRemoved, AgentName: "a\nb\x00\xff" + strings.Repeat("ä", 500), MessageID: strings.Repeat("m", 5000),
		Detail: map[string]string{"empty": "", "long": strings.Repeat("x", 5000)},
	}.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(e.AgentName)); n != maxName || !strings.HasPrefix(e.AgentName, "a b \uFFFDää") {
		t.Errorf("the name has %d characters: %q", n, e.AgentName)
	}
	if len([]rune(e.MessageID)) != maxID || len(e.Detail) != 1 || len([]rune(e.Detail["long"])) != maxValue {
		t.Errorf("the entry is %+v", e)
	}
	if _, err := (Entry{OrganisationID: "local", Actor: Taskbay(), Action: AgentRemoved, Detail: manyDetails()}).Prepare(); err == nil {
		t.Error("an entry with any number of details is taken")
	}
}

func manyDetails() map[string]string {
	many := map[string]string{}
	for i := range maxDetails + 1 {
		many[strings.Repeat("k", i+1)] = "v"
	}
	return many
}

// TestOnlyItsOwnTextIsADetail: whitespace, an order or a member more is a change.
func TestOnlyItsOwnTextIsADetail(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{}", `{"a":"1","b":"2"}`} {
		var e Entry
		e.SetDetail(text)
		if got := e.DetailText(); got != text {
			t.Errorf("%s is read and written as %s", text, got)
		}
	}
	for _, text := range []string{"", "x", "{} ", `{"b":"2","a":"1"}`, `{"a":"1","a":"1"}`, `{"a":1}`, "null", "[]"} {
		var e Entry
		e.SetDetail(text)
		if len(e.Detail) != 1 || e.Detail[""] != text {
			t.Errorf("%q is read as %v", text, e.Detail)
		}
	}
}

func TestParseHead(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 64)
	for _, want := range []Head{{}, {Seq: 12, Hash: hash}} {
		if got, err := ParseHead(want.String()); err != nil || got != want {
			t.Errorf("ParseHead(%q) = %v, %v", want, got, err)
		}
	}
	for _, s := range []string{"", "12", "x:" + hash, "-1:" + hash, "12:abc", "12:", "0:x"} {
		if got, err := ParseHead(s); err == nil {
			t.Errorf("ParseHead(%q) = %v", s, got)
		}
	}
}
