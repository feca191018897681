package search

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

const (
	// missedByChance and metByChance are the assumed shares of steps that miss below the capacity or meet above it.
	// Pauses of a machine cause misses at any rate; a rate above the capacity is hardly ever met. The results change
	// little if the shares are wrong by a factor of two.
	missedByChance, metByChance = 0.05, 0.01
	// softness is the width of the success curve: the scale of its logistic function, in logs of the rate.
	softness = 0.01
	// certain is how many widths from the capacity only chance decides.
	certain = 8
	// resolution is the distance of the capacities that are weighed, in logs of the rate.
	resolution = 0.005
	// stride is the most that a rate rises over the highest one met, and falls below the lowest one tried.
	stride = 4
)

// Step is one tried rate.
type Step struct {
	// Rate is in requests per second, at least 1.
	Rate int32 `json:"rate"`
	// Met: the measurement kept the bound; otherwise Why says why not.
	Met bool   `json:"met"`
	Why string `json:"why,omitempty"`
}

// Result is how a search ended.
type Result string

const (
	// Found searches have a rate met below the capacity and a rate missed above it.
	Found Result = "Found"
	// BelowStart searches met no rate, even after halving.
	BelowStart Result = "BelowStart"
	// NotReached searches missed no rate, or none that the steps after it confirm: the capacity is at least the highest
	// met.
	NotReached Result = "NotReached"
	// NotTried searches have no steps.
	NotTried Result = "NotTried"
)

// Capacity is the result of a search.
type Capacity struct {
	Result Result `json:"result"`
	// Rate is the estimated capacity in requests per second; 0 unless Found.
	Rate float64 `json:"rate"`
	// Highest is the highest rate below the capacity with a met try; 0 if none.
	Highest Tried `json:"highest"`
	// Lowest is the lowest rate above the capacity with a missed try; 0 if none.
	Lowest Tried `json:"lowest"`
}

// Tried is a rate in requests per second, with the results of its tries.
type Tried struct {
	Rate   int32 `json:"rate"`
	Met    int   `json:"met"`
	Missed int   `json:"missed"`
}

// Start returns the first rate of a block's searches: start, or up to a half of it or twice of it. Each block has another
// one. So their steps lie at different rates, and the gaps between steps average out.
func Start(start, block int32) int32 {
	fraction := float64(bits.Reverse32(uint32(block-1))) / (1 << 32)
	rate := float64(start) * math.Pow(stride, math.Round(fraction)-fraction)
	return int32(min(max(math.Round(rate), 1), record.MaxRate))
}

// Next returns the next rate in requests per second; done is true if there is none. The search has its defaults
// filled in.
func Next(s record.Search, past []Step) (rate int32, done bool) {
	switch {
	case len(past) >= int(s.Steps):
		return 0, true
	case len(past) == 0:
		return min(max(s.StartRequestsPerSecond, 1), record.MaxRate), false
	}
	lowest, highestMet := int32(math.MaxInt32), int32(0)
	for _, p := range past {
		lowest = min(lowest, p.Rate)
		if p.Met {
			highestMet = max(highestMet, p.Rate)
		}
	}
	if highestMet >= record.MaxRate || highestMet == 0 && lowest <= 1 {
		return 0, true
	}
	next := max(capacity(past, 1, record.MaxRate), float64(lowest)/stride)
	if highestMet > 0 {
		next = min(next, float64(highestMet)*stride)
	}
	return min(max(int32(math.Round(next)), 1), record.MaxRate), false
}

// Outcome returns the result of past steps.
func Outcome(past []Step) Capacity {
	c := Capacity{Result: NotTried}
	if len(past) == 0 {
		return c
	}
	rates := tally(past)
	rate := capacity(past, float64(rates[0].Rate)/stride, float64(rates[len(rates)-1].Rate)*stride)
	for _, t := range rates {
		switch {
		case float64(t.Rate) <= rate && t.Met > 0:
			c.Highest = t
		case float64(t.Rate) > rate && t.Missed > 0 && c.Lowest.Rate == 0:
			c.Lowest = t
		}
	}
	switch {
	case c.Highest.Rate == 0:
		c.Result = BelowStart
	case c.Lowest.Rate == 0:
		c.Result = NotReached
	default:
		c.Result, c.Rate = Found, rate
	}
	return c
}

// capacity fits the success curve to all steps. It returns the rate in requests per second where the curve falls: the
// median of the capacities between two rates, weighed by the probability of the steps. Before the steps, each ratio of
// capacities is equally likely.
func capacity(past []Step, least, most float64) float64 {
	first := math.Log(least)
	weights := make([]float64, int((math.Log(most)-first)/resolution)+1)
	for _, s := range past {
		at := math.Log(float64(s.Rate))
		below, above := outcome(s.Met, metByChance), outcome(s.Met, 1-missedByChance)
		for k := range weights {
			switch z := first + float64(k)*resolution - at; {
			case z < -certain*softness:
				weights[k] += below
			case z > certain*softness:
				weights[k] += above
			default:
				weights[k] += outcome(s.Met, metByChance+(1-missedByChance-metByChance)/(1+math.Exp(-z/softness)))
			}
		}
	}
	top, sum := slices.Max(weights), 0.0
	for k, w := range weights {
		weights[k] = math.Exp(w - top)
		sum += weights[k]
	}
	half := sum / 2
	for k, w := range weights {
		if half -= w; half <= 0 {
			return math.Exp(first + float64(k)*resolution)
		}
	}
	return most
}

func outcome(met bool, probability float64) float64 {
	if !met {
		probability = 1 - probability
	}
	return math.Log(probability)
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
