package report

import (
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/verdict"
)

// extra is a section of leads and one table, and one more that is folded.
type extra struct {
	Title       string
	Leads       []string
	Table       table
	FoldedTitle string
	Folded      table
}

// noiseMetrics are the metrics that have a noise floor, in the order in which it is said.
var noiseMetrics = []verdict.Metric{verdict.Throughput, verdict.CPUPerRequest}

// noiseFloor says the noise floor of the machine in a sentence, or that there is none; nothing where the machine is unknown.
func (v *view) noiseFloor() string {
	if v.t.Fingerprint == "" {
		return ""
	}
	if v.t.NoiseFloor == nil {
		return v.say("noise.none")
	}
	var floors []string
	n := 0
	for _, m := range noiseMetrics {
		if f := v.t.FloorOf(m); f != nil {
			floors, n = append(floors, v.say("noise.metric", percent(f.Detectable), v.metric(m))), max(n, f.N)
		}
	}
	c := v.t.NoiseFloor
	return v.say("noise.floor", day(c.Ended), integer(int64(n)), strings.Join(floors, v.say("noise.and")), v.count("blocks", c.Blocks))
}

// floorBeside is the noise floor of the figure that an objective bounds; unknown where A/A runs have none for it.
func (v *view) floorBeside(o objectives.Result) string {
	m := verdict.Metric(o.Metric)
	if o.Of != "" {
		m = verdict.MetricOf(o.Of, o.Percentile)
	}
	if o.Metric == record.ObjectiveErrorRate || v.t.FloorOf(m) == nil {
		return missing
	}
	return percent(v.t.FloorOf(m).Detectable)
}

// noise is the section of an A/A run; nil for other runs.
func (v *view) noise() *extra {
	if !v.t.Calibrates() {
		return nil
	}
	c := v.t.NoiseFloor
	e := &extra{Title: v.say("noise.title"), Leads: []string{
		v.say("noise.own"), v.say("noise.lead", c.Implementations[0], c.Implementations[1], v.count("blocks", c.Blocks)),
	}}
	e.Table.Head = []cell{v.th("at"), v.th("metric"), v.thNum("pairs"), v.thNum("logsd"), v.thNum("noisefloor")}
	var s section
	for _, n := range c.Entries {
		at := v.say("noise.levels")
		if n.Point != nil {
			at = v.levelName(*n.Point)
		}
		s.Rows = append(s.Rows, row{Muted: n.Point != nil, Cells: []cell{
			word(at), word(v.say("metric." + n.Metric)), num(integer(int64(n.N))), num(percent(n.LogStdDev)), num(percent(n.Detectable)),
		}})
	}
	e.Table.Sections = []section{s}
	e.Table = e.Table.finish(e.Title, true)
	return e
}

// NoiseLine says in one line what an A/A run has found, or that it has found nothing.
func NoiseLine(t analysis.Table) string {
	if !t.Calibrates() {
		return english.say("line.noise.none", t.Rules.MinBlocks)
	}
	var floors []string
	for _, m := range noiseMetrics {
		if f := t.FloorOf(m); f != nil {
			floors = append(floors, english.say("line.noise.metric", percent(f.Detectable), english.metric(m)))
		}
	}
	return english.say("line.noise", day(t.NoiseFloor.Ended), t.NoiseFloor.Blocks, strings.Join(floors, ", "))
}
