// Package backup is the file that a backup of a Taskbay on SQLite is in: a tar
// archive, compressed with gzip. Its first entry is the manifest, which says what
// follows: the vault's keys if they are included, the database, and the artifacts.
// A reader trusts nothing of it: names, sizes and digests are those that the
// manifest and the names promise, or the archive is refused.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Format is the version of the file that this program writes, and the newest that
// it reads.
const Format = 1

// The names of the entries, in their order.
const (
	manifestName = "manifest.json"
	keysName     = "vault.key"
	databaseName = "taskbay.db"
	artifactsDir = "artifacts/"
)

const (
	maxManifest = 64 << 10 // bytes
	maxKeys     = 16 << 10 // bytes, as in a file of keys
)

// Manifest says what an archive holds.
type Manifest struct {
	Format    int       `json:"format"`
	Taskbay   string    `json:"taskbay"` // the version that wrote it
	Schema    int64     `json:"schema"`  // the version of the database's schema
	CreatedAt time.Time `json:"createdAt"`
	Database  File      `json:"database"`
	Artifacts Artifacts `json:"artifacts"`
	Keys      *File     `json:"keys,omitempty"` // nil if they are not included
}

// File is one file in an archive.
type File struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
	Size   int64  `json:"size"`   // bytes
}

// Artifacts counts the artifacts in an archive. Each has its SHA-256 in its name.
type Artifacts struct {
	Count   int64 `json:"count"`
	Bytes   int64 `json:"bytes"`   // of all of them
	Missing int64 `json:"missing"` // that the database refers to and whose bytes were lost before
}

// Size is how many bytes everything in the archive has, unpacked.
func (m Manifest) Size() int64 {
	size := m.Database.Size + m.Artifacts.Bytes
	if m.Keys != nil {
		size += m.Keys.Size
	}
	return size
}

var (
	digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	object = regexp.MustCompile(`^([0-9a-f]{2})/([0-9a-f]{64})-[A-Za-z0-9-]{1,64}$`)
)

// digestOf returns the SHA-256 in the name of an artifact; "" if that is no such name.
func digestOf(name string) string {
	m := object.FindStringSubmatch(name)
	if m == nil || m[2][:2] != m[1] {
		return ""
	}
	return m[2]
}

// IsObject reports whether Taskbay names an artifact of that SHA-256 so.
func IsObject(name, sha256 string) bool { return sha256 != "" && digestOf(name) == sha256 }

// maxBytes is more than any disk has; sums of three such sizes do not overflow.
const maxBytes = 1 << 60

func (f File) valid() bool { return digest.MatchString(f.SHA256) && f.Size >= 0 && f.Size <= maxBytes }

// readManifest reads and checks a manifest.
func readManifest(raw []byte) (Manifest, error) {
	var version struct{ Format int }
	if err := json.Unmarshal(raw, &version); err != nil {
		return Manifest{}, damaged("its manifest is no JSON")
	}
	if version.Format > Format {
		return Manifest{}, fmt.Errorf("the backup has format %d, and this taskbay reads up to %d: use a newer taskbay", version.Format, Format)
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, damaged("its manifest cannot be read")
	}
	a := m.Artifacts
	counts := a.Count >= 0 && a.Bytes >= 0 && a.Bytes <= maxBytes && a.Missing >= 0
	if m.Format < 1 || m.Schema < 1 || !m.Database.valid() || !counts || m.Keys != nil && (!m.Keys.valid() || m.Keys.Size > maxKeys) {
		return m, damaged("its manifest says what cannot be")
	}
	return m, nil
}

// errNoBackup is the error of a file that is something else.
var errNoBackup = errors.New("this is no backup that taskbay made")

func damaged(format string, args ...any) error {
	return fmt.Errorf("the backup is damaged: "+format, args...)
}
