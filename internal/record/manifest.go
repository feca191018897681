package record

import "time"

const (
	// TrialManifestSchema names the shape of a TrialManifest.
	TrialManifestSchema = "loadstone.dev/trial-manifest/v2"
	// RunManifestSchema names the shape of a RunManifest.
	RunManifestSchema = "loadstone.dev/run-manifest/v2"
	// ResultFile is the name of an agent's record among its files: a GeneratorResult or an ObserverResult.
	ResultFile = "result.json"
)

// LocalNamespace is the namespace of runs that were led on one machine: each lies in a folder that its user has chosen.
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
	// Member is the member of the trial whose file it is, such as "server-0" or "generator-1"; empty of a file of the run.
	Member string `json:"member,omitempty"`
	// Name is the file's name in its agent's folder, such as "result.json" or "sweep-100.wrk.txt".
	Name string `json:"name"`
	// Key is the object's key in the bucket.
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// PodRecord is where one pod of a trial ran.
type PodRecord struct {
	Name   string `json:"name"`
	Member string `json:"member"`
	Node   string `json:"node"`
	// QOSClass is what Kubernetes made of the pod's resources: exclusive CPUs need Guaranteed.
	QOSClass string `json:"qosClass"`
	Image    string `json:"image"`
	// ImageID is the digest of the image that really ran.
	ImageID string `json:"imageID"`
}

// AgentClock is one agent's clock as the operator saw it.
type AgentClock struct {
	Member string `json:"member"`
	// OffsetNanos is the agent's clock minus the operator's, from the fastest of several round trips.
	OffsetNanos int64 `json:"offsetNanos"`
	// RoundTripNanos is that round trip: the offset is right to half of it.
	RoundTripNanos int64 `json:"roundTripNanos"`
}

// TrialManifest is the record of one trial. It is written last: a trial without one did not happen.
type TrialManifest struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	PlannedTrial
	Attempt int32 `json:"attempt"`
	// Failures are the reasons why earlier attempts were given up, oldest first.
	Failures []string `json:"failures,omitempty"`
	// Cells are those of a sweep, and Programs is how the program of a microbenchmark was run.
	Cells    []Cell    `json:"cells,omitempty"`
	Programs *Programs `json:"programs,omitempty"`
	// Profiling is how a server was profiled; nil of other work.
	Profiling *Profile     `json:"profiling,omitempty"`
	Start     time.Time    `json:"start"`
	Pods      []PodRecord  `json:"pods"`
	Clocks    []AgentClock `json:"clocks"`
	Artifacts []Artifact   `json:"artifacts"`
	// Operator is the version of the operator that wrote the manifest.
	Operator string `json:"operator"`
}

// HasCells reports whether the trial was measured cell by cell, as its kind has described it. Any other is one process, judged as a whole.
func (m TrialManifest) HasCells() bool { return len(m.Cells) > 0 }

// TrialEntry is one trial in a run's manifest: either stored or failed.
type TrialEntry struct {
	PlannedTrial
	// Manifest is the trial's manifest; nil for a trial that failed.
	Manifest *Artifact `json:"manifest,omitempty"`
	// Reason and Message say why a trial has no manifest.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// FrozenScript is the script of a load, as it was when the run started: what its generators are given.
type FrozenScript struct {
	Load string `json:"load"`
	Artifact
}

// FrozenBody is a body that requests name, as it was when the run started.
type FrozenBody struct {
	// From is the name of its BodySource.
	From string `json:"from"`
	Artifact
}

// BoundNode is the node to which a member of every trial is bound.
type BoundNode struct {
	Member string `json:"member"`
	Node   string `json:"node"`
}

// RunManifest is the record of a run: what was asked, what was planned, and where each trial's manifest lies.
type RunManifest struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Spec is what the user asked for, word by word. Nothing is derived from it: the plan is what it was compiled into.
	Spec any  `json:"spec,omitempty"`
	Plan Plan `json:"plan"`
	// Notes say in sentences how the run was led, beside what the plan's own notes say.
	Notes []string `json:"notes,omitempty"`
	// Blocks is how many of the planned blocks were needed: fewer than planned if the run ended early.
	Blocks int32 `json:"blocks"`
	// RepeatBlocks is how many blocks were measured beyond the planned ones, in the place of disturbed ones.
	RepeatBlocks int32 `json:"repeatBlocks,omitempty"`
	// Nodes are those to which the run was bound, one a member; empty if no trial was stored, or in records from before runs were bound.
	Nodes []BoundNode `json:"nodes,omitempty"`
	// Scripts are the users' scripts that the run froze at its start; empty in records from before scripts were frozen.
	Scripts []FrozenScript `json:"scripts,omitempty"`
	// Bodies are those that requests name, as the run froze them at its start.
	Bodies []FrozenBody `json:"bodies,omitempty"`
	// ConfigMaps are those that implementations name; every trial that is stored began and ended with them. Empty in records from before.
	ConfigMaps []ConfigMap  `json:"configMaps,omitempty"`
	Started    time.Time    `json:"started"`
	Ended      time.Time    `json:"ended"`
	Trials     []TrialEntry `json:"trials"`
	// Following are the trials that followed the blocks.
	Following []TrialEntry `json:"following,omitempty"`
	// Operator is the version of the operator that wrote the manifest.
	Operator string `json:"operator"`
}

// TrialData is a trial's manifest with the records that it names, as read back from the store and checked.
type TrialData struct {
	Manifest TrialManifest
	// Servers are the records of the servers' observers, in the order of the manifest's servers: one, or the two of a duet. It is empty if
	// the kind of work leaves no such records.
	Servers    []ObserverResult
	Generators []GeneratorResult
	// Rows are the values that are compared as they are; a sweep has none, since its levels are compared by rules of their own.
	Rows []Row
}

// Server is what was observed of the manifest's server k; false if nothing was.
func (t TrialData) Server(k int) (ObserverResult, bool) {
	if k >= len(t.Servers) {
		return ObserverResult{}, false
	}
	return t.Servers[k], true
}

// RunData is all that a report is made from.
type RunData struct {
	Manifest RunManifest
	Trials   []TrialData
	// Following are the trials that followed the blocks.
	Following []TrialData
	// Lost says which trials were stored and cannot be read any more, and why; empty if all of the blocks can.
	Lost string
	// Earlier holds the runs that objectives name, by the prefix under which they lie.
	Earlier map[string]EarlierRun
	// Calibration is the newest of the machine; nil if there is none.
	Calibration *Calibration
}
