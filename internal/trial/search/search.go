package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// Width is the ratio between the lowest rate missed and the highest met at which a search is fine enough, less 1.
const Width = 0.02

// Step is one rate that was tried.
type Step struct {
	// Rate is the arrival rate in requests per second, at least 1.
	Rate int32 `json:"rate"`
	// Met is true if the measurement kept the bound; Why is the sentence that says why it did not.
	Met bool   `json:"met"`
	Why string `json:"why,omitempty"`
}

// Result is how a search ended.
type Result string

const (
	// Found searches have a highest rate met and, above it, a lowest rate missed.
	Found Result = "Found"
	// BelowStart searches have met no rate: the first missed, and so did its halvings.
	BelowStart Result = "BelowStart"
	// NotReached searches have missed no rate: the capacity is at least the highest.
	NotReached Result = "NotReached"
	// NotTried searches have no steps.
	NotTried Result = "NotTried"
)

// Capacity is what a search has found.
type Capacity struct {
	Result Result `json:"result"`
	// Highest is the highest rate, in requests per second, that was met in more than half of its tries and that lies below Lowest; 0 if
	// there is none.
	Highest Tried `json:"highest"`
	// Lowest is the lowest rate that was not met in more than half of its tries; 0 if there is none.
	Lowest Tried `json:"lowest"`
}

// Tried is a rate and what came of its tries.
type Tried struct {
	Rate   int32 `json:"rate"`
	Met    int   `json:"met"`
	Missed int   `json:"missed"`
}

func (t Tried) tries() int { return t.Met + t.Missed }

// Next is the rate to try after past, in requests per second; done is true when there is none any more. The search has its defaults filled in.
func Next(s record.Search, past []Step) (rate int32, done bool) {
	switch {
	case len(past) >= int(s.Steps):
		return 0, true
	case len(past) == 0:
		return min(max(s.StartRequestsPerSecond, 1), record.MaxRate), false
	}
	rates := tally(past)
	for _, t := range rates {
		if t.Met == t.Missed {
			return t.Rate, false
		}
	}
	low, high := boundary(rates)
	switch {
	case high.Rate == 0:
		return min(low.Rate, record.MaxRate/2) * 2, low.Rate == record.MaxRate
	case low.Rate == 0 && high.Rate == 1:
		return 0, true
	case low.Rate == 0:
		return high.Rate / 2, false
	case !fine(low.Rate, high.Rate):
		return between(low.Rate, high.Rate), false
	case high.tries() < low.tries():
		return high.Rate, false
	}
	return low.Rate, false
}

// Outcome is what past has found.
func Outcome(past []Step) Capacity {
	low, high := boundary(tally(past))
	c := Capacity{Result: Found, Highest: low, Lowest: high}
	switch {
	case len(past) == 0:
		c.Result = NotTried
	case low.Rate == 0:
		c.Result = BelowStart
	case high.Rate == 0:
		c.Result = NotReached
	}
	return c
}

// fine is true where the interval needs no further cut, or where no rate lies within it.
func fine(low, high int32) bool {
	return high-low <= 1 || float64(high) <= float64(low)*(1+Width)
}

// between is the whole rate at the geometric mean of two that differ by more than 1.
func between(low, high int32) int32 {
	mean := int32(math.Round(math.Sqrt(float64(low) * float64(high))))
	return min(max(mean, low+1), high-1)
}

// tally counts tries, in ascending order of rates.
func tally(past []Step) []Tried {
	at := map[int32]*Tried{}
	for _, s := range past {
		if at[s.Rate] == nil {
			at[s.Rate] = &Tried{Rate: s.Rate}
		}
		if s.Met {
			at[s.Rate].Met++
		} else {
			at[s.Rate].Missed++
		}
	}
	rates := make([]Tried, 0, len(at))
	for _, rate := range slices.Sorted(maps.Keys(at)) {
		rates = append(rates, *at[rate])
	}
	return rates
}

// boundary is the lowest rate that was not met in a majority, and the highest below it that was; zero where there is none.
func boundary(rates []Tried) (low, high Tried) {
	for _, t := range rates {
		if t.Met <= t.Missed {
			return low, t
		}
		low = t
	}
	return low, Tried{}
}

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

// Steps are the steps of a search as a generator recorded them. One that was not measured has missed its bound, with the reason.
func Steps(s record.Search, runs []record.CellRun) []Step {
	steps := make([]Step, 0, len(runs))
	for _, r := range runs {
		step := Step{Rate: r.Rate, Why: r.Error}
		if r.Error == "" && r.Measurement != nil {
			step.Met, step.Why = Met(*r.Measurement, s)
		}
		steps = append(steps, step)
	}
	return steps
}

// Rates finds the rates of steps while a trial runs.
type Rates struct{}

// Rate is the rate of a cell that is a step of a search, from what its earlier steps measured; false when the search is over.
func (Rates) Rate(cell record.Cell, past []record.CellRun) (rate int32, more bool) {
	if cell.Search == nil {
		return 0, false
	}
	rate, done := Next(*cell.Search, Steps(*cell.Search, past))
	return rate, !done
}
