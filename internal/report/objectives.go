package report

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/verdict"
)

// objectiveTones colour outcomes as verdicts are.
var objectiveTones = map[objectives.Outcome]string{objectives.Met: "faster", objectives.Missed: "missed", objectives.Undecided: "unknown"}

// objectives is the section on what the run had to keep; nil if that was nothing.
func (v *view) objectives() *extra {
	if len(v.t.Objectives) == 0 {
		return nil
	}
	n := countOutcomes(v.t)
	e := &extra{Title: v.say("objectives.title"), Leads: []string{
		join(" ", v.say("objectives.counts", integer(n[objectives.Met]), integer(n[objectives.Missed]), integer(n[objectives.Undecided])), v.noiseFloor()),
		v.say("objectives.lead", v.confidence()),
	}}
	e.Table.Head = []cell{
		v.th("objective"), v.th("at"), v.th("impl"), v.thNum("bound"), v.thNum("figure"), num(v.say("th.interval", v.confidence())), v.thNum("blocks"),
		v.thNum("floor"), v.th("outcome"),
	}
	met := e.Table
	for _, outcome := range []objectives.Outcome{objectives.Missed, objectives.Undecided, objectives.Met} {
		s := section{Title: v.say("outcome." + string(outcome))}
		for _, o := range worstFirst(v.t.Objectives) {
			if o.Outcome == outcome {
				s.Rows = append(s.Rows, row{Cells: v.objectiveCells(o)})
			}
		}
		switch {
		case len(s.Rows) == 0:
		case outcome == objectives.Met && len(e.Table.Sections) > 0:
			met.Sections = []section{{Rows: s.Rows}}
		default:
			e.Table.Sections = append(e.Table.Sections, s)
		}
	}
	e.Table = e.Table.finish(v.say("objectives.title"), true)
	if len(met.Sections) > 0 {
		e.FoldedTitle = v.say("objectives.met", integer(n[objectives.Met]))
		e.Folded = met.finish(e.FoldedTitle, true)
	}
	return e
}

// worstFirst orders objectives by how far their figures lie beyond their bounds.
func worstFirst(results []objectives.Result) []objectives.Result {
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b objectives.Result) int { return cmp.Compare(b.Beyond(), a.Beyond()) })
	return out
}

func countOutcomes(t analysis.Table) map[objectives.Outcome]int64 {
	n := map[objectives.Outcome]int64{}
	for _, o := range t.Objectives {
		n[o.Outcome]++
	}
	return n
}

// objectiveBadge says how many objectives are met.
func (v *view) objectiveBadge() badge {
	n := countOutcomes(v.t)
	b := badge{Text: v.say("badge.objectives", integer(n[objectives.Met]), integer(int64(len(v.t.Objectives)))), Tone: "care"}
	switch {
	case n[objectives.Missed] > 0:
		b.Text, b.Tone = join(", ", b.Text, v.say("badge.missed", integer(n[objectives.Missed]))), "bad"
	case int(n[objectives.Met]) == len(v.t.Objectives):
		b.Tone = "good"
	}
	return b
}

func (v *view) objectiveCells(o objectives.Result) []cell {
	print := unitPrinters[o.Metric]
	name := cell{Text: objectiveMetric(v.language, o), Wrap: true}
	if o.Name != "" {
		name.Text, name.Sub = o.Name, name.Text
	}
	if o.Kind != "" {
		name.Sub = join(", ", name.Sub, v.say("latency.kind."+string(o.Kind)))
	}
	at := missing
	if o.Load != "" {
		at = v.levelName(o.Point)
	}
	n := num(integer(int64(o.N)))
	if o.Metric == record.ObjectiveRegression {
		n.Text = v.say("objective.earlier", integer(int64(o.N)), integer(int64(o.EarlierN)))
	}
	if o.Metric == record.ObjectiveErrorRate {
		n.Sub = v.count("objective.requests", int(o.Requests))
	}
	if o.EarlierRuns > 1 {
		n.Sub = v.count("objective.runs", o.EarlierRuns)
	}
	outcome := cell{Text: v.say("outcome." + string(o.Outcome)), Tone: objectiveTones[o.Outcome], Wrap: true}
	if o.Reason != "" {
		outcome.Sub = join(": ", v.say("why."+string(o.Reason)), o.Detail)
	}
	if o.WithinRuns && o.Low != nil {
		outcome.Sub = join("; ", outcome.Sub, v.say("objective.within"))
	}
	return []cell{
		name, word(at), word(o.Implementation), num(v.bound(o)), num(orMissing(o.Figure, print)), num(v.objectiveInterval(o, print)), n,
		num(v.floorBeside(o)), outcome,
	}
}

// objectiveMetric names the figure.
func objectiveMetric(l language, o objectives.Result) string {
	key := "objective." + string(o.Metric)
	switch {
	case o.Of != "":
		return l.say("objective.of", l.say(key), l.metric(verdict.MetricOf(o.Of, o.Percentile)))
	case o.Percentile != "":
		return l.say(key, o.Percentile)
	}
	return l.say(key)
}

func (v *view) bound(o objectives.Result) string {
	print := unitPrinters[o.Metric]
	if o.Min != nil {
		return v.say("objective.min", print(*o.Min))
	}
	return v.say("objective.max", orMissing(o.Max, print))
}

// objectiveInterval prints an interval, of which an end may be open.
func (v *view) objectiveInterval(o objectives.Result, print func(float64) string) string {
	switch {
	case o.Figure != nil && o.Low != nil && o.High != nil && (o.Metric == record.ObjectiveRatioToBaseline || o.Metric == record.ObjectiveRegression):
		return v.changeInterval(*o.Figure, *o.Low, *o.High)
	case o.Low != nil && o.High != nil:
		return v.say("range", print(*o.Low), print(*o.High))
	case o.Low != nil:
		return v.say("objective.above", print(*o.Low))
	case o.High != nil:
		return v.say("objective.below", print(*o.High))
	}
	return missing
}

// unitPrinters print figures and bounds with their units.
var unitPrinters = map[record.ObjectiveMetric]func(float64) string{
	record.ObjectiveThroughput: func(r float64) string { return rate(r) + "/s" }, record.ObjectiveLatencyPercentile: micros,
	record.ObjectiveMeanLatency: micros, record.ObjectiveErrorRate: percent, record.ObjectiveServerCPUPerRequest: micros,
	record.ObjectiveServerCPUs: digits, record.ObjectivePeakMemory: size, record.ObjectiveRatioToBaseline: change,
	record.ObjectiveRegression: change, record.ObjectiveCapacity: func(r float64) string { return rate(r) + "/s" },
}

// ObjectivesLine says in one line of ASCII of at most 512 bytes which objectives keep a run from succeeding: those missed, else those
// undecided.
func ObjectivesLine(t analysis.Table) string {
	n := countOutcomes(t)
	worst, key := objectives.Missed, "line.objectives.missed"
	if n[objectives.Missed] == 0 {
		worst, key = objectives.Undecided, "line.objectives.undecided"
	}
	var parts []string
	for _, o := range t.Objectives {
		if o.Outcome == worst {
			parts = append(parts, objectiveLine(o))
		}
	}
	line := english.say(key, n[worst], len(t.Objectives))
	for i, part := range parts {
		next := "; " + part
		if rest := english.say("line.more", len(parts)-i); len(line)+len(next)+len(rest) > maxLine {
			return line + rest
		}
		line += next
	}
	return line
}

func objectiveLine(o objectives.Result) string {
	print := func(f float64) string { return ascii(unitPrinters[o.Metric](f)) }
	bound, value := "min", o.Min
	if o.Max != nil {
		bound, value = "max", o.Max
	}
	what := objectiveMetric(english, o)
	if o.Name != "" {
		what = o.Name
	}
	switch {
	case o.Figure == nil:
		return english.say("line.objective.unknown", ascii(what), o.Implementation, o.Point.Name(), o.Reason, bound, print(*value))
	case o.Reason != "":
		return english.say("line.objective.why", ascii(what), o.Implementation, o.Point.Name(), print(*o.Figure), bound, print(*value), o.Reason)
	}
	return english.say("line.objective", ascii(what), o.Implementation, o.Point.Name(), print(*o.Figure), bound, print(*value))
}
