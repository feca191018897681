package artifact

import (
	"fmt"
	"path"

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
