package a2a

import "encoding/json"

func (d *decoder) task(raw []byte) Task {
	t := Task{Status: Status{State: StateUnspecified}}
	d.members(raw, func(name string, v []byte) {
		switch name {
		case "id":
			t.ID = d.id(v)
		case "contextId":
			t.ContextID = d.id(v)
		case "status":
			t.Status = d.status(v)
		case "artifacts":
			t.Artifacts = nil
			d.elements(v, func(v []byte) { t.Artifacts = append(t.Artifacts, d.artifact(v)) })
		case "history":
			t.History = nil
			d.elements(v, func(v []byte) { t.History = append(t.History, d.message(v)) })
		case "metadata":
			t.Metadata = d.object(v)
		}
	})
	if t.ID == "" {
		d.problem("has no usable id")
	}
	return t
}

func (d *decoder) message(raw []byte) Message {
	m := Message{Role: RoleAgent}
	d.members(raw, func(name string, v []byte) {
		switch name {
		case "messageId":
			m.MessageID = d.id(v)
		case "contextId":
			m.ContextID = d.id(v)
		case "taskId":
			m.TaskID = d.id(v)
		case "role":
			m.Role = d.role(v)
		case "parts":
			m.Parts = d.parts(v)
		case "metadata":
			m.Metadata = d.object(v)
		case "extensions":
			m.Extensions = d.ids(v)
		case "referenceTaskIds":
			m.ReferenceTaskIDs = d.ids(v)
		}
	})
	if m.MessageID == "" {
		d.problem("has no usable messageId")
	}
	return m
}

// status reads a status, or a bare state that stands in its place.
func (d *decoder) status(raw []byte) Status {
	if state, ok := d.bareState(raw); ok {
		d.problem("is a state, not a status")
		return Status{State: state}
	}
	s := Status{State: StateUnspecified}
	d.members(raw, func(name string, v []byte) {
		switch name {
		case "state":
			s.State = d.state(v)
		case "timestamp":
			s.Timestamp = d.time(v)
		case "message":
			message := d.message(v)
			s.Message = &message
		}
	})
	return s
}

func (d *decoder) artifact(raw []byte) Artifact {
	var a Artifact
	d.members(raw, func(name string, v []byte) {
		switch name {
		case "artifactId":
			a.ArtifactID = d.id(v)
		case "name":
			a.Name = d.text(v)
		case "description":
			a.Description = d.text(v)
		case "parts":
			a.Parts = d.parts(v)
		case "metadata":
			a.Metadata = d.object(v)
		case "extensions":
			a.Extensions = d.ids(v)
		}
	})
	if a.ArtifactID == "" {
		d.problem("has no usable artifactId")
	}
	return a
}

func (d *decoder) statusUpdate(raw []byte) StatusUpdate {
	u := StatusUpdate{Status: Status{State: StateUnspecified}}
	u.TaskID, u.ContextID, u.Metadata = d.update(raw, func(name string, v []byte) {
		if name == "status" {
			u.Status = d.status(v)
		}
	})
	return u
}

func (d *decoder) artifactUpdate(raw []byte) ArtifactUpdate {
	var u ArtifactUpdate
	u.TaskID, u.ContextID, u.Metadata = d.update(raw, func(name string, v []byte) {
		switch name {
		case "artifact":
			u.Artifact = d.artifact(v)
		case "append":
			u.Append = d.bool(v)
		case "lastChunk":
			u.LastChunk = d.bool(v)
		}
	})
	return u
}

// update reads what both kinds of update have, and hands the rest to read.
func (d *decoder) update(raw []byte, read func(name string, v []byte)) (taskID, contextID string, metadata json.RawMessage) {
	d.members(raw, func(name string, v []byte) {
		switch name {
		case "taskId":
			taskID = d.id(v)
		case "contextId":
			contextID = d.id(v)
		case "metadata":
			metadata = d.object(v)
		default:
			read(name, v)
		}
	})
	if taskID == "" {
		d.problem("has no usable taskId")
	}
	return taskID, contextID, metadata
}
