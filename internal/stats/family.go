package stats

import (
	"cmp"
	"math"
	"slices"
)

// The errors of a run's verdicts have one budget, VerdictAlpha a look. Its larger part is for the loads: for each contender, the mean over a
// load's levels in every metric, the numbers of searches, and the overall means. The rest is for the levels of loads that have several.
// Within each part the tests are corrected by Holm's procedure with weights.
const (
	loadsShare, levelsShare = 0.9, 0.1
	// decidingShare is the weight of the metrics that decide, together; the others share the rest.
	decidingShare = 0.9
	// ratesAlpha is the probability of any false word about who does not keep a rate, beside VerdictAlpha and within Alpha.
	ratesAlpha = 0.002
)

// oneSided is the largest probability that, of two servers that each miss a rate alone with the same probability in n blocks, at least k blocks
// are missed by one and none by the other. It is largest where each misses about half of the blocks.
func oneSided(n, k int) float64 {
	const alone = 0.25
	var sum float64
	for j := k; j <= n; j++ {
		sum += math.Exp(logChoose(n, j) + float64(j)*math.Log(alone) + float64(n-j)*math.Log(1-2*alone))
	}
	return 2 * sum
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

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
			out[k].weight = decidingShare / float64(deciding)
		default:
			out[k].weight = (1 - decidingShare) / float64(others)
		}
	}
	return out
}

// adjust gives each member its adjusted p, which is held against the alpha of a look: p over its weight, times the weights of all that are not
// smaller, over the share of the budget, and never less than one before it.
func adjust(members []member, share float64) {
	order := slices.Clone(members)
	slices.SortStableFunc(order, func(a, b member) int { return cmp.Compare(*a.P/a.weight, *b.P/b.weight) })
	rest, least := 1.0, 0.0
	for _, m := range order {
		least = max(least, min(1, *m.P/m.weight*rest/share))
		p := least
		m.AdjustedP = &p
		rest = max(rest-m.weight, 0)
	}
}

// prospects tells each member what it can find, with the alpha that it has while nothing else is decided.
func prospects(members []member, share, alpha float64) {
	for _, m := range members {
		m.foresee(alpha * share * m.weight)
	}
}
