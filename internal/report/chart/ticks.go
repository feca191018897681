package chart

import (
	"math"
	"slices"
)

// NiceTicks returns about four round numbers from 0 to at least the largest value.
func NiceTicks(largest float64) []float64 {
	if largest <= 0 {
		return []float64{0, 1}
	}
	unit := math.Pow(10, math.Floor(math.Log10(largest)))
	step := unit
	for _, s := range []float64{0.2, 0.25, 0.5, 1, 2} {
		if largest/(s*unit) <= 5 {
			step = s * unit
			break
		}
	}
	ticks := []float64{0}
	for k := 1; ticks[len(ticks)-1] < largest; k++ {
		ticks = append(ticks, float64(k)*step)
	}
	return ticks
}

const (
	// leastGap is the least distance of two labels on a ratio axis, as a share: 45 of a phone's 350 pixels.
	leastGap = 0.13
	nearly   = 1e-9
)

// RatioTicks returns round ratios that enclose low, high and 1. The axis begins and ends at a tick, so no value lies
// outside. Steps are percentages near 1, and 1, 2 and 5 times powers of ten far from it.
func RatioTicks(low, high float64) []float64 {
	low, high = min(low, 1), max(high, 1)
	for _, step := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5} {
		if ticks := lattice(low, high, step); ticks[0] > nearly && roomy(ticks) {
			return ticks
		}
	}
	var ticks []float64
	for _, mantissas := range [][]float64{{1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		if ticks = powers(low, high, mantissas); roomy(ticks) {
			return ticks
		}
	}
	return []float64{ticks[0], 1, ticks[len(ticks)-1]}
}

func lattice(low, high, step float64) []float64 {
	var out []float64
	for k := math.Floor((low-1)/step + nearly); k <= math.Ceil((high-1)/step-nearly); k++ {
		out = append(out, 1+k*step)
	}
	return out
}

func powers(low, high float64, mantissas []float64) []float64 {
	var all []float64
	for e := math.Floor(math.Log10(low)) - 1; e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range mantissas {
			all = append(all, m*math.Pow(10, e))
		}
	}
	first, last := 0, len(all)-1
	for k, t := range all {
		if t <= low*(1+nearly) {
			first = k
		}
		if t >= high*(1-nearly) {
			last = min(last, k)
		}
	}
	return all[first : last+1]
}

func roomy(ticks []float64) bool {
	whole := math.Log(ticks[len(ticks)-1] / ticks[0])
	for k := 1; k < len(ticks); k++ {
		if math.Log(ticks[k]/ticks[k-1]) < leastGap*whole {
			return false
		}
	}
	return len(ticks) > 1
}

// ValueTicks returns round values of a logarithmic axis with this length in pixels, which enclose low and high.
func ValueTicks(low, high, length float64) []float64 {
	const room = 17
	var ticks []float64
	for _, mantissas := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		ticks = powers(low, high, mantissas)
		whole := math.Log(ticks[len(ticks)-1] / ticks[0])
		crowded := slices.ContainsFunc(ticks[1:], func(t float64) bool {
			k := slices.Index(ticks, t)
			return math.Log(t/ticks[k-1])/whole*length < room
		})
		if !crowded {
			break
		}
	}
	return ticks
}

// ShareTicks returns at most four round shares around 1 that enclose low and high.
func ShareTicks(low, high float64) []float64 {
	low, high = min(low, 1), max(high, 1)
	for _, step := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50} {
		if ticks := lattice(low, high, step); len(ticks) > 1 && len(ticks) <= 4 {
			return ticks
		}
	}
	return []float64{low, 1, high}
}
