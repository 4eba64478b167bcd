package static

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func get(t *testing.T, address string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	New().ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w.Result()
}

func TestServeHTTP(t *testing.T) {
	t.Parallel()
	assets := New()
	for name, mediaType := range map[string]string{
		"app.js": "text/javascript; charset=utf-8", "tokens.css": "text/css; charset=utf-8", "favicon.svg": "image/svg+xml",
		"form/structured-form.js": "text/javascript; charset=utf-8",
	} {
		response := get(t, assets.URL(name))
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != mediaType {
			t.Errorf("%s = %s %q, want 200 %q", name, response.Status, response.Header.Get("Content-Type"), mediaType)
		}
		if got := response.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control = %q, want immutable", name, got)
		}
	}
	for _, address := range []string{
		"/static/0123456789abcdef/app.js", "/static/app.js", assets.URL(""), assets.URL("form"), assets.URL("form/"),
		assets.URL("nothing.js"), assets.URL("../static.go"), assets.URL("static.go"),
	} {
		if got := get(t, address).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", address, got)
		}
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	tree := func(name, content string) fs.FS { return fstest.MapFS{name: {Data: []byte(content)}} }
	one := digest(tree("a.js", "1"))
	if one != digest(tree("a.js", "1")) {
		t.Error("the same files have two digests")
	}
	if one == digest(tree("a.js", "2")) || one == digest(tree("b.js", "1")) {
		t.Error("other files have the same digest")
	}
}

// TestImports has every module that another one imports be there: a browser
// would only say so when the page does not work.
func TestImports(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`(?m)^import [^"]*"\./([^"]+)"`)
	for _, path := range modules(t) {
		dir := path[:strings.LastIndex("/"+path, "/")]
		for _, match := range imports.FindAllStringSubmatch(read(t, path), -1) {
			if !isFile(dir + match[1]) {
				t.Errorf("%s imports %s, which is not there", path, dir+match[1])
			}
		}
	}
}

// TestModulesMakeNoMarkup has no module of ours turn text into markup or code.
// The policy of the pages would stop it; this tells sooner.
func TestModulesMakeNoMarkup(t *testing.T) {
	t.Parallel()
	dangerous := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTMLUnsafe`)
	for _, path := range modules(t) {
		if found := dangerous.FindString(read(t, path)); found != "" {
			t.Errorf("%s uses %s", path, found)
		}
	}
}

func modules(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.js", "form/*.js"} {
		found, err := fs.Glob(files, pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no modules are %q: %v", pattern, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := fs.ReadFile(files, path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
