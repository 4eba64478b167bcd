package a2a

import "encoding/json"

// WireMessage returns a message as A2A 1.0 JSON.
func WireMessage(m Message) (json.RawMessage, error) { return nil, nil }
