package inference

import (
	"cmp"
	"math"
	"slices"
)

// Test is one test of a family.
type Test struct {
	// P is its p, and Weight its share of the family's budget before anything is decided; the weights of a family add up to 1.
	P, Weight float64
}

// Holm gives each test its adjusted p by Holm's procedure with weights, in the order of the tests: p over its weight, times the weights of all
// that are not smaller, over the family's share of the whole budget, and never less than one before it. It is held against the whole budget.
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

// OneSided is the largest probability that, of two servers that each miss a rate alone with the same probability in n blocks, at least k blocks
// are missed by one and none by the other. It is largest where each misses about half of the blocks.
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
