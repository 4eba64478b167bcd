package docs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"github.com/agent-taskbay/taskbay/form"
)

// TestReadmeForm holds the README's form to the rules: its card announces the
// extension, its question is drawn without a remark, and its answer is one.
func TestReadmeForm(t *testing.T) {
	t.Parallel()
	readme := readPage(t, "README.md")
	var blocks, spans []string
	readme.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if string(n.Language(readme.source)) == "json" {
				blocks = append(blocks, readme.code(n))
			}
		case *ast.CodeSpan:
			if text := readme.text(n); strings.HasPrefix(text, "{") {
				spans = append(spans, text)
			}
		}
	})
	if len(blocks) != 2 || len(spans) != 2 {
		t.Fatalf("%d blocks and %d pieces of JSON, want the card and the definition, and the question and the answer", len(blocks), len(spans))
	}

	var card struct {
		Capabilities struct{ Extensions []struct{ URI string } }
	}
	decode(t, blocks[0], &card)
	if got := card.Capabilities.Extensions[0].URI; got != form.URI {
		t.Errorf("the card lists %s, want %s", got, form.URI)
	}
	var question, answer struct {
		MediaType string
		Data      json.RawMessage
	}
	decode(t, strings.Replace(spans[0], "…", blocks[1], 1), &question)
	report := form.Inspect([]byte(blocks[1])) // as it is copied to a file
	if !report.Accepted || len(report.Advice) > 0 || question.MediaType != form.MediaType {
		t.Fatalf("the question is not drawn without a remark: %+v, media type %s", report, question.MediaType)
	}
	decode(t, spans[1], &answer)
	if errs := report.Form.CheckAnswer(answer.Data); len(errs) > 0 || answer.MediaType != form.AnswerMediaType {
		t.Errorf("the answer does not fit: %v, media type %s", errs, answer.MediaType)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
