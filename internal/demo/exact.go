package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

type bodyKey struct{}

// keepBody puts the bytes of a request into its context, for exactData, and
// refuses requests over maxBody.
func keepBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "The request cannot be read or is too large.", http.StatusRequestEntityTooLarge)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// exactData replaces what the SDK has decoded of each data part by the JSON that
// was sent. Decoded, 9007199254740993 would have become a float64 and lost its
// last digit, and the order of members would be gone.
type exactData struct {
	a2asrv.PassthroughCallInterceptor
}

// Before implements a2asrv.CallInterceptor.
func (exactData) Before(ctx context.Context, _ *a2asrv.CallContext, request *a2asrv.Request) (context.Context, any, error) {
	send, ok := request.Payload.(*a2a.SendMessageRequest)
	if !ok || send.Message == nil {
		return ctx, nil, nil
	}
	sent := sentParts(ctx)
	for i, part := range send.Message.Parts {
		if part == nil {
			return ctx, nil, fmt.Errorf("part %d is null: %w", i, a2a.ErrInvalidParams)
		}
		if _, ok := part.Content.(a2a.Data); ok && i < len(sent) {
			part.Content = a2a.Data{Value: sent[i].Data}
		}
	}
	return ctx, nil, nil
}

type sentPart struct {
	Data json.RawMessage `json:"data"`
}

// sentParts finds the parts of the message in the body of a request, whose
// params are the body itself over HTTP+JSON and a member of it over JSON-RPC.
func sentParts(ctx context.Context) []sentPart {
	type params struct {
		Message struct {
			Parts []sentPart `json:"parts"`
		} `json:"message"`
	}
	var request struct {
		params
		Params *params `json:"params"`
	}
	body, _ := ctx.Value(bodyKey{}).([]byte)
	if err := json.Unmarshal(body, &request); err != nil {
		return nil
	}
	if request.Params != nil {
		return request.Params.Message.Parts
	}
	return request.Message.Parts
}
