package scheme_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// longSecret is longer than a line of base64.
var longSecret = func() string {
	var out strings.Builder
	for i := range 60 {
		fmt.Fprintf(&out, "%d+/", i*i*i)
	}
	return out.String()
}()

// spellers write a character in every way that is read.
var spellers = map[string]func(r rune) string{
	"as it is":        func(r rune) string { return string(r) },
	"percent":         func(r rune) string { return eachByte(r, "%%%02x") },
	"percent, upper":  func(r rune) string { return eachByte(r, "%%%02X") },
	"decimal":         func(r rune) string { return fmt.Sprintf("&#%d;", r) },
	"decimal, zeros":  func(r rune) string { return fmt.Sprintf("&#%012d;", r) },
	"hex":             func(r rune) string { return fmt.Sprintf("&#x%x;", r) },
	"hex, zeros":      func(r rune) string { return fmt.Sprintf("&#X%08X;", r) },
	"JSON":            func(r rune) string { return escapes(string(r)) },
	"JSON, upper":     func(r rune) string { return strings.ReplaceAll(strings.ToUpper(escapes(string(r))), `\U`, `\u`) },
	"bytes":           func(r rune) string { return eachByte(r, `\x%02x`) },
	"percent twice":   func(r rune) string { return eachByte(r, "%%25%02x") },
	"percent, whole":  func(r rune) string { return twice(eachByte(r, "%%%02x"), "%%%02x") },
	"percent in JSON": func(r rune) string { return twice(eachByte(r, "%%%02x"), `\u%04x`) },
	"HTML twice":      func(r rune) string { return html.EscapeString(fmt.Sprintf("&#%d;", r)) },
	"HTML in JSON":    func(r rune) string { return escapes(fmt.Sprintf("&#x%x;", r)) },
	"JSON twice":      func(r rune) string { return strings.ReplaceAll(escapes(string(r)), `\`, `\\`) },
	"JSON thrice":     func(r rune) string { return strings.ReplaceAll(escapes(string(r)), `\`, `\\\\`) },
	"JSON in percent": func(r rune) string { return twice(escapes(string(r)), "%%%02x") },
	"JSON in HTML":    func(r rune) string { return twice(escapes(string(r)), "&#%d;") },
}

func eachByte(r rune, format string) string { return twice(string(r), format) }

// twice writes each byte of a text in a format.
func twice(text, format string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// lines breaks a text into lines.
func lines(text string, width int, end string) string {
	var out []string
	for len(text) > width {
		out, text = append(out, text[:width]), text[width:]
	}
	return strings.Join(append(out, text), end)
}

// coders encode a whole text.
var coders = map[string]func(string) string{
	"base64":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url":             func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64, PEM":           func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 64, "\n") },
	"base64, MIME":          func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 76, "\r\n") },
	"base64, narrow":        func(s string) string { return lines(base64.URLEncoding.EncodeToString([]byte(s)), 5, "\n\t ") },
	"base64 in URL":         func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"base64, lines escaped": func(s string) string { return lines(base64.StdEncoding.EncodeToString([]byte(s)), 7, `\r\n`) },
	"hex":                   func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":                   func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex, colons":           func(s string) string { return lines(hex.EncodeToString([]byte(s)), 2, ":") },
	"hex, spaces":           func(s string) string { return lines(strings.ToUpper(hex.EncodeToString([]byte(s))), 2, " ") },
	"hex, C":                func(s string) string { return "0x" + lines(hex.EncodeToString([]byte(s)), 2, ", 0x") },
	"hex, dump":             func(s string) string { return lines(lines(hex.EncodeToString([]byte(s)), 4, " "), 39, "\n") },
	"base64 twice": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
	},
	"hex in base64": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("x" + hex.EncodeToString([]byte(s))))
	},
	"base64 in hex": func(s string) string { return hex.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s)))) },
	"URL in base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(s))) },
	"JSON in base64": func(s string) string {
		quoted, _ := json.Marshal(s) // a string can be written
		return base64.StdEncoding.EncodeToString(quoted)
	},
}

// TestRedactSpellings spells every character of secrets in every way, in texts, in
// JSON, and in JSON that is broken.
func TestRedactSpellings(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"canary-0123456789", odd, "%41%42%43\\u0041&#65;&amp;", longSecret} {
		r := redactor(secret)
		for name, spell := range spellers {
			var spelled strings.Builder
			for _, c := range secret {
				spelled.WriteString(spell(c))
			}
			mustRedact(t, r, name, spelled.String(), "[redacted]")
		}
	}
}

// TestRedactCodes encodes secrets as a whole.
func TestRedactCodes(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"canary-0123456789", "?>~ü&<canary>", longSecret} {
		r := redactor(secret)
		for name, code := range coders {
			for _, text := range []string{code(secret), code("be" + secret), code(secret + "."), code("Bearer " + secret + "\n")} {
				got := r.Text("<" + text + ">")
				if rest := strings.Replace(got, "[redacted]", "", 1); rest == got || len(rest) > 70 {
					t.Errorf("%s of %.20s: %s is left of %s", name, secret, got, text)
				}
			}
		}
	}
}

// mustRedact fails the test unless a text becomes another one, also in JSON.
func mustRedact(t *testing.T, r *scheme.Redactor, name, text, want string) {
	t.Helper()
	if got := r.Text("<" + text + ">"); got != "<"+want+">" {
		t.Errorf("%s: %s became %s", name, text, got)
	}
	inside, err := json.Marshal(map[string]string{"k": "<" + text + ">"})
	if err != nil {
		t.Fatal(err)
	}
	for mark, text := range map[string]string{"": string(inside), "\uFEFF": string(inside)} {
		got := r.Text(mark + text)
		var read map[string]string
		if err := json.Unmarshal([]byte(strings.TrimPrefix(got, mark)), &read); err != nil || read["k"] != "<"+want+">" {
			t.Errorf("%s in JSON behind %q: %s became %s, %v", name, mark, text, got, err)
		}
	}
	if got := r.Text(string(inside) + " x"); strings.Count(got, "[redacted]") != 1 || len(got) > len(`{"k":"<[redacted]>"} x`)+10 {
		t.Errorf("%s in broken JSON: %s became %s", name, inside, got)
	}
}

// TestRedactLeavesOtherTextAlone gives texts that are nearly a secret.
func TestRedactLeavesOtherTextAlone(t *testing.T) {
	t.Parallel()
	r := redactor("canary-0123456789")
	for _, text := range []string{
		"canary-012345678", "anary-0123456789", "%63anary-012345678%3", "&#99;anary-0123456789"[1:], `\u006`, `\\u0`, "%", "&#", "&amp", "\\",
		"63616e6172792d30313233343536373", "Y2FuYXJ5LTAxMjM0NTY", "canary -0123456789", "Canary-0123456789", "0x0x0x", "&#x110000;", "%25%25%25", "&;&&;",
		strings.Repeat("%25", 1000), strings.Repeat(`\`, 1000), strings.Repeat("&amp;", 1000), strings.Repeat("&#0", 1000),
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestRedactHostileTexts gives texts that are made to be slow: the time is that of
// the test as a whole.
func TestRedactHostileTexts(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	periodic := strings.Repeat("a", 2000) + "b"
	r := redactor("canary-0123456789", periodic, strings.Repeat("%41", 300)+"!", "%%%%%%%%%%%%")
	for name, piece := range map[string]string{
		"nearly the secret": "canary-012345678", "the secret": "canary-0123456789", "periodic": "a", "escapes": "%2525", "backslashes": `\\`,
		"zeros": "&#000000", "entities": "&amp;&amp", "nested zeros": "&#&#48;&#48;", "nearly periodic": "%41%41", "percents": "%",
	} {
		text := strings.Repeat(piece, size/len(piece))
		got := r.Text(text)
		if strings.Contains(got, "canary-0123456789") || !utf8.ValidString(got) || len(got) > len(text) {
			t.Errorf("%s: %d bytes became %d", name, len(text), len(got))
		}
	}
	if got := r.Text("x" + periodic + "x"); len(got) > len(periodic)/2 {
		t.Errorf("%d bytes are left of a periodic secret", len(got))
	}
}

// FuzzRedactSpellings spells each character of a secret in a way of its own, and
// puts it between texts.
func FuzzRedactSpellings(f *testing.F) {
	f.Add("canary-7f3a", "before", "after", uint64(1))
	f.Add("%41%42%43", "%", "41", uint64(2))
	f.Add("61&#62;\\u0063", "&#", ";", uint64(3))
	f.Add(odd, `\\`, `\u00`, uint64(4))
	f.Fuzz(func(t *testing.T, secret, before, after string, seed uint64) {
		if len(secret) < scheme.MinSecret || len(secret) > 200 || !utf8.ValidString(secret) || strings.Contains("[redacted][redacted]", secret) {
			return
		}
		r, dice := redactor(secret), rand.New(rand.NewPCG(seed, 0))
		var names []string
		for name := range spellers {
			names = append(names, name)
		}
		var spelled strings.Builder
		for _, c := range secret {
			spelled.WriteString(spellers[names[dice.IntN(len(names))]](c))
		}
		texts := []string{spelled.String()}
		for _, code := range coders {
			texts = append(texts, code(secret))
		}
		for _, text := range texts {
			in := before + text + after
			if out := r.Text(in); !strings.Contains(out, "[redacted]") || strings.Contains(out, text) {
				t.Fatalf("%q in %q became %q", secret, in, out)
			}
		}
		clean := []byte(before + after)
		if other := redactor("a secret that is not there"); !bytes.Equal(other.Bytes(clean), clean) {
			t.Fatalf("%q changed without a secret in it", clean)
		}
	})
}
