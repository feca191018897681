package analysis

import (
	"time"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// Table is the whole outcome of a run: all formats of the report are printed from it and from nothing else.
type Table struct {
	Run             Run                      `json:"run"`
	Rules           Rules                    `json:"rules"`
	Implementations []planned.Implementation `json:"implementations"`
	Levels          []planned.Level          `json:"levels"`
	// Requests are those of loads that ask for more than a path.
	Requests []planned.Request `json:"requests,omitempty"`
	// Groups hold one implementation at one level each, ordered by level and then by implementation.
	Groups []validity.Group `json:"groups"`
	// Comparisons hold one contender against the baseline under one load each, those over all loads first; empty if there is nothing to
	// compare.
	Comparisons []verdict.Comparison `json:"comparisons"`
	// Rows hold one value of one contender against the baseline each, of kinds of work whose values are compared as they are.
	Rows []verdict.RowComparison `json:"rows,omitempty"`
	// Programs are the processes that measured themselves, Cases what they printed, and CaseGaps what some of them did not.
	Programs []validity.Program `json:"programs,omitempty"`
	Cases    []Case             `json:"cases,omitempty"`
	CaseGaps []CaseGap          `json:"caseGaps,omitempty"`
	// Unread is what they printed that could not be read.
	Unread []UnreadOutput `json:"unreadOutput,omitempty"`
	// CaseNames are the names that the run gives to cases, in the place of those that programs print.
	CaseNames []CaseName `json:"caseNames,omitempty"`
	// Scaling holds one implementation under one load of several levels each.
	Scaling []scaling.Result `json:"scaling"`
	// Capacities hold what the searches of one load have found of one implementation each.
	Capacities []capacity.Capacity `json:"capacities"`
	// Objectives hold one objective of one implementation at one level each, in the order of the spec.
	Objectives []objectives.Result `json:"objectives"`
	// Fingerprint is the digest of the machine's facts; empty if they are unknown.
	Fingerprint string `json:"fingerprint,omitempty"`
	// NoiseFloor is the noise floor of this machine: of this run if it is an A/A run, else of the newest that was given; nil if there
	// is none.
	NoiseFloor *record.Calibration `json:"noiseFloor,omitempty"`
	// NoiseFloorUnpinned is how many cells keep an A/A run from finding the noise floor: those that count, and whose processes did not own their CPUs.
	NoiseFloorUnpinned int                `json:"noiseFloorUnpinned,omitempty"`
	Coverage           Coverage           `json:"coverage"`
	Environment        []environment.Fact `json:"environment"`
	// Encryption is what servers that speak TLS have agreed on with each of their clients.
	Encryption []environment.Agreed `json:"encryption,omitempty"`
	// Builds is how the servers were built; nil if no observer has read it.
	Builds *builds.Builds `json:"builds,omitempty"`
	// Claims are what the spec states of implementations, with what became of it.
	Claims []builds.Claim `json:"claims,omitempty"`
	// Profiles are what profilers have found when the blocks had been measured; they take part in no verdict.
	Profiles []Profile `json:"profiles,omitempty"`
	// Followed are the rows of trials that followed the blocks; they take part in no verdict.
	Followed []Followed `json:"followed,omitempty"`
	// Unknowns are what tools and observers could not tell.
	Unknowns  []environment.Unknown `json:"unknowns"`
	Artifacts []Artifact            `json:"artifacts"`
}

// Run identifies the run and says how it was planned.
type Run struct {
	record.Run
	Baseline string            `json:"baseline"`
	Blocks   int32             `json:"blocks"`
	Seed     uint64            `json:"seed"`
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Operator string            `json:"operator"`
	Pinning  record.Strictness `json:"pinning"`
	// WholeTrials is true if the trials have no cells: each of their processes counts as one.
	WholeTrials bool `json:"wholeTrials,omitempty"`
	// Notes are the plan's main defaults and decisions, and how the run was led, in sentences.
	Notes []string `json:"notes"`
}

// Rules are the constants by which verdicts were found.
type Rules struct {
	Alpha             float64 `json:"alpha"`
	Confidence        float64 `json:"confidence"`
	Power             float64 `json:"power"`
	MinBlocks         int     `json:"minBlocks"`
	EquivalenceMargin float64 `json:"equivalenceMargin"`
	// LoadsShare is the part of the allowed error that loads and searches have, and DecidingShare the part of that which the metrics that
	// decide have; the rest is for the levels, and for the other metrics.
	LoadsShare    float64 `json:"loadsShare"`
	DecidingShare float64 `json:"decidingShare"`
}

// Artifact is one object of the run in the store.
type Artifact struct {
	Trial string `json:"trial"`
	record.Artifact
}

// NarrowerThan reports whether every comparison is known well enough: each overall interval that decides is at most as wide as a share
// of its ratio, and of enough blocks for a verdict. What the ratios are does not matter.
func (t Table) NarrowerThan(width float64) bool {
	for _, c := range t.Comparisons {
		r := c.Deciding()
		if r.FewestPairs < verdict.MinBlocks || r.Low == nil || r.High == nil || *r.High / *r.Low - 1 > width {
			return false
		}
	}
	return len(t.Comparisons) > 0
}
