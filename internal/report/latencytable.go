package report

import (
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/stats"
)

func percentile(q float64) string { return plainNumber(q * 100) }

// latencyTable holds the merged distributions; each kind has a row of its own.
func (v *view) latencyTable() table {
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
				s.Rows = append(s.Rows, row{Cells: append(v.latencyCells(d, i), num(v.dip(*g))), Muted: k > 0 || i.Role == v1alpha1.RoleLimit})
			}
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) latencyCells(d stats.Latency, i stats.Implementation) []cell {
	samples := numSub(integer(d.Samples), v.censored(d))
	kind := cell{Text: v.say("latency.kind." + string(d.Kind)), Sub: v.count("latency.cells", d.Cells)}
	mean := micros(d.MeanMicros)
	if d.MeanLowMicros != nil {
		mean = v.between(*d.MeanLowMicros, d.MeanMicros)
	}
	out := []cell{v.implementation(i), kind, samples, num(mean)}
	for _, q := range d.Quantiles {
		if q.Micros == nil {
			out = append(out, cell{Text: v.say("quantile." + string(q.Unknown)), Number: true, Tone: "unknown"})
			continue
		}
		out = append(out, num(v.quantile(q)))
	}
	return append(out, num(micros(float64(d.MaxMicros))))
}

// quantile prints a quantile that is known, exactly or as an interval.
func (v *view) quantile(q stats.Quantile) string {
	if q.LowMicros != nil {
		return v.between(float64(*q.LowMicros), float64(*q.Micros))
	}
	return micros(float64(*q.Micros))
}

// censored says what ranks above all samples without being one.
func (v *view) censored(d stats.Latency) string {
	var out []string
	if d.Timeouts > 0 {
		out = append(out, v.say("latency.timeouts", integer(d.Timeouts)))
	}
	if d.Dropped > 0 {
		out = append(out, v.say("latency.dropped", integer(d.Dropped)))
	}
	return strings.Join(out, ", ")
}

func (v *view) dip(g stats.Group) string {
	if g.OverTime == nil {
		return missing
	}
	return percent(g.OverTime.LargestDip)
}
