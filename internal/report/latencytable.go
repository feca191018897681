package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/latency"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
	"loadstone.dev/loadstone/internal/verdict"
)

func percentile(q float64) string { return plainNumber(q * 100) }

// latencyMetric is the name under which a percentile is compared.
func latencyMetric(q float64) verdict.Metric { return verdict.LatencyAt(percentile(q)) }

// latencyTable holds the percentiles that people ask for, of the kind of latency that each level's picture shows, with the change
// against the baseline where it is compared.
func (v *view) latencyTable() table {
	var quantiles []float64
	for _, g := range v.t.Groups {
		for _, d := range g.Latency {
			for _, q := range d.Quantiles {
				if !slices.Contains(quantiles, q.Q) && (slices.Contains(labelled, q.Q) || slices.Contains(v.comparedMetrics(), latencyMetric(q.Q))) {
					quantiles = append(quantiles, q.Q)
				}
			}
		}
	}
	slices.Sort(quantiles)
	t := table{Head: []cell{v.th("impl"), v.thNum("samples")}}
	for _, q := range quantiles {
		t.Head = append(t.Head, num(v.say("th.p", percentile(q))))
	}
	t.Head = append(t.Head, v.thNum("max"))
	for _, l := range v.t.Levels {
		kind := v.chartKind(l)
		s := v.section(l)
		s.Detail = v.say("latency.kind." + string(kind))
		for _, i := range v.t.Implementations {
			if d := ofKind(*v.t.Group(l.Point, i.Name), kind); d != nil {
				s.Rows = append(s.Rows, row{Cells: v.percentileCells(l.Point, *d, i, quantiles), Muted: i.Role == record.RoleLimit})
			}
		}
		if len(s.Rows) > 0 {
			t.Sections = append(t.Sections, s)
		}
	}
	return t
}

func (v *view) percentileCells(p record.Point, d latency.Distribution, i planned.Implementation, quantiles []float64) []cell {
	out := []cell{v.implementation(i), numSub(integer(d.Samples), v.censored(d))}
	for _, q := range quantiles {
		c := num(missing)
		if k := slices.IndexFunc(d.Quantiles, func(o latency.Quantile) bool { return o.Q == q }); k >= 0 {
			c = v.quantileCell(d.Quantiles[k])
			if c.Sub = v.latencyChange(p, i.Name, q); c.Sub != "" && c.Tone == "" {
				c.Tone = "stack"
			}
		}
		out = append(out, c)
	}
	return append(out, num(micros(float64(d.MaxMicros))))
}

// latencyChange is the change of a percentile against the baseline; nothing where it is not compared.
func (v *view) latencyChange(p record.Point, implementation string, q float64) string {
	for _, c := range v.t.Comparisons {
		if c.Implementation != implementation {
			continue
		}
		for _, l := range c.Levels {
			k := slices.IndexFunc(l.Results, func(r verdict.Result) bool { return r.Metric == latencyMetric(q) && r.Ratio != nil })
			if l.Point == p && k >= 0 {
				r := l.Results[k]
				out := v.changeOf(r)
				if within := v.effectInterval(r); within != "" {
					out += " (" + within + ")"
				}
				return out
			}
		}
	}
	return ""
}

// kindsTable holds the merged distributions of all kinds, each in a row of its own.
func (v *view) kindsTable() table {
	t := table{Head: []cell{v.th("impl"), v.th("kind"), v.thNum("samples"), v.thNum("mean")}}
	columns := false
	for _, l := range v.t.Levels {
		s := v.section(l)
		for _, i := range v.t.Implementations {
			g := v.t.Group(l.Point, i.Name)
			for k, d := range g.Latency {
				if !columns {
					for _, q := range d.Quantiles {
						t.Head = append(t.Head, num(v.say("th.p", percentile(q.Q))))
					}
					t.Head, columns = append(t.Head, v.thNum("max"), v.thNum("dip")), true
				}
				s.Rows = append(s.Rows, row{Cells: append(v.latencyCells(d, i), num(v.dip(*g))), Muted: k > 0 || i.Role == record.RoleLimit})
			}
		}
		if len(s.Rows) > 0 {
			t.Sections = append(t.Sections, s)
		}
	}
	return t
}

func (v *view) latencyCells(d latency.Distribution, i planned.Implementation) []cell {
	samples := numSub(integer(d.Samples), v.censored(d))
	kind := cell{Text: v.say("latency.kind." + string(d.Kind)), Sub: v.count("latency.cells", d.Cells)}
	mean := micros(d.MeanMicros)
	if d.MeanLowMicros != nil {
		mean = v.between(*d.MeanLowMicros, d.MeanMicros)
	}
	out := []cell{v.implementation(i), kind, samples, num(mean)}
	for _, q := range d.Quantiles {
		out = append(out, v.quantileCell(q))
	}
	return append(out, num(micros(float64(d.MaxMicros))))
}

// quantileCell is a quantile, or why it is unknown.
func (v *view) quantileCell(q latency.Quantile) cell {
	if q.Micros == nil {
		return cell{Text: v.say("quantile." + string(q.Unknown)), Number: true, Tone: "unknown"}
	}
	return num(v.quantile(q))
}

// quantile prints a quantile that is known, exactly or as an interval.
func (v *view) quantile(q latency.Quantile) string {
	if q.LowMicros != nil {
		return v.between(float64(*q.LowMicros), float64(*q.Micros))
	}
	return micros(float64(*q.Micros))
}

// censored says what ranks above all samples without being one.
func (v *view) censored(d latency.Distribution) string {
	var out []string
	if d.Timeouts > 0 {
		out = append(out, v.say("latency.timeouts", integer(d.Timeouts)))
	}
	if d.Dropped > 0 {
		out = append(out, v.say("latency.dropped", integer(d.Dropped)))
	}
	return strings.Join(out, ", ")
}

func (v *view) dip(g validity.Group) string {
	if g.OverTime == nil {
		return missing
	}
	return percent(g.OverTime.LargestDip)
}
