package recordtest

import (
	"math"
	"math/rand/v2"

	"loadstone.dev/loadstone/internal/stats/histogram"
)

// latencies draws a body and a tail; the corrected distribution has more samples in its tail.
func latencies(rng *rand.Rand, mean float64, requests int64) (observed, corrected *histogram.Histogram) {
	const draws = 2000
	observed, corrected = &histogram.Histogram{}, &histogram.Histogram{}
	for k := range int64(draws) {
		v := mean * 0.94 * math.Exp(rng.NormFloat64()*0.28)
		if k%60 == 0 {
			v *= 1 + rng.ExpFloat64()*2
		}
		n := requests / draws
		if k < requests%draws {
			n++
		}
		record64(observed, v, n)
	}
	corrected.Add(observed)
	for range requests / 300 {
		record64(corrected, mean*(3+rng.ExpFloat64()*9), 1)
	}
	return observed, corrected
}

func record64(h *histogram.Histogram, v float64, n int64) {
	if err := h.Record(int64(v), n); err != nil {
		panic(err)
	}
}
