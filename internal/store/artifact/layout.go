package artifact

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"

	"loadstone.dev/loadstone/internal/record"
)

// RunPrefix is where everything of a run lies: PREFIX/NAMESPACE/NAME-UID8. The UID keeps runs of one name apart.
func RunPrefix(prefix string, run record.Run) string {
	return path.Join(prefix, run.Namespace, run.Name+"-"+run.UID[:min(8, len(run.UID))])
}

// TrialPrefix is where the files of one attempt at a trial lie.
func TrialPrefix(runPrefix, trial string, attempt int32) string {
	return path.Join(runPrefix, "trials", trial, fmt.Sprintf("attempt-%d", attempt))
}

// BegunKey is the key of what is written before an attempt at a trial begins, which shows that the store takes files.
func BegunKey(trialPrefix string) string { return path.Join(trialPrefix, "begun.txt") }

// PlanKey is the key of the compiled plan of a run.
func PlanKey(runPrefix string) string { return path.Join(runPrefix, "plan.json") }

// ScriptKey is the key of the script of a load, as a run has frozen it.
func ScriptKey(runPrefix, load string) string { return path.Join(runPrefix, "scripts", load) }

// BodyKey is the key of a body that requests name, as a run has frozen it.
func BodyKey(runPrefix, name string) string { return path.Join(runPrefix, "bodies", name) }

// ManifestKey is the key of the manifest below a run's or a trial's prefix.
func ManifestKey(prefix string) string { return path.Join(prefix, "manifest.json") }

// MadeKey is the key of what is written when the report of a run has been made for the first time, before its files are.
func MadeKey(runPrefix string) string { return path.Join(runPrefix, "reports", "made.txt") }

// ReportKey is the key of a report file. The digest of the report is part of it, so that a report made again by a newer version lies
// beside the older one.
func ReportKey(runPrefix, sha, file string) string {
	return path.Join(runPrefix, "reports", sha[:12], file)
}

// Object is one object of a folder.
type Object struct {
	Key string
	// Modified is when the object was written, by the store's clock.
	Modified time.Time
}

// CalibrationFolder is where the calibrations of a machine lie.
func CalibrationFolder(fingerprint string) string { return path.Join("calibrations", fingerprint) }

// CalibrationKey is the key of the calibration that a run has found.
func CalibrationKey(fingerprint, runUID string) string {
	return path.Join(CalibrationFolder(fingerprint), runUID+".json")
}

// List names the objects that lie in a folder, and not below it, the newest first.
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
