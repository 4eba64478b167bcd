package browser

import (
	"os"
	"testing"
)

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Nothing may stick out of the page to the side, however narrow it is, and
// whatever the agent wrote.
func TestFormFitsThePage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, readTestdata(t, "everything.json"))
	for name, options := range looks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openTab(t, options...)
			p.visit(d.URL + "/task")
			p.until(`customElements.get("structured-form")`)
			p.shot("drawn")
			if wide := evaluate[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
				t.Error("the page scrolls sideways")
			}
			p.click(`[type=submit]`)
			p.until(`document.querySelector(".field-error")`)
			p.shot("refused")
		})
	}
}

// looks are the pages that a form has to fit.
func looks() map[string][]tabOption {
	return map[string][]tabOption{
		"wide":                 {viewport(1280, 900)},
		"wide dark":            {viewport(1280, 900), preferDark},
		"phone":                {viewport(375, 812)},
		"phone dark":           {viewport(375, 812), preferDark},
		"as narrow as it gets": {viewport(320, 700)},
	}
}
