package docs_test

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// TestLinks follows every link and picture that stays in the repository, to its
// heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	followed := 0
	for _, d := range pages {
		for _, destination := range d.links() {
			link, err := url.Parse(destination)
			switch {
			case err != nil:
				t.Errorf("%s: %v", d.path, err)
			case link.Scheme == "" && link.Host == "":
				followed++
				follow(t, pages, d, link)
			case link.Scheme != "https" && link.Hostname() != "127.0.0.1":
				t.Errorf("%s links to %s, want https or a place in the repository", d.path, destination)
			}
		}
	}
	if len(pages) < 10 || followed < 30 {
		t.Errorf("%d pages and %d links were found, which are fewer than there are", len(pages), followed)
	}
}

// inMarkup finds the addresses in HTML, which Markdown keeps as it is.
var inMarkup = regexp.MustCompile(`(?:src|srcset|href)="([^"]*)"`)

// links returns the destinations of links and pictures.
func (d document) links() []string {
	var found []string
	markup := func(raw []byte) {
		for _, match := range inMarkup.FindAllSubmatch(raw, -1) {
			found = append(found, string(match[1]))
		}
	}
	d.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			found = append(found, string(n.Destination))
		case *ast.Image:
			found = append(found, string(n.Destination))
		case *ast.HTMLBlock:
			markup(n.Lines().Value(d.source))
		case *ast.RawHTML:
			markup(n.Segments.Value(d.source))
		}
	})
	return found
}

// follow checks that a link within the repository leads somewhere.
func follow(t *testing.T, pages map[string]document, from document, link *url.URL) {
	t.Helper()
	target := from.path
	if link.Path != "" {
		target = path.Join(path.Dir(from.path), link.Path)
	}
	if _, err := os.Stat(filepath.Join("..", target)); err != nil {
		t.Errorf("%s links to %s: %v", from.path, link, err)
		return
	}
	if link.Fragment == "" {
		return
	}
	to, ok := pages[target]
	if !ok || !to.anchors()[link.Fragment] {
		t.Errorf("%s links to %s, but there is no such heading", from.path, link)
	}
}

// TestSlug holds the fragments against those that GitHub makes.
func TestSlug(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"What is refused, and why":      "what-is-refused-and-why",
		"`taskbay form check`":          "taskbay-form-check",
		"`POST /api/v1/agents/{id}`":    "post-apiv1agentsid",
		"2. The database is the record": "2-the-database-is-the-record",
		"Überschrift_1 – mit Strich":    "überschrift_1--mit-strich",
	} {
		if got := slug(heading); got != want {
			t.Errorf("slug(%q) = %q, want %q", heading, got, want)
		}
	}
}
