// Package artifacttest gives tests a place for artifacts.
package artifacttest

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"gocloud.dev/blob/memblob"

	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/store"
)

// Memory returns a bucket in memory, which is closed at the end of the test.
func Memory(t testing.TB) *artifact.Bucket {
	t.Helper()
	b := artifact.Wrap(memblob.OpenBucket(nil), "memory")
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Keeper returns the artifacts of a database, as one of its processes has them.
func Keeper(db *store.DB, bucket *artifact.Bucket, limit int64) *artifact.Keeper {
	return &artifact.Keeper{
		Update: store.For[artifact.Tx](db.Update), View: store.For[artifact.Tx](db.View),
		Bucket: bucket, Limit: limit, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	}
}
