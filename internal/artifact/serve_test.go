package artifact_test

import (
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/artifact"
)

var served = strings.Repeat("0a", 32)

func serve(method, filename string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	artifact.Serve(w, r, served, filename, strings.NewReader("0123456789"))
	return w.Result()
}

func TestServe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, header string
		status         int
		body, length   string
	}{
		"all":              {"GET", "", 200, "0123456789", "10"},
		"its head":         {"HEAD", "", 200, "", "10"},
		"a range":          {"GET", "Range: bytes=2-4", 206, "234", "3"},
		"no such range":    {"GET", "Range: bytes=10-", 416, "", ""},
		"what is known":    {"GET", `If-None-Match: "` + served + `"`, 304, "", ""},
		"what is not":      {"GET", `If-None-Match: "other"`, 200, "0123456789", "10"},
		"a range of other": {"GET", `If-Range: "other"`, 200, "0123456789", "10"},
	} {
		headers := []string{test.header}
		if strings.HasPrefix(test.header, "If-Range") {
			headers = append(headers, "Range: bytes=2-4")
		}
		r := serve(test.method, "f.txt", headers...)
		body := new(strings.Builder)
		_ = r.Write(body)
		_, got, _ := strings.Cut(body.String(), "\r\n\r\n")
		if r.StatusCode != test.status || test.status != 416 && got != test.body || test.length != "" && r.Header.Get("Content-Length") != test.length {
			t.Errorf("%s: %d %q of %s bytes, want %d %q of %s", name, r.StatusCode, got, r.Header.Get("Content-Length"), test.status, test.body, test.length)
		}
	}
	r := serve("GET", "page.html")
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'", "ETag": `"` + served + `"`, "Accept-Ranges": "bytes",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFilenames(t *testing.T) {
	t.Parallel()
	const fallback = `attachment; filename="0a0a0a0a0a0a.bin"`
	for name, want := range map[string]string{
		"report.csv":               `attachment; filename="report.csv"`,
		"two words.txt":            `attachment; filename="two words.txt"`,
		"":                         fallback,
		"..":                       fallback,
		"a/b/":                     fallback,
		"../../etc/passwd":         `attachment; filename="passwd"`,
		`C:\Windows\evil.exe`:      `attachment; filename="evil.exe"`,
		".bashrc":                  `attachment; filename="bashrc"`,
		"a\r\nSet-Cookie: x=1":     `attachment; filename="aSet-Cookie_ x=1"`,
		`"; filename="x.exe`:       `attachment; filename="_; filename=_x.exe"`,
		"invoice\u202efdp.exe":     `attachment; filename="invoicefdp.exe"`,
		"100%.txt":                 `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`,
		"Übersicht 1.csv":          `attachment; filename="_bersicht 1.csv"; filename*=UTF-8''%C3%9Cbersicht%201.csv`,
		"\xff\x00":                 fallback,
		"日本":                       `attachment; filename="__"; filename*=UTF-8''%E6%97%A5%E6%9C%AC`,
		strings.Repeat("é", 1_000): "",
	} {
		got := serve("GET", name).Header.Get("Content-Disposition")
		if want != "" && got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
		disposition, parameters, err := mime.ParseMediaType(got)
		if err != nil || disposition != "attachment" || len(parameters) != 1 || len(parameters["filename"]) > 150 || !utf8.ValidString(parameters["filename"]) {
			t.Errorf("%q: %s reads as %s %v, %v", name, got, disposition, parameters, err)
		}
	}
	if !artifact.IsDigest(served) || artifact.IsDigest(served[1:]) || artifact.IsDigest(strings.ToUpper(served)) {
		t.Error("a digest is 64 lower-case hexadecimal digits")
	}
}
