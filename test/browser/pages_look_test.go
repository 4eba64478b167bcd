package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// everyPage has the product in use, and returns the address of every kind of
// page by a name for it.
func everyPage(s *apptest.Server) map[string]string {
	pages := map[string]string{
		"tasks": "/tasks", "waiting": "/tasks?needs=you", "nothing fits": "/tasks?q=nowhere", "agents": "/agents", "new agent": "/agents/new",
		"form check": "/form-check?sample=every-kind", "not found": "/nowhere", "method not allowed": "/agents/any/tasks",
		"settings": "/settings", "people": "/settings/people", "new service account": "/settings/people/new", "teams": "/settings/teams", "new team": "/settings/teams/new", "access": "/settings/access",
		"tokens": "/settings/tokens", "new token": "/settings/tokens/new", "sessions": "/settings/sessions", "who sees an agent": "/agents/" + s.SampleAgent("form").ID + "/access",
		"audit": "/audit", "nothing on the trail": "/audit?kind=sign-in&from=2020-01-01", "retention": "/settings/retention",
		"credential": "/agents/" + s.SampleAgent("form").ID + "/credential",
	}
	for _, variant := range []string{"form", "plain", "invalid", "kitchen-sink", "slow"} {
		pages["task "+variant] = "/tasks/" + startTask(s, variant, "Begin with a longwordthatdoesnotendbeforethelineisfullandmoreofit and so on")
		pages["agent "+variant] = "/agents/" + s.SampleAgent(variant).ID
	}
	pages["trail of a task"] = pages["task form"] + "/trail"
	pages["task that ended"] = "/tasks/" + s.Send(s.SampleAgent("unknown").ID, map[string]string{"text": "Oslo?"}).TaskID
	pages["agent with an unknown extension"] = "/agents/" + s.SampleAgent("unknown").ID
	pages["start form"] = "/agents/" + s.SampleAgent("form").ID + "?start=form"
	pages["agent that is away"] = "/agents/" + s.Register("http://127.0.0.1:9/").ID
	return pages
}

// TestEveryPageHolds looks at every page in every size, and finds nothing that
// is cut off, too small to hit, without a name, or against the policy.
func TestEveryPageHolds(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.expect("status of 40")
	for name, address := range everyPage(s) {
		for _, width := range []int64{320, 768, 1280} {
			viewport(width, 800)(p)
			p.visit(s.URL() + address)
			where := fmt.Sprintf("%s at %d pixels", name, width)
			if got := evaluate[int64](p, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s scrolls sideways: it is %d wide", where, got)
			}
			if diff := cmp.Diff([]string{}, evaluate[[]string](p, tooSmall)); diff != "" {
				t.Errorf("%s has targets under 24 pixels:\n%s", where, diff)
			}
			p.shot(fmt.Sprintf("%s %d", name, width))
		}
		if diff := cmp.Diff([]string{}, evaluate[[]string](p, structureFaults)); diff != "" {
			t.Errorf("%s has faults in its structure:\n%s", name, diff)
		}
	}
}

// tooSmall lists what can be pressed and is smaller than WCAG 2.2, 2.5.8 asks,
// links in a line of text aside. Forms have tests of their own.
const tooSmall = `Array.from(document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary"))
	.filter((element) => element.checkVisibility())
	.filter((element) => !(element.localName === "a" && getComputedStyle(element).display === "inline"))
	.filter((element) => !element.closest(".skip, structured-form"))
	.filter((element) => {
		const target = element.closest(element.matches(".row-link") ? ".row" : "label") ?? element;
		const box = target.getBoundingClientRect();
		return box.width < 24 || box.height < 24;
	})
	.map((element) => element.outerHTML.slice(0, 120))`

// structureFaults lists what a screen reader or a keyboard would stumble over.
const structureFaults = `(() => {
	const faults = [];
	const say = (fault, element) => faults.push(fault + ": " + (element?.outerHTML ?? "").slice(0, 120));
	for (const [css, count] of [["h1", 1], ["main", 1], ["nav[aria-label=Main]", 1], ["html[lang]", 1]]) {
		if (document.querySelectorAll(css).length !== count) say("not " + count + " of " + css);
	}
	const ids = new Set();
	for (const element of document.querySelectorAll("[id]")) {
		if (ids.has(element.id)) say("the ID is there twice", element);
		ids.add(element.id);
	}
	for (const element of document.querySelectorAll("[aria-describedby], [aria-labelledby], label[for], [commandfor]")) {
		for (const name of ["aria-describedby", "aria-labelledby", "for", "commandfor"]) {
			for (const id of (element.getAttribute(name) ?? "").split(" ").filter(Boolean)) {
				if (!ids.has(id)) say(name + " names nothing", element);
			}
		}
	}
	for (const control of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
		if (!control.labels?.length && !control.ariaLabel) say("no label", control);
	}
	for (const element of document.querySelectorAll("a, button, summary")) {
		if (!element.innerText.trim() && !element.ariaLabel && element.checkVisibility()) say("no name", element);
	}
	let level = 0;
	for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
		const next = Number(heading.localName[1]);
		if (next > level + 1) say("a level of headings is left out", heading);
		level = next;
	}
	return faults;
})()`

// TestTheme chooses a theme and finds it again on the next page, before
// anything is painted.
func TestTheme(t *testing.T) {
	t.Parallel()
	s, p := product(t, preferDark)
	background := `getComputedStyle(document.body).backgroundColor`
	p.visit(s.URL() + "/tasks")
	dark := evaluate[string](p, background)
	p.until(`customElements.get("theme-switch")`)
	p.click(`theme-switch input[value=light]`)
	light := evaluate[string](p, background)
	if light == dark {
		t.Fatalf("both themes have the background %s", dark)
	}
	p.visit(s.URL() + "/agents")
	if got := evaluate[string](p, background); got != light {
		t.Errorf("on the next page the background is %s, want %s", got, light)
	}
	if !evaluate[bool](p, `document.querySelector("theme-switch input[value=light]").checked`) {
		t.Error("the switch does not show the theme that holds")
	}
	p.click(`theme-switch input[value=system]`)
	if got := evaluate[string](p, background); got != dark {
		t.Errorf("by the system the background is %s, want %s", got, dark)
	}
}

// TestTimes shows times relative to now, with the exact one at hand.
func TestTimes(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks")
	p.until(`document.querySelector(".row-time time").innerText === "just now"`)
	if got := evaluate[string](p, `document.querySelector(".row-time time").title`); !strings.Contains(got, ":") {
		t.Errorf("on hover stands %q, want the exact time", got)
	}
	path := evaluate[string](p, `document.querySelector("script[type=module]").src.replace("app.js", "times.js")`)
	words := evaluate[[]string](p, `import(args[0]).then(({ inWords }) => {
		const now = new Date("2026-11-30T12:00:00Z");
		return [0, 44, 46, 3000, 3 * 3600, 26 * 3600, 6 * 86400, 8 * 86400, 400 * 86400, -60, -8 * 3600, -26 * 3600, -90 * 86400].map((ago) => inWords(new Date(now - ago * 1000), now));
	})`, path)
	want := []string{"just now", "just now", "1 minute ago", "50 minutes ago", "3 hours ago", "yesterday", "6 days ago", "Nov 22", "Oct 26, 2025", "just now", "in 8 hours", "tomorrow", "Feb 28, 2027"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("words mismatch (-want +got):\n%s", diff)
	}
}
