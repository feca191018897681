package analysis

import (
	"time"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/analysis/trend"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
)

// Table is the whole outcome of a run; all report formats are printed from it alone.
type Table struct {
	Run             Run                      `json:"run"`
	Rules           Rules                    `json:"rules"`
	Implementations []planned.Implementation `json:"implementations"`
	Levels          []planned.Level          `json:"levels"`
	Requests        []planned.Request        `json:"requests,omitempty"`
	Groups          []validity.Group         `json:"groups"`
	Comparisons     []verdict.Comparison     `json:"comparisons"`
	Rows            []verdict.RowComparison  `json:"rows,omitempty"`
	// Programs measured themselves; CaseGaps are what some did not print.
	Programs   []validity.Program  `json:"programs,omitempty"`
	Cases      []Case              `json:"cases,omitempty"`
	CaseGaps   []CaseGap           `json:"caseGaps,omitempty"`
	Unread     []UnreadOutput      `json:"unreadOutput,omitempty"`
	CaseNames  []CaseName          `json:"caseNames,omitempty"`
	Scaling    []scaling.Result    `json:"scaling"`
	Capacities []capacity.Capacity `json:"capacities"`
	// Trends decide nothing.
	Trends trend.Result `json:"trends"`
	// Objectives are in spec order.
	Objectives  []objectives.Result `json:"objectives"`
	Fingerprint string              `json:"fingerprint,omitempty"`
	// NoiseFloor is this run's if it is an A/A run, else the newest given.
	NoiseFloor *record.Calibration `json:"noiseFloor,omitempty"`
	// NoiseFloorUnpinned cells keep an A/A run from finding the noise floor.
	NoiseFloorUnpinned int                  `json:"noiseFloorUnpinned,omitempty"`
	Coverage           Coverage             `json:"coverage"`
	Environment        []environment.Fact   `json:"environment"`
	Encryption         []environment.Agreed `json:"encryption,omitempty"`
	Builds             *builds.Builds       `json:"builds,omitempty"`
	Claims             []builds.Claim       `json:"claims,omitempty"`
	Profiles           []Profile            `json:"profiles,omitempty"`
	// Profiles and Followed affect no verdict.
	Followed  []Followed            `json:"followed,omitempty"`
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
	// WholeTrials: trials have no cells; each process counts as one.
	WholeTrials bool     `json:"wholeTrials,omitempty"`
	Notes       []string `json:"notes"`
}

// Rules are the constants behind the verdicts.
type Rules struct {
	Alpha             float64 `json:"alpha"`
	Confidence        float64 `json:"confidence"`
	Power             float64 `json:"power"`
	MinBlocks         int     `json:"minBlocks"`
	EquivalenceMargin float64 `json:"equivalenceMargin"`
	// LoadsShare is the error budget's part for loads and searches, DecidingShare the deciding metrics' part of that.
	LoadsShare    float64 `json:"loadsShare"`
	DecidingShare float64 `json:"decidingShare"`
}

// Artifact is one stored object of the run.
type Artifact struct {
	Trial string `json:"trial"`
	record.Artifact
}

// NarrowerThan reports whether every deciding overall interval has this width (a share of its ratio) and enough
// blocks for a verdict.
func (t Table) NarrowerThan(width float64) bool {
	for _, c := range t.Comparisons {
		r := c.Deciding()
		if r.FewestPairs < verdict.MinBlocks || r.Low == nil || r.High == nil || *r.High / *r.Low - 1 > width {
			return false
		}
	}
	return len(t.Comparisons) > 0
}
