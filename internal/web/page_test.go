package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// answer is what a console answered, with its page read as a browser reads it.
type answer struct {
	*testing.T
	status int
	header http.Header
	body   string
	root   *html.Node
}

func (c *console) get(t *testing.T, address string) answer {
	t.Helper()
	return c.request(t, httptest.NewRequest(http.MethodGet, address, nil))
}

// post sends a form as a browser without scripts does.
func (c *console) post(t *testing.T, address string, values url.Values) answer {
	t.Helper()
	return c.request(t, formRequest(address, values))
}

// fetch sends a form as the modules do.
func (c *console) fetch(t *testing.T, address string, values url.Values) answer {
	t.Helper()
	r := formRequest(address, values)
	r.Header.Set("Accept", "application/json")
	return c.request(t, r)
}

func formRequest(address string, values url.Values) *http.Request {
	r := httptest.NewRequest(http.MethodPost, address, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func (c *console) request(t *testing.T, r *http.Request) answer {
	t.Helper()
	r.Host = "127.0.0.1:3002"
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	root, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return answer{t, w.Code, w.Result().Header, w.Body.String(), root}
}

// all returns the elements that a selector finds: compounds of a tag, #id,
// .class, [attribute] and [attribute=value], each inside of the one before.
func (a answer) all(selector string) []*html.Node {
	found := []*html.Node{a.root}
	for _, compound := range strings.Fields(selector) {
		var next []*html.Node
		for _, n := range found {
			for d := range n.Descendants() {
				if d.Type == html.ElementNode && fits(d, compound) && !contains(next, d) {
					next = append(next, d)
				}
			}
		}
		found = next
	}
	return found
}

func contains(list []*html.Node, n *html.Node) bool {
	for _, other := range list {
		if other == n {
			return true
		}
	}
	return false
}

func fits(n *html.Node, compound string) bool {
	tag := strings.TrimRight(compound[:strings.IndexAny(compound+"#", "#.[")], " ")
	if tag != "" && n.Data != tag {
		return false
	}
	for rest := compound[len(tag):]; rest != ""; {
		end := 1 + strings.IndexAny(rest[1:]+"#", "#.[")
		if rest[0] == '[' {
			end = strings.IndexByte(rest, ']') + 1
		}
		if !fitsPart(n, rest[:end]) {
			return false
		}
		rest = rest[end:]
	}
	return true
}

func fitsPart(n *html.Node, part string) bool {
	switch part[0] {
	case '#':
		id, _ := attribute(n, "id")
		return id == part[1:]
	case '.':
		class, _ := attribute(n, "class")
		return strings.Contains(" "+class+" ", " "+part[1:]+" ")
	}
	name, want, hasValue := strings.Cut(part[1:len(part)-1], "=")
	value, ok := attribute(n, name)
	return ok && (!hasValue || value == strings.Trim(want, `"`))
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// text returns the text of the one element that a selector finds, its white
// space folded.
func (a answer) text(selector string) string {
	a.Helper()
	return folded(a.one(selector))
}

func folded(n *html.Node) string { return strings.Join(strings.Fields(textOfNode(n)), " ") }

func textOfNode(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func (a answer) attr(selector, name string) string {
	a.Helper()
	value, _ := attribute(a.one(selector), name)
	return value
}

func (a answer) one(selector string) *html.Node {
	a.Helper()
	found := a.all(selector)
	if len(found) != 1 {
		a.Fatalf("%d elements are %q, want 1, in\n%s", len(found), selector, a.body)
	}
	return found[0]
}

func (a answer) has(selector string) bool { return len(a.all(selector)) > 0 }

// wants fails the test if the status is another.
func (a answer) wants(status int) answer {
	a.Helper()
	if a.status != status {
		a.Fatalf("status = %d, want %d:\n%s", a.status, status, a.body)
	}
	return a
}

// pairs returns the terms and descriptions inside of an element.
func (a answer) pairs(selector string) [][2]string {
	terms, descriptions := a.all(selector+" dt"), a.all(selector+" dd")
	list := make([][2]string, len(terms))
	for i := range terms {
		list[i] = [2]string{folded(terms[i]), folded(descriptions[i])}
	}
	return list
}

// assertOneElement fails the test unless a fragment is one element with an ID.
func assertOneElement(t *testing.T, fragment string) {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(fragment), body)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != 1 || nodes[0].Type != html.ElementNode {
		t.Fatalf("a fragment is %d nodes, want one element:\n%s", len(nodes), fragment)
	}
	if id, _ := attribute(nodes[0], "id"); id == "" {
		t.Errorf("a fragment has no ID:\n%s", fragment)
	}
}
