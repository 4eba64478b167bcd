package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Limits of what a caller may ask for.
const (
	MaxKey   = 255     // characters of an Idempotency-Key
	MaxParts = 100     // of a message
	MaxBody  = 8 << 20 // bytes of a message as JSON
	maxID    = 255     // characters of a messageId, contextId, tenant or skillId
	maxURI   = 1024    // bytes of an extension's URI
	maxList  = 100     // entries of a list in Config
	maxTitle = 120     // characters of a task's title
)

func checkKey(key string) error {
	if n := utf8.RuneCountInString(key); n < 1 || n > MaxKey || strings.ContainsRune(key, 0) {
		return fault.New(fault.Invalid, "An Idempotency-Key of 1 to %d characters is needed, a new one for each command: a UUID is a good one.", MaxKey)
	}
	return nil
}

// normalised fills in what the body leaves out, and refuses what breaks a rule.
func normalised(b Body) (Body, error) {
	if b.Action == "" {
		b.Action = Send
	}
	for name, value := range map[string]string{"messageId": b.MessageID, "contextId": b.ContextID, "tenant": b.Tenant, "answers": b.Answers, "skillId": b.SkillID} {
		if !isLine(value, maxID) {
			return b, refused("/"+name, fmt.Sprintf("At most %d characters in one line.", maxID))
		}
	}
	if b.Action == Cancel {
		if b.TaskID == "" {
			return b, fault.New(fault.Invalid, "A cancel needs the taskId of the task to cancel.")
		}
		return Body{Action: Cancel, TaskID: b.TaskID}, nil
	}
	if b.Action != Send {
		return b, fault.New(fault.Invalid, "action: send or cancel.")
	}
	if err := cmp.Or(checkParts(b.Parts), b.Config.check()); err != nil {
		return b, err
	}
	b = withoutRouting(b)
	if b.Text != "" {
		b.Parts = append([]a2a.Part{a2a.TextPart(b.Text)}, b.Parts...)
		b.Text = ""
	}
	return b, checkSend(b)
}

func checkSend(b Body) error {
	switch {
	case len(b.Parts) == 0:
		return fault.New(fault.Invalid, "A message needs a text or a part.")
	case b.Answers != "" && b.TaskID == "":
		return fault.New(fault.Invalid, "An answer needs the taskId of the task whose question it answers.")
	case b.StartForm && b.TaskID != "":
		return fault.New(fault.Invalid, "A start form starts a new task: leave taskId out.")
	}
	return nil
}

// checkParts refuses parts that cannot be sent, and those that could not be read
// again once they are stored. The rule is the reader's own: each part is written
// as it will be stored, and read.
func checkParts(parts []a2a.Part) error {
	if len(parts) > MaxParts {
		return fault.New(fault.Invalid, "A message has at most %d parts.", MaxParts)
	}
	for i, p := range parts {
		at := fmt.Sprintf("/parts/%d", i)
		if p.Artifact != nil || p.Unknown != nil {
			return refused(at, "A part to send has one of text, data, url and raw.")
		}
		stored, err := p.MarshalJSON()
		if err == nil && !json.Valid(stored) {
			err = errors.New("it is not JSON")
		}
		if err == nil {
			err = new(a2a.Part).UnmarshalJSON(stored)
		}
		if err != nil {
			return partFault(at, err)
		}
	}
	return nil
}

// partFault says what is wrong with the part at a place of the body.
func partFault(at string, err error) error {
	found := &fault.Error{Kind: fault.Invalid, Message: "A part of the message cannot be sent.", Err: err}
	for _, f := range fault.Public(err).Fields {
		found.Fields = append(found.Fields, fault.Field{Location: at + f.Location, Message: f.Message})
	}
	if len(found.Fields) == 0 {
		found.Fields = []fault.Field{{Location: at, Message: "A part in JSON is expected."}}
	}
	return found
}

// check refuses a configuration that no call could carry.
func (c Config) check() error {
	if c.HistoryLength != nil && (*c.HistoryLength < 0 || *c.HistoryLength > math.MaxInt32) {
		return refused("/config/historyLength", fmt.Sprintf("0 to %d.", math.MaxInt32))
	}
	if c.Metadata != nil && (!json.Valid(c.Metadata) || rawjson.KindOf(c.Metadata) != rawjson.Object || rawjson.Depth(c.Metadata) > a2a.MaxDepth) {
		return refused("/config/metadata", fmt.Sprintf("An object of at most %d levels of nesting.", a2a.MaxDepth))
	}
	for _, list := range []struct {
		name, want string
		values     []string
		fits       func(string) bool
	}{
		{"acceptedOutputModes", fmt.Sprintf("A media type: 1 to %d characters in one line.", maxID), c.AcceptedOutputModes, isName},
		{"referenceTaskIds", fmt.Sprintf("A task ID of the agent: 1 to %d characters in one line.", maxID), c.ReferenceTaskIDs, isName},
		{"extensions", fmt.Sprintf("A URI with its scheme, of at most %d characters.", maxURI), c.Extensions, isURI},
	} {
		if len(list.values) > maxList {
			return refused("/config/"+list.name, fmt.Sprintf("At most %d.", maxList))
		}
		if i := slices.IndexFunc(list.values, func(v string) bool { return !list.fits(v) }); i >= 0 {
			return refused(fmt.Sprintf("/config/%s/%d", list.name, i), list.want)
		}
	}
	return nil
}

// isLine reports whether s is at most n characters without control characters.
func isLine(s string, n int) bool {
	return utf8.RuneCountInString(s) <= n && !strings.ContainsFunc(s, unicode.IsControl)
}

func isName(s string) bool { return s != "" && isLine(s, maxID) }

// isURI reports whether s is an absolute URI (RFC 3986) as it may stand in the
// list of a header: extensions are named by one.
func isURI(s string) bool {
	if s == "" || len(s) > maxURI || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`,"<>\^{|}`+"`", r) }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

// refused is the fault of one member of the body, named by a JSON Pointer.
func refused(location, want string) error {
	return &fault.Error{
		Kind:    fault.Invalid,
		Message: "A member of the command cannot be used.",
		Fields:  []fault.Field{{Location: location, Message: want}},
	}
}

// bodyDigest tells whether two commands ask for the same.
func bodyDigest(agentID string, b Body) (string, error) {
	content, err := json.Marshal(struct {
		Agent string
		Body  Body
	}{agentID, b})
	if err != nil {
		return "", fault.Wrap(err, fault.Invalid, "The message cannot be written as JSON.")
	}
	if len(content) > MaxBody {
		return "", fault.New(fault.TooLarge, "A message is at most %d MiB.", MaxBody>>20)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// titleOf names a task by the start of what was asked first: for a start form,
// by its labels.
func titleOf(a agent.Agent, b Body) string {
	if _, drawn := a.StartForm(); b.StartForm && drawn != nil && len(b.Parts) == 1 {
		if title := formTitle(drawn, b.Parts[0].Data); title != "" {
			return shortened(title)
		}
	}
	for _, p := range b.Parts {
		if p.Text != nil && strings.TrimSpace(*p.Text) != "" {
			return shortened(*p.Text)
		}
	}
	for _, p := range b.Parts {
		if p.Data != nil {
			return shortened(dataTitle(p.Data))
		}
	}
	return "Message"
}

// formTitle shows what was entered into a form as a line of text; "" if nothing was.
func formTitle(drawn *form.Form, answer json.RawMessage) string {
	values := map[string]json.RawMessage{}
	for name, value := range rawjson.Members(answer) {
		values[name] = value
	}
	var words []string
	for i := range drawn.Fields {
		field := &drawn.Fields[i]
		if value, given := values[field.Key]; given {
			words = append(words, field.Label+": "+valueTitle(field, value))
		}
	}
	return strings.Join(words, ", ")
}

func valueTitle(field *form.Field, value json.RawMessage) string {
	text, isText := rawjson.Text(value)
	switch {
	case isText && field.Kind == form.Choice:
		label, isOption := field.OptionLabel(text)
		if isOption {
			return label
		}
		return text
	case isText:
		return text
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	}
	return string(value)
}

// dataTitle shows the members of a JSON object as a line of text.
func dataTitle(data json.RawMessage) string {
	var words []string
	for name, value := range rawjson.Members(data) {
		shown, ok := rawjson.Text(value)
		if !ok {
			shown = string(value)
		}
		words = append(words, name+": "+shown)
	}
	if len(words) == 0 {
		return string(data)
	}
	return strings.Join(words, ", ")
}

func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxTitle-1])) + "…"
}
