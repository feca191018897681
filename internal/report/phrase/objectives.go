package phrase

import (
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
)

// maxDetail is the room for why an objective has no value: enough for the differences of two anchor images.
const maxDetail = 240

// CountOutcomes counts the objectives by outcome.
func CountOutcomes(t analysis.Table) map[objectives.Outcome]int64 {
	n := map[objectives.Outcome]int64{}
	for _, o := range t.Objectives {
		n[o.Outcome]++
	}
	return n
}

// ObjectiveMetric names the value that an objective bounds.
func (l Lexicon) ObjectiveMetric(o objectives.Result) string {
	if o.ClosedLoop {
		return l.Say("objective.closedLoop", l.objectiveMetric(o))
	}
	return l.objectiveMetric(o)
}

func (l Lexicon) objectiveMetric(o objectives.Result) string {
	key := "objective." + string(o.Metric)
	switch {
	case strings.HasPrefix(string(o.Of), "Case"):
		return l.Say("objective.of", l.Say(key), l.Say("objective."+string(o.Of)))
	case o.Of != "":
		return l.Say("objective.of", l.Say(key), l.Metric(verdict.MetricOf(o.Of, o.Percentile)))
	case o.Percentile != "":
		return l.Say(key, o.Percentile)
	}
	return l.Say(key)
}

var unitPrinters = map[v1alpha1.ObjectiveMetric]func(float64) string{
	v1alpha1.ObjectiveThroughput: func(r float64) string { return format.Rate(r) + "/s" }, v1alpha1.ObjectiveLatencyPercentile: format.Micros,
	v1alpha1.ObjectiveMeanLatency: format.Micros, v1alpha1.ObjectiveErrorRate: format.Percent, v1alpha1.ObjectiveServerCPUPerRequest: format.Micros,
	v1alpha1.ObjectiveServerCPUs: format.Digits, v1alpha1.ObjectivePeakMemory: format.Size, v1alpha1.ObjectiveRatioToBaseline: format.Change,
	v1alpha1.ObjectiveRegression: format.Change, v1alpha1.ObjectiveCapacity: func(r float64) string { return format.Rate(r) + "/s" },
	v1alpha1.ObjectiveCaseTime: func(n float64) string { return format.Digits(n) + " ns" }, v1alpha1.ObjectiveCaseBytes: format.Size,
	v1alpha1.ObjectiveCaseAllocations: format.Digits,
}

// PrinterOf prints a metric's values and bounds with units.
func PrinterOf(m v1alpha1.ObjectiveMetric) func(float64) string { return unitPrinters[m] }

// ObjectivesLine names, in at most 512 ASCII bytes, the missed objectives, or else the undecided ones.
func (l Lexicon) ObjectivesLine(t analysis.Table) string {
	n := CountOutcomes(t)
	worst, key := objectives.Missed, "line.objectives.missed"
	if n[objectives.Missed] == 0 {
		worst, key = objectives.Undecided, "line.objectives.undecided"
	}
	var parts []string
	for _, o := range t.Objectives {
		if o.Outcome == worst {
			parts = append(parts, l.objectiveLine(o))
		}
	}
	line := l.Say(key, n[worst], len(t.Objectives))
	for i, part := range parts {
		next := "; " + part
		if rest := l.Say("line.more", len(parts)-i); len(line)+len(next)+len(rest) > maxLine {
			return line + rest
		}
		line += next
	}
	return line
}

func (l Lexicon) objectiveLine(o objectives.Result) string {
	print := func(f float64) string { return format.ASCII(unitPrinters[o.Metric](f)) }
	bound, value := "min", o.Min
	if o.Max != nil {
		bound, value = "max", o.Max
	}
	what := l.ObjectiveMetric(o)
	if o.Name != "" {
		what = o.Name
	}
	switch {
	case o.Value == nil:
		why := format.Join(": ", string(o.Reason), util.Clip(format.ASCII(o.Detail), maxDetail))
		return l.Say("line.objective.unknown", format.ASCII(what), o.Implementation, o.At(), why, bound, print(*value))
	case o.Reason != "":
		return l.Say("line.objective.why", format.ASCII(what), o.Implementation, o.At(), print(*o.Value), bound, print(*value), o.Reason)
	}
	return l.Say("line.objective", format.ASCII(what), o.Implementation, o.At(), print(*o.Value), bound, print(*value))
}

// Gate describes the objectives' result and the worst missed one.
func (l Lexicon) Gate(g *analysis.Gate) (title, worst string) {
	all := g.Met + g.Missed + g.Undecided
	switch {
	case g.Missed > 0:
		title = l.Say("gate.failed", g.Missed, all)
		if g.Undecided > 0 {
			title += l.Say("gate.andUndecided", g.Undecided)
		}
	case g.Undecided > 0:
		title = l.Say("gate.undecided", g.Undecided, all)
	default:
		title = l.Say("gate.passed", all)
	}
	if g.Worst != nil {
		worst = l.objective(*g.Worst)
	}
	return title, worst
}

func (l Lexicon) objective(o objectives.Result) string {
	print := unitPrinters[o.Metric]
	bound, value := "objective.atleast", o.Min
	if o.Max != nil {
		bound, value = "objective.atmost", o.Max
	}
	what := l.ObjectiveMetric(o)
	if o.Name != "" {
		what = o.Name
	}
	return l.Say("gate.worst", what, o.Implementation, o.At(), format.OrMissing(o.Value, print), l.Say(bound, print(*value)))
}
