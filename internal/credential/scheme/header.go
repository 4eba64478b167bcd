package scheme

import (
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// reservedHeaders have a meaning of their own in HTTP, in A2A or for whoever
// passes the request on, so no API key can be in them.
var reservedHeaders = []string{
	"accept", "age", "allow", "alt-svc", "alt-used", "cache-control", "connection", "cookie", "cookie2", "date", "dnt", "early-data",
	"expect", "forwarded", "from", "host", "http2-settings", "keep-alive", "last-event-id", "link", "location", "max-forwards",
	"origin", "pragma", "priority", "range", "referer", "server", "set-cookie", "set-cookie2", "te", "trailer", "transfer-encoding",
	"upgrade", "upgrade-insecure-requests", "user-agent", "via", "warning",
	"traceparent", "tracestate", "baggage", "x-http-method", "x-http-method-override", "x-method-override",
	"x-original-url", "x-rewrite-url", "x-real-ip", "x-request-id",
}

var reservedPrefixes = []string{
	":", "a2a-", "x-a2a-", "accept-", "access-control-", "content-", "grpc-", "if-", "proxy-", "sec-", "x-forwarded-",
}

// authorizationHeaders belong to other kinds.
var authorizationHeaders = []string{"authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate", "authentication-info"}

// checkHeader checks the name of the header that an API key goes in.
func (k *checker) checkHeader() {
	name := strings.ToLower(k.c.Header)
	switch {
	case name == "":
	case len(name) > maxHeader:
		k.fault("header", "Give at most %d characters.", maxHeader)
	case !httpguts.ValidHeaderFieldName(name):
		k.fault("header", "The name of a header has only letters, digits, and marks such as the dash: X-API-Key, for one.")
	case slices.Contains(authorizationHeaders, name):
		k.fault("header", "This header belongs to other kinds: use bearer for a token, basic for a password.")
	case slices.Contains(reservedHeaders, name), slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
		k.fault("header", "This header has a meaning of its own, so no key can be in it.")
	case strings.HasSuffix(name, "-bin"):
		k.fault("header", "gRPC takes a header with this ending for bytes, so no key can be in it.")
	}
}

// isHeaderValue reports whether a text can be the value of a header on every
// binding: printable ASCII, and no space at its ends.
func isHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
