package agui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// transcript is the messages of a thread as clients have them: what was said under the
// clients' own IDs, and what agents answered.
type transcript struct {
	history *history
	files   func(sha256 string) string
	tasks   map[string]task.Task // of the runs; those that cannot be seen are not there
	cut     int64                // of the last run's task, where what the stream brings begins; 0 for the end
	out     []Message
	ids     map[string]bool
}

// transcribe returns the messages, with what the client says now and the thread does
// not have behind them, and with the client's own instructions before them.
func (tr *transcript) transcribe(in Input, unsaid []spoken) []Message {
	tr.out, tr.ids = []Message{}, map[string]bool{}
	for _, m := range in.Messages {
		if m.Role == RoleSystem || m.Role == RoleDeveloper {
			if text, ok := textContent(m); ok {
				tr.add(Message{ID: m.ID, Role: m.Role, Content: mustJSON(text)})
			}
		}
	}
	said := map[string]bool{} // the runs whose messages are in
	done := map[string]bool{}
	for _, r := range tr.history.runs {
		t, there := tr.tasks[r.TaskID]
		if !there {
			tr.say(r.ID, said)
			continue
		}
		if !done[t.ID] {
			done[t.ID] = true
			tr.addTask(t, said)
		}
	}
	for _, r := range tr.history.runs {
		tr.say(r.ID, said) // whose message is in no timeline, as of a cancel
	}
	for _, s := range unsaid {
		tr.add(Message{ID: s.ID, Role: RoleUser, Content: shown(s.Content, s.Plain, tr.files)})
	}
	return tr.out
}

// say adds what came with a run, once.
func (tr *transcript) say(runID string, said map[string]bool) {
	if said[runID] {
		return
	}
	said[runID] = true
	for _, s := range tr.history.said {
		if s.RunID == runID {
			tr.add(Message{ID: s.MessageID, Role: RoleUser, Content: shown(s.Content, s.Plain, tr.files)})
		}
	}
}

type entry struct {
	seq      int64
	message  *task.Message
	artifact *task.Artifact
}

func (tr *transcript) addTask(t task.Task, said map[string]bool) {
	var entries []entry
	for i := range t.Messages {
		entries = append(entries, entry{seq: t.Messages[i].Seq, message: &t.Messages[i]})
	}
	for i := range t.Artifacts {
		entries = append(entries, entry{seq: t.Artifacts[i].Seq, artifact: &t.Artifacts[i]})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	last := tr.history.last()
	for _, e := range entries {
		isCut := tr.cut > 0 && tr.tasks[last.TaskID].ID == t.ID && e.seq >= tr.cut
		switch {
		case e.message != nil && e.message.Role == a2a.RoleUser:
			tr.addPerson(t, *e.message, said)
		case isCut:
		case e.message != nil:
			tr.addText(entryID(t.ID, e.seq), RoleAssistant, textOf(e.message.Parts, tr.files))
		default:
			tr.addText(entryID(t.ID, e.seq), RoleAssistant, textOf(e.artifact.Parts, tr.files))
		}
	}
}

// addPerson adds what a person said: by the IDs of the client if it came from this
// thread, else as what somebody said elsewhere in the console.
func (tr *transcript) addPerson(t task.Task, m task.Message, said map[string]bool) {
	if m.Delivery != nil {
		for _, r := range tr.history.runs {
			if r.CommandID == m.Delivery.CommandID {
				tr.say(r.ID, said)
				return
			}
		}
	}
	text := textOf(m.Parts, tr.files)
	for _, p := range m.Parts {
		if text == "" && p.Data != nil {
			text = string(p.Data)
		}
	}
	tr.addText(entryID(t.ID, m.Seq), RoleUser, text)
}

func (tr *transcript) addText(id, role, text string) {
	if text != "" {
		tr.add(Message{ID: id, Role: role, Content: mustJSON(text)})
	}
}

// add adds a message, unless there is one of its ID.
func (tr *transcript) add(m Message) {
	if m.ID == "" || tr.ids[m.ID] {
		return
	}
	tr.ids[m.ID] = true
	tr.out = append(tr.out, m)
}

func textContent(m InputMessage) (string, bool) {
	s := speak(m)
	var texts []string
	for _, c := range s.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n\n"), s.Plain && len(texts) > 0
}
