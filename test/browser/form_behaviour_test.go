package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// oneOf is a definition with a single property v.
func oneOf(t *testing.T, property map[string]any, required ...string) string {
	t.Helper()
	definition, err := json.Marshal(map[string]any{"schema": map[string]any{
		"type": "object", "properties": map[string]any{"v": property}, "required": required,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(definition)
}

// openForm asks a question and opens its form.
func openForm(t *testing.T, definition string, options ...tabOption) (*desk, *tab) {
	t.Helper()
	d := newDesk(t, definition)
	p := openTab(t, options...)
	p.visit(d.URL + "/task")
	p.until(`document.querySelector("structured-form")?.fields`)
	return d, p
}

// sentOne submits with the button and returns the one answer that was taken.
func sentOne(p *tab, d *desk) string {
	p.Helper()
	p.click("[type=submit]")
	p.until(`location.pathname === "/sent"`)
	return onlyAnswer(p, d)
}

func onlyAnswer(p *tab, d *desk) string {
	p.Helper()
	taken := d.taken()
	if len(taken) != 1 {
		p.Fatalf("%d answers were taken, want 1: %s", len(taken), taken)
	}
	return string(taken[0])
}

func longLabelsWrap(t *testing.T) {
	value := strings.Repeat("0123456789", 20)
	d, p := openForm(t, oneOf(t, map[string]any{"enum": []string{value, "short"}}), viewport(375, 800))
	whole := evaluate[bool](p, `(() => {
		const label = document.querySelector(".form-option > span").getClientRects()[0];
		const card = document.querySelector("form").getBoundingClientRect();
		return label.right <= card.right && label.height > 40 && document.documentElement.scrollWidth <= innerWidth;
	})()`)
	if !whole {
		t.Error("the label is cut off, or the page scrolls sideways")
	}
	p.click("#f-v")
	if got, want := sentOne(p, d), fmt.Sprintf(`{"v":%q}`, value); got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func wheelChangesNothing(t *testing.T) {
	d, p := openForm(t, oneOf(t, map[string]any{"type": "integer", "default": 1111111}))
	p.click("#f-v")
	p.wheel("#f-v", 10)
	p.press(kb.ArrowUp)
	if got, want := sentOne(p, d), `{"v":1111111}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func directionStaysInside(t *testing.T) {
	const hebrew, arabic = "שלום עולם", "مرحبا 123"
	d, p := openForm(t, `{"schema":{"type":"object","properties":{
		"first":{"type":"string","title":"Turned \u202eedoc lortnoc","default":"`+hebrew+`"},
		"second":{"type":"string","title":"Second (b)","default":"`+arabic+`"}}}}`)
	// The brackets are where they are written: the second label reads from left
	// to right.
	inOrder := evaluate[bool](p, `(() => {
		const text = document.querySelector("[for=f-second] > span").firstChild;
		const x = (at) => {
			const range = document.createRange();
			range.setStart(text, at);
			range.setEnd(text, at + 1);
			return range.getBoundingClientRect().x;
		};
		return text.data.startsWith("Second (b)") && [...text.data.trim()].every((_, at) => at === 0 || x(at) > x(at - 1));
	})()`)
	if !inOrder {
		t.Error("the first label turns the second one around")
	}
	if label := p.text("[for=f-first]"); !strings.Contains(label, "U+202E") || strings.Contains(label, "\u202e") {
		t.Errorf("first label = %q, want a mark in place of the control character", label)
	}
	if got, want := sentOne(p, d), `{"first":"`+hebrew+`","second":"`+arabic+`"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func twinsAreToldApart(t *testing.T) {
	for name, filler := range map[string][]string{
		"all options visible": {},
		"in a list":           {"b", "c", "d", "e", "f", "g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := append([]string{"production", "pro\u200bduction"}, filler...)
			d, p := openForm(t, oneOf(t, map[string]any{"enum": options}))
			labels := evaluate[[]string](p, `Array.from(document.querySelectorAll(".form-option, option[value='0'], option[value='1']"), (o) => o.textContent.trim())`)
			if labels[0] != "production" || !strings.Contains(labels[1], "U+200B") {
				t.Errorf("labels = %q, want a visible mark in the second", labels[:2])
			}
			if p.has("select") {
				p.choose("#f-v", "1")
			} else {
				p.click(optionOf("v", 1))
			}
			if got, want := sentOne(p, d), "{\"v\":\"pro\u200bduction\"}"; got != want {
				t.Errorf("answer = %q, want %q", got, want)
			}
		})
	}
}

func deceptiveTextIsFlagged(t *testing.T) {
	const address = "https://p\u0430ypal.com/login"
	d, p := openForm(t, `{"schema":{"type":"object","properties":{
		"address":{"type":"string","default":"`+address+`"},
		"plain":{"type":"string","default":"https://example.com/"},
		"hidden":{"type":"string","default":"rm\u200b -rf"}}}}`)
	if note := p.text("#f-address-note"); !strings.Contains(note, "mixes alphabets") {
		t.Errorf("note = %q, want a warning of mixed alphabets", note)
	}
	if note := p.text("#f-hidden-note"); !strings.Contains(note, "hidden") || !strings.Contains(note, "U+200B") {
		t.Errorf("note = %q, want the hidden character shown", note)
	}
	if described := p.attribute("#f-address", "aria-describedby"); !strings.Contains(described, "f-address-note") {
		t.Errorf("the control is described by %q, want the note among it", described)
	}
	if p.has("#f-plain-note") {
		t.Error("an ordinary address is flagged")
	}
	if got, want := sentOne(p, d), "{\"address\":\""+address+"\",\"plain\":\"https://example.com/\",\"hidden\":\"rm\u200b -rf\"}"; got != want {
		t.Errorf("answer = %q, want %q", got, want)
	}
}

func reloadRestores(t *testing.T) {
	d, p := openForm(t, readTestdata(t, "everything.json"))
	p.click(optionOf("environment", 1))
	p.choose("#f-region", "6")
	p.fill("#f-replicas", "7")
	p.fill("#f-owner", "Grace")
	p.fill("#f-summary", "one\ntwo")
	p.click("label:has(> [name='f.strategy'][value=''])")
	p.click("#f-dryRun")
	p.click("#f-notify")
	before := standing(p)
	p.reload()
	p.until(`document.querySelector(".form-restored")`)
	p.shot("restored")
	if diff := cmp.Diff(before, standing(p)); diff != "" {
		t.Errorf("after a reload mismatch (-before +after):\n%s", diff)
	}
	p.click(".form-restored button")
	p.until(`!document.querySelector(".form-restored")`)
	p.reload()
	p.until(`document.querySelector("structured-form")?.fields`)
	if p.has(".form-restored") || p.value("#f-owner") != "" || p.value("#f-replicas") != "2" {
		t.Error("a discarded draft came back")
	}

	p.fill("#f-owner", "Ada")
	p.click("#f-environment")
	p.choose("#f-region", "0")
	p.click(optionOf("key", 1))
	sentOne(p, d)
	p.visit(d.URL + "/task")
	p.until(`document.querySelector("structured-form")?.fields`)
	if p.has(".form-restored") {
		t.Error("the draft of an answer that was sent came back")
	}
}

// standing is what stands in the controls, by key.
func standing(p *tab) map[string]any {
	p.Helper()
	return evaluate[map[string]any](p, `Object.fromEntries(document.querySelector("structured-form").fields.map((f) => [f.rule.key, f.state]))`)
}

func doubleClickSendsOnce(t *testing.T) {
	d, p := openForm(t, oneField)
	p.fill("#f-v", "once")
	release := d.hold()
	t.Cleanup(release)
	at := p.find("[type=submit]")
	p.clickAt(at)
	p.clickAt(at)
	p.press(kb.Enter)
	p.until(`document.querySelector("[type=submit]").ariaDisabled === "true" && document.querySelector(".form-status").textContent === "Sending…"`)
	if focus := evaluate[bool](p, `document.activeElement.type === "submit"`); !focus {
		t.Error("the button lost the focus while sending")
	}
	release()
	p.until(`location.pathname === "/sent"`)
	if posts := d.received(); len(posts) != 1 {
		t.Errorf("%d posts, want 1", len(posts))
	}
	onlyAnswer(p, d)
}

func refusalsDiffer(t *testing.T) {
	refusals := []*fault.Error{
		fault.New(fault.Conflict, "Grace answered at 10:32."),
		fault.New(fault.Conflict, "The task was canceled at 10:40."),
		fault.New(fault.NotFound, "There is no such task."),
	}
	for _, refusal := range refusals {
		t.Run(refusal.Message, func(t *testing.T) {
			t.Parallel()
			d, p := openForm(t, oneField, allowClipboard)
			p.expect("Failed to load resource")
			p.fill("#f-v", "half an hour of work")
			d.refuse(refusal)
			p.click("[type=submit]")
			p.until(`document.querySelector(".form-note[role=alert]")`)
			p.shot("refused")
			if note := p.text(".form-note"); !strings.HasPrefix(note, refusal.Message) {
				t.Errorf("note = %q, want it to start with %q", note, refusal.Message)
			}
			checkKept(p, d)
		})
	}
}

// checkKept checks that a closed form keeps its text to be copied, and sends
// nothing more.
func checkKept(p *tab, d *desk) {
	p.Helper()
	kept := evaluate[bool](p, `(() => {
		const text = document.querySelector("#f-v");
		return text.value === "half an hour of work" && text.readOnly && !text.disabled;
	})()`)
	if !kept {
		p.Error("the text is not kept, or cannot be selected and copied")
	}
	sent := len(d.received())
	p.click("#f-v")
	p.press(kb.Enter)
	p.click(".form-note button")
	if copied := evaluate[string](p, `navigator.clipboard.readText().catch(String)`); copied != "v: half an hour of work" {
		p.Errorf("copied %q, want the label and the text", copied)
	}
	if len(d.received()) != sent {
		p.Error("a closed form was sent")
	}
}

func goneQuestionClosesForm(t *testing.T) {
	t.Run("something was typed", func(t *testing.T) {
		t.Parallel()
		d, p := openForm(t, oneField, allowClipboard)
		p.fill("#f-v", "half an hour of work")
		stays := evaluate[bool](p, `document.querySelector("structured-form").close("The task was canceled.")`)
		if !stays {
			t.Error("close() = false, want the form to stay because of what was typed")
		}
		if note := p.text(".form-note"); !strings.HasPrefix(note, "The task was canceled.") {
			t.Errorf("note = %q, want the reason", note)
		}
		checkKept(p, d)
	})
	t.Run("nothing was typed", func(t *testing.T) {
		t.Parallel()
		_, p := openForm(t, oneField)
		if evaluate[bool](p, `document.querySelector("structured-form").close("The task was canceled.")`) {
			t.Error("close() = true, want an untouched form to be removed")
		}
	})
	t.Run("while the answer is on its way", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, oneField)
		d.location = "/task"
		p := openTab(t)
		p.visit(d.URL + "/task")
		p.until(`document.querySelector("structured-form")?.fields`)
		p.fill("#f-v", "quick")
		release := d.hold()
		t.Cleanup(release)
		p.click("[type=submit]")
		p.until(`document.querySelector(".form-status").textContent === "Sending…"`)
		stays := evaluate[bool](p, `document.querySelector("structured-form").close("Answered.")`)
		if !stays || p.has(".form-note") {
			t.Error("the form was closed before it was known what became of the answer")
		}
		release()
		p.until(`!document.querySelector("structured-form")`)
		if got := p.focused(); got != "main" {
			t.Errorf("the focus is on %q, want it on the content that is left", got)
		}
		onlyAnswer(p, d)
	})
	t.Run("answered in another window", func(t *testing.T) {
		t.Parallel()
		d, p := openForm(t, oneField, allowClipboard)
		p.fill("#f-v", "half an hour of work")
		other := p.another()
		other.visit(d.URL + "/task")
		other.until(`document.querySelector("structured-form")?.fields`)
		other.fill("#f-v", "faster")
		sentOne(other, d)
		p.until(`document.querySelector(".form-note")`)
		if note := p.text(".form-note"); !strings.Contains(note, "another window") {
			t.Errorf("note = %q, want it to say where the answer came from", note)
		}
		checkKept(p, d)
	})
	t.Run("without scripts", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, oneField)
		p := openTab(t, withoutScripts)
		p.expect("status of 409")
		p.visit(d.URL + "/task")
		p.fill("#f-v", "half an hour of work")
		d.refuse(fault.New(fault.Conflict, "Grace answered at 10:32."))
		p.click("[type=submit]")
		p.until(`document.querySelector(".form-note")?.innerText.startsWith("Grace answered at 10:32.")`)
		if p.value("#f-v") != "half an hour of work" || p.attribute("#f-v", "readonly") != "" && p.has("#f-v:disabled") {
			t.Error("the text is not kept to be copied")
		}
	})
}

func nothingTimesOut(t *testing.T) {
	d, p := openForm(t, oneField)
	p.fill("#f-v", "thought about")
	// The page's clock stands while an answer is on its way, which takes real time.
	p.letPass(3*time.Hour, emulation.VirtualTimePolicyPauseIfNetworkFetchesPending)
	call(p, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending,
	})
	if got, want := sentOne(p, d), `{"v":"thought about"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

// letPass makes time pass for the page, within moments. Its clock stands then.
func (p *tab) letPass(time time.Duration, policy emulation.VirtualTimePolicy) {
	p.Helper()
	expired := chromedp.Events(p.ctx, emulation.VirtualTimeBudgetExpired)
	budget := float64(time.Milliseconds())
	call(p, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{Policy: policy, Budget: &budget})
	for _, err := range expired {
		if err != nil {
			p.Fatal(err)
		}
		break
	}
}

func inputMethodEnterSendsNothing(t *testing.T) {
	d, p := openForm(t, oneField)
	p.click("#f-v")
	call(p, input.ImeSetComposition, input.ImeSetCompositionParams{Text: "にほん", SelectionStart: 3, SelectionEnd: 3})
	enterOfInputMethod(p)
	p.paste("日本")
	// Some browsers end the composition before they report the key.
	enterOfInputMethod(p)
	if posts := d.received(); len(posts) > 0 || p.has(".field-error") {
		t.Fatalf("the input method's Enter sent %v", posts)
	}
	p.press(kb.Enter)
	p.until(`location.pathname === "/sent"`)
	if got, want := onlyAnswer(p, d), `{"v":"日本"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

// enterOfInputMethod presses Enter as browsers report it while an input method
// handles it: with the key code 229.
func enterOfInputMethod(p *tab) {
	p.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		params := input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 229}
		if kind == input.DispatchKeyEventTypeKeyDown {
			params.Text = "\r"
		}
		call(p, input.DispatchKeyEvent, params)
	}
}

func pristineIsNotInvalid(t *testing.T) {
	_, p := openForm(t, `{"schema":{"type":"object","required":["a","b"],"properties":{
		"a":{"type":"string"},"b":{"type":"integer"},"c":{"enum":["x"]}}}}`)
	const invalid = `[aria-invalid], .field-error, [required]`
	if p.has(invalid) {
		t.Error("a pristine control is invalid")
	}
	p.click("#f-b")
	p.press(kb.Tab)
	if p.has(invalid) {
		t.Error("a control that was only passed is invalid")
	}
	p.click("#f-b")
	p.typeText("1x")
	if p.has(invalid) {
		t.Error("a control is invalid while it is typed into")
	}
	p.press(kb.Tab)
	if got := p.attribute("#f-b", "aria-invalid"); got != "true" {
		t.Errorf("aria-invalid = %q after leaving a wrong number, want true", got)
	}
	if described := p.attribute("#f-b", "aria-describedby"); !strings.Contains(described, "f-b-error") {
		t.Errorf("described by %q, want the error among it", described)
	}
	if role := p.attribute("#f-b-error", "role"); role != "alert" {
		t.Errorf("role of the error = %q, want alert", role)
	}
	p.click("#f-b")
	p.press(kb.End)
	p.press(kb.Backspace)
	if p.has(invalid) {
		t.Error("a corrected control is invalid")
	}
	p.click("[type=submit]")
	p.until(`document.activeElement.id === "f-a"`)
	if diff := cmp.Diff(map[string]string{"a": "Required"}, shownErrors(p)); diff != "" {
		t.Errorf("errors mismatch (-want +got):\n%s", diff)
	}
}

func rightToLeft(t *testing.T) {
	d, p := openForm(t, `{"title":"طلب","description":"وصف","schema":{"type":"object","properties":{
		"name":{"type":"string","title":"שם","description":"תיאור","default":"דוד"},
		"note":{"type":"string","title":"Note","format":"multiline","default":"أهلا"},
		"pick":{"enum":["أ","b"],"title":"اختر"}}}}`)
	directions := evaluate[map[string]string](p, `Object.fromEntries(Object.entries(args[0]).map(
		([name, css]) => [name, getComputedStyle(document.querySelector(css)).direction]))`, map[string]string{
		"title": ".form-title", "description": ".form-description", "label": "[for=f-name]", "hint": "#f-name-hint",
		"input": "#f-name", "Latin label": "[for=f-note]", "area": "#f-note", "legend": "legend",
		"option": ".form-option:has(#f-pick)", "Latin option": ".form-option:has(" + optionOf("pick", 1) + ")",
	})
	want := map[string]string{
		"title": "rtl", "description": "rtl", "label": "rtl", "hint": "rtl", "input": "rtl", "Latin label": "ltr",
		"area": "rtl", "legend": "rtl", "option": "rtl", "Latin option": "ltr",
	}
	if diff := cmp.Diff(want, directions); diff != "" {
		t.Errorf("directions mismatch (-want +got):\n%s", diff)
	}
	p.shot("drawn")
	p.click("#f-pick")
	if got, want := sentOne(p, d), `{"name":"דוד","note":"أهلا","pick":"أ"}`; got != want {
		t.Errorf("answer = %s, want %s", got, want)
	}
}

func shortListsAreOpen(t *testing.T) {
	options := []string{"one", "two", "three", "four", "five", "six", "seven"}
	_, p := openForm(t, oneOf(t, map[string]any{"enum": options}, "v"))
	visible := evaluate[[]string](p, `Array.from(document.querySelectorAll(".form-option"))
		.filter((option) => option.checkVisibility() && option.getBoundingClientRect().height > 0)
		.map((option) => option.innerText.trim())`)
	if diff := cmp.Diff(options, visible); diff != "" {
		t.Errorf("visible options mismatch (-want +got):\n%s", diff)
	}
	if p.has(":checked") {
		t.Error("a choice is made before anyone made it")
	}
}
