package verdict

import "loadstone.dev/loadstone/internal/stats/inference"

const (
	// Alpha is the limit of an adjusted p in a run that is analysed once, so that inference.Alpha holds. With ten
	// blocks the tails of the paired t are too short: of runs drawn from recorded blocks of equal servers, 1.0 to 1.4
	// % named a winner at an adjusted p of 1 % (make bench-stats).
	Alpha = 0.7 * inference.Alpha
	// MinBlocks is the least number of complete blocks for a verdict. Under ordinary noise (pairs with a standard
	// deviation of 6 %) seven blocks detect a difference of 11 %, five only 17 %.
	MinBlocks = 7
	// SignFlipFrom and SignFlipTo bound the blocks for the exact sign-flip p: with fewer it cannot support a verdict
	// at Alpha after Holm; with more there are too many sign patterns.
	SignFlipFrom, SignFlipTo = 10, 20
)

// The errors of a run's verdicts have one budget, Alpha for each analysis. The larger part is for the loads: the mean
// over a load's levels in every metric, the numbers of searches, and the overall means, of each contender. The rest
// is for levels of loads with several. Within each part, Holm's weighted procedure corrects the tests.
const (
	// LoadsShare is the part of the loads, levelsShare that of the levels.
	LoadsShare, levelsShare = 0.9, 0.1
	// DecidingShare is the total weight of the deciding metrics; the others share the rest.
	DecidingShare = 0.9
	// ratesAlpha is the probability of any false statement on unsustained rates. It adds to Alpha within
	// inference.Alpha.
	ratesAlpha = 0.002
)

// AnalysisAlpha divides Alpha among the interim analyses and the final one. Runs that stop for narrow intervals are
// those whose noise was underestimated.
func AnalysisAlpha(analyses int) float64 { return Alpha / float64(max(analyses, 1)) }

type member struct {
	*Result
	// weight is the share of the family's budget before any decision; a family's weights sum to 1.
	weight float64
}

// family returns the results that share a part of the budget: all that can get a verdict. How much was measured and
// the bottleneck exclude a result, never its outcome.
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

// adjust sets each member's adjusted p by Holm's procedure, within the family's share of the budget. It is compared
// with the alpha of one analysis.
func adjust(members []member, share float64) {
	tests := make([]inference.Test, len(members))
	for k, m := range members {
		tests[k] = inference.Test{P: *m.P, Weight: m.weight}
	}
	for k, p := range inference.Holm(tests, share) {
		members[k].AdjustedP = &p
	}
}

// prospects computes what each member can find with its alpha while nothing else is decided.
func prospects(members []member, share, alpha float64) {
	for _, m := range members {
		m.foresee(alpha * share * m.weight)
	}
}
