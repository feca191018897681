package levels

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

func percentile(q float64) string { return format.Plain(q * 100) }

func latencyMetric(q float64) verdict.Metric { return verdict.LatencyAt(percentile(q)) }

func (v levels) latencyTable() table.Table {
	var quantiles []float64
	for _, g := range v.Table.Groups {
		for _, d := range g.Latency {
			for _, q := range d.Quantiles {
				if !slices.Contains(quantiles, q.Q) && (slices.Contains(labelled, q.Q) || slices.Contains(v.ComparedMetrics(), latencyMetric(q.Q))) {
					quantiles = append(quantiles, q.Q)
				}
			}
		}
	}
	slices.Sort(quantiles)
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.ThNum("samples")}}
	for _, q := range quantiles {
		t.Head = append(t.Head, table.Num(v.Say("th.p", percentile(q))))
	}
	t.Head = append(t.Head, v.ThNum("max"))
	closed := slices.ContainsFunc(v.Table.Levels, func(l planned.Level) bool { return !l.Imposed() })
	if closed {
		t.Head = append(t.Head, v.ThNum("little"))
	}
	for _, l := range v.Table.Levels {
		kind := v.chartKind(l)
		s := v.body(l)
		s.Detail = v.Say("latency.kind." + string(kind))
		if !l.Imposed() {
			s.Detail = v.Say("latency.closedLoop", s.Detail)
		}
		for _, i := range v.Table.Implementations {
			g := v.Table.Group(l.Point, i.Name)
			if d := ofKind(*g, kind); d != nil {
				cells := v.percentileCells(l.Point, *d, i, quantiles)
				if closed {
					cells = append(cells, table.Num(little(l, *g)))
				}
				s.Rows = append(s.Rows, table.Row{Cells: cells, Muted: i.Role == record.RoleReference})
			}
		}
		if len(s.Rows) > 0 {
			t.Bodies = append(t.Bodies, s)
		}
	}
	return t
}

// little prints the mean latency that follows from a closed load's requests in flight and its throughput, by Little's
// law.
func little(l planned.Level, g validity.Group) string {
	if l.Imposed() || g.Throughput == nil {
		return format.Missing
	}
	return format.Micros(float64(l.InFlight()) / g.Throughput.Mean * 1e6)
}

func (v levels) percentileCells(p record.Point, d measured.Distribution, i planned.Implementation, quantiles []float64) []table.Cell {
	out := []table.Cell{v.implementation(i), table.NumSub(format.Integer(d.Samples), v.censored(d))}
	for _, q := range quantiles {
		c := table.Num(format.Missing)
		if k := slices.IndexFunc(d.Quantiles, func(o measured.Quantile) bool { return o.Q == q }); k >= 0 {
			c = v.quantileCell(d.Quantiles[k])
			if c.Sub = v.latencyChange(p, i.Name, q); c.Sub != "" && c.Tone == "" {
				c.Tone = "stack"
			}
		}
		out = append(out, c)
	}
	return append(out, table.Num(format.Micros(float64(d.MaxMicros))))
}

func (v levels) latencyChange(p record.Point, implementation string, q float64) string {
	for _, c := range v.Table.Comparisons {
		if c.Implementation != implementation {
			continue
		}
		for _, l := range c.Levels {
			k := slices.IndexFunc(l.Results, func(r verdict.Result) bool { return r.Metric == latencyMetric(q) && r.Ratio != nil })
			if l.Point == p && k >= 0 {
				r := l.Results[k]
				out := v.ChangeOf(r)
				if within := v.EffectInterval(r); within != "" {
					out += " (" + within + ")"
				}
				return out
			}
		}
	}
	return ""
}

// kindsTable has a row for each kind's merged distribution.
func (v levels) kindsTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("impl"), v.Th("kind"), v.ThNum("samples"), v.ThNum("mean")}}
	columns := false
	for _, l := range v.Table.Levels {
		s := v.body(l)
		for _, i := range v.Table.Implementations {
			g := v.Table.Group(l.Point, i.Name)
			for k, d := range g.Latency {
				if !columns {
					for _, q := range d.Quantiles {
						t.Head = append(t.Head, table.Num(v.Say("th.p", percentile(q.Q))))
					}
					t.Head, columns = append(t.Head, v.ThNum("max"), v.ThNum("dip")), true
				}
				s.Rows = append(s.Rows, table.Row{Cells: append(v.latencyCells(d, i), table.Num(v.dip(*g))), Muted: k > 0 || i.Role == record.RoleReference})
			}
		}
		if len(s.Rows) > 0 {
			t.Bodies = append(t.Bodies, s)
		}
	}
	return t
}

func (v levels) latencyCells(d measured.Distribution, i planned.Implementation) []table.Cell {
	samples := table.NumSub(format.Integer(d.Samples), v.censored(d))
	kind := table.Cell{Text: v.Say("latency.kind." + string(d.Kind)), Sub: v.Count("latency.cells", d.Cells)}
	mean := format.Micros(d.MeanMicros)
	if d.MeanLowMicros != nil {
		mean = v.Between(*d.MeanLowMicros, d.MeanMicros)
	}
	out := []table.Cell{v.implementation(i), kind, samples, table.Num(mean)}
	for _, q := range d.Quantiles {
		out = append(out, v.quantileCell(q))
	}
	return append(out, table.Num(format.Micros(float64(d.MaxMicros))))
}

func (v levels) quantileCell(q measured.Quantile) table.Cell {
	if q.Micros == nil {
		return table.Cell{Text: v.Say("quantile." + string(q.Unknown)), Number: true, Tone: "unknown"}
	}
	return table.Num(v.quantile(q))
}

func (v levels) quantile(q measured.Quantile) string {
	if q.LowMicros != nil {
		return v.Between(float64(*q.LowMicros), float64(*q.Micros))
	}
	return format.Micros(float64(*q.Micros))
}

// censored describes what ranks above all samples without being one.
func (v levels) censored(d measured.Distribution) string {
	var out []string
	if d.Timeouts > 0 {
		out = append(out, v.Say("latency.timeouts", format.Integer(d.Timeouts)))
	}
	if d.Dropped > 0 {
		out = append(out, v.Say("latency.dropped", format.Integer(d.Dropped)))
	}
	return strings.Join(out, ", ")
}

func (v levels) dip(g validity.Group) string {
	if g.OverTime == nil {
		return format.Missing
	}
	return format.Percent(g.OverTime.LargestDip)
}
