package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

const (
	// TrialManifestSchema names the shape of a TrialManifest.
	TrialManifestSchema = "loadstone.dev/trial-manifest/v1"
	// RunManifestSchema names the shape of a RunManifest.
	RunManifestSchema = "loadstone.dev/run-manifest/v1"
	// ResultFile is the name of an agent's record among its files: a GeneratorResult or an ObserverResult.
	ResultFile = "result.json"
	// RoleServer is the role of the observer's artifacts; generators are RoleGenerator + "-0", "-1" and so on.
	RoleServer = "server"
	// RoleBeside is the role of the second server's artifacts in a duet.
	RoleBeside = "beside"
	// RoleGenerator begins the role of a generator's artifacts.
	RoleGenerator = "generator"
)

// MaxGenerators bounds the index of a generator, as the API bounds generators.pods.
const MaxGenerators = 16

// GeneratorIndex is the place of a generator among those of its trial, from 0, by its role, such as "generator-3".
func GeneratorIndex(role string) (int, error) {
	text, ok := strings.CutPrefix(role, RoleGenerator+"-")
	i, err := strconv.Atoi(text)
	if !ok || err != nil || i < 0 || i >= MaxGenerators {
		return 0, fmt.Errorf("%q is no role of a generator: want %s-0 to %s-%d", role, RoleGenerator, RoleGenerator, MaxGenerators-1)
	}
	return i, nil
}

// Run identifies a run.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	PlanHash  string `json:"planHash"`
}

// Artifact is one object in the store, written once.
type Artifact struct {
	// Role says whose file it is: "server", "beside", or "generator-0" and so on.
	Role string `json:"role"`
	// Name is the file's name in its agent's folder, such as "result.json" or "sweep-100.wrk.txt".
	Name string `json:"name"`
	// Key is the object's key in the bucket.
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// PodRecord is where one pod of a trial ran.
type PodRecord struct {
	Name string `json:"name"`
	Role string `json:"role"`
	Node string `json:"node"`
	// QOSClass is what Kubernetes made of the pod's resources: exclusive CPUs need Guaranteed.
	QOSClass string `json:"qosClass"`
	Image    string `json:"image"`
	// ImageID is the digest of the image that really ran.
	ImageID string `json:"imageID"`
}

// AgentClock is one agent's clock as the operator saw it.
type AgentClock struct {
	Role string `json:"role"`
	// OffsetNanos is the agent's clock minus the operator's, from the fastest of several round trips.
	OffsetNanos int64 `json:"offsetNanos"`
	// RoundTripNanos is that round trip: the offset is right to half of it.
	RoundTripNanos int64 `json:"roundTripNanos"`
}

// TrialManifest is the record of one trial. It is written last: a trial without one did not happen.
type TrialManifest struct {
	Schema         string   `json:"schema"`
	Run            Run      `json:"run"`
	Trial          string   `json:"trial"`
	Index          int32    `json:"index"`
	Block          int32    `json:"block"`
	Attempt        int32    `json:"attempt"`
	Faults         []string `json:"faults,omitempty"`
	Implementation string   `json:"implementation"`
	// Beside is the implementation that shared the CPU and the load; empty outside a duet.
	Beside    string          `json:"beside,omitempty"`
	Cells     []v1alpha1.Cell `json:"cells"`
	Start     time.Time       `json:"start"`
	Pods      []PodRecord     `json:"pods"`
	Clocks    []AgentClock    `json:"clocks"`
	Artifacts []Artifact      `json:"artifacts"`
	// Operator is the version of the operator that wrote the manifest.
	Operator string `json:"operator"`
}

// TrialEntry is one trial in a run's manifest: either stored or failed.
type TrialEntry struct {
	Trial          string `json:"trial"`
	Index          int32  `json:"index"`
	Block          int32  `json:"block"`
	Implementation string `json:"implementation"`
	// Beside is the second implementation of a duet; empty otherwise.
	Beside string `json:"beside,omitempty"`
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

// BoundNode is the node to which the pods of a role are bound.
type BoundNode struct {
	Role string `json:"role"`
	Node string `json:"node"`
}

// RunManifest is the record of a run: what was asked, what was planned, and where each trial's manifest lies.
type RunManifest struct {
	Schema string                    `json:"schema"`
	Run    Run                       `json:"run"`
	Spec   v1alpha1.BenchmarkRunSpec `json:"spec"`
	// Notes are the plan's: every default and decision, in sentences.
	Notes  []string `json:"notes"`
	Seed   uint64   `json:"seed"`
	Blocks int32    `json:"blocks"`
	// SpareBlocks is how many blocks were measured beyond the planned ones, for blocks that a fault from outside has hit.
	SpareBlocks int32 `json:"spareBlocks,omitempty"`
	// Nodes are those to which the run was bound, one a role; empty if no trial was stored, or in records from before runs were bound.
	Nodes []BoundNode `json:"nodes,omitempty"`
	// Scripts are the users' scripts that the run froze at its start; empty in records from before scripts were frozen.
	Scripts []FrozenScript `json:"scripts,omitempty"`
	Started time.Time      `json:"started"`
	Ended   time.Time      `json:"ended"`
	Trials  []TrialEntry   `json:"trials"`
	// Operator is the version of the operator that wrote the manifest.
	Operator string `json:"operator"`
}

// TrialData is a trial's manifest with the records that it names, as read back from the store and checked.
type TrialData struct {
	Manifest TrialManifest
	Server   ObserverResult
	// Beside is the record of the second server of a duet, and has no cells otherwise.
	Beside     ObserverResult
	Generators []GeneratorResult
}

// RunData is all that a report is made from.
type RunData struct {
	Manifest RunManifest
	Trials   []TrialData
	// Earlier holds the runs that objectives name, by the prefix under which they lie.
	Earlier map[string]EarlierRun
	// Calibration is the newest of the machine; nil if there is none.
	Calibration *Calibration
}
