package httpguard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
)

func TestOriginOfTheLocalOperator(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		method string
		header http.Header
		want   int
	}{
		"a program":                 {"POST", nil, http.StatusOK},
		"our own page":              {"POST", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://localhost:3002"}}, http.StatusOK},
		"our own form":              {"POST", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"null"}}, http.StatusOK},
		"an old browser, our page":  {"POST", http.Header{"Origin": {"http://localhost:3002"}}, http.StatusOK},
		"another name of this host": {"POST", http.Header{"Origin": {"http://127.0.0.1:3002"}}, http.StatusOK},
		"typed by the person":       {"POST", http.Header{"Sec-Fetch-Site": {"none"}}, http.StatusOK},
		"another site":              {"POST", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		"another port":              {"POST", http.Header{"Sec-Fetch-Site": {"same-site"}}, http.StatusForbidden},
		"an old browser, port":      {"POST", http.Header{"Origin": {"http://localhost:3003"}}, http.StatusForbidden},
		"an old browser, no port":   {"POST", http.Header{"Origin": {"http://localhost"}}, http.StatusForbidden},
		"an old browser":            {"POST", http.Header{"Origin": {"http://evil.example:3002"}}, http.StatusForbidden},
		"a file":                    {"POST", http.Header{"Origin": {"file://localhost:3002"}}, http.StatusForbidden},
		"no origin":                 {"DELETE", http.Header{"Origin": {"null"}}, http.StatusForbidden},
		"none and null":             {"DELETE", http.Header{"Sec-Fetch-Site": {"none"}, "Origin": {"null"}}, http.StatusForbidden},
		"two origins":               {"PUT", http.Header{"Origin": {"http://localhost:3002", "http://localhost:3002"}}, http.StatusForbidden},
		"two sites":                 {"PUT", http.Header{"Sec-Fetch-Site": {"same-origin", "cross-site"}}, http.StatusForbidden},
		"vouched, but not ours":     {"PUT", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://evil.example"}}, http.StatusForbidden},
		"reading from anywhere":     {"GET", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusOK},
		"options from elsewhere":    {"OPTIONS", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
	}
	for name, tc := range tests {
		r := httptest.NewRequest(tc.method, "http://localhost:3002/", nil)
		if tc.header != nil {
			r.Header = tc.header
		}
		if got := serve(guardtest.Local(), r).StatusCode; got != tc.want {
			t.Errorf("%s: status = %d, want %d", name, got, tc.want)
		}
	}
}

func TestOriginOfASession(t *testing.T) {
	t.Parallel()
	const own = "https://console.example"
	d := signedIn(own)
	tests := map[string]struct {
		header http.Header
		want   int
	}{
		"our own page":             {http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {own}}, http.StatusOK},
		"our own form":             {http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"null"}}, http.StatusOK},
		"an old browser, our page": {http.Header{"Origin": {own}}, http.StatusOK},
		"neither":                  {http.Header{}, http.StatusForbidden},
		"null alone":               {http.Header{"Origin": {"null"}}, http.StatusForbidden},
		"without TLS":              {http.Header{"Origin": {"http://console.example"}}, http.StatusForbidden},
		"another port":             {http.Header{"Origin": {own + ":8443"}}, http.StatusForbidden},
		"loopback":                 {http.Header{"Origin": {"http://127.0.0.1"}}, http.StatusForbidden},
		"another site":             {http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {own}}, http.StatusForbidden},
		"a sibling":                {http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://www.example"}}, http.StatusForbidden},
	}
	for name, tc := range tests {
		r := httptest.NewRequest(http.MethodPost, own+"/", nil)
		r.Header = tc.header
		r.AddCookie(&http.Cookie{Name: "__Host-taskbay", Value: "viewer"})
		if got := serve(d.Door, r).StatusCode; got != tc.want {
			t.Errorf("%s: status = %d, want %d", name, got, tc.want)
		}
		r.Header = tc.header.Clone()
		r.Header.Set("Authorization", "Bearer viewer")
		if got := serve(d.Door, r).StatusCode; got != http.StatusOK {
			t.Errorf("%s, with a token: status = %d, want %d", name, got, http.StatusOK)
		}
	}
}
