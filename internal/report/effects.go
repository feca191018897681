package report

import (
	"math"

	"loadstone.dev/loadstone/internal/verdict"
)

// changeOf prints the effect of a result; as a bound where the generator was the limit of one side.
func (v *view) changeOf(r verdict.Result) string {
	switch {
	case r.Ratio == nil:
		return missing
	case r.ContenderIsBound == r.BaselineIsBound:
		return change(*r.Ratio)
	case r.ContenderIsBound == r.Metric.MoreIsBetter():
		return v.say("atleast", change(*r.Ratio))
	}
	return v.say("atmost", change(*r.Ratio))
}

// changeLimits prints the interval of an effect; a missing one if it has none.
func (v *view) changeLimits(r verdict.Result) string {
	low, high, ok := ends(r)
	if !ok {
		return missing
	}
	return v.changeInterval(*r.Ratio, low, high)
}

// ends are the ends of a result's interval, open where the generator was the limit: either side may be better than it shows: a throughput
// larger, a latency smaller. There is none if both may be, or if too few blocks have the metric.
func ends(r verdict.Result) (low, high float64, ok bool) {
	if r.Ratio == nil || r.Low == nil || r.High == nil || r.ContenderIsBound && r.BaselineIsBound {
		return 0, 0, false
	}
	low, high = *r.Low, *r.High
	switch {
	case !r.ContenderIsBound && !r.BaselineIsBound:
	case r.ContenderIsBound == r.Metric.MoreIsBetter():
		high = math.Inf(1)
	default:
		low = 0
	}
	return low, high, true
}
