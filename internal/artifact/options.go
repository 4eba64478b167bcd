package artifact

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"
)

// Dir is the name of the directory for artifacts in a data directory.
const Dir = "artifacts"

// defaultMiB is how large an artifact may be if nothing is said, and mostMiB how
// much may be said: bytes are in memory once, on their way in.
const (
	defaultMiB = 64
	mostMiB    = 1024
)

const checkTime = 20 * time.Second // for a bucket to answer at start

// Options say where artifacts are kept. They are part of a server's options.
type Options struct {
	URL    string `name:"artifact-url" env:"TASKBAY_ARTIFACT_URL" placeholder:"URL" help:"Where the bytes of artifacts are kept: file:///DIRECTORY, or s3://BUCKET?region=REGION (and endpoint=URL of a compatible store). Without it, in the directory artifacts of the data directory, which several processes have to share."`
	MaxMiB int64  `name:"max-artifact" default:"64" env:"TASKBAY_MAX_ARTIFACT" placeholder:"MIB" help:"Most mebibytes of one artifact, 1 to 1024. What is larger is refused from people, and left out of what agents say."`
}

// Limit is the most bytes of one artifact.
func (o Options) Limit() int64 {
	if o.MaxMiB == 0 {
		return defaultMiB << 20
	}
	return o.MaxMiB << 20
}

// Validate says what is wrong with the options, or nil. It opens nothing.
func (o Options) Validate() error {
	if o.MaxMiB < 0 || o.MaxMiB > mostMiB {
		return fmt.Errorf("--max-artifact %d: 1 to %d", o.MaxMiB, mostMiB)
	}
	_, err := o.parse()
	return err
}

// parse reads the URL; nil if there is none. It is not repeated in errors: people
// put secrets into URLs.
func (o Options) parse() (*url.URL, error) {
	if o.URL == "" {
		return nil, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("--artifact-url is no URL; one is file:///DIRECTORY or s3://BUCKET?region=REGION")
	}
	switch {
	case u.User != nil:
		return nil, errors.New("--artifact-url has a user or password in it, which others could see: S3 credentials come from the environment, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from where the AWS SDK finds them")
	case u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filePath(u)) || u.RawQuery != ""):
		return nil, errors.New("--artifact-url: a file URL names an absolute directory and nothing else, as file:///var/lib/taskbay/artifacts")
	case u.Scheme == "s3" && (u.Host == "" || strings.Trim(u.Path, "/") != ""):
		return nil, errors.New("--artifact-url: an S3 URL names a bucket and no path, as s3://BUCKET?region=REGION; prefix=NAME/ keeps to a part of the bucket")
	case u.Scheme != "file" && u.Scheme != "s3":
		return nil, fmt.Errorf("--artifact-url begins with %q; what works is file:// and s3://", u.Scheme+":")
	}
	return u, nil
}

func filePath(u *url.URL) string { return filepath.FromSlash(u.Path) }

// Open opens the bucket that the options name, and makes a directory that is not
// there, for its owner alone. One that cannot be used is an error for the person
// who started the server.
func (o Options) Open(ctx context.Context, dataDir string) (*Bucket, error) {
	u, err := o.parse()
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return openDir(filepath.Join(dataDir, Dir))
	case u.Scheme == "file":
		return openDir(filePath(u))
	}
	return openS3(ctx, u)
}

func openDir(dir string) (*Bucket, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the directory of artifacts: %w", err)
	}
	// A draft beside its place can be renamed there; one in TMPDIR may be on another
	// file system. What the sidecar files of fileblob hold is in the database.
	objects, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700})
	if err != nil {
		return nil, fmt.Errorf("cannot use the directory of artifacts: %w", err)
	}
	return &Bucket{objects: objects, dir: dir, place: dir}, nil
}

func openS3(ctx context.Context, u *url.URL) (*Bucket, error) {
	place := "s3://" + u.Host
	q := u.Query()
	prefix := q.Get("prefix")
	q.Del("prefix")
	if q.Has("endpoint") {
		// What AWS understands by default, compatible stores may not.
		for name, value := range map[string]string{"use_path_style": "true", "request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"} {
			if !q.Has(name) {
				q.Set(name, value)
			}
		}
	}
	opened := *u
	opened.RawQuery = q.Encode()
	objects, err := new(s3blob.URLOpener).OpenBucketURL(ctx, &opened)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if prefix != "" {
		objects = blob.PrefixedBucket(objects, prefix)
	}
	check, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	there, err := objects.IsAccessible(check)
	if err == nil && !there {
		err = errors.New("there is no such bucket")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be used: %w", place, err), objects.Close())
	}
	return &Bucket{objects: objects, place: place}, nil
}
