package httpguard

import (
	"net/http"
	"net/url"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// SameOrigin returns a handler that passes on to next what no other site's page has a
// browser send to change something, and answers the rest with refuse. Admit does so
// itself.
func (d *Door) SameOrigin(next http.Handler, refuse Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.sameOrigin(r) {
			refuse(w, r, errOtherSite())
			return
		}
		next.ServeHTTP(w, r)
	})
}

func errOtherSite() *fault.Error {
	return fault.New(fault.Forbidden, "Another site made the browser send this, so nothing was done.")
}

// sameOrigin reports whether a request changes nothing, or does not come from another
// site's page. Browsers say where a request comes from in one header or both, and no
// page can have them say something else. As the pages name no referrer, browsers hide
// the origin of their forms behind "null", which counts only if they vouch for it in
// the other header.
func (d *Door) sameOrigin(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	sites, origins := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	if len(sites) > 1 || len(origins) > 1 {
		return false
	}
	vouched := false
	if len(sites) == 1 {
		if sites[0] != "same-origin" && sites[0] != "none" { // the latter is the person, without any page
			return false
		}
		vouched = true
	}
	switch {
	case len(origins) == 0:
		return vouched || d.local() // a program says neither; one that signs in has a token
	case origins[0] == "null":
		return vouched && sites[0] == "same-origin"
	}
	return d.ownOrigin(origins[0], r.Host)
}

// ownOrigin reports whether an Origin header names this server: the configured origin,
// or a loopback origin of the port that the request came to.
func (d *Door) ownOrigin(origin, host string) bool {
	if !d.local() {
		return origin == d.Origin
	}
	from, err := url.Parse(origin)
	if err != nil || from.Scheme != "http" && from.Scheme != "https" || !loopbackHost(from.Host) {
		return false
	}
	to, err := url.Parse(from.Scheme + "://" + host)
	return err == nil && port(from) == port(to)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
