package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

const twoTexts = `{"schema":{"type":"object","required":["line"],"properties":{
	"line":{"type":"string"},"lines":{"type":"string","format":"multiline"}}}}`

func TestFormKeys(t *testing.T) {
	t.Parallel()
	t.Run("Enter sends from a single line", func(t *testing.T) {
		t.Parallel()
		d, p := openForm(t, twoTexts)
		p.click("#f-line")
		p.typeText("a")
		p.press(kb.Enter)
		p.until(`location.pathname === "/sent"`)
		if got, want := onlyAnswer(p, d), `{"line":"a"}`; got != want {
			t.Errorf("answer = %s, want %s", got, want)
		}
	})
	t.Run("Ctrl+Enter sends from several lines", func(t *testing.T) {
		t.Parallel()
		d, p := openForm(t, twoTexts)
		p.fill("#f-line", "a")
		p.click("#f-lines")
		p.typeText("b")
		p.press(kb.Enter)
		p.typeText("c")
		if posts := d.received(); len(posts) > 0 {
			t.Fatal("Enter sent from several lines")
		}
		p.press(kb.Enter, ctrl)
		p.until(`location.pathname === "/sent"`)
		if got, want := onlyAnswer(p, d), `{"line":"a","lines":"b\nc"}`; got != want {
			t.Errorf("answer = %s, want %s", got, want)
		}
	})
	t.Run("the keyboard alone is enough", func(t *testing.T) {
		t.Parallel()
		d, p := openForm(t, `{"schema":{"type":"object","required":["pick"],"properties":{
			"pick":{"enum":["a","b","c"]},"on":{"type":"boolean"},"n":{"type":"number"}}}}`)
		p.press(kb.Tab)
		p.press(" ")
		p.press(kb.ArrowDown)
		p.press(kb.Tab)
		p.press(" ")
		p.press(kb.Tab)
		p.typeText("-1.50")
		p.press(kb.Tab)
		p.press(" ")
		p.until(`location.pathname === "/sent"`)
		if got, want := onlyAnswer(p, d), `{"pick":"b","on":true,"n":-1.5}`; got != want {
			t.Errorf("answer = %s, want %s", got, want)
		}
	})
}

// A send that got lost on its way keeps everything, and trying again is no
// second answer, even if the first one had arrived.
func TestFormSurvivesAFailedSend(t *testing.T) {
	t.Parallel()
	d, p := openForm(t, twoTexts)
	p.expect("Failed to load resource")
	p.fill("#f-line", "kept")
	d.lose(true)
	p.click("[type=submit]")
	p.until(`document.querySelector(".form-note[role=alert]")?.innerText.includes("Nothing is lost")`)
	p.shot("failed")
	if got := p.value("#f-line"); got != "kept" {
		t.Errorf("value = %q, want kept", got)
	}
	if p.attribute("[type=submit]", "aria-disabled") != "" {
		t.Error("it cannot be sent again")
	}
	d.lose(false)
	sentOne(p, d)
	if posts := d.received(); len(posts) < 2 || posts[0].Get("key") != posts[1].Get("key") {
		t.Errorf("posts = %v, want the same key each time", posts)
	}
}

// After a reload as well: the draft remembers the key of a send whose outcome is
// not known.
func TestFormRetriesAfterReload(t *testing.T) {
	t.Parallel()
	d := newDesk(t, twoTexts)
	d.isStart = true
	p := openTab(t)
	p.expect("Failed to load resource")
	p.visit(d.URL + "/task")
	p.until(`document.querySelector("structured-form")?.fields`)
	p.fill("#f-line", "start once")
	d.lose(true)
	p.click("[type=submit]")
	p.until(`document.querySelector(".form-note")`)
	p.reload()
	p.until(`document.querySelector(".form-restored")`)
	d.lose(false)
	sentOne(p, d)
	if posts := d.received(); posts[0].Get("key") != posts[len(posts)-1].Get("key") {
		t.Error("after the reload it was sent with another key")
	}
	// The next start is another one.
	p.visit(d.URL + "/task")
	p.until(`document.querySelector("structured-form")?.fields`)
	p.fill("#f-line", "start once")
	p.click("[type=submit]")
	p.until(`location.pathname === "/sent"`)
	if taken := d.taken(); len(taken) != 2 {
		t.Errorf("%d starts, want 2", len(taken))
	}
}

func TestFormShowsWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	d, p := openForm(t, twoTexts)
	p.expect("Failed to load resource")
	p.fill("#f-line", "taken")
	d.refuse(fault.WithFields("No.", []fault.Field{{Location: "line", Message: "Somebody has this name"}}))
	p.click("[type=submit]")
	p.until(`document.activeElement.id === "f-line"`)
	if diff := cmp.Diff(map[string]string{"line": "Somebody has this name"}, shownErrors(p)); diff != "" {
		t.Errorf("errors mismatch (-want +got):\n%s", diff)
	}
	d.refuse(fault.New(fault.Unavailable, "The database is full."))
	p.fill("#f-line", "free")
	p.click("[type=submit]")
	p.until(`document.querySelector(".form-note")`)
	if note := p.text(".form-note"); !strings.HasPrefix(note, "The database is full.") {
		t.Errorf("note = %q, want what the server says", note)
	}
	d.refuse(nil)
	sentOne(p, d)
}

// Where the module fails, the browser does what it always did.
func TestFormWorksWhenItsModuleFails(t *testing.T) {
	t.Parallel()
	d, p := openForm(t, twoTexts)
	p.fill("#f-line", "plain")
	evaluate[bool](p, `(Array.prototype.filter = () => { throw new Error("broken"); }, true)`)
	p.expect("broken")
	if got, want := sentOne(p, d), `{"line":"plain"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func TestFormWorksWithoutStorage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, twoTexts)
	p := openTab(t, func(p *tab) {
		call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `Storage.prototype.setItem = () => { throw new DOMException("", "QuotaExceededError"); };`})
	})
	p.visit(d.URL + "/task")
	p.until(`document.querySelector("structured-form")?.fields`)
	p.fill("#f-line", "full disk")
	if got, want := sentOne(p, d), `{"line":"full disk"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func TestFormWithoutScripts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `{"title":"Plain","schema":{"type":"object","required":["name","twin"],"properties":{
		"twin":{"enum":["y","y","z"],"enumNames":["First","Second","Third"]},"name":{"type":"string","title":"Your name"},
		"list":{"enum":["1","2","3","4","5","6","7","8"],"default":"2"},"text":{"type":"string","format":"multiline","default":"\n\na"},
		"on":{"type":"boolean","default":true}}}}`)
	p := openTab(t, withoutScripts)
	p.expect("status of 422")
	p.visit(d.URL + "/task")
	p.click("label:has(> " + optionOf("twin", 1) + ")")
	p.click("#f-on")
	p.click("[type=submit]")
	p.until(`document.querySelector(".form-summary")`)
	p.shot("refused")
	if diff := cmp.Diff(map[string]string{"name": "Required"}, shownErrors(p)); diff != "" {
		t.Errorf("errors mismatch (-want +got):\n%s", diff)
	}
	if got := p.focused(); got != "f-name" {
		t.Errorf("focus = %q, want the field that is wrong", got)
	}
	if p.count(optionOf("twin", 1)+":checked") != 1 || p.count("#f-on:checked") != 0 {
		t.Error("what was chosen is not kept")
	}
	p.click(".form-summary a")
	if got := evaluate[string](p, `location.hash`); got != "#f-name" {
		t.Errorf("the summary leads to %q, want the field", got)
	}
	p.fill("#f-name", "Grace")
	if got, want := sentOne(p, d), `{"twin":"y","name":"Grace","list":"2","text":"\n\na","on":false}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func TestFormCountsCharacters(t *testing.T) {
	t.Parallel()
	_, p := openForm(t, oneOf(t, map[string]any{"type": "string", "title": "Note", "maxLength": 20}))
	count := func() string { return p.text(".field-count") }
	if got := count(); got != "" {
		t.Errorf("count = %q before anything was typed, want none", got)
	}
	p.fill("#f-v", "😀é")
	if got := count(); got != "18 left" {
		t.Errorf("count = %q, want characters as people see them", got)
	}
	if got := p.text("[role=status].visually-hidden"); got != "" {
		t.Errorf("announced %q far from the limit", got)
	}
	p.paste(strings.Repeat("x", 17))
	p.until(`document.querySelector("[role=status].visually-hidden").textContent === "Note: 1 left"`)
	p.paste("xxx")
	if got := count(); got != "2 too many" {
		t.Errorf("count = %q, want how many are too many", got)
	}
	if got := len(p.value("#f-v")); got != len("😀é")+20 {
		t.Errorf("%d bytes are left of the text: something was cut off", got)
	}
}

func TestFormGrowsWithItsText(t *testing.T) {
	t.Parallel()
	_, p := openForm(t, oneOf(t, map[string]any{"type": "string", "format": "multiline"}))
	height := func() float64 { return evaluate[float64](p, `document.querySelector("#f-v").offsetHeight`) }
	before := height()
	p.fill("#f-v", strings.Repeat("line\n", 10))
	if after := height(); after < 2*before {
		t.Errorf("height = %v after ten lines, and %v before: it does not grow", after, before)
	}
}

// Everything hostile is text: no element comes of it, and no attribute that
// loads or runs something.
func TestFormIsInert(t *testing.T) {
	t.Parallel()
	const evil = `\"'><img src=x onerror=alert(1)><script>alert(1)</script></textarea></select><style>*{display:none}</style>javascript:alert(1)`
	_, p := openForm(t, fmt.Sprintf(`{"title":"%[1]s","description":"%[1]s","submitLabel":"</button>%[1]s","schema":{"type":"object","required":["t"],"properties":{
		"t":{"type":"string","title":"%[1]s","description":"%[1]s","default":"%[1]s"},
		"m":{"type":"string","format":"multiline","title":"%[1]s","default":"%[1]s"},
		"r":{"title":"%[1]s","enum":["%[1]s","x"],"default":"%[1]s"},
		"l":{"enum":["%[1]s","2","3","4","5","6","7","8"]},
		"b":{"type":"boolean","title":"%[1]s"}}}}`, evil))
	form := "structured-form "
	if n := p.count(form + ":is(img, script, style, iframe, link, object, embed, a, svg)"); n > 0 {
		t.Errorf("%d elements came of the agent's texts", n)
	}
	attributes := evaluate[[]string](p, `[...new Set(Array.from(document.querySelectorAll("structured-form, structured-form *"), (element) =>
		[...element.attributes].filter((attribute) => attribute.value.includes("javascript:")).map((attribute) => attribute.name)).flat())].sort()`)
	if diff := cmp.Diff([]string{"aria-label", "value"}, attributes); diff != "" {
		t.Errorf("attributes with an agent's text mismatch (-want +got):\n%s", diff)
	}
	whole := strings.ReplaceAll(evil, `\"`, `"`)
	if p.value("#f-t") != whole || p.value("#f-m") != whole {
		t.Errorf("defaults = %q and %q, want them as they are", p.value("#f-t"), p.value("#f-m"))
	}
}

// A screen reader finds a name for every control, and the hint, the rule and the
// error with it.
func TestFormIsSpoken(t *testing.T) {
	t.Parallel()
	_, p := openForm(t, `{"title":"Deploy","schema":{"type":"object","required":["n","pick"],"properties":{
		"n":{"type":"integer","title":"Replicas","description":"How many copies.","minimum":1,"maximum":10},
		"note":{"type":"string","title":"Note","format":"multiline"},
		"pick":{"title":"Where","enum":["a","a\u200b"],"description":"Careful."},
		"list":{"title":"Region","enum":["1","2","3","4","5","6","7","8"]},
		"ok":{"type":"boolean","title":"Dry run","description":"Changes nothing."}}}}`)
	p.click("[type=submit]")
	p.until(`document.querySelector(".field-error")`)
	want := []string{
		`form "Deploy" "" required=false invalid=false`,
		`textbox "Replicas" "How many copies. A whole number, 1 to 10 Required" required=true invalid=true`,
		`textbox "Note optional" "" required=false invalid=false`,
		`radiogroup "Where" "Careful. Required" required=true invalid=true`,
		`radio "a" "" required=false invalid=false`,
		`radio "a hidden character U+200B zero width space" "" required=false invalid=false`,
		`combobox "Region optional" "" required=false invalid=false`,
		`checkbox "Dry run" "Changes nothing." required=false invalid=false`,
		`button "Submit" "" required=false invalid=false`,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, spoken(p)); diff != "" {
		t.Errorf("what is spoken mismatch (-want +got):\n%s", diff)
	}
}

// spoken lists the controls with role, name, description and state, sorted.
func spoken(p *tab) []string {
	p.Helper()
	roles := map[string]bool{
		"form": true, "textbox": true, "radiogroup": true, "radio": true, "combobox": true, "checkbox": true, "button": true,
	}
	var lines []string
	for _, node := range call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		role := spokenText(node.Role)
		if node.Ignored || !roles[role] {
			continue
		}
		required, invalid := false, false
		for _, property := range node.Properties {
			switch property.Name {
			case accessibility.PropertyNameRequired:
				required = spokenText(property.Value) == "true"
			case accessibility.PropertyNameInvalid:
				invalid = spokenText(property.Value) == "true"
			}
		}
		lines = append(lines, fmt.Sprintf("%s %q %q required=%v invalid=%v",
			role, spokenText(node.Name), spokenText(node.Description), required, invalid))
	}
	slices.Sort(lines)
	return lines
}

func spokenText(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	return strings.Join(strings.Fields(strings.Trim(string(value.Value), `"`)), " ")
}
