package form_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/form"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	const (
		space    = "U+200B zero width space"
		override = "U+202E right-to-left override"
	)
	tests := []struct {
		name, text string
		want       []form.Run
	}{
		{"nothing", "", nil},
		{"all visible", "Deploy to prod\n\tnow\r\n", []form.Run{{Text: "Deploy to prod\n\tnow\r\n"}}},
		{"zero width space", "prod\u200b", []form.Run{{Text: "prod"}, {Text: "\u200b", Mark: space}}},
		{"several of one kind", "\u200b\u200bx", []form.Run{{Text: "\u200b\u200b", Mark: space}, {Text: "x"}}},
		{"two kinds", "a\u200b\u202eb", []form.Run{{Text: "a"}, {Text: "\u200b", Mark: space}, {Text: "\u202e", Mark: override}, {Text: "b"}}},
		{"control character", "a\x1b[1m", []form.Run{{Text: "a"}, {Text: "\x1b", Mark: "U+001B escape"}, {Text: "[1m"}}},
		{"control character without a name", "\x01", []form.Run{{Text: "\x01", Mark: "U+0001 control character"}}},
		{"tag without a name", "\U000E0041", []form.Run{{Text: "\U000E0041", Mark: "U+E0041 invisible character"}}},
		{"lone carriage return", "a\rb", []form.Run{{Text: "a"}, {Text: "\r", Mark: "U+000D carriage return"}, {Text: "b"}}},
		{"not UTF-8", "a\xffb", []form.Run{{Text: "a\xffb"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, slices.Collect(form.Runs(tt.text))); diff != "" {
				t.Errorf("Runs(%q) mismatch (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestHasHidden(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       bool
	}{
		{"Hebrew and Arabic", "שלום مرحبا", false},
		{"joined emoji", "👨‍👩‍👧 🏳️‍🌈 👩🏽‍💻 ❤️‍🔥", false},
		{"emoji with a selector", "❤️ ☎︎ ⁉️ ‼️", false},
		{"keycap", "1️⃣ #️⃣", false},
		{"Persian non-joiner", "می‌خواهم", false},
		{"Hindi joiner", "क्‍ष", false},
		{"ideograph with a selector", "葛\U000E0100", false},
		{"Arabic number sign", "\u0600\u0661", false},
		{"no-break space", "10\u00a0km", false},
		{"right-to-left mark", "שלום\u200f", true},
		{"isolate", "\u2066x\u2069", true},
		{"joiner between Latin letters", "pro\u200dd", true},
		{"non-joiner between Latin letters", "pro\u200cd", true},
		{"two joiners between emoji", "👨‍‍👩", true},
		{"selector after a letter", "a\ufe0f", true},
		{"selector on a selector", "a\U000E0100", true},
		{"soft hyphen", "pro\u00add", true},
		{"Hangul filler", "\u3164", true},
		{"blank Braille", "\u2800", true},
		{"byte order mark", "\ufeffx", true},
		{"line separator", "a\u2028b", true},
		{"delete", "a\x7f", true},
		{"next line", "a\u0085b", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := form.HasHidden(tt.text); got != tt.want {
				t.Errorf("HasHidden(%q) = %v, want %v", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzRuns(f *testing.F) {
	for _, seed := range []string{"", "a\u200b\u202eb", "👨‍👩‍👧", "a\xff\u200b\xfe", "\r\r\n", "می‌خواهم"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var whole strings.Builder
		for run := range form.Runs(text) {
			if run.Text == "" {
				t.Errorf("Runs(%q) has an empty run", text)
			}
			whole.WriteString(run.Text)
		}
		if whole.String() != text {
			t.Errorf("the runs of %q make %q", text, whole.String())
		}
		if hosts := form.DeceptiveHosts(text); len(hosts) > 10 {
			t.Errorf("%d hosts", len(hosts))
		}
	})
}

func TestAppearance(t *testing.T) {
	t.Parallel()
	same := []string{"deploy now", " deploy\u00a0now\u200b", "dep\u00adloy\n now", "deploy\u3000now\ufeff"}
	for _, text := range same {
		if got := form.Appearance(text); got != "deploy now" {
			t.Errorf("Appearance(%q) = %q, want %q", text, got, "deploy now")
		}
	}
	if form.Appearance("deploynow") == form.Appearance("deploy now") {
		t.Error("a space that can be seen makes no difference")
	}
}

func TestDeceptiveHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"ASCII", "https://paypal.com/login", nil},
		{"Cyrillic in Latin", "see https://раypal.com/login", []string{"раypal.com"}},
		{"Greek in Latin", "gοοgle.com", []string{"gοοgle.com"}},
		{"in an address", "mail bill@аpple.com now", []string{"аpple.com"}},
		{"all letters look Latin", "https://аррӏе.com", []string{"аррӏе.com"}},
		{"foreign domain", "пример.рф", nil},
		{"foreign word under a Latin domain", "привет.com", nil},
		{"accents", "münchen.example", nil},
		{"Japanese with Latin", "データabc.jp", nil},
		{"Chinese dot", "раypal。com", []string{"раypal。com"}},
		{"mixed word that is no host", "раypal", nil},
		{"sentence without a space", "Готово.Next", nil},
		{"once each", "аpple.com and аpple.com, not gοοgle.com", []string{"аpple.com", "gοοgle.com"}},
		{"longer than a host", strings.Repeat("аa", 600) + ".com", nil},
		{"script that is not listed", "ሀa.com", []string{"ሀa.com"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, form.DeceptiveHosts(tt.text)); diff != "" {
				t.Errorf("DeceptiveHosts(%q) mismatch (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestDeceptiveHostsAreLimited(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for r := 'a'; r <= 'z'; r++ {
		text.WriteString("а" + string(r) + ".com ")
	}
	if got := form.DeceptiveHosts(text.String()); len(got) != 10 {
		t.Errorf("%d hosts, want the first 10", len(got))
	}
}
