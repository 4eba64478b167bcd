package task

import (
	"bytes"
	"context"
	"io"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// BlobTx is a transaction of the record as Blobs needs it.
type BlobTx interface {
	// Blob returns bytes that a task of the organisation holds; fault.NotFound
	// if none does.
	Blob(organisationID, sha256 string) (Blob, error)
}

// Blobs gives out the bytes that agents sent.
type Blobs struct {
	View func(context.Context, func(BlobTx) error) error
}

// Open returns bytes by their digest, if the person may read a task that holds
// them; else fault.NotFound. The caller closes the reader.
func (b *Blobs) Open(ctx context.Context, p access.Principal, sha256 string) (io.ReadCloser, BlobInfo, error) {
	var found Blob
	err := b.View(ctx, func(tx BlobTx) (err error) {
		found, err = tx.Blob(p.OrganisationID, sha256)
		return err
	})
	if err != nil {
		return nil, BlobInfo{}, err
	}
	return io.NopCloser(bytes.NewReader(found.Content)), found.Info, nil
}
