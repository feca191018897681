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

// Width is the relative gap between the lowest rate missed and the highest met at which a search stops.
const Width = 0.02

// Step is one tried rate.
type Step struct {
	// Rate is in requests per second, at least 1.
	Rate int32 `json:"rate"`
	// Met means that the measurement kept the bound; otherwise Why says why not.
	Met bool   `json:"met"`
	Why string `json:"why,omitempty"`
}

// Result is how a search ended.
type Result string

const (
	// Found searches have a highest rate met and a lowest rate missed above it.
	Found Result = "Found"
	// BelowStart searches met no rate, even after halving.
	BelowStart Result = "BelowStart"
	// NotReached searches missed no rate: the capacity is at least the highest.
	NotReached Result = "NotReached"
	// NotTried searches have no steps.
	NotTried Result = "NotTried"
)

// Capacity is the result of a search.
type Capacity struct {
	Result Result `json:"result"`
	// Highest is the highest rate below Lowest, in requests per second, that most of its tries met; 0 if none.
	Highest Tried `json:"highest"`
	// Lowest is the lowest rate that at least half of its tries missed; 0 if none.
	Lowest Tried `json:"lowest"`
}

// Tried is a rate with the results of its tries.
type Tried struct {
	Rate   int32 `json:"rate"`
	Met    int   `json:"met"`
	Missed int   `json:"missed"`
}

func (t Tried) tries() int { return t.Met + t.Missed }

// Next returns the next rate in requests per second; done is true if there is none. The search has its defaults
// filled in.
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

// Outcome returns the result of past steps.
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

// fine reports whether the interval needs no further cut.
func fine(low, high int32) bool {
	return high-low <= 1 || float64(high) <= float64(low)*(1+Width)
}

// between returns the whole rate at the geometric mean.
func between(low, high int32) int32 {
	mean := int32(math.Round(math.Sqrt(float64(low) * float64(high))))
	return min(max(mean, low+1), high-1)
}

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

// boundary returns the lowest rate without a majority of met tries, and the highest one below it; zero if none.
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

// Met reports whether a measurement kept the bound of a search; if not, why is a sentence.
//
// No request may fail, the rate must be achieved, and the percentile of the latency from the intended start must be
// within the bound. Uncertain samples count at their upper end, and an arrival without a sample as longer than any.
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

// Steps converts recorded steps. One without a measurement missed its bound, with the reason.
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

// Rate returns the rate of a search's cell from its earlier steps; false if the search is over.
func (Rates) Rate(cell record.Cell, past []record.CellRun) (rate int32, more bool) {
	if cell.Search == nil {
		return 0, false
	}
	rate, done := Next(*cell.Search, Steps(*cell.Search, past))
	return rate, !done
}
