package phrase

import (
	"math"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
)

// ChangeOf prints a result's effect, as a bound if the generator limited one side.
func (l Lexicon) ChangeOf(r verdict.Result) string {
	switch {
	case r.Ratio == nil:
		return format.Missing
	case r.ContenderIsBound == r.BaselineIsBound:
		return format.Change(*r.Ratio)
	case r.ContenderIsBound == r.Metric.MoreIsBetter():
		return l.Say("atleast", format.Change(*r.Ratio))
	}
	return l.Say("atmost", format.Change(*r.Ratio))
}

// ChangeLimits prints an effect's interval, if it has one.
func (l Lexicon) ChangeLimits(r verdict.Result) string {
	low, high, ok := Ends(r)
	if !ok {
		return format.Missing
	}
	return l.ChangeInterval(*r.Ratio, low, high)
}

// Ends returns a result's interval, open where the generator was the bottleneck: that side's throughput may be
// larger, its latency smaller. False if both sides may be, or with too few blocks.
func Ends(r verdict.Result) (low, high float64, ok bool) {
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

// Between prints an interval in the unit of its upper end.
func (l Lexicon) Between(low, high float64) string {
	from, to, unit := format.Between(low, high)
	return l.Say("latency.between", from, to, unit)
}

// ChangeInterval prints an effect's interval in the form of its mean. A low of 0 and a high of +Inf are open ends.
func (l Lexicon) ChangeInterval(mean, low, high float64) string {
	switch {
	case low <= 0 && math.IsInf(high, 1):
		return format.Missing
	case math.IsInf(high, 1):
		return l.Say("atleast", format.ChangeAs(mean, low))
	case low <= 0:
		return l.Say("atmost", format.ChangeAs(mean, high))
	}
	return l.Say("change.interval", format.ChangeAs(mean, low), format.ChangeAs(mean, high))
}

// noiseMetrics have a noise floor, in order.
var noiseMetrics = []verdict.Metric{verdict.Throughput, verdict.CPUPerRequest}

// NoiseFloor describes the machine's noise floor, or that there is none; empty if the machine is unknown.
func (l Lexicon) NoiseFloor(t analysis.Table) string {
	if t.Fingerprint == "" {
		return ""
	}
	if t.NoiseFloor == nil && t.NoiseFloorUnpinned > 0 {
		return l.Say("noise.unpinned", l.Count("cells", t.NoiseFloorUnpinned))
	}
	if t.NoiseFloor == nil {
		return l.Say("noise.none")
	}
	var floors []string
	n := 0
	for _, m := range noiseMetrics {
		if f := t.FloorOf(m); f != nil {
			floors, n = append(floors, l.Say("noise.metric", format.Percent(f.Detectable), l.Metric(m))), max(n, f.N)
		}
	}
	c := t.NoiseFloor
	return l.Say("noise.floor", format.Day(c.Ended), format.Integer(n), strings.Join(floors, l.Say("noise.and")), l.Count("blocks", c.Blocks))
}

// NoiseLine describes the result of an A/A run in one line.
func (l Lexicon) NoiseLine(t analysis.Table) string {
	if t.NoiseFloorUnpinned > 0 {
		return l.Say("line.noise.unpinned", l.Count("cells", t.NoiseFloorUnpinned))
	}
	if !t.Calibrates() {
		return l.Say("line.noise.none", t.Rules.MinBlocks)
	}
	var floors []string
	n := 0
	for _, m := range noiseMetrics {
		if f := t.FloorOf(m); f != nil {
			floors, n = append(floors, l.Say("line.noise.metric", format.Percent(f.Detectable), l.Metric(m))), max(n, f.N)
		}
	}
	c := t.NoiseFloor
	return l.Say("line.noise", format.Day(c.Ended), format.Integer(n), strings.Join(floors, ", "), l.Count("blocks", c.Blocks))
}
