package browser

import (
	"testing"
)

// TestMorph changes one element into another, and looks at what is left of what
// a person had done to the first. Each case is JavaScript: before is done to the
// element on the page, after must be true of it.
func TestMorph(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.visit(s.URL() + "/agents/new")
	module := evaluate[string](p, `document.querySelector("script[type=module]").src.replace("app.js", "morph.js")`)
	tests := map[string]struct{ from, to, before, after string }{
		"text and attributes": {
			`<p class="old" title="x">old</p>`, `<p class="new" lang="en">new</p>`, ``,
			`from.outerHTML === '<p class="new" lang="en">new</p>'`,
		},
		"another element takes the place": {
			`<div><p>old</p></div>`, `<div><ul><li>new</li></ul></div>`, ``, `from.innerHTML === "<ul><li>new</li></ul>"`,
		},
		"what is gone goes, what is new comes": {
			`<ul><li id="a">a</li><li id="b">b</li></ul>`, `<ul><li id="b">B</li><li id="c">c</li></ul>`, `from.b = from.lastChild`,
			`from.innerHTML === '<li id="b">B</li><li id="c">c</li>' && from.firstChild === from.b`,
		},
		"a move keeps the element and its focus": {
			`<ul><li id="a"><a href="/a">a</a></li><li id="b"><a href="/b">b</a></li><li id="c"><a href="/c">c</a></li></ul>`,
			`<ul><li id="c"><a href="/c">c</a></li><li id="a"><a href="/a">a</a></li><li id="b"><a href="/b">b</a></li></ul>`,
			`from.lastChild.firstChild.focus()`,
			`from.firstChild.id === "c" && document.activeElement === from.firstChild.firstChild && from.textContent === "cab"`,
		},
		"a typed text": {
			`<div><input id="i" value="old"></div>`, `<div><input id="i" value="new"></div>`, `from.firstChild.value = "mine"`, `from.firstChild.value === "mine"`,
		},
		"an untouched text": {
			`<div><input id="i" value="old"></div>`, `<div><input id="i" value="new"></div>`, ``, `from.firstChild.value === "new"`,
		},
		"a focused text": {
			`<div><input id="i" value="old"></div>`, `<div><input id="i" value="new"></div>`, `from.firstChild.focus()`, `from.firstChild.value === "old"`,
		},
		"a hidden value": {
			`<div><input id="i" type="hidden" value="old"></div>`, `<div><input id="i" type="hidden" value="new"></div>`, ``, `from.firstChild.value === "new"`,
		},
		"a typed area": {
			`<div><textarea id="i">old</textarea></div>`, `<div><textarea id="i">new</textarea></div>`, `from.firstChild.value = "mine"`, `from.firstChild.value === "mine"`,
		},
		"an untouched area": {
			`<div><textarea id="i">old</textarea></div>`, `<div><textarea id="i">new</textarea></div>`, ``, `from.firstChild.value === "new"`,
		},
		"a ticked box": {
			`<div><input id="i" type="checkbox"></div>`, `<div><input id="i" type="checkbox" class="x"></div>`, `from.firstChild.checked = true`, `from.firstChild.checked`,
		},
		"a chosen option": {
			`<div><select id="i"><option value="1">1</option><option value="2">2</option></select></div>`,
			`<div><select id="i"><option value="1" selected>1</option><option value="2">2</option><option value="3">3</option></select></div>`,
			`from.firstChild.value = "2"`, `from.firstChild.value === "2" && from.firstChild.options.length === 2`,
		},
		"an untouched list": {
			`<div><select id="i"><option value="1">1</option></select></div>`,
			`<div><select id="i"><option value="1">1</option><option value="2" selected>2</option></select></div>`, ``, `from.firstChild.value === "2"`,
		},
		"a fold that was opened": {
			`<div><details id="d"><summary>s</summary>old</details></div>`, `<div><details id="d"><summary>s</summary>new</details></div>`,
			`from.firstChild.open = true`, `from.firstChild.open && from.textContent === "snew"`,
		},
		"a fold that was closed": {
			`<div><details id="d" open><summary>s</summary></details></div>`, `<div><details id="d" open><summary>S</summary></details></div>`,
			`from.firstChild.open = false`, `!from.firstChild.open && from.textContent === "S"`,
		},
		"the same time in other words": {
			`<p><time datetime="2026-11-30T12:00:00.000Z">just now</time></p>`, `<p><time datetime="2026-11-30T12:00:00.000Z">30 Nov 2026</time></p>`, ``,
			`from.textContent === "just now"`,
		},
		"another time": {
			`<p><time datetime="2026-11-30T12:00:00.000Z">just now</time></p>`, `<p><time datetime="2026-11-30T13:00:00.000Z">30 Nov 2026</time></p>`, ``,
			`from.textContent === "30 Nov 2026"`,
		},
		"a form of the same question": {
			`<div><structured-form id="f"><form>mine</form></structured-form></div>`, `<div><structured-form id="f"><form>new</form></structured-form></div>`, ``,
			`from.textContent === "mine"`,
		},
		"a form that wants to stay": {
			`<div><section id="q1"><structured-form id="f">mine</structured-form></section></div>`, `<div data-reason="Too late."><section id="q2">new</section></div>`,
			`from.querySelector("structured-form").close = (reason) => (from.reason = reason, true)`,
			`from.reason === "Too late." && from.textContent === "minenew" && from.firstChild.dataset.gone === "kept"`,
		},
		"a form that may go": {
			`<div><section id="q1"><structured-form id="f">mine</structured-form></section></div>`, `<div data-reason="Too late."></div>`,
			`from.querySelector("structured-form").close = () => false`, `from.innerHTML === ""`,
		},
		"a focus in what goes": {
			`<div><section id="q1"><a href="/a">a</a></section></div>`, `<div></div>`, `from.querySelector("a").focus()`, `document.activeElement.id === "main"`,
		},
	}
	for name, tc := range tests {
		held := evaluate[string](p, `(async () => {
			const { morph } = await import(args[0]);
			const make = (html) => {
				const holder = document.createElement("div");
				holder.setHTML(html, { sanitizer: new Sanitizer({ removeElements: [] }) });
				return holder.firstElementChild;
			};
			const from = make(args[1]);
			document.getElementById("main").append(from);
			`+tc.before+`;
			morph(from, make(args[2]));
			const held = `+tc.after+`;
			const left = from.outerHTML;
			from.remove();
			return held ? "" : left;
		})()`, module, tc.from, tc.to)
		if held != "" {
			t.Errorf("%s: %s does not hold of %s", name, tc.after, held)
		}
	}
}

// TestReconnects has a page say when it is not connected, and catch up.
func TestReconnects(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "plain", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.expect("MIME type")
	evaluate[bool](p, `(window.Connected = EventSource, window.EventSource = class extends EventSource {
		constructor(address) { super(new URL("/healthz", address)); } // answers, and with no stream
	}, document.dispatchEvent(new Event("visibilitychange")))`)
	reconnect := `(Object.defineProperty(document, "visibilityState", { configurable: true, value: args[0] }),
		document.dispatchEvent(new Event("visibilitychange")))`
	evaluate[bool](p, reconnect, "hidden")
	evaluate[bool](p, reconnect, "visible")
	p.until(`document.querySelector("live-region").innerText.includes("Not connected")`)
	p.shot("not connected")
	reply(s, "plain", id, "Meanwhile")
	evaluate[bool](p, `(window.EventSource = Connected, true)`)
	p.until(`document.querySelector("#timeline").innerText.includes("Meanwhile")`)
	p.until(`document.querySelector("live-region").hidden`)
}
