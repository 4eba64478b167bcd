package store

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
)

// maxSearch is how much of an entry's text the search sees, in bytes.
const maxSearch = 64 << 10

// searchText is what the search sees of parts: their texts, and the text in
// their data, in lower case.
func searchText(parts []a2a.Part) string {
	var b searchBuilder
	for _, p := range parts {
		switch {
		case p.Text != nil:
			b.add(*p.Text)
		case p.Data != nil:
			b.addData(p.Data)
		}
	}
	return b.String()
}

// artifactSearch is what the search sees of an artifact. Its parts come last, so
// that a text that comes in chunks goes on where it broke off.
func artifactSearch(a a2a.Artifact) string {
	var b searchBuilder
	b.add(a.Name)
	b.add(a.Description)
	b.add(searchText(a.Parts))
	return b.String()
}

// searchBuilder puts texts together, a line each, and takes no more than
// maxSearch of them.
type searchBuilder struct{ strings.Builder }

func (b *searchBuilder) add(text string) {
	room := maxSearch - b.Len()
	if text == "" || room <= 0 {
		return
	}
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.ToLower(text))
}

// addData takes the texts that stand in JSON as values, and the numbers as they
// are written. Names of members are the agent's own and mean nothing to people.
func (b *searchBuilder) addData(data json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var inObject []bool // for each array and object that is open
	isName := false     // the next text in an object is a member's name
	for b.Len() < maxSearch {
		token, err := decoder.Token()
		if err != nil {
			return
		}
		last := len(inObject) - 1
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				inObject = append(inObject, v == '{')
			} else {
				inObject = inObject[:last]
			}
			isName = len(inObject) > 0 && inObject[len(inObject)-1]
			continue
		case string:
			if isName {
				isName = false
				continue
			}
			b.add(v)
		case json.Number:
			b.add(v.String())
		}
		isName = last >= 0 && inObject[last]
	}
}
