package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// tabTo goes on with the Tab key until an element has the focus, and sees where
// the focus is at every stop.
func (p *tab) tabTo(css string) {
	p.Helper()
	for range 40 {
		p.press(kb.Tab)
		stop := evaluate[struct {
			There, Seen bool
			What        string
		}](p, `(() => {
			const at = document.activeElement;
			const seen = (element, part) => element && getComputedStyle(element, part).outlineStyle !== "none";
			return {
				there: at.matches(args[0]),
				seen: Boolean(seen(at) || seen(at, "::after") || seen(at.closest("label"))),
				what: at.outerHTML.slice(0, 120),
			};
		})()`, css)
		if !stop.Seen {
			p.Errorf("nobody sees that the focus is on %s", stop.What)
		}
		if stop.There {
			return
		}
	}
	p.Fatalf("the Tab key does not lead to %s", css)
}

// TestKeyboardAlone goes past the navigation, opens the task that waits and
// answers its form, all with the keyboard alone.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "form", "Deploy the shop")
	p.visit(s.URL() + "/tasks")
	p.isLive()
	p.press(kb.Tab)
	if got := evaluate[string](p, `document.activeElement.innerText`); got != "Skip to content" {
		t.Fatalf("the first stop is %q, want the way past the navigation", got)
	}
	if !evaluate[bool](p, `document.activeElement.getBoundingClientRect().top >= 0`) {
		t.Error("the skip link cannot be seen when it has the focus")
	}
	p.press(kb.Enter)
	p.until(`document.activeElement.id === "main"`)
	p.tabTo(".row-link")
	p.press(kb.Enter)
	p.until(`location.pathname === "/tasks/" + args[0] && document.querySelector("structured-form")?.fields`, id)

	p.tabTo("[name='f.environment']")
	p.press(" ")
	p.press(kb.ArrowDown)
	p.tabTo("#f-replicas")
	p.press("a", ctrl)
	p.typeText("3")
	p.tabTo("#f-note")
	p.typeText("by hand")
	p.tabTo("#f-dryRun")
	p.press(" ")
	p.tabTo("structured-form [type=submit]")
	p.press(kb.Enter)
	s.TaskIn(id, "TASK_STATE_COMPLETED")
	p.until(`document.querySelector(".form-answered") && !document.querySelector("structured-form")`)
	answer := strings.Join(strings.Fields(p.text(".form-answered dl")), " ")
	for _, want := range []string{"Production, for customers", "Replicas 3", "by hand", "happen Yes"} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer is %q, want %q in it", answer, want)
		}
	}
	if !evaluate[bool](p, `document.activeElement !== document.body`) {
		t.Error("the focus is lost after the answer")
	}
}
