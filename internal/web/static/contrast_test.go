package static

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// TestContrast holds the colours to WCAG 2.2, level AA, in both themes: 4.5 for
// text (1.4.3), 3 for the lines of controls (1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	colours := tokens(t)
	text := []pair{
		{"text", "bg"}, {"text", "surface"}, {"text", "surface-raised"}, {"text", "accent-soft"},
		{"text", "info-soft"}, {"text", "success-soft"}, {"text", "warning-soft"}, {"text", "danger-soft"},
		{"text-muted", "bg"}, {"text-muted", "surface"}, {"text-muted", "surface-raised"}, {"text-muted", "accent-soft"}, {"text-muted", "warning-soft"},
		{"accent", "bg"}, {"accent", "surface"}, {"accent", "accent-soft"}, {"accent", "warning-soft"}, {"accent", "danger-soft"},
		{"accent-hover", "surface"}, {"accent-contrast", "accent"}, {"accent-contrast", "accent-hover"},
		{"danger", "surface"}, {"danger", "bg"}, {"danger", "danger-soft"}, {"danger", "accent-soft"}, {"surface", "danger"},
		{"warning", "surface"}, {"warning", "bg"}, {"warning", "warning-soft"}, {"warning", "accent-soft"}, {"surface", "warning"},
		{"success", "surface"}, {"success", "bg"}, {"success", "success-soft"},
		{"info", "surface"}, {"info", "bg"}, {"info", "info-soft"},
	}
	lines := []pair{{"border-strong", "surface"}, {"border-strong", "bg"}, {"accent", "bg"}, {"warning", "bg"}, {"danger", "surface"}}
	for theme, name := range []string{"light", "dark"} {
		check(t, name, theme, colours, text, 4.5)
		check(t, name, theme, colours, lines, 3)
	}
}

// pair is a colour on a background, by the names of their tokens.
type pair struct{ colour, background string }

func check(t *testing.T, name string, theme int, colours map[string][2]float64, pairs []pair, least float64) {
	t.Helper()
	for _, p := range pairs {
		if _, ok := colours[p.colour]; !ok {
			t.Fatalf("no token --%s", p.colour)
		}
		a, b := colours[p.colour][theme], colours[p.background][theme]
		if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
			t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f", name, p.colour, p.background, ratio, least)
		}
	}
}

// tokens returns the relative luminance of every colour token, light and dark.
func tokens(t *testing.T) map[string][2]float64 {
	t.Helper()
	declaration := regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`)
	found := map[string][2]float64{}
	for _, m := range declaration.FindAllStringSubmatch(read(t, "tokens.css"), -1) {
		found[m[1]] = [2]float64{luminance(t, m[2]), luminance(t, m[3])}
	}
	return found
}

// luminance is the relative luminance of a colour as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(value) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
