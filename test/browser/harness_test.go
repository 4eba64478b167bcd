// Package browser drives the console's pages in a real browser, as people do:
// with a mouse, a keyboard and an input method. Chromium must be in PATH.
// TASKBAY_SCREENSHOTS names a directory that receives pictures of what was seen.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long something that is bound to happen may take.
const patience = 15 * time.Second

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	chromium.stop()
	os.Exit(code)
}

// chromium is the one browser of this test binary. Every tab that openTab opens
// has a profile of its own in it.
var chromium browser

type browser struct {
	once  sync.Once
	ctx   context.Context
	stops []context.CancelFunc
	err   error
}

func (b *browser) start() (context.Context, error) {
	b.once.Do(func() {
		path, err := findChromium()
		if err != nil {
			b.err = err
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path),
			// Only pages of this machine are loaded, and containers often have
			// no namespaces for a sandbox.
			chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("headless", "new"),
			chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-component-update", true),
			chromedp.Flag("hide-scrollbars", true),
		)
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(allocator)
		b.ctx, b.stops = ctx, []context.CancelFunc{stop, stopAllocator}
		b.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	return b.ctx, b.err
}

func (b *browser) stop() {
	for _, stop := range b.stops {
		stop()
	}
}

var errNoChromium = errors.New("none of chromium, chromium-browser and google-chrome is in PATH")

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

// tab is a page in the browser. Its methods end the test when they fail. The
// test fails as well if the page violates the Content-Security-Policy, writes an
// error to the console or throws, except for what expect was told.
type tab struct {
	*testing.T
	ctx      context.Context
	mu       sync.Mutex
	faults   []string
	expected []string
}

// tabOption prepares a tab before it loads anything.
type tabOption func(*tab)

// openTab opens a tab with a fresh profile: no storage, no cache, no cookies. It
// is 1280 by 900 pixels.
func openTab(t *testing.T, options ...tabOption) *tab {
	t.Helper()
	root, err := chromium.start()
	switch {
	case errors.Is(err, errNoChromium) && os.Getenv("TASKBAY_CHECK") != "all":
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	return attach(t, root, append([]tabOption{viewport(1280, 900)}, options...), chromedp.WithNewBrowserContext())
}

// another opens a second tab of the same profile.
func (p *tab) another(options ...tabOption) *tab {
	p.Helper()
	return attach(p.T, p.ctx, append([]tabOption{viewport(1280, 900)}, options...))
}

func attach(t *testing.T, parent context.Context, options []tabOption, how ...chromedp.ContextOption) *tab {
	t.Helper()
	p := &tab{T: t}
	ctx, cancel := chromedp.NewContext(parent, append(how, chromedp.WithListener(p.listen))...)
	p.ctx = ctx
	t.Cleanup(func() {
		cancel()
		p.reportFaults()
	})
	p.do(chromedp.Navigate("about:blank"))
	for _, option := range options {
		option(p)
	}
	return p
}

// viewport sets the size of the page in CSS pixels.
func viewport(width, height int64) tabOption {
	return func(p *tab) { p.Helper(); p.do(chromedp.EmulateViewport(width, height)) }
}

// withoutScripts switches JavaScript off in the page.
func withoutScripts(p *tab) {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// preferDark makes the system's colour scheme dark.
func preferDark(p *tab) {
	p.Helper()
	p.emulate("prefers-color-scheme", "dark")
}

// allowClipboard lets the page write to the clipboard and read it, as if a person
// had agreed.
func allowClipboard(p *tab) {
	p.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		params := cdpbrowser.SetPermissionParams{
			Permission:       &cdpbrowser.PermissionDescriptor{Name: name},
			Setting:          cdpbrowser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
		}
		if _, err := chromedp.CallBrowser(p.ctx, cdpbrowser.SetPermission, params); err != nil {
			p.Fatal(err)
		}
	}
}

// listen runs in the loop that reads the browser's messages.
func (p *tab) listen(event any) {
	var fault string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = "exception: " + exceptionText(e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			fault = "console.error: " + consoleText(e.Args)
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			fault = string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL
		}
	}
	if fault == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fault)
}

func exceptionText(details *runtime.ExceptionDetails) string {
	if details.Exception != nil {
		return details.Exception.Description
	}
	return details.Text
}

func consoleText(args []*runtime.RemoteObject) string {
	var words []string
	for _, arg := range args {
		words = append(words, string(arg.Value)+arg.Description)
	}
	return strings.Join(words, " ")
}

// expect tells that errors with this text in them are part of the test.
func (p *tab) expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, text)
}

func (p *tab) reportFaults() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		if !containsAny(fault, p.expected) {
			p.Errorf("the page reported an error: %s", fault)
		}
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// do runs steps of chromedp.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx := p.ctx
	if chromedp.FromContext(ctx).Target != nil {
		// The first step opens the tab, whose life must not end with a deadline.
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = limited
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// call sends one command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.Fatal(err)
	}
	return result
}

// evaluate runs JavaScript in the page and returns its value, awaiting promises.
// Arguments are given to the expression as args.
func evaluate[T any](p *tab, expression string, args ...any) T {
	p.Helper()
	value, err := tryEvaluate[T](p, expression, args...)
	if err != nil {
		p.Fatalf("%s\n%v", expression, err)
	}
	return value
}

func tryEvaluate[T any](p *tab, expression string, args ...any) (T, error) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	encoded, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		p.Fatal(err)
	}
	source := fmt.Sprintf("(async (args) => (%s))(%s)", expression, encoded)
	return chromedp.Run(ctx, chromedp.Evaluate[T](source, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true, across navigations, and without
// scripts as well.
func (p *tab) until(expression string, args ...any) {
	p.Helper()
	again := time.NewTicker(15 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-again.C {
		// While a page is being replaced there is nothing to ask.
		if held, err := tryEvaluate[bool](p, "Boolean("+expression+")", args...); err == nil && held {
			return
		}
	}
	p.shot("timeout")
	p.Fatalf("never came true: %s", expression)
}

// visit loads an address and waits until its modules have run.
func (p *tab) visit(url string) {
	p.Helper()
	p.do(chromedp.Navigate(url))
}

func (p *tab) reload() {
	p.Helper()
	p.do(chromedp.Reload())
}

// has reports whether an element is there.
func (p *tab) has(css string) bool {
	p.Helper()
	return p.count(css) > 0
}

func (p *tab) count(css string) int {
	p.Helper()
	return evaluate[int](p, `document.querySelectorAll(args[0]).length`, css)
}

// text returns the text of an element as it is seen.
func (p *tab) text(css string) string {
	p.Helper()
	return evaluate[string](p, `document.querySelector(args[0]).innerText`, css)
}

// value returns what stands in a control.
func (p *tab) value(css string) string {
	p.Helper()
	return evaluate[string](p, `document.querySelector(args[0]).value`, css)
}

// attribute returns an attribute of an element, "" if it has none.
func (p *tab) attribute(css, name string) string {
	p.Helper()
	return evaluate[string](p, `document.querySelector(args[0]).getAttribute(args[1]) ?? ""`, css, name)
}

// focused returns the id of the element that has the focus.
func (p *tab) focused() string {
	p.Helper()
	return evaluate[string](p, `document.activeElement.id`)
}

// ctrl is the modifier of shortcuts.
const ctrl = chromedp.ModifierCtrl

// point is a place in the viewport.
type point struct{ X, Y float64 }

// find scrolls an element into view and returns its middle. Nothing may cover it.
func (p *tab) find(css string) point {
	p.Helper()
	type place struct {
		point
		Hit string
	}
	at := evaluate[*place](p, `(() => {
		const element = document.querySelector(args[0]);
		if (!element) return null;
		element.scrollIntoView({ block: "center", behavior: "instant" });
		const box = element.getClientRects()[0];
		if (!box) return null;
		const X = box.x + box.width / 2, Y = box.y + box.height / 2;
		const hit = document.elementFromPoint(X, Y);
		const touches = hit && (element.contains(hit) || hit.contains(element));
		return { X, Y, Hit: touches ? "" : hit?.outerHTML.slice(0, 200) ?? "nothing" };
	})()`, css)
	if at == nil {
		p.shot("missing")
		p.Fatalf("there is no visible %s", css)
	}
	if at.Hit != "" {
		p.shot("covered")
		p.Fatalf("%s is covered by %s", css, at.Hit)
	}
	return at.point
}

// click presses the left mouse button in the middle of an element.
func (p *tab) click(css string) {
	p.Helper()
	p.clickAt(p.find(css))
}

func (p *tab) clickAt(at point) {
	p.Helper()
	p.do(chromedp.MouseClickXY(at.X, at.Y))
}

// wheel rolls the mouse wheel over an element; a notch is 100 pixels.
func (p *tab) wheel(css string, notches int) {
	p.Helper()
	at := p.find(css)
	for range notches {
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseWheel, X: at.X, Y: at.Y, DeltaX: 0.01, DeltaY: 100,
		})
	}
}

// press presses a key, such as kb.Enter, with modifiers held.
func (p *tab) press(key string, modifiers ...chromedp.Modifier) {
	p.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// typeText types into whatever has the focus, key by key.
func (p *tab) typeText(text string) {
	p.Helper()
	p.do(chromedp.KeyEvent(text))
}

// paste enters a text at once, as a clipboard or an emoji keyboard does.
func (p *tab) paste(text string) {
	p.Helper()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// fill clicks into a control and replaces what stands in it.
func (p *tab) fill(css, text string) {
	p.Helper()
	p.click(css)
	p.press("a", ctrl)
	p.press("\b")
	p.paste(text)
}

// choose picks the option with this value in a list, as the keyboard would.
func (p *tab) choose(css, value string) {
	p.Helper()
	p.click(css)
	evaluate[bool](p, `(() => {
		const list = document.querySelector(args[0]);
		list.value = args[1];
		list.dispatchEvent(new Event("input", { bubbles: true }));
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`, css, value)
}

// shot saves a picture of the whole page, if TASKBAY_SCREENSHOTS names a
// directory.
func (p *tab) shot(name string) {
	p.Helper()
	dir := os.Getenv("TASKBAY_SCREENSHOTS")
	if dir == "" {
		return
	}
	whole := true
	result := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &whole, Clip: p.wholePage(),
	})
	file := filepath.Join(dir, strings.ReplaceAll(p.Name(), "/", "_")+"_"+name+".png")
	if err := os.WriteFile(file, result.Data, 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *tab) wholePage() *page.Viewport {
	size := call(p, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize
	if size.Width == 0 || size.Height == 0 {
		return nil // a page that is being replaced; the viewport will do
	}
	return &page.Viewport{Width: size.Width, Height: size.Height, Scale: 1}
}
