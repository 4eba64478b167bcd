package static

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
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

func TestAddressFollowsContent(t *testing.T) {
	t.Parallel()
	address := func(name, content string) string {
		assets, err := load(fstest.MapFS{name: {Data: []byte(content)}})
		if err != nil {
			t.Fatal(err)
		}
		return assets.URL("")
	}
	one := address("a.js", "f(1)")
	if one != address("a.js", "f(1)") {
		t.Error("the same files have two addresses")
	}
	if one == address("a.js", "f(2)") || one == address("b.js", "f(1)") {
		t.Error("other files have the same address")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	assets, err := load(fstest.MapFS{
		"a.js":    {Data: []byte("// Why.\nconst a = 1;\n\nf(a);\n")},
		"b.css":   {Data: []byte("/* Why. */\n.a {\n  color: light-dark(#000, #fff);\n\n  &:hover {\n    color: red;\n  }\n}\n")},
		"c.svg":   {Data: []byte("<svg>\n</svg>")},
		"d.go":    {Data: []byte("package static")},
		"e/f.css": {Data: []byte("@layer a, b;")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, content := range assets.content {
		got[name] = string(content)
	}
	want := map[string]string{
		"a.js":    "const a=1;f(a)",
		"b.css":   ".a{color:light-dark(#000,#fff);&:hover{color:red}}",
		"c.svg":   "<svg>\n</svg>",
		"e/f.css": "@layer a,b;",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content mismatch (-want +got):\n%s", diff)
	}
	if _, err := load(fstest.MapFS{"broken.js": {Data: []byte("function (")}}); err == nil {
		t.Error("a module that is no JavaScript was taken")
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
			if _, ok := New().content[dir+match[1]]; !ok {
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
