package wrk

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/tool"
)

// interval returns the request interval that wrk's latency correction expects: the run's microseconds divided by the requests per connection,
// in whole numbers. 0 means no correction.
func interval(durationMicros, requests, connections int64) int64 {
	if connections <= 0 || requests/connections <= 0 {
		return 0
	}
	return durationMicros / (requests / connections)
}

// Undo removes the samples that wrk inserted for an expected interval e. For each sample of n ≥ 2e, wrk inserted one at n-e, n-2e and so on
// while above e. So the original count of bin m > e is its present count minus that of bin m+e. It fails if the bins cannot result from this
// correction. Bins are returned in ascending order.
func Undo(bins []tool.Bin, e int64) ([]tool.Bin, error) {
	sorted := slices.Clone(bins)
	slices.SortFunc(sorted, func(a, b tool.Bin) int { return int(a.Micros - b.Micros) })
	if e <= 0 {
		return sorted, nil
	}
	counts := make(map[int64]int64, len(sorted))
	for _, b := range sorted {
		counts[b.Micros] = b.Count
	}
	undone := make([]tool.Bin, 0, len(sorted))
	for _, b := range sorted {
		below := b.Micros - e
		if below > e && counts[below] < b.Count {
			return nil, fmt.Errorf("the bin of %d µs holds %d samples where the correction must have put %d", below, counts[below], b.Count)
		}
		if b.Micros > e {
			b.Count -= counts[b.Micros+e]
		}
		if b.Count > 0 {
			undone = append(undone, b)
		}
	}
	return undone, nil
}
