package signin

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

// maxPath bounds the address that a person was going to, as it travels in a cookie.
const maxPath = 1024

// Path returns the page of this server that a person was going to, for the browser to
// be sent to; "/" for whatever is not plainly one: an address elsewhere in any of the
// spellings that browsers take for one, and the pages of signing in themselves.
func Path(to string) string {
	if len(to) > maxPath || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsFunc(to, suspect) || strings.ContainsFunc(to, unicode.IsSpace) {
		return "/"
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "/"
	}
	if clean := path.Clean(u.Path); u.Path != clean && u.Path != clean+"/" || strings.ContainsFunc(u.Path, suspect) {
		return "/"
	}
	if first, _, _ := strings.Cut(u.Path[1:], "/"); first == "signin" || first == "auth" {
		return "/"
	}
	local := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	return local.String()
}

// suspect reports what browsers drop, or take for a slash.
func suspect(r rune) bool {
	return r == '\\' || r == unicode.ReplacementChar || unicode.IsControl(r)
}
