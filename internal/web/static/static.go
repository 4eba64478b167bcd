// Package static holds the console's style sheets, modules and icons inside the
// binary and serves them under addresses that change with their content.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed *.css *.js *.svg form
var files embed.FS

// Assets serves the files of one build. All of them share one address prefix,
// made from their content, so that a module's relative imports keep working and
// a browser may keep what it has for ever.
type Assets struct {
	prefix  string
	handler http.Handler
}

// New returns the assets that are built in.
func New() Assets {
	prefix := "/static/" + digest(files) + "/"
	return Assets{prefix: prefix, handler: http.StripPrefix(prefix, http.FileServerFS(files))}
}

// URL returns the address of a file, such as "app.js" or "form/form.css".
func (a Assets) URL(name string) string { return a.prefix + name }

// ServeHTTP answers requests below /static/. Only the present prefix exists:
// an address of another build is not found.
func (a Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, a.prefix)
	if !ok || !isFile(name) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	a.handler.ServeHTTP(w, r)
}

func isFile(name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && !info.IsDir()
}

// digest names a tree of files by its content. Embedded files cannot fail to be
// read, so an error means that the binary is broken.
func digest(tree fs.FS) string {
	sum := sha256.New()
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		sum.Write([]byte(path + "\x00"))
		sum.Write(content)
		return nil
	})
	if err != nil {
		panic("static: " + err.Error())
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
