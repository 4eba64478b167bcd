package netpolicy

import (
	"net/http"
	"time"
)

// Transport is an http.RoundTripper under the policy, for requests that are not
// calls of agents. It takes no proxy from the environment; whether redirects are
// followed is the http.Client's matter, and each would meet the policy anew.
type Transport struct {
	policy *Policy
	http   *http.Transport
}

// Transport returns a transport, which keeps connections of its own.
func (p *Policy) Transport() *Transport {
	return &Transport{policy: p, http: &http.Transport{
		DialContext:            p.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}}
}

// RoundTrip sends a request to where the policy allows it. What is refused is
// refused with a *Refusal.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.policy.CheckURL(request.URL); err != nil {
		return nil, err
	}
	return t.http.RoundTrip(request)
}

// CloseIdleConnections drops the connections that no request uses.
func (t *Transport) CloseIdleConnections() { t.http.CloseIdleConnections() }
