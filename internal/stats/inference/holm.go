package inference

import (
	"cmp"
	"math"
	"slices"
)

// Test is one test of a family.
type Test struct {
	// Weight is the share of the family's budget before any decision; a family's weights sum to 1.
	P, Weight float64
}

// Holm returns adjusted p by Holm's weighted procedure, in the order of the tests. It divides p by its weight and by the family's share of the
// budget, and multiplies it by the weights of all tests that are not smaller. No adjusted p is below the one before. Compare it with the whole
// budget.
func Holm(tests []Test, share float64) []float64 {
	order := make([]int, len(tests))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(tests[a].P/tests[a].Weight, tests[b].P/tests[b].Weight)
	})
	adjusted := make([]float64, len(tests))
	rest, least := 1.0, 0.0
	for _, k := range order {
		t := tests[k]
		least = max(least, min(1, t.P/t.Weight*rest/share))
		adjusted[k] = least
		rest = max(rest-t.Weight, 0)
	}
	return adjusted
}

// OneSided returns the largest probability that one of two equal servers misses at least k of n blocks alone and the
// other none. It is largest if each misses about half of the blocks.
func OneSided(n, k int) float64 {
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
