package form_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

// TestGuide checks the JSON in the guide for agent authors: its definitions are drawn without a
// remark, and its answer answers the question.
func TestGuide(t *testing.T) {
	t.Parallel()
	blocks := guideBlocks(t)
	var card struct {
		Capabilities struct{ Extensions []struct{ URI string } }
	}
	unmarshal(t, blocks[0], &card)
	if got := card.Capabilities.Extensions[0].URI; got != form.URI {
		t.Errorf("the card lists %s, want %s", got, form.URI)
	}

	var question struct{ Parts []part }
	unmarshal(t, blocks[1], &question)
	asked := question.Parts[1]
	if !form.IsMediaType(asked.MediaType) {
		t.Errorf("the question's media type is %s, want %s", asked.MediaType, form.MediaType)
	}
	f := checkDrawn(t, asked.Data)

	var answer part
	unmarshal(t, blocks[2], &answer)
	if errs := f.CheckAnswer(answer.Data); len(errs) > 0 || answer.MediaType != form.AnswerMediaType {
		t.Errorf("the answer is wrong: %v, media type %s", errs, answer.MediaType)
	}

	var entry struct {
		URI    string
		Params struct{ StartForm json.RawMessage }
	}
	unmarshal(t, blocks[3], &entry)
	checkDrawn(t, entry.Params.StartForm)
	if entry.URI != form.URI {
		t.Errorf("the start form is for %s, want %s", entry.URI, form.URI)
	}
}

type part struct {
	MediaType string
	Data      json.RawMessage
}

// guideBlocks returns the four blocks of JSON in the guide.
func guideBlocks(t *testing.T) [][]byte {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join("..", "docs", "structured-form.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks [][]byte
	for _, match := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(guide, -1) {
		blocks = append(blocks, match[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of JSON, want 4", len(blocks))
	}
	return blocks
}

func checkDrawn(t *testing.T, definition []byte) *form.Form {
	t.Helper()
	report := form.Inspect(definition)
	if !report.Accepted || len(report.Advice) > 0 {
		t.Fatalf("%.60s…: reasons %v, advice %v; want none", definition, report.Reasons, report.Advice)
	}
	return report.Form
}

func unmarshal(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%.60s…: %v", data, err)
	}
}
