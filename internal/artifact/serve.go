package artifact

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// IsDigest reports whether s is a SHA-256 as artifacts are named by it.
func IsDigest(s string) bool { return digest.MatchString(s) }

// Serve answers a GET or HEAD with an artifact, as a file to be saved under the name
// that its author gave it, as far as that can do no harm. Ranges and conditions are
// those of RFC 9110; the digest is the entity tag.
func Serve(w http.ResponseWriter, r *http.Request, sha256, filename string, content io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", attachment(filename, sha256[:12]+".bin"))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+sha256+`"`)
	http.ServeContent(w, r, "", time.Time{}, content)
}

const maxFilename = 150 // bytes; file systems have room for 255

// attachment is a header of RFC 6266 that makes a browser save a file: under its name
// in ASCII, and, where it has other characters, in UTF-8 as well.
func attachment(filename, fallback string) string {
	name := safeName(filename)
	if name == "" {
		name = fallback
	}
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || strings.ContainsRune(`"%\`, r) {
			return '_'
		}
		return r
	}, name)
	header := `attachment; filename="` + plain + `"`
	if plain == name {
		return header
	}
	return header + "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// safeName is a name without its directories, and without characters that are not
// seen, turn the writing around, or mean something to a file system.
func safeName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.In(r, unicode.Zl, unicode.Zp):
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		}
		return r
	}, name)
	for len(name) > maxFilename {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.Trim(name, ". ")
}
