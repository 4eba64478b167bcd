package a2a

import (
	"encoding/json"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// EncodeParts writes parts as a JSON array for the record, data with every byte
// as it is.
func EncodeParts(parts []Part) ([]byte, error) {
	items := make([][]byte, len(parts))
	for i, p := range parts {
		item, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return list(items), nil
}

// DecodeParts reads what EncodeParts wrote. A part that cannot be read is kept
// as unknown: the record must stay readable whatever an agent once sent.
func DecodeParts(stored []byte) []Part {
	var parts []Part
	for item := range rawjson.Elements(stored) {
		var p Part
		if err := p.UnmarshalJSON(item); err != nil {
			p = Part{Unknown: append(json.RawMessage(nil), item...)}
		}
		parts = append(parts, p)
	}
	return parts
}
