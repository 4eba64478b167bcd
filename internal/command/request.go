package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// Request is what a command sends, apart from what the task knows when it is
// sent. It is stored as JSON.
type Request struct {
	Parts               []a2a.Part      `json:"parts,omitempty"`
	ContextID           string          `json:"contextId,omitempty"`
	Extensions          []string        `json:"extensions,omitempty"`
	Metadata            json.RawMessage `json:"metadata,omitempty"`
	ReferenceTaskIDs    []string        `json:"referenceTaskIds,omitempty"`
	HistoryLength       *int            `json:"historyLength,omitempty"`
	AcceptedOutputModes []string        `json:"acceptedOutputModes,omitempty"`
	SkillID             string          `json:"skillId,omitempty"` // that the message is held to
}

// Encode writes the request as it is stored. Data parts keep their bytes.
func (r Request) Encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(r)
	return out.Bytes(), err
}

// DecodeRequest reads what Encode wrote.
func DecodeRequest(stored []byte) (Request, error) {
	var r Request
	err := json.Unmarshal(stored, &r)
	return r, err
}

// WithoutFiles returns the request with names, sizes and digests of files in place of
// their bytes, and whether it had any.
func (r Request) WithoutFiles() (without Request, had bool) {
	r.Parts = slices.Clone(r.Parts)
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Raw == nil {
			continue
		}
		sum := sha256.Sum256(p.Raw)
		p.Raw, p.Artifact, had = nil, &a2a.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(p.Raw))}, true
	}
	return r, had
}
