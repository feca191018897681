package artifact

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"
)

// Object is an entry of a listing. Key is its whole key in the bucket.
type Object struct {
	Key string
	// Modified is when the object was written, by the store's clock.
	Modified time.Time
}

// CalibrationFolder holds a machine's calibrations by the runs of a namespace.
func CalibrationFolder(namespace, fingerprint string) string {
	return path.Join("calibrations", namespace, fingerprint)
}

// CalibrationKey is the key of a run's calibration.
func CalibrationKey(namespace, fingerprint, runUID string) string {
	return path.Join(CalibrationFolder(namespace, fingerprint), runUID+".json")
}

// List lists the objects directly in a folder, newest first.
func (s *Store) List(ctx context.Context, folder string) ([]Object, error) {
	ctx, cancel := context.WithTimeout(ctx, getDeadline)
	defer cancel()
	var out []Object
	for o := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: folder + "/"}) {
		if o.Err != nil {
			return nil, s.explain("listing", folder, o.Err)
		}
		if path.Dir(o.Key) == folder && o.Key[len(o.Key)-1] != '/' {
			out = append(out, Object{Key: o.Key, Modified: o.LastModified})
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}
