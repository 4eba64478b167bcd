package client

import (
	"context"
	"io"
	"mime"
	"net/http"
)

// Download is the bytes of a part as they arrive.
type Download struct {
	io.ReadCloser
	Size     int64  // -1 if it is not known
	Filename string // that their author gave them; "" for none, and never a path to write to
}

// Download gets the bytes of a part's artifact by their digest. They are a *Problem
// with status 404 if no task that the caller may read holds them, and with 410 if they
// are lost. The caller closes what it returns; the bytes end with ctx.
func (c *Client) Download(ctx context.Context, sha256 string) (*Download, error) {
	response, err := c.send(ctx, call{method: http.MethodGet, path: pathOf("/artifacts/{}", sha256)})
	if err != nil {
		return nil, err
	}
	_, parameters, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	return &Download{ReadCloser: response.Body, Size: response.ContentLength, Filename: parameters["filename"]}, nil
}
