// Package docs_test holds the documentation to the product: its links lead
// somewhere, its examples of the API are run, and its pictures are of this
// product.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// document is a Markdown file.
type document struct {
	path   string // from the root of the repository
	source []byte
	root   ast.Node
}

// readPages returns every Markdown file of the repository, by path.
func readPages(t *testing.T) map[string]document {
	t.Helper()
	pages := make(map[string]document)
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || len(path) > 1 && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.IsDir() && filepath.Ext(path) == ".md":
			pages[path] = readPage(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func readPage(t *testing.T, path string) document {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return document{path, source, goldmark.DefaultParser().Parse(text.NewReader(source))}
}

// each calls visit for every node, in the order of the page.
func (d document) each(visit func(ast.Node)) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil // as is never an error
	})
}

// anchors returns the fragments that lead to a heading, made as GitHub does.
func (d document) anchors() map[string]bool {
	found := make(map[string]bool)
	d.each(func(n ast.Node) {
		if n.Kind() != ast.KindHeading {
			return
		}
		anchor := slug(d.text(n))
		for i := 1; found[anchor]; i++ {
			anchor = slug(d.text(n)) + "-" + strconv.Itoa(i)
		}
		found[anchor] = true
	})
	return found
}

func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// text returns the words of a node, with code in back quotes.
func (d document) text(n ast.Node) string {
	var out strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			out.Write(child.Value(d.source))
			if child.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.CodeSpan:
			out.WriteString("`" + d.text(child) + "`")
		default:
			out.WriteString(d.text(child))
		}
	}
	return out.String()
}

// code returns the lines of a block of code.
func (d document) code(block *ast.FencedCodeBlock) string {
	return string(block.Lines().Value(d.source))
}
