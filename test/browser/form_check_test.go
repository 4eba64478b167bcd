package browser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openCheck(t *testing.T, query string, options ...tabOption) *tab {
	t.Helper()
	d := newDesk(t, oneField)
	p := openTab(t, options...)
	p.visit(d.URL + "/form-check" + query)
	return p
}

func TestFormCheckIsLive(t *testing.T) {
	t.Parallel()
	p := openCheck(t, "")
	p.until(`customElements.get("form-check")`)
	p.click("#definition")
	p.paste(`{"schema":{"type":"object","required":["a"],"properties":{"a":{"type":"text"}}}}`)
	p.until(`document.querySelector("#check-result").innerText.includes("is not drawn")`)
	if text := p.text("#check-result"); !strings.Contains(text, "/schema/properties/a/type") {
		t.Errorf("the verdict has no pointer to the fault:\n%s", text)
	}
	p.fill("#definition", `{"schema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer","pattern":"x"},"b":{"enum":["x","y"]}}}}`)
	p.until(`document.querySelector("#f-a")`)
	if text := p.text("#check-result"); !strings.Contains(text, "/schema/properties/a/pattern") {
		t.Errorf("there is no advice about what is ignored:\n%s", text)
	}
	if text := p.text("#check-answer"); !strings.HasPrefix(text, "Nothing yet") || !strings.HasSuffix(text, "\na: Required") {
		t.Errorf("answer = %q, want none and why while a required field is empty", text)
	}
	p.fill("#f-a", "12345678901234567890")
	p.click(optionOf("b", 1))
	if diff := cmp.Diff("{\n  \"a\": 12345678901234567890,\n  \"b\": \"y\"\n}", p.text("#check-answer")); diff != "" {
		t.Errorf("answer mismatch (-want +got):\n%s", diff)
	}

	// Another definition: what was entered stays where a field of its name does,
	// and a choice by its value.
	p.fill("#definition", `{"schema":{"type":"object","properties":{"c":{"type":"boolean","default":true},"b":{"enum":["y","z"]},"a":{"type":"integer","default":1}}}}`)
	p.until(`document.querySelector("#f-c")`)
	if diff := cmp.Diff("{\n  \"c\": true,\n  \"b\": \"y\",\n  \"a\": 12345678901234567890\n}", p.text("#check-answer")); diff != "" {
		t.Errorf("answer after the change mismatch (-want +got):\n%s", diff)
	}
	if p.has(".form-restored") {
		t.Error("a preview restores a draft")
	}
	p.fill("#f-a", "x")
	p.click("#check-result [type=submit]")
	p.until(`document.activeElement.id === "f-a"`)
	if diff := cmp.Diff(map[string]string{"a": "Enter a number"}, shownErrors(p)); diff != "" {
		t.Errorf("errors mismatch (-want +got):\n%s", diff)
	}

	// What cannot be checked leaves no verdict of what stood there before.
	evaluate[bool](p, `(window.fetch = async () => new Response("", { status: 413 }), true)`)
	p.fill("#definition", "{}")
	p.until(`document.querySelector("#check-result").innerText.startsWith("This could not be checked")`)
}

func TestFormCheckSamples(t *testing.T) {
	t.Parallel()
	p := openCheck(t, "")
	p.until(`customElements.get("form-check")`)
	p.click("#definition")
	p.paste("mine")
	p.click("a[href='/form-check?sample=broken']")
	p.until(`document.querySelector("#check-result").innerText.includes("is not drawn")`)
	p.shot("broken")
	p.click("a[href='/form-check?sample=every-kind']")
	p.until(`document.querySelector("#f-coffee")`)
	p.shot("every-kind")
	for range 2 {
		p.click("#definition")
		p.press("z", ctrl)
	}
	if got := p.value("#definition"); got != "mine" {
		t.Errorf("after undoing twice the definition is %q, want what was there before", got)
	}
	p.until(`document.querySelector("#check-result").innerText.includes("is not drawn")`)
	p.reload()
	p.until(`document.querySelector("#definition").value === "mine"`)
}

func TestFormCheckWithoutScripts(t *testing.T) {
	t.Parallel()
	p := openCheck(t, "?sample=deployment", withoutScripts)
	if text := p.text("#check-result"); !strings.Contains(text, "This form is drawn") {
		t.Errorf("no verdict on the sample:\n%s", text)
	}
	p.click(optionOf("environment", 1))
	p.fill("#f-replicas", "3")
	p.click("#check-result [type=submit]")
	p.until(`document.querySelector("#check-answer").innerText.includes('"replicas": 3')`)
	if diff := cmp.Diff("{\n  \"environment\": \"production\",\n  \"replicas\": 3,\n  \"dryRun\": false\n}", p.text("#check-answer")); diff != "" {
		t.Errorf("answer mismatch (-want +got):\n%s", diff)
	}
	p.fill("#definition", "{")
	p.click(".check-source [type=submit]")
	p.until(`document.querySelector("#check-result").innerText.includes("is not drawn")`)
}

func TestFormCheckFitsThePage(t *testing.T) {
	t.Parallel()
	for name, options := range looks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openCheck(t, "?sample=every-kind", options...)
			p.until(`customElements.get("form-check")`)
			p.shot("drawn")
			if evaluate[bool](p, `document.documentElement.scrollWidth > innerWidth`) {
				t.Error("the page scrolls sideways")
			}
		})
	}
}
