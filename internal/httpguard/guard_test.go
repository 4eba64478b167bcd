package httpguard_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
)

// refused answers a request that is not let through.
func refused(w http.ResponseWriter, _ *http.Request, e *fault.Error) {
	http.Error(w, e.Message, e.Kind.Status())
}

// serve sends one request through a door whose next handler says "in" to whoever may
// read.
func serve(d *httpguard.Door, r *http.Request) *http.Response {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	w := httptest.NewRecorder()
	d.Guard(d.Admit(access.NeedRead, next, refused), refused).ServeHTTP(w, r)
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
			if got := serve(guardtest.Local(), r).StatusCode; got != want {
				t.Errorf("status for Host %q = %d, want %d", host, got, want)
			}
		})
	}
}

func TestHostWhereSomebodySignsIn(t *testing.T) {
	t.Parallel()
	for origin, hosts := range map[string]map[string]int{
		"https://console.example": {
			"console.example": http.StatusOK, "Console.Example": http.StatusOK, "console.example:443": http.StatusOK,
			"console.example:8443": http.StatusForbidden, "127.0.0.1": http.StatusForbidden, "localhost:3002": http.StatusForbidden,
			"evil.example": http.StatusForbidden, "": http.StatusForbidden, "console.example.evil.example": http.StatusForbidden,
		},
		"http://127.0.0.1:3002": {"127.0.0.1:3002": http.StatusOK, "localhost:3002": http.StatusForbidden, "127.0.0.1:3003": http.StatusForbidden},
	} {
		d := signedIn(origin)
		for host, want := range hosts {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			r.Header.Set("Authorization", "Bearer viewer")
			if got := serve(d.Door, r).StatusCode; got != want {
				t.Errorf("%s: status for Host %q = %d, want %d", origin, host, got, want)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "evil.example"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		got := serve(guardtest.Local(), r).Header
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

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	var failed error
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, failed = io.Copy(io.Discard, r.Body) })
	for size, fits := range map[int]bool{httpguard.MaxBody: true, httpguard.MaxBody + 2: false} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(strings.Repeat("x", size)))
		guardtest.Local().Guard(next, refused).ServeHTTP(httptest.NewRecorder(), r)
		var tooLarge *http.MaxBytesError
		if errors.As(failed, &tooLarge) == fits {
			t.Errorf("a body of %d bytes: %v", size, failed)
		}
	}
}
