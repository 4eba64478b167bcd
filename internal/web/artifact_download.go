package web

import (
	"net/http"

	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// artifactDownload hands out bytes that a task holds, always as a file to be saved:
// a browser shows none of them, whatever they say that they are.
func (s *server) artifactDownload(w http.ResponseWriter, r *http.Request) error {
	sha256 := r.PathValue("sha256")
	if !artifact.IsDigest(sha256) {
		return fault.New(fault.NotFound, "There is no such file.")
	}
	content, info, err := s.Blobs.Open(r.Context(), s.Principal(r), sha256)
	if err != nil {
		return err
	}
	defer content.Close()
	artifact.Serve(w, r, sha256, info.Filename, content)
	return nil
}
