package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

type getArtifact struct {
	SHA256 string `path:"sha256" doc:"As in a part's artifact."`
}

func (s *server) registerArtifacts(api huma.API) {
	binary := &huma.Schema{Type: "string", Format: "binary"}
	responses := failures(api, http.StatusNotFound, http.StatusGone, http.StatusServiceUnavailable)
	responses["200"] = &huma.Response{
		Description: "The bytes, to be saved under the name that their author gave them",
		Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: binary}},
	}
	huma.Register(api, needs(access.NeedRead, huma.Operation{
		OperationID: "get-artifact", Method: http.MethodGet, Path: "/artifacts/{sha256}", Tags: []string{"Tasks"},
		Summary: "Get the bytes of a part",
		Description: "Of a part of any task that the caller may read. Takes Range, If-Range and If-None-Match as RFC 9110 has them; the digest is " +
			"the entity tag. 410 if the bytes are lost where they were kept.",
		Responses: responses,
	}), handle(s, "get-artifact", s.getArtifact))
}

// getArtifact answers an error before the first byte as a problem document.
func (s *server) getArtifact(ctx context.Context, p access.Principal, in *getArtifact) (*huma.StreamResponse, error) {
	if !artifact.IsDigest(in.SHA256) {
		return nil, fault.New(fault.NotFound, "There is no such file.")
	}
	content, info, err := s.Blobs.Open(ctx, p, in.SHA256)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		defer content.Close()
		r, w := humago.Unwrap(hctx)
		artifact.Serve(w, r, in.SHA256, info.Filename, content)
	}}, nil
}
