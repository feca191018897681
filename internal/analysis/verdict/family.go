package verdict

import "loadstone.dev/loadstone/internal/stats/inference"

const (
	// Alpha is what an adjusted p must not exceed in a run that is analysed once, so that inference.Alpha holds. On ten blocks the tails of
	// the paired t are too short: of runs drawn from recorded blocks of equal servers 1.0 to 1.4 % named a winner at an adjusted p of 1 %
	// (make bench-stats).
	Alpha = 0.7 * inference.Alpha
	// MinBlocks is the number of complete blocks from which on a comparison gets a verdict. Under the noise of an ordinary machine
	// (pairs differ with a standard deviation of 6 %) seven blocks see a difference of 11 %, five only one of 17 %.
	MinBlocks = 7
	// SignFlipFrom and SignFlipTo bound the numbers of blocks for which the exact sign-flip p is computed: below, it cannot
	// support a verdict at Alpha after Holm; above, it has too many sign patterns to enumerate.
	SignFlipFrom, SignFlipTo = 10, 20
)

// The errors of a run's verdicts have one budget, Alpha for each analysis. Its larger part is for the loads: for each contender, the mean over a
// load's levels in every metric, the numbers of searches, and the overall means. The rest is for the levels of loads that have several.
// Within each part the tests are corrected by Holm's procedure with weights.
const (
	// LoadsShare is the part of the loads, and levelsShare that of the levels.
	LoadsShare, levelsShare = 0.9, 0.1
	// DecidingShare is the weight of the metrics that decide, together; the others share the rest.
	DecidingShare = 0.9
	// ratesAlpha is the probability of any false word about who does not sustain a rate, beside Alpha and within inference.Alpha.
	ratesAlpha = 0.002
)

// AnalysisAlpha is the part of Alpha for each interim analysis and the final one, since the runs that end because their intervals are
// narrow are those whose noise was underestimated.
func AnalysisAlpha(analyses int) float64 { return Alpha / float64(max(analyses, 1)) }

// member is one result that takes part in a family.
type member struct {
	*Result
	// weight is its share of the family's budget before anything is decided; the weights of a family add up to 1.
	weight float64
}

// family are results that share a part of the budget. A result takes part if it can get a verdict at all: how much was measured and who was the
// bottleneck exclude it, never the outcome.
func family(results []*Result) []member {
	var out []member
	deciding := 0
	for _, r := range results {
		if r.tested() {
			out = append(out, member{Result: r})
			if r.Decides {
				deciding++
			}
		}
	}
	others := len(out) - deciding
	for k := range out {
		switch {
		case others == 0 || deciding == 0:
			out[k].weight = 1 / float64(len(out))
		case out[k].Decides:
			out[k].weight = DecidingShare / float64(deciding)
		default:
			out[k].weight = (1 - DecidingShare) / float64(others)
		}
	}
	return out
}

// adjust gives each member its adjusted p, which is held against the alpha of one analysis, by Holm's procedure within the family's share of the
// budget.
func adjust(members []member, share float64) {
	tests := make([]inference.Test, len(members))
	for k, m := range members {
		tests[k] = inference.Test{P: *m.P, Weight: m.weight}
	}
	for k, p := range inference.Holm(tests, share) {
		members[k].AdjustedP = &p
	}
}

// prospects computes what each member can find, with the alpha that it has while nothing else is decided.
func prospects(members []member, share, alpha float64) {
	for _, m := range members {
		m.foresee(alpha * share * m.weight)
	}
}
