package agui

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// maxActivity is how large an artifact may be as an activity, in bytes of JSON. A
// larger one is shown without its parts.
const maxActivity = 4 << 20

// artifactClient is an artifact as the client has it.
type artifactClient struct {
	text     string
	parts    []a2a.Part
	complete bool
}

// showArtifact sends what the client does not have of an artifact: as a text, because
// every front end shows those, and as an activity, which has all of it.
func (t *translation) showArtifact(a task.Artifact) error {
	has := t.artifacts[a.ID]
	isNew := has == nil
	if isNew {
		has = &artifactClient{}
		t.artifacts[a.ID] = has
	}
	if err := t.artifactText(a, has); err != nil {
		return err
	}
	if isNew {
		if err := t.activity(a); err != nil {
			return err
		}
	} else if err := t.activityChange(a, has); err != nil {
		return err
	}
	has.parts, has.complete = a.Parts, a.Complete
	return nil
}

// artifactText appends what is new of an artifact's text. A text that became another
// one cannot be taken back: then the messages are sent anew.
func (t *translation) artifactText(a task.Artifact, has *artifactClient) error {
	text, id := textOf(a.Parts, t.files), entryID(t.taskID, a.Seq)
	added, grows := strings.CutPrefix(text, has.text)
	if !grows {
		t.anew = true
		has.text = text
		return nil
	}
	if added != "" {
		if !t.stream.sequence.open[id] {
			about := mustJSON(map[string]any{"a2a": map[string]any{"artifactId": a.ID, "taskId": t.taskID}})
			if err := t.send(TextStart{MessageID: id, Role: RoleAssistant, Metadata: about}); err != nil {
				return err
			}
		}
		if err := t.stream.appendText(id, added); err != nil {
			return err
		}
		has.text = text
	}
	if a.Complete && t.stream.sequence.open[id] {
		return t.send(TextEnd{MessageID: id})
	}
	return nil
}

// activityContent is an artifact as an activity shows it.
type activityContent struct {
	ArtifactID  string          `json:"artifactId"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parts       json.RawMessage `json:"parts"`
	Complete    bool            `json:"complete"`
	Truncated   bool            `json:"truncated,omitempty"` // it is too large to be shown here
}

// activity shows an artifact whole.
func (t *translation) activity(a task.Artifact) error {
	content := activityContent{ArtifactID: a.ID, Name: a.Name, Description: a.Description, Complete: a.Complete, Parts: json.RawMessage("[]")}
	if parts, err := t.partsJSON(a.Parts); err == nil && len(parts) <= maxActivity {
		content.Parts = parts
	} else {
		content.Truncated = true
	}
	return t.sendJSON(func(v json.RawMessage) Event {
		return ActivitySnapshot{MessageID: activityID(t.taskID, a.ID), ActivityType: activityArtifact, Content: v, Replace: true}
	}, content)
}

// activityChange shows what was added to an artifact, or shows it anew.
func (t *translation) activityChange(a task.Artifact, has *artifactClient) error {
	added, grows := appended(has.parts, a.Parts)
	if !grows || has.size() > maxActivity/2 {
		return t.activity(a)
	}
	var patches []Patch
	for _, p := range added {
		raw, err := t.partJSON(p)
		if err != nil {
			return t.activity(a)
		}
		patches = append(patches, Patch{Op: "add", Path: "/parts/-", Value: raw})
	}
	if a.Complete != has.complete {
		patches = append(patches, Patch{Op: "replace", Path: "/complete", Value: mustJSON(a.Complete)})
	}
	if len(patches) == 0 {
		return nil
	}
	return t.send(ActivityDelta{MessageID: activityID(t.taskID, a.ID), ActivityType: activityArtifact, Patch: patches})
}

// size is about how large the parts are that the client has.
func (c *artifactClient) size() int {
	n := len(c.text)
	for _, p := range c.parts {
		n += len(p.Data)
	}
	return n
}

// appended returns what parts have that was not there before, and whether all that was
// there still is. A text that grew brings what it grew by, as a part.
func appended(before, now []a2a.Part) (added []a2a.Part, grows bool) {
	if len(now) < len(before) {
		return nil, false
	}
	for i, old := range before {
		p := now[i]
		if samePart(old, p) {
			continue
		}
		if i != len(before)-1 || old.Text == nil || p.Text == nil || old.MediaType != p.MediaType || !strings.HasPrefix(*p.Text, *old.Text) {
			return nil, false
		}
		rest := p
		more := strings.TrimPrefix(*p.Text, *old.Text)
		rest.Text = &more
		added = append(added, rest)
	}
	return append(added, now[len(before):]...), true
}

func samePart(a, b a2a.Part) bool {
	before, err := a.MarshalJSON()
	now, otherErr := b.MarshalJSON()
	return err == nil && otherErr == nil && bytes.Equal(before, now)
}

func (t *translation) partsJSON(parts []a2a.Part) (json.RawMessage, error) {
	list := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		raw, err := t.partJSON(p)
		if err != nil {
			return nil, err
		}
		list[i] = raw
	}
	return toJSON(list)
}

// partJSON is a part as clients get it: bytes as the address where they are to be had.
func (t *translation) partJSON(p a2a.Part) (json.RawMessage, error) {
	if p.Artifact != nil && p.Artifact.Kept() {
		return toJSON(a2a.Part{URL: t.files(p.Artifact.SHA256), MediaType: p.MediaType, Filename: p.Filename, Metadata: p.Metadata})
	}
	return toJSON(p)
}
