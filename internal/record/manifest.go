package record

import (
	"strings"
	"time"
)

const (
	// TrialManifestSchema is the schema of a TrialManifest.
	TrialManifestSchema = "loadstone.dev/trial-manifest/v2"
	// RunManifestSchema is the schema of a RunManifest.
	RunManifestSchema = "loadstone.dev/run-manifest/v2"
	// ResultFile is an agent's record: a GeneratorResult or an ObserverResult.
	ResultFile = "result.json"
)

// LocalNamespace is the namespace of runs on one machine.
const LocalNamespace = "local"

// Run identifies a run.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	PlanHash  string `json:"planHash"`
}

// Artifact is one object in the store, written once.
type Artifact struct {
	// Member owns the file, such as "server-0" or "generator-1"; empty for a file of the run.
	Member string `json:"member,omitempty"`
	// Name is the file's name in its agent's folder, such as "result.json" or "sweep-100.wrk.txt".
	Name   string `json:"name"`
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// IsSHA256 reports whether a text is a SHA-256 in lower-case hexadecimal.
func IsSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// PodRecord is where one pod of a trial ran.
type PodRecord struct {
	Name   string `json:"name"`
	Member string `json:"member"`
	Node   string `json:"node"`
	// QOSClass is from Kubernetes; exclusive CPUs need Guaranteed.
	QOSClass string `json:"qosClass"`
	Image    string `json:"image"`
	// ImageID is the digest of the image that ran.
	ImageID string `json:"imageID"`
}

// AgentClock is one agent's clock as seen by the operator.
type AgentClock struct {
	Member string `json:"member"`
	// OffsetNanos is the agent's clock minus the operator's, from the fastest of several round trips.
	OffsetNanos int64 `json:"offsetNanos"`
	// RoundTripNanos is that round trip; the offset is accurate to half of it.
	RoundTripNanos int64 `json:"roundTripNanos"`
}

// TrialManifest is the record of one trial. It is written last: a trial without one did not happen.
type TrialManifest struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	PlannedTrial
	Attempt int32 `json:"attempt"`
	// Failures are the reasons for giving up earlier attempts, oldest first.
	Failures []string  `json:"failures,omitempty"`
	Cells    []Cell    `json:"cells,omitempty"`
	Programs *Programs `json:"programs,omitempty"`
	// Profiling is nil for other work.
	Profiling *Profile     `json:"profiling,omitempty"`
	Start     time.Time    `json:"start"`
	Pods      []PodRecord  `json:"pods"`
	Clocks    []AgentClock `json:"clocks"`
	Artifacts []Artifact   `json:"artifacts"`
	Operator  string       `json:"operator"`
}

// HasCells reports whether the trial was measured by cells; otherwise it is one process, judged as a whole.
func (m TrialManifest) HasCells() bool { return len(m.Cells) > 0 }

// TrialEntry is one trial in a run's manifest, stored or failed.
type TrialEntry struct {
	PlannedTrial
	// Manifest is nil for a failed trial.
	Manifest *Artifact `json:"manifest,omitempty"`
	// Reason and Message say why there is no manifest.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// FrozenScript is a load's script as of the start of the run, as given to its generators.
type FrozenScript struct {
	Load string `json:"load"`
	Artifact
}

// FrozenBody is a request body as of the start of the run.
type FrozenBody struct {
	From string `json:"from"`
	Artifact
}

// BoundNode is the node of a member in every trial.
type BoundNode struct {
	Member string `json:"member"`
	Node   string `json:"node"`
}

// RunManifest is the record of a run: spec, plan, and the trials' manifests.
type RunManifest struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Spec is the user's spec, unchanged. Nothing is derived from it; Plan is its compiled form.
	Spec any  `json:"spec,omitempty"`
	Plan Plan `json:"plan"`
	// Notes are sentences on how the run went, in addition to the plan's notes.
	Notes []string `json:"notes,omitempty"`
	// Blocks counts the planned blocks that were measured: fewer than planned if the run ended early.
	Blocks int32 `json:"blocks"`
	// RepeatBlocks counts the blocks that replaced disturbed ones.
	RepeatBlocks int32 `json:"repeatBlocks,omitempty"`
	// Nodes are the bound nodes by member; empty if no trial was stored, and in older records.
	Nodes []BoundNode `json:"nodes,omitempty"`
	// Scripts were frozen at the start of the run; empty in older records.
	Scripts []FrozenScript `json:"scripts,omitempty"`
	Bodies  []FrozenBody   `json:"bodies,omitempty"`
	// ConfigMaps are those of implementations; every stored trial began and ended with them. Empty in older records.
	ConfigMaps []ConfigMap  `json:"configMaps,omitempty"`
	Started    time.Time    `json:"started"`
	Ended      time.Time    `json:"ended"`
	Trials     []TrialEntry `json:"trials"`
	Following  []TrialEntry `json:"following,omitempty"`
	// Operator is the version of the operator that wrote the manifest.
	Operator string `json:"operator"`
}

// TrialData is a trial's manifest with its records, read from the store and checked.
type TrialData struct {
	Manifest TrialManifest
	// Servers are the observers' records, in the order of the manifest's servers (two in a duet); empty if the kind
	// of work has none.
	Servers    []ObserverResult
	Generators []GeneratorResult
	// Rows are values compared as they are; a sweep has none, since levels have their own rules.
	Rows []Row
}

// Server returns the observations of server k; false if there are none.
func (t TrialData) Server(k int) (ObserverResult, bool) {
	if k >= len(t.Servers) {
		return ObserverResult{}, false
	}
	return t.Servers[k], true
}

// RunData is everything that a report is made from.
type RunData struct {
	Manifest  RunManifest
	Trials    []TrialData
	Following []TrialData
	// Lost says which stored trials of the blocks can no longer be read, and why; empty if none.
	Lost string
	// Earlier holds the runs of objectives, by UID.
	Earlier map[string]EarlierRun
	// Calibration is the machine's newest; nil if there is none.
	Calibration *Calibration
}
