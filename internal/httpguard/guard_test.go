package httpguard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// serve sends one request through a guard whose next handler says "in".
func serve(r *http.Request) *http.Response {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	refuse := func(w http.ResponseWriter, _ *http.Request, e *fault.Error) {
		http.Error(w, e.Message, e.Kind.Status())
	}
	w := httptest.NewRecorder()
	httpguard.New(next, refuse).ServeHTTP(w, r)
	return w.Result()
}

func TestHost(t *testing.T) {
	t.Parallel()
	tests := map[string]int{
		"127.0.0.1:3002":          http.StatusOK,
		"127.0.0.1":               http.StatusOK,
		"127.1.2.3:80":            http.StatusOK,
		"[::1]:3002":              http.StatusOK,
		"[::1]":                   http.StatusOK,
		"localhost:3002":          http.StatusOK,
		"LocalHost.":              http.StatusOK,
		"taskbay.localhost:3002":  http.StatusOK,
		"evil.example:3002":       http.StatusForbidden,
		"127.0.0.1.evil.example":  http.StatusForbidden,
		"localhost.evil.example":  http.StatusForbidden,
		"notlocalhost":            http.StatusForbidden,
		"10.0.0.1:3002":           http.StatusForbidden,
		"0.0.0.0:3002":            http.StatusForbidden,
		"[::ffff:10.0.0.1]:3002":  http.StatusForbidden,
		"":                        http.StatusForbidden,
		"127.0.0.1:3002@evil.com": http.StatusForbidden,
	}
	for host, want := range tests {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			if got := serve(r).StatusCode; got != want {
				t.Errorf("status for Host %q = %d, want %d", host, got, want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		method string
		header http.Header
		want   int
	}{
		"a program":             {"POST", nil, http.StatusOK},
		"our own page":          {"POST", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://localhost:3002"}}, http.StatusOK},
		"typed by the person":   {"POST", http.Header{"Sec-Fetch-Site": {"none"}}, http.StatusOK},
		"another site":          {"POST", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		"another port":          {"POST", http.Header{"Sec-Fetch-Site": {"same-site"}}, http.StatusForbidden},
		"an old browser":        {"POST", http.Header{"Origin": {"http://evil.example"}}, http.StatusForbidden},
		"no origin":             {"DELETE", http.Header{"Origin": {"null"}}, http.StatusForbidden},
		"reading from anywhere": {"GET", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusOK},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tc.method, "/", nil)
			r.Host = "localhost:3002"
			r.Header = tc.header
			if got := serve(r).StatusCode; got != tc.want {
				t.Errorf("status = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "evil.example"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		got := serve(r).Header
		got.Del("Content-Type")
		want := http.Header{
			"Content-Security-Policy":      {httpguard.ContentSecurityPolicy},
			"X-Content-Type-Options":       {"nosniff"},
			"X-Frame-Options":              {"DENY"},
			"Referrer-Policy":              {"no-referrer"},
			"Cross-Origin-Opener-Policy":   {"same-origin"},
			"Cross-Origin-Resource-Policy": {"same-origin"},
			"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
			"Cache-Control":                {"no-store"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("headers for Host %q mismatch (-want +got):\n%s", host, diff)
		}
	}
}
