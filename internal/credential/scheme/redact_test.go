package scheme_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// odd has a character for every encoding to change.
const odd = `a"b\c/d<e>&f g+h=ü`

func redactor(values ...string) *scheme.Redactor {
	r := &scheme.Redactor{}
	r.Learn(values...)
	return r
}

func TestRedactEncodings(t *testing.T) {
	t.Parallel()
	r := redactor(odd)
	encodings := map[string]string{
		"plain":            odd,
		"query":            url.QueryEscape(odd),
		"query, lower":     strings.NewReplacer("%2B", "%2b", "%3D", "%3d", "%3C", "%3c", "%3E", "%3e", "%2F", "%2f", "%5C", "%5c", "%C3", "%c3", "%BC", "%bc").Replace(url.QueryEscape(odd)),
		"path":             url.PathEscape(odd),
		"HTML":             html.EscapeString(odd),
		"hex":              hex.EncodeToString([]byte(odd)),
		"HEX":              strings.ToUpper(hex.EncodeToString([]byte(odd))),
		"base64":           base64.StdEncoding.EncodeToString([]byte(odd)),
		"base64url":        base64.URLEncoding.EncodeToString([]byte(odd)),
		"base64, unpadded": base64.RawStdEncoding.EncodeToString([]byte(odd)),
	}
	for _, escapeHTML := range []bool{true, false} {
		var quoted bytes.Buffer
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(escapeHTML)
		if err := encoder.Encode(odd); err != nil {
			t.Fatal(err)
		}
		encodings[fmt.Sprintf("JSON %v", escapeHTML)] = strings.Trim(quoted.String(), "\"\n")
	}
	for name, encoded := range encodings {
		if got, want := r.Text("before "+encoded+" after"), "before [redacted] after"; got != want {
			t.Errorf("%s: %q became %q, want %q", name, encoded, got, want)
		}
		inside, err := json.Marshal(map[string]string{"k": "before " + encoded + " after"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(r.Bytes(inside)), `{"k":"before [redacted] after"}`; got != want {
			t.Errorf("%s in JSON: %s became %s, want %s", name, inside, got, want)
		}
	}
}

// TestRedactInBase64 hides a secret at every place of a text in base64.
func TestRedactInBase64(t *testing.T) {
	t.Parallel()
	const secret = "canary-0123456789"
	r := redactor(secret)
	for before := range 7 {
		for after := range 4 {
			text := strings.Repeat("x", before) + secret + strings.Repeat("y", after)
			got := r.Text(base64.StdEncoding.EncodeToString([]byte(text)))
			rest := strings.Replace(got, "[redacted]", "", 1)
			if rest == got || len(rest) > (before+after+4)*4/3+4 {
				t.Errorf("%d bytes before and %d after: %q is left", before, after, got)
			}
		}
	}
}

func TestRedactJSON(t *testing.T) {
	t.Parallel()
	const secret = "nanary-7f3a/x"
	tests := map[string]struct{ in, want string }{
		"nothing":             {`{"a": [1.0e3, true, "b\u0041"] }`, `{"a": [1.0e3, true, "b\u0041"] }`},
		"value":               {`{ "a":"nanary-7f3a/x", "b":1.50}`, `{ "a":"[redacted]", "b":1.50}`},
		"name":                {`{"nanary-7f3a/x":1}`, `{"[redacted]":1}`},
		"escaped slash":       {`["nanary-7f3a\/x","\/"]`, `["[redacted]","\/"]`},
		"escaped letters":     {`["\u006eanary-7f3a\u002fx!"]`, `["[redacted]!"]`},
		"twice":               {`"nanary-7f3a/xnanary-7f3a/x"`, `"[redacted][redacted]"`},
		"after an escape":     {`"\nanary-7f3a/x"`, `"\nanary-7f3a/x"`}, // a line feed, not an n
		"escape and secret":   {`"\nnanary-7f3a/x"`, `"\n[redacted]"`},
		"JSON in JSON":        {`"{\"k\":\"nanary-7f3a/x\"}"`, `"{\"k\":\"[redacted]\"}"`},
		"quotes and brackets": {`["\"","\\","nanary-7f3a/x","\\\""]`, `["\"","\\","[redacted]","\\\""]`},
		"not JSON":            {`{"k":"nanary-7f3a/x`, `{"k":"[redacted]`},
		"event":               {"data: nanary-7f3a/x\n\n", "data: [redacted]\n\n"},
	}
	r := redactor(secret)
	for name, tc := range tests {
		if got := string(r.Bytes([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: %s became %s, want %s", name, tc.in, got, tc.want)
		}
	}
}

// TestRedactEscapesOutsideOfJSON: what is not JSON as a whole may be read as JSON all
// the same, without its byte order mark or what is behind it.
func TestRedactEscapesOutsideOfJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"byte order mark":      {"\uFEFF{\"k\":\"<\\u006eanary-7f3a\\/x>\"}", "\uFEFF{\"k\":\"<[redacted]>\"}"},
		"text behind":          {`{"k":"\u006E\u0061nary-7f3a/x"} x`, `{"k":"[redacted]"} x`},
		"escaped slash":        {`{"k":"nanary-7f3a\/x"} x`, `{"k":"[redacted]"} x`},
		"event":                {"data: {\"k\":\"nanary-7f3\\u0061/x\"}\n\n", "data: {\"k\":\"[redacted]\"}\n\n"},
		"cut off":              {`{"k":"\u006eanary-7f3a\/x`, `{"k":"[redacted]`},
		"cut off in an escape": {`{"k":"\u006eanary-7f3a\/x\u00`, `{"k":"[redacted]\u00`},
		"quotes do not match":  {`" {"k":"\u006eanary-7f3a\/x"}`, `" {"k":"[redacted]"}`},
		"escapes around":       {`{"k":"\"\ud83d\ude00\\\u006eanary-7f3a/x\n\u00e4"} x`, `{"k":"\"\ud83d\ude00\\[redacted]\n\u00e4"} x`},
		"half a pair before":   {`{"k":"\ud83d\u006eanary-7f3a/x"} x`, `{"k":"\ud83d[redacted]"} x`},
		"not an escape":        {`\q\u006eanary-7f3a/x\q`, `\q[redacted]\q`},
		"twice":                {`x \u006eanary-7f3a/x\u006eanary-7f3a/x, nanary-7f3a/x`, `x [redacted][redacted], [redacted]`},
		"an escaped backslash": {`{"k":"\\u006eanary-7f3a/x"} x`, `{"k":"[redacted]"} x`}, // says \u006e, which says n
		"JSON in JSON":         {`{"k":"{\"k\":\"\\u006eanary-7f3a/x\"}"}`, `{"k":"{\"k\":\"[redacted]\"}"}`},
		"nothing":              {`{"k":"\u006eanary\/"} x`, `{"k":"\u006eanary\/"} x`},
	}
	r := redactor("nanary-7f3a/x")
	for name, tc := range tests {
		if got := string(r.Bytes([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: %s became %s, want %s", name, tc.in, got, tc.want)
		}
	}
	pair := redactor("key-\U0001F511-key")
	if got, want := pair.Text(`x "key-\ud83d\udd11-key"`), `x "[redacted]"`; got != want {
		t.Errorf("a surrogate pair: %s, want %s", got, want)
	}
}

func TestRedactNumbers(t *testing.T) {
	t.Parallel()
	r := redactor("12345678", "-1.5e10", "true, false")
	for in, want := range map[string]string{
		`{"n":12345678,"s":"12345678","m":0.123456789}`: `{"n":99999999,"s":"[redacted]","m":0.999999999}`,
		`[-1.5e10, 7]`:  `[9999999, 7]`,
		`[true, false]`: `[true, false]`,
	} {
		if got := string(r.Bytes([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestRedactLeavesWhatIsClean(t *testing.T) {
	t.Parallel()
	clean := []byte(`{"text":"a \"quoted\" word"}`)
	for name, r := range map[string]*scheme.Redactor{"none": {}, "short": redactor("a", "word", ""), "other": redactor("another-secret")} {
		if got := r.Bytes(clean); &got[0] != &clean[0] {
			t.Errorf("%s: a clean text was copied", name)
		}
	}
	if got := redactor(canary).Bytes(nil); got != nil {
		t.Errorf("nothing became %q", got)
	}
}

func TestRedactHeader(t *testing.T) {
	t.Parallel()
	h := http.Header{"X-Key": {"v1," + canary, "v2"}, "Location": {"https://a.example/?k=" + url.QueryEscape(canary)}}
	got := redactor(canary).Header(h)
	want := http.Header{"X-Key": {"v1,[redacted]", "v2"}, "Location": {"https://a.example/?k=[redacted]"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header mismatch (-want +got):\n%s", diff)
	}
	if h.Get("X-Key") != "v1,"+canary {
		t.Error("the header itself was changed")
	}
}

// TestRedactHeaderNames: HTTP/1 and HTTP/2 change the case of names.
func TestRedactHeaderNames(t *testing.T) {
	t.Parallel()
	h := http.Header{"Canary-7f3a/X": {"1"}, "X-CANARY-7F3A%2fx-A": {"2"}, "x-canary-7f3a%2FX-A": {"3"}, "X-Canary-7f3a": {"4"}}
	r := redactor("caNAry-7f3A/x")
	got := r.Header(h)
	want := http.Header{"[redacted]": {"1"}, "X-[redacted]-A": {"2"}, "x-[redacted]-A": {"3"}, "X-Canary-7f3a": {"4"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header mismatch (-want +got):\n%s", diff)
	}
	got = r.Header(http.Header{"Canary-7f3a/x": {"b", "c"}, "CANARY-7f3a/x": {"a"}})
	if diff := cmp.Diff(http.Header{"[redacted]": {"a", "b", "c"}}, got); diff != "" {
		t.Errorf("names that become the same (-want +got):\n%s", diff)
	}
	if r.Header(nil) != nil {
		t.Error("no header became one")
	}
}

func TestRedactorKeepsThoseUsedLast(t *testing.T) {
	t.Parallel()
	r := &scheme.Redactor{}
	r.Remember("former-secret", "client-secret")
	for i := range 100 {
		r.Learn(fmt.Sprintf("token-%03d", i))
	}
	if got, want := r.Text("former-secret client-secret token-099 token-085 token-000"), "[redacted] [redacted] [redacted] [redacted] token-000"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := redactor("client-secret")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			token := fmt.Sprintf("token-%d", i)
			r.Learn(token)
			for range 50 {
				if got := r.Text("client-secret " + token); got != "[redacted] [redacted]" {
					t.Errorf("Text() = %q", got)
				}
				r.Learn("client-secret")
			}
		})
	}
	all.Wait()
}

// FuzzRedact checks that a secret never survives in JSON, that JSON stays JSON,
// and that nothing else changes.
func FuzzRedact(f *testing.F) {
	f.Add("canary-7f3a", `{"a":"x`, `y"}`)
	f.Add("12345678", `[1`, `2]`)
	f.Add(odd, `"\\`, `\n"`)
	f.Add("nnnnnnn", `"\nnnnnn`, `"`)
	f.Add("aaaaaa", `"aaa`, `aaa"`)
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		r := redactor(secret)
		in := []byte(before + secret + after)
		out := r.Bytes(bytes.Clone(in))
		if json.Valid(in) != json.Valid(out) && json.Valid(in) {
			t.Fatalf("%q is JSON, and became %q", in, out)
		}
		var value any
		if len(secret) < scheme.MinSecret || json.Unmarshal(out, &value) != nil {
			return
		}
		if !strings.Contains("[redacted][redacted]", secret) && strings.Contains(texts(value), secret) {
			t.Fatalf("%q became %q, which has %q in it", in, out, secret)
		}
		escaped := []byte("\uFEFF" + `{"k":"` + escapes(secret) + `"} x`)
		var read map[string]string
		if err := json.NewDecoder(bytes.NewReader(r.Bytes(escaped)[3:])).Decode(&read); err == nil && !strings.Contains("[redacted][redacted]", secret) && strings.Contains(read["k"], secret) {
			t.Fatalf("%q became %q", escaped, read)
		}
		if clean := redactor("a secret that is not there").Bytes(in); !bytes.Equal(clean, in) {
			t.Fatalf("%q became %q without a secret in it", in, clean)
		}
	})
}

// escapes returns a text with every character as an escape of JSON.
func escapes(text string) string {
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&out, `\u%04x`, unit)
	}
	return out.String()
}

// texts returns all strings of a JSON value.
func texts(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, texts(item))
		}
		return strings.Join(out, "\n")
	case map[string]any:
		var out []string
		for name, item := range v {
			out = append(out, name, texts(item))
		}
		return strings.Join(out, "\n")
	}
	return ""
}

func BenchmarkRedact(b *testing.B) {
	text, err := json.Marshal(strings.Repeat("The quick brown fox\njumps over \"the\" lazy dog. ", 20000))
	if err != nil {
		b.Fatal(err)
	}
	r := redactor("canary-1-secret", "canary-2-secret", "canary-3-secret")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}

func BenchmarkLearn(b *testing.B) {
	for b.Loop() {
		redactor("canary-1-secret", "canary-2-secret", "canary-3-secret")
	}
}

func BenchmarkRedactShort(b *testing.B) {
	r := redactor("canary-1-secret", "canary-2-secret", "canary-3-secret")
	for b.Loop() {
		r.Text("The agent answered 100%: \\o/")
	}
}
