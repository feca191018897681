package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

// Step is one rate that was tried. Its Validity differs from that of a level, since a step is meant to miss in the end: one
// that missed is void by causes outside the implementation only, and never suspect.
type Step struct {
	Step int32 `json:"step"`
	// Rate is the arrival rate in requests/s; Met says whether the bound was met, and Why why not: untrusted.
	Rate     int32    `json:"requestsPerSecond"`
	Met      bool     `json:"met"`
	Why      string   `json:"why,omitempty"`
	Validity Validity `json:"validity"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Pinned   bool     `json:"pinned"`
	// GeneratorLimited is true if a generator was busy and the server was not: a miss is then the generator's.
	GeneratorLimited bool `json:"generatorLimited,omitempty"`
}

// hindrances make a load harder to bear and never easier: a bound that was met in spite of them was met.
var hindrances = []Code{NoisyNeighbours, Steal, Throttled}

// step returns what a step is worth. Of one that missed, what the implementation itself did is the outcome and no reason to doubt it.
func (f *facts) step(c Cell, s search.Step) Step {
	out := Step{
		Step: f.Level.Step, Rate: s.Rate, Met: s.Met, Why: s.Why, Validity: Valid, Pinned: c.Pinning.Pinned,
		GeneratorLimited: f.Busiest() >= generatorBusy && f.ServerUtilisation() < generatorLimited,
	}
	var judged Cell
	for _, r := range c.Reasons {
		own := slices.Contains(implementationCodes, r.Code) || r.Code == RateMissed
		if !s.Met && (own || r.Weight != Void) {
			continue
		}
		if s.Met && slices.Contains(hindrances, r.Code) {
			r.Weight = Suspect
		}
		judged.Validity = cmp.Or(judged.Validity, Valid)
		judged.mark(r)
	}
	out.Validity, out.Reasons = cmp.Or(judged.Validity, Valid), judged.Reasons
	return out
}

// Step reads and judges one step of a search, for which each trial stands alone. Wrong is true if the server met the bound by wrong
// answers.
func (r *Reader) Step(l planned.Level, i planned.Implementation, t *record.TrialData, s search.Step) (step Step, wrong bool, err error) {
	f, err := r.gather(l, i, t, nil)
	if err != nil {
		return Step{}, false, err
	}
	c := f.judge()
	return f.step(c, s), s.Met && c.ImplementationFailure(), nil
}
