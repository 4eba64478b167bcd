package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestPage wants the page to need nothing but its own module, and to write text into the
// page as text alone: an agent may have written it.
func TestPage(t *testing.T) {
	t.Parallel()
	get := func(path, mediaType string) string {
		w := httptest.NewRecorder()
		http.FileServerFS(files).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), mediaType) {
			t.Errorf("%s is answered %d as %s", path, w.Code, w.Header().Get("Content-Type"))
		}
		return w.Body.String()
	}
	page, module := get("/", "text/html"), get("/client.js", "text/javascript")
	sources := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(sources) != 2 || sources[0][1] != "data:," || sources[1][1] != "client.js" {
		t.Errorf("the page loads %v", sources)
	}
	for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "import ", "localStorage"} {
		if strings.Contains(module, way) {
			t.Errorf("the module uses %s", way)
		}
	}
}
