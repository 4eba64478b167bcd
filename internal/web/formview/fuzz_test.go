package formview

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/agent-taskbay/taskbay/form"
)

// drawable are the elements and attributes that forms are made of. None of the
// attributes loads or runs anything.
var (
	drawable = strings.Fields(`a bdi button dd div dl dt fieldset form h3 input label legend li option p pre select span
		structured-form textarea ul`)
	drawableAttributes = strings.Fields(`action aria-describedby aria-invalid aria-label aria-required autocapitalize
		autocomplete autocorrect autofocus checked class closed data-kind data-least data-most data-required data-value dir
		disabled for href id inputmode method name novalidate posted preview readonly role rows selected spellcheck title
		type value`)
)

// FuzzDraw draws forms and answers of any definition: nothing of it becomes an
// element or an attribute, and no control has what another has.
func FuzzDraw(f *testing.F) {
	for _, file := range []string{"definitions.json", "reported.json"} {
		data, err := os.ReadFile(filepath.Join("../../../form/testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		var cases []struct{ Definition json.RawMessage }
		if err := json.Unmarshal(data, &cases); err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			f.Add([]byte(c.Definition))
		}
	}
	f.Add([]byte(`{"title":"\"><script>","schema":{"type":"object","required":["a"],"properties":{
		"a":{"enum":["</select><img src=x onerror=y>","\u202e"],"default":"\u202e"},"b":{"type":"string","default":"</textarea>\n"}}}}`))
	f.Fuzz(func(t *testing.T, definition []byte) {
		parsed, err := form.Parse(definition)
		if err != nil {
			return
		}
		_, errs := parsed.Check(nil)
		var out bytes.Buffer
		open := Open{Form: parsed, Action: "/answer", Errors: errs, preview: &preview{definition: string(definition)}}
		if err := OpenForm(open).Render(context.Background(), &out); err != nil {
			t.Fatal(err)
		}
		if err := AnsweredForm(Answered{Form: parsed, Data: definition}).Render(context.Background(), &out); err != nil {
			t.Fatal(err)
		}
		checkInert(t, out.Bytes())
	})
}

func checkInert(t *testing.T, markup []byte) {
	t.Helper()
	ids := map[string]bool{}
	for tokens := html.NewTokenizer(bytes.NewReader(markup)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if !slices.Contains(drawable, token.Data) {
				t.Errorf("there is a <%s> in %s", token.Data, markup)
			}
			for _, attribute := range token.Attr {
				if !slices.Contains(drawableAttributes, attribute.Key) {
					t.Errorf("there is a %s=%q in %s", attribute.Key, attribute.Val, markup)
				}
				if attribute.Key == "id" && ids[attribute.Val] {
					t.Errorf("two elements are called %q in %s", attribute.Val, markup)
				}
				ids[attribute.Val] = ids[attribute.Val] || attribute.Key == "id"
			}
		}
	}
}
