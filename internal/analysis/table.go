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

// Table is the whole outcome of a run. All report formats are printed from it alone.
type Table struct {
	Run             Run                      `json:"run"`
	Rules           Rules                    `json:"rules"`
	Implementations []planned.Implementation `json:"implementations"`
	Levels          []planned.Level          `json:"levels"`
	// Requests are those of loads that ask for more than a path.
	Requests []planned.Request `json:"requests,omitempty"`
	// Groups hold one implementation at one level each, ordered by level, then implementation.
	Groups []validity.Group `json:"groups"`
	// Comparisons hold one contender against the baseline under one load each, the mean over all loads first; empty
	// if there is nothing to compare.
	Comparisons []verdict.Comparison `json:"comparisons"`
	// Rows hold one value of one contender against the baseline each.
	Rows []verdict.RowComparison `json:"rows,omitempty"`
	// Programs are the processes that measured themselves, Cases their output, CaseGaps what some did not print.
	Programs []validity.Program `json:"programs,omitempty"`
	Cases    []Case             `json:"cases,omitempty"`
	CaseGaps []CaseGap          `json:"caseGaps,omitempty"`
	// Unread is output that could not be read.
	Unread []UnreadOutput `json:"unreadOutput,omitempty"`
	// CaseNames are the names that the run gives to printed cases.
	CaseNames []CaseName `json:"caseNames,omitempty"`
	// Scaling holds one implementation under one load each.
	Scaling []scaling.Result `json:"scaling"`
	// Capacities hold one implementation in one load's searches each.
	Capacities []capacity.Capacity `json:"capacities"`
	// Objectives hold one objective of one implementation at one level each, in spec order.
	Objectives []objectives.Result `json:"objectives"`
	// Fingerprint is the digest of the machine's facts; empty if unknown.
	Fingerprint string `json:"fingerprint,omitempty"`
	// NoiseFloor is that of this machine: from this run if it is an A/A run, else the newest given; nil if there is
	// none.
	NoiseFloor *record.Calibration `json:"noiseFloor,omitempty"`
	// NoiseFloorUnpinned counts the unpinned cells that keep an A/A run from finding the noise floor.
	NoiseFloorUnpinned int                `json:"noiseFloorUnpinned,omitempty"`
	Coverage           Coverage           `json:"coverage"`
	Environment        []environment.Fact `json:"environment"`
	// Encryption is what TLS servers agreed on with each client.
	Encryption []environment.Agreed `json:"encryption,omitempty"`
	// Builds is how the servers were built; nil if no observer read it.
	Builds *builds.Builds `json:"builds,omitempty"`
	// Claims are the spec's claims with their answers.
	Claims []builds.Claim `json:"claims,omitempty"`
	// Profiles were made after the blocks; they affect no verdict.
	Profiles []Profile `json:"profiles,omitempty"`
	// Followed are rows of trials after the blocks; they affect no verdict.
	Followed []Followed `json:"followed,omitempty"`
	// Unknowns are what tools and observers could not tell.
	Unknowns  []environment.Unknown `json:"unknowns"`
	Artifacts []Artifact            `json:"artifacts"`
}

// Run identifies the run and its plan.
type Run struct {
	record.Run
	Baseline string            `json:"baseline"`
	Blocks   int32             `json:"blocks"`
	Seed     uint64            `json:"seed"`
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Operator string            `json:"operator"`
	Pinning  record.Strictness `json:"pinning"`
	// WholeTrials is true if trials have no cells; each process counts as one.
	WholeTrials bool `json:"wholeTrials,omitempty"`
	// Notes are sentences on the plan's defaults and decisions, and on how the run went.
	Notes []string `json:"notes"`
}

// Rules are the constants behind the verdicts.
type Rules struct {
	Alpha             float64 `json:"alpha"`
	Confidence        float64 `json:"confidence"`
	Power             float64 `json:"power"`
	MinBlocks         int     `json:"minBlocks"`
	EquivalenceMargin float64 `json:"equivalenceMargin"`
	// LoadsShare is the part of the error budget for loads and searches; the levels get the rest. DecidingShare is
	// the deciding metrics' part of that; the other metrics get the rest.
	LoadsShare    float64 `json:"loadsShare"`
	DecidingShare float64 `json:"decidingShare"`
}

// Artifact is one stored object of the run.
type Artifact struct {
	Trial string `json:"trial"`
	record.Artifact
}

// NarrowerThan reports whether every deciding overall interval is at most this wide, as a share of its ratio, with
// enough blocks for a verdict. The ratios themselves do not matter.
func (t Table) NarrowerThan(width float64) bool {
	for _, c := range t.Comparisons {
		r := c.Deciding()
		if r.FewestPairs < verdict.MinBlocks || r.Low == nil || r.High == nil || *r.High / *r.Low - 1 > width {
			return false
		}
	}
	return len(t.Comparisons) > 0
}
