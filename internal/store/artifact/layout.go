package artifact

import (
	"fmt"
	"path"

	"loadstone.dev/loadstone/internal/record"
)

// RunPrefix is a run's prefix: PREFIX/NAMESPACE/NAME-UID8. The UID separates runs of one name.
func RunPrefix(prefix string, run record.Run) string {
	return path.Join(prefix, run.Namespace, run.Name+"-"+run.UID[:min(8, len(run.UID))])
}

// TrialPrefix is the prefix of one attempt at a trial.
func TrialPrefix(runPrefix, trial string, attempt int32) string {
	return path.Join(runPrefix, "trials", trial, fmt.Sprintf("attempt-%d", attempt))
}

// BegunKey is written before an attempt begins, to check that the store accepts files.
func BegunKey(trialPrefix string) string { return path.Join(trialPrefix, "begun.txt") }

// PlanKey is the key of the compiled plan of a run.
func PlanKey(runPrefix string) string { return path.Join(runPrefix, "plan.json") }

// ScriptKey is the key of a load's script as the run froze it.
func ScriptKey(runPrefix, load string) string { return path.Join(runPrefix, "scripts", load) }

// BodyKey is the key of a named request body as the run froze it.
func BodyKey(runPrefix, name string) string { return path.Join(runPrefix, "bodies", name) }

// ManifestKey is the manifest below a run's or a trial's prefix.
func ManifestKey(prefix string) string { return path.Join(prefix, "manifest.json") }

// MadeKey is written when a run's report is made for the first time, before its files.
func MadeKey(runPrefix string) string { return path.Join(runPrefix, "reports", "made.txt") }

// ReportKey is the key of a report file. It includes the report's digest, so that a newer version's report does not replace it.
func ReportKey(runPrefix, sha, file string) string {
	return path.Join(runPrefix, "reports", sha[:12], file)
}
