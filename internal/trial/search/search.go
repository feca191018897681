package search

import (
	"maps"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/record"
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
