package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/google/go-cmp/cmp"
)

// TestContrast measures every text of every page as it is drawn, in both themes,
// against WCAG 2.2, 1.4.3.
func TestContrast(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.expect("status of 40")
	schemes := map[string]tabOption{"light": func(p *tab) { p.emulate("prefers-color-scheme", "light") }, "dark": preferDark}
	for name, address := range everyPage(s) {
		p.visit(s.URL() + address)
		for scheme, prefer := range schemes {
			prefer(p)
			if diff := cmp.Diff([]string{}, evaluate[[]string](p, faintTexts)); diff != "" {
				t.Errorf("%s, %s has texts that are hard to read:\n%s", name, scheme, diff)
			}
		}
	}
	// The measure itself finds what is faint.
	evaluate[bool](p, `(document.querySelector("h1").style.color = "var(--border)", true)`)
	if faint := evaluate[[]string](p, faintTexts); len(faint) == 0 {
		t.Error("a heading in the colour of borders is found to be readable")
	}
}

// emulate sets one feature that style sheets ask about.
func (p *tab) emulate(feature, value string) {
	p.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
	})
}

// faintTexts lists texts with a contrast under 4.5 to what is behind them. What
// cannot be used at present is exempt.
const faintTexts = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const known = new Map();
	const components = (colour) => {
		if (!known.has(colour)) {
			canvas.clearRect(0, 0, 1, 1);
			canvas.fillStyle = colour;
			canvas.fillRect(0, 0, 1, 1);
			known.set(colour, Array.from(canvas.getImageData(0, 0, 1, 1).data));
		}
		return known.get(colour);
	};
	const over = ([red, green, blue, alpha], under) => [red, green, blue].map((value, i) => (value * alpha + under[i] * (255 - alpha)) / 255);
	const behind = (element) => {
		if (!element) return [255, 255, 255];
		const own = components(getComputedStyle(element).backgroundColor);
		return over(own, own[3] === 255 ? own : behind(element.parentElement));
	};
	const luminance = (colour) => colour
		.map((value) => value / 255)
		.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
		.reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
	const contrast = (element, part) => {
		const ground = behind(element);
		const [a, b] = [over(components(getComputedStyle(element, part).color), ground), ground].map(luminance);
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	};
	const faults = [];
	const check = (element, text, part) => {
		if (!element.checkVisibility({ visibilityProperty: true }) || element.closest("[aria-disabled=true], :disabled, .skip")) return;
		const found = contrast(element, part);
		if (found < 4.5) faults.push(found.toFixed(2) + " " + element.localName + "." + element.className + ": " + text.slice(0, 60));
	};
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		if (texts.currentNode.data.trim()) check(texts.currentNode.parentElement, texts.currentNode.data);
	}
	for (const control of document.querySelectorAll("input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea")) {
		check(control, control.value);
		if (control.placeholder) check(control, control.placeholder, "::placeholder");
	}
	return faults;
})()`

// TestReducedMotion finds nothing that moves for people who asked for that.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	id := startTask(s, "form", "Deploy the shop")
	p.visit(s.URL() + "/tasks/" + id)
	p.isLive()
	p.click("#composer-text")
	const behaviour = `getComputedStyle(document.documentElement).scrollBehavior`
	if got := evaluate[string](p, behaviour); got != "smooth" {
		t.Errorf("scroll-behavior = %q where nobody asked for less motion, want smooth", got)
	}
	p.emulate("prefers-reduced-motion", "reduce")
	if got := evaluate[string](p, behaviour); got != "auto" {
		t.Errorf("scroll-behavior = %q, want auto", got)
	}
	moving := evaluate[[]string](p, `Array.from(document.querySelectorAll("*"))
		.filter((element) => getComputedStyle(element).animationName !== "none" || parseFloat(getComputedStyle(element).transitionDuration) > 0)
		.map((element) => element.outerHTML.slice(0, 80))`)
	if diff := cmp.Diff([]string{}, moving); diff != "" {
		t.Errorf("what moves all the same:\n%s", diff)
	}
}

// TestIcon finds the icon that tabs show.
func TestIcon(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.visit(s.URL() + "/tasks")
	got := evaluate[string](p, `new Promise((resolve) => {
		const icon = new Image();
		icon.onload = () => resolve(icon.naturalWidth + " by " + icon.naturalHeight);
		icon.onerror = () => resolve("not an image");
		icon.src = document.querySelector("link[rel=icon]").href;
	})`)
	if got == "not an image" || got == "0 by 0" {
		t.Errorf("the icon is %s", got)
	}
}
