package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// blobs holds one artifact, and knows of one that is lost.
type blobs struct{ *fakes }

var digest, lost = strings.Repeat("0", 64), strings.Repeat("1", 64)

func (f blobs) Open(_ context.Context, p access.Principal, sha256 string) (io.ReadSeekCloser, task.BlobInfo, error) {
	if sha256 == lost {
		return nil, task.BlobInfo{}, fault.New(fault.Gone, "The bytes are missing.")
	}
	return readSeekCloser{strings.NewReader("abc")}, task.BlobInfo{SHA256: digest, Size: 3, Filename: "p.png"}, f.found(p, sha256, digest)
}

type readSeekCloser struct{ *strings.Reader }

func (readSeekCloser) Close() error { return nil }

func TestGetArtifact(t *testing.T) {
	t.Parallel()
	f := &fakes{}
	base := setup(t, f) + "/api/v1/artifacts/"
	for name, test := range map[string]struct {
		method, sha256, header string
		status                 int
		body                   string
	}{
		"all":           {"GET", digest, "", 200, "abc"},
		"its head":      {"HEAD", digest, "", 200, ""},
		"a range":       {"GET", digest, "Range: bytes=1-", 206, "bc"},
		"what is known": {"GET", digest, `If-None-Match: "` + digest + `"`, 304, ""},
	} {
		var headers []string
		if test.header != "" {
			headers = append(headers, test.header)
		}
		response, got := call(t, test.method, base+test.sha256, "", headers...)
		if response.StatusCode != test.status || string(got) != test.body {
			t.Errorf("%s: %d %q, want %d %q", name, response.StatusCode, got, test.status, test.body)
		}
	}
	response, _ := call(t, "GET", base+digest, "")
	if got := response.Header.Get("Content-Disposition"); got != `attachment; filename="p.png"` {
		t.Errorf("Content-Disposition: %s", got)
	}
	if f.principal != access.LocalOperator() {
		t.Errorf("opened for %+v", f.principal)
	}
	for sha256, status := range map[string]int{strings.Repeat("2", 64): http.StatusNotFound, "x": http.StatusNotFound, lost: http.StatusGone} {
		response, got := call(t, "GET", base+sha256, "")
		if response.StatusCode != status || response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s, want a problem of %d", sha256, response.StatusCode, got, status)
		}
	}
}
