package search

import (
	"fmt"
	"math"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

const microsPerMilli = 1000

// Met reports whether a measurement kept the bound of a search; why is a sentence that says why it did not, and empty if it did.
//
// No request failed, the rate was achieved, and the percentile of the latency from the intended start is within the bound whatever the
// samples were: each counts as the upper end of what is known of it, and an arrival without a sample as longer than any.
func Met(m record.Measurement, s record.Search) (met bool, why string) {
	if m.Asked <= 0 {
		return false, "The measurement has no arrival rate."
	}
	if n := m.Errors.Sum(); n > 0 {
		return false, fmt.Sprintf("%d requests failed.", n)
	}
	if short := m.Asked - m.Requests; float64(short) > max(record.MissedShare*float64(m.Asked), record.MissedStarts) {
		return false, fmt.Sprintf("%d of %d requests were answered; %d found no free virtual user.", m.Requests, m.Asked, m.Dropped)
	}
	for _, l := range m.Latency {
		if l.Kind == record.FromIntended {
			return within(l, m.Asked, s)
		}
	}
	return false, strings.Join(append([]string{"The latency from the intended start is unknown."}, m.Unknown...), " ")
}

func within(l record.Latency, asked int64, s record.Search) (met bool, why string) {
	encoded := l.HDRHigh
	if encoded == "" {
		encoded = l.HDR
	}
	h, err := histogram.Decode(encoded)
	if err != nil {
		return false, fmt.Sprintf("The latency from the intended start cannot be read: %v.", err)
	}
	bound := int64(s.MaxMilliseconds) * microsPerMilli
	rank := int64(math.Ceil(float64(s.Percentile) * float64(max(asked, l.Samples)) / 100))
	bin, ok := h.Ranks().Bin(rank)
	switch {
	case !ok:
		return false, fmt.Sprintf("p%d of the latency from the intended start is unknown: %d of %d arrivals have one.", s.Percentile, l.Samples, asked)
	case bin.High > bound:
		return false, fmt.Sprintf("p%d of the latency from the intended start is up to %.3f ms, above %d ms.", s.Percentile, float64(bin.High)/microsPerMilli, s.MaxMilliseconds)
	}
	return true, ""
}
