package web

import (
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

var sha256Name = regexp.MustCompile(`^[0-9a-f]{64}$`)

// artifactDownload hands out bytes that an agent sent, always as a file to be
// saved: a browser shows none of them, whatever they say that they are.
func (s *server) artifactDownload(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("sha256")
	if !sha256Name.MatchString(name) {
		return fault.New(fault.NotFound, "There is no such file.")
	}
	content, info, err := s.Blobs.Open(r.Context(), s.Principal(r), name)
	if err != nil {
		return err
	}
	defer content.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", attachment(info.Filename, name))
	h.Set("Content-Length", strconv.FormatInt(info.Size, 10))
	_, _ = io.Copy(w, content) // a browser that went away is nobody to tell; one that stays sees that bytes are missing
	return nil
}

// attachment is the header that makes a browser save a file. A name that the
// agent gave is used as far as a header can carry it.
func attachment(filename, fallback string) string {
	if header := mime.FormatMediaType("attachment", map[string]string{"filename": filename}); filename != "" && header != "" {
		return header
	}
	return `attachment; filename="` + fallback[:12] + `.bin"`
}
