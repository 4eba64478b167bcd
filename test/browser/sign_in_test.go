package browser

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app/apptest"
)

// trusting has a tab take the certificates of the test.
func trusting(p *tab) {
	p.Helper()
	call(p, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
}

// signIn signs in from the page to sign in, as whoever the provider is told.
func (p *tab) signIn(subject string) {
	p.Helper()
	p.until(`document.querySelector("#sign-in")`)
	p.click("#sign-in")
	p.until(`document.querySelector("#subject")`)
	p.fill("#subject", subject)
	p.click("#login")
}

// holds looks at a page in every size, and at its colours and its structure.
func (p *tab) holds(name string) {
	p.Helper()
	for _, width := range []int64{320, 375, 500, 1280} {
		viewport(width, 800)(p)
		if got := evaluate[int64](p, `document.documentElement.scrollWidth`); got > width {
			p.Errorf("%s at %d pixels scrolls sideways: it is %d wide", name, width, got)
		}
		if diff := cmp.Diff([]string{}, evaluate[[]string](p, tooSmall)); diff != "" {
			p.Errorf("%s at %d pixels has targets under 24 pixels:\n%s", name, width, diff)
		}
		for _, scheme := range []string{"light", "dark"} {
			p.emulate("prefers-color-scheme", scheme)
			if diff := cmp.Diff([]string{}, evaluate[[]string](p, faintTexts)); diff != "" {
				p.Errorf("%s in %s has texts that are hard to read:\n%s", name, scheme, diff)
			}
			p.shot(fmt.Sprintf("%s %d %s", name, width, scheme))
		}
	}
	faults := evaluate[[]string](p, structureFaults)
	if p.has(".outside") { // where there is nothing to navigate to
		faults = slices.DeleteFunc(faults, func(f string) bool { return strings.HasPrefix(f, "not 1 of nav") })
	}
	if diff := cmp.Diff([]string{}, faults); diff != "" {
		p.Errorf("%s has faults in its structure:\n%s", name, diff)
	}
}

// TestSignIn is the whole way of somebody in, and out again.
func TestSignIn(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{SampleAgents: true})
	c.Member("ada", "Ada Lovelace", access.Admin)
	p := openTab(t, trusting)
	p.visit(c.Origin + "/tasks?needs=you")
	p.until(`location.pathname === "/signin"`)
	p.holds("sign in")
	p.signIn("ada")
	p.until(`location.pathname + location.search === "/tasks?needs=you" && document.querySelector(".who")`)
	p.isLive()

	p.click(".who summary")
	p.until(`document.querySelector(".who").open`)
	if got := p.text(".who-panel"); !strings.Contains(got, "Ada Lovelace") || !strings.Contains(got, "Administrator") {
		t.Errorf("the menu says %q", got)
	}
	p.holds("signed in")
	if got := evaluate[string](p, `document.cookie`); strings.Contains(got, "taskbay=") {
		t.Errorf("scripts see the cookies %q", got)
	}
	p.click(".who form button")
	p.until(`location.pathname === "/signin" && document.querySelector("h1").innerText === "You are signed out"`)
	p.holds("signed out")
	p.visit(c.Origin + "/agents")
	p.until(`location.pathname + location.search === "/signin?to=%2Fagents"`)
}

// TestSignInByKeyboardWithoutScripts signs in without a mouse and without scripts.
func TestSignInByKeyboardWithoutScripts(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{})
	c.Member("ada", "Ada Lovelace", access.Viewer)
	p := openTab(t, trusting, withoutScripts)
	p.visit(c.Origin + "/agents")
	p.until(`location.pathname === "/signin"`)
	p.press(kb.Tab)
	if p.focused() != "sign-in" {
		t.Fatalf("the first key goes to %q, want the button", p.focused())
	}
	p.press(kb.Enter)
	p.until(`document.querySelector("#subject")`)
	p.fill("#subject", "ada")
	p.press(kb.Enter)
	p.until(`location.pathname === "/agents" && document.querySelector(".who-name").innerText === "Ada Lovelace"`)
}

// TestNotSignedIn has somebody who says no, and somebody who is no member, see why they
// are where they are, and try again.
func TestNotSignedIn(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{Log: slog.New(slog.DiscardHandler)})
	c.Member("ada", "Ada Lovelace", access.Operator)
	p := openTab(t, trusting)
	p.expect("status of 401")
	p.visit(c.Origin + "/signin")
	p.signIn("eve")
	p.until(`document.querySelector("h1").innerText === "You could not be signed in"`)
	p.holds("not signed in")
	p.click("main .button")
	p.until(`document.querySelector("#sign-in")`)
	p.click("#sign-in")
	p.until(`document.querySelector("#deny")`)
	p.click("#deny")
	p.until(`document.querySelector("h1").innerText === "You could not be signed in"`)
	p.click("main .button")
	p.signIn("ada")
	p.until(`document.querySelector(".who-name")?.innerText === "Ada Lovelace"`)
}

// TestTwoPeople has two people in two browsers, each of whom is who they are.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{})
	c.Member("ada", "Ada Lovelace", access.Admin)
	gone := c.Member("bob", "Bob", access.Viewer)
	ada, bob := openTab(t, trusting), openTab(t, trusting)
	for subject, p := range map[string]*tab{"ada": ada, "bob": bob} {
		p.visit(c.Origin + "/tasks")
		p.signIn(subject)
		p.until(`document.querySelector(".who-name")`)
	}
	if a, b := ada.text(".who-name"), bob.text(".who-name"); a != "Ada Lovelace" || b != "Bob" {
		t.Errorf("signed in are %q and %q", a, b)
	}
	bob.isLive()
	bob.expect("401")
	c.Disable(gone)
	bob.until(`document.querySelector("live-region").innerText.startsWith("You are signed out.")`)
	bob.shot("signed out while looking")
	bob.visit(c.Origin + "/tasks")
	bob.until(`location.pathname === "/signin"`)
	ada.reload()
	ada.until(`document.querySelector(".who-name").innerText === "Ada Lovelace"`)
}

// TestDraftsAreTheirWritersOwn has two people use one browser: what one typed is there
// for them when they are back, and not for the other.
func TestDraftsAreTheirWritersOwn(t *testing.T) {
	t.Parallel()
	c := apptest.StartConsole(t, apptest.Options{SampleAgents: true})
	c.Member("ada", "Ada Lovelace", access.Admin)
	c.Member("ben", "Ben Bitdiddle", access.Admin)
	p := openTab(t, trusting)
	p.visit(c.Origin + "/agents")
	p.until(`location.pathname === "/signin"`)
	p.signIn("ada")
	p.until(`document.querySelector('main a[href^="/agents/"]')`)
	agent := c.Origin + evaluate[string](p, `[...document.querySelectorAll('main a[href^="/agents/"]')].map(a => a.getAttribute("href")).find(h => !h.includes("new"))`)
	const typed = `document.querySelector("message-composer textarea")?.value`
	change := func(subject string) {
		p.click(".who summary")
		p.click(".who form button")
		p.until(`location.pathname === "/signin"`)
		p.visit(agent)
		p.until(`document.querySelector("#sign-in")`)
		p.signIn(subject)
		p.until(`document.querySelector("message-composer textarea") && customElements.get("message-composer")`)
	}

	p.visit(agent)
	p.until(`document.querySelector("message-composer textarea") && customElements.get("message-composer")`)
	p.fill("message-composer textarea", "between us")
	p.until(`Object.values(localStorage).some(v => v.includes("between us"))`)
	change("ben")
	if got := evaluate[string](p, typed); got != "" {
		t.Errorf("another person finds %q typed", got)
	}
	change("ada")
	if got := evaluate[string](p, typed); got != "between us" {
		t.Errorf("its writer finds %q typed, want what was typed", got)
	}
}
