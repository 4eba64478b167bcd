package web

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// forbidden is what would let an agent's text become markup, a style, a script
// or an address.
var forbidden = map[string]*regexp.Regexp{
	"markup from text":    regexp.MustCompile(`templ\.(Raw|FromGoHTML|ComponentFunc)`),
	"an unchecked URL":    regexp.MustCompile(`templ\.SafeURL`),
	"spread attributes":   regexp.MustCompile(`\.\.\.\s*\}`),
	"a style attribute":   regexp.MustCompile(`\sstyle\??=`),
	"an event attribute":  regexp.MustCompile(`\son[a-z]+\??=`),
	"a script or a style": regexp.MustCompile(`<style|<script[^>]*>[^<]|^\s*(script|css) \w+\(`),
}

func TestTemplatesForbid(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("views"), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".templ") {
			return err
		}
		content, err := os.ReadFile("views/" + path)
		for i, line := range strings.Split(string(content), "\n") {
			if strings.Contains(line, "{ children... }") {
				continue
			}
			for what, pattern := range forbidden {
				if pattern.MatchString(line) {
					t.Errorf("%s:%d has %s: %s", path, i+1, what, strings.TrimSpace(line))
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestForbiddenIsFound(t *testing.T) {
	t.Parallel()
	for what, line := range map[string]string{
		"markup from text":    `@templ.Raw(text)`,
		"an unchecked URL":    `<a href={ templ.SafeURL(address) }>`,
		"spread attributes":   `<div { attributes... }>`,
		"a style attribute":   `<div style={ color }>`,
		"an event attribute":  `<button onclick="x()">`,
		"a script or a style": `<script>alert(1)</script>`,
	} {
		if !forbidden[what].MatchString(line) {
			t.Errorf("%s goes unseen in %s", what, line)
		}
	}
}
