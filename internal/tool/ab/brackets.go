package ab

import "loadstone.dev/loadstone/internal/tool"

const percentiles = 101

// rank returns the index of a percentile in sorted samples. ab rounds to the nearest index; for up to 50 samples the highest percentiles lie
// behind the last sample, and ok is false.
func rank(percentile, samples int64) (place int64, ok bool) {
	switch percentile {
	case 0:
		return 0, true
	case 100:
		return samples - 1, true
	}
	place = (samples*percentile + 50) / 100
	return place, place < samples
}

// Brackets returns the two percentiles between which each answered request lies, in ascending order. micros are the 101 percentiles of all
// samples, in microseconds; lost counts samples of unanswered requests.
//
// Which samples are lost is unknown. In any case the k-th of the others lies between the k-th and the (k+lost)-th of all. So the lower ends
// are those of the first samples and the upper ends those of the last.
func Brackets(micros [percentiles]int64, samples, lost int64) []tool.Bracket {
	low, high := ends(micros, samples)
	high = skip(high, lost)
	var out []tool.Bracket
	for len(low) > 0 && len(high) > 0 {
		n := min(low[0].Count, high[0].Count)
		out = append(out, tool.Bracket{LowMicros: low[0].Micros, HighMicros: high[0].Micros, Count: n})
		low, high = skip(low, n), skip(high, n)
	}
	return out
}

// ends returns the lower and the upper ends of all samples, in ascending order. One sample lies at each percentile; samples between two
// percentiles lie between their values.
func ends(micros [percentiles]int64, samples int64) (low, high []tool.Bin) {
	before, at := int64(-1), int64(0)
	for p, value := range micros {
		place, ok := rank(int64(p), samples)
		if !ok || place == before {
			continue
		}
		if between := place - before - 1; between > 0 {
			low = append(low, tool.Bin{Micros: at, Count: between})
			high = append(high, tool.Bin{Micros: value, Count: between})
		}
		low, high = append(low, tool.Bin{Micros: value, Count: 1}), append(high, tool.Bin{Micros: value, Count: 1})
		before, at = place, value
	}
	return low, high
}

func skip(bins []tool.Bin, n int64) []tool.Bin {
	for len(bins) > 0 && n >= bins[0].Count {
		n -= bins[0].Count
		bins = bins[1:]
	}
	if len(bins) > 0 && n > 0 {
		return append([]tool.Bin{{Micros: bins[0].Micros, Count: bins[0].Count - n}}, bins[1:]...)
	}
	return bins
}
