// Package static holds the console's style sheets, modules and icons inside the
// binary and serves them, made small, under addresses that change with their
// content.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed *.css *.js *.svg form
var files embed.FS

// mediaTypes are those of the files, by their extension.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Assets serves the files of one build. All of them share one address prefix,
// made from their content, so that a module's relative imports keep working and
// a browser may keep what it has for ever.
type Assets struct {
	prefix  string
	content map[string][]byte // by name, such as "form/form.css"
}

// builtIn makes the files small once in the life of a process.
var builtIn = sync.OnceValues(func() (Assets, error) { return load(files) })

// New returns the assets that are built in. It panics if one of them cannot be
// read as what it is: then the program was built wrong.
func New() Assets {
	assets, err := builtIn()
	if err != nil {
		panic(err)
	}
	return assets
}

// URL returns the address of a file, such as "app.js" or "form/form.css".
func (a Assets) URL(name string) string { return a.prefix + name }

// ServeHTTP answers requests below /static/. Only the present prefix exists:
// an address of another build is not found.
func (a Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _ := strings.CutPrefix(r.URL.Path, a.prefix)
	content, ok := a.content[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// load reads a tree of files and makes those small that can be.
func load(tree fs.FS) (Assets, error) {
	shrink := minify.New()
	shrink.AddFunc("text/css", css.Minify)
	shrink.AddFunc("text/javascript", js.Minify)
	content := map[string][]byte{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || mediaTypes[path.Ext(name)] == "" {
			return err
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		small, err := shrink.Bytes(mediaTypes[path.Ext(name)], source)
		if err != nil && !errors.Is(err, minify.ErrNotExist) {
			return fmt.Errorf("static: %s: %w", name, err)
		}
		content[name] = small
		return nil
	})
	return Assets{prefix: "/static/" + digest(content) + "/", content: content}, err
}

// digest names files by their names and content.
func digest(content map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		fmt.Fprintf(sum, "%s\x00%d\x00", name, len(content[name]))
		sum.Write(content[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
