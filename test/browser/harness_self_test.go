package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/httpguard"
)

// A check that never fails shows nothing: the harness must see what it is to
// report.
func TestHarnessSeesFaults(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", httpguard.ContentSecurityPolicy)
		switch r.URL.Path {
		case "/script.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `try { document.body.innerHTML = "<b>x</b>"; } catch {} console.error("said"); throw new Error("thrown");`)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<body style="color: red"><script>1</script><script src="/script.js"></script>`)
		}
	}))
	t.Cleanup(server.Close)

	p := openTab(t)
	p.visit(server.URL)
	p.until(`document.readyState === "complete"`)
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]bool{}
	for _, want := range []string{"inline style", "inline script", "TrustedHTML", "said", "thrown", "favicon.ico"} {
		for _, fault := range p.faults {
			seen[want] = seen[want] || containsAny(fault, []string{want})
		}
	}
	want := map[string]bool{"inline style": true, "inline script": true, "TrustedHTML": true, "said": true, "thrown": true, "favicon.ico": false}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("faults seen mismatch (-want +got):\n%s\n%q", diff, p.faults)
	}
	p.faults = nil
}
