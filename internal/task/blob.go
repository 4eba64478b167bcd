package task

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Blob is bytes that a task holds, which are kept outside the record.
type Blob struct {
	Info    BlobInfo
	Object  string // their name where they are kept; "" if they are in Content
	Content []byte // of an earlier release, until it is moved
}

// Bytes keeps what comes in parts as bytes, outside the record.
type Bytes interface {
	// Keep makes bytes durable, unless they are, and returns the name under which
	// they stay long enough for a transaction to refer to them. It must not be called
	// within a transaction. fault.Unavailable if they cannot be kept now.
	Keep(ctx context.Context, sha256 string, content []byte) (object string, err error)
	// MaxSize is the most bytes that are kept of one part.
	MaxSize() int64
	// Open returns kept bytes, to be read until ctx ends; the caller closes them.
	// fault.Gone if they are lost, fault.Unavailable if they cannot be had now.
	Open(ctx context.Context, object string, size int64) (io.ReadSeekCloser, error)
}

// Detach has the bytes in the parts of a person's message kept, and returns the
// parts with digests in their place. It must not be called within a transaction.
//
// Errors: fault.TooLarge for bytes over the limit, fault.Unavailable.
func Detach(ctx context.Context, kept Bytes, parts []a2a.Part) ([]a2a.Part, []Blob, error) {
	limit := kept.MaxSize()
	for i, p := range parts {
		if size := int64(len(p.Raw)); size > limit {
			return nil, nil, &fault.Error{
				Kind:    fault.TooLarge,
				Message: fmt.Sprintf("A file is at most %s.", inBytes(limit)),
				Fields:  []fault.Field{{Location: fmt.Sprintf("/parts/%d/raw", i), Message: fmt.Sprintf("At most %d bytes; these are %d.", limit, size)}},
			}
		}
	}
	parts = slices.Clone(parts)
	blobs, err := keepAll(ctx, kept, detach(parts, limit))
	return parts, blobs, err
}

// inBytes writes a limit as people set it.
func inBytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// detach replaces the bytes in parts by their digests, and returns those that are
// not over the limit.
func detach(parts []a2a.Part, limit int64) []Blob {
	var blobs []Blob
	for i, p := range parts {
		if p.Raw == nil {
			continue
		}
		sum := sha256.Sum256(p.Raw)
		named := &a2a.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(p.Raw))}
		if named.Size > limit {
			named.Limit = limit
		} else {
			info := BlobInfo{SHA256: named.SHA256, Size: named.Size, Filename: p.Filename, MediaType: p.MediaType}
			blobs = append(blobs, Blob{Info: info, Content: p.Raw})
		}
		parts[i].Raw, parts[i].Artifact = nil, named
	}
	return blobs
}

// keepAll has bytes kept, each once. Those that come back are in the order of their
// digests: transactions that refer to the same ones are not in each other's way.
func keepAll(ctx context.Context, kept Bytes, blobs []Blob) ([]Blob, error) {
	byDigest := func(a, b Blob) int { return strings.Compare(a.Info.SHA256, b.Info.SHA256) }
	slices.SortStableFunc(blobs, byDigest)
	blobs = slices.CompactFunc(blobs, func(a, b Blob) bool { return byDigest(a, b) == 0 })
	for i := range blobs {
		object, err := kept.Keep(ctx, blobs[i].Info.SHA256, blobs[i].Content)
		if err != nil {
			return nil, err
		}
		blobs[i].Object, blobs[i].Content = object, nil
	}
	return blobs, nil
}

// BlobTx is a transaction of the record as Blobs needs it.
type BlobTx interface {
	// Blob returns what is known of bytes that a task in the view holds;
	// fault.NotFound if none does.
	Blob(v access.View, sha256 string) (Blob, error)
}

// Blobs gives out the bytes that tasks hold.
type Blobs struct {
	View  func(context.Context, func(BlobTx) error) error
	Bytes Bytes
}

// Open returns bytes by their digest, if the person may read a task that holds
// them; else fault.NotFound, whether or not they exist. They are read as they are
// asked for, until ctx ends; the caller closes them. fault.Gone if they are lost,
// fault.Unavailable if they cannot be had now.
func (b *Blobs) Open(ctx context.Context, p access.Principal, sha256 string) (io.ReadSeekCloser, BlobInfo, error) {
	var found Blob
	err := b.View(ctx, func(tx BlobTx) (err error) {
		found, err = tx.Blob(p.View(), sha256)
		return err
	})
	if err != nil {
		return nil, BlobInfo{}, err
	}
	if found.Object == "" {
		return inMemory{bytes.NewReader(found.Content)}, found.Info, nil
	}
	content, err := b.Bytes.Open(ctx, found.Object, found.Info.Size)
	return content, found.Info, err
}

// inMemory is content that needs no closing.
type inMemory struct{ *bytes.Reader }

// Close implements io.Closer.
func (inMemory) Close() error { return nil }
