package scheme_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

// greeter is an agent that takes only callers with a certificate of its authority.
func greeter(t *testing.T, a certtest.Authority) *httptest.Server {
	t.Helper()
	return a.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
}

// apply returns what goes with a call of the server's address.
func apply(t *testing.T, h *scheme.Holder, address string) scheme.Applied {
	t.Helper()
	applied, err := h.Apply(t.Context(), parse(t, address))
	if err != nil {
		t.Fatalf("Apply() error = %v", err)
	}
	return applied
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	trusted := certtest.NewAuthority(t)
	server := greeter(t, trusted)
	mine := trusted.Client(t, time.Now().Add(time.Hour))
	strange := certtest.NewAuthority(t).Client(t, time.Now().Add(time.Hour))
	tests := map[string]struct {
		pair certtest.Pair
		ca   string
		want string // "" if there is no answer
	}{
		"right certificate":       {mine, trusted.PEM, "hello console"},
		"another's certificate":   {strange, trusted.PEM, ""},
		"agent is not vouched":    {mine, certtest.NewAuthority(t).PEM, ""},
		"system does not vouch":   {mine, "", ""},
		"one of many authorities": {mine, certtest.NewAuthority(t).PEM + trusted.PEM, "hello console"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := holder(t, scheme.Credential{
				Kind: scheme.MutualTLS, Origins: []string{server.URL}, Certificate: tc.pair.Certificate, Secret: scheme.Secret(tc.pair.Key), CA: tc.ca,
			}, nil)
			applied := apply(t, h, server.URL+"/a2a")
			if len(applied.Header) != 0 || applied.TLS == nil || applied.TLS != apply(t, h, server.URL).TLS {
				t.Errorf("applied %+v, want the same TLS configuration each time, and no header", applied)
			}
			transport := &http.Transport{TLSClientConfig: applied.TLS.Clone()}
			defer transport.CloseIdleConnections()
			if got := body(t, transport, server.URL); got != tc.want {
				t.Errorf("the agent says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestExpiredCertificateIsNotUsed(t *testing.T) {
	t.Parallel()
	mine := certtest.NewAuthority(t).Client(t, noon)
	later := noon.Add(time.Second)
	c := scheme.Credential{Kind: scheme.MutualTLS, Origins: []string{origin}, Certificate: mine.Certificate, Secret: scheme.Secret(mine.Key)}
	if got := c.Expires(); !got.Equal(noon) {
		t.Errorf("Expires() = %v, want %v", got, noon)
	}
	h := holder(t, c, func(o *scheme.Options) { o.Now = func() time.Time { return later } })
	if _, err := h.Apply(t.Context(), parse(t, origin)); err == nil || err.Error() != "The client certificate of this agent's credential expired on 1 June 2026." {
		t.Errorf("Apply() error = %v, want to hear that the certificate expired", err)
	}
}

// body returns what is answered to a GET; "" if nothing is.
func body(t *testing.T, transport http.RoundTripper, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return ""
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(content)
}
