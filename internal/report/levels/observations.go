package levels

import (
	"math"
	"strconv"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

var seenPrint = map[measured.ObservationName]func(float64) string{
	measured.DependencyCPU: format.Micros, measured.RunQueue: format.Micros, measured.Pressure: format.Percent, measured.NeighbourShare: format.Percent, measured.AgentShare: format.Percent,
	measured.RetransmittedShare: format.Percent, measured.ConnectionsOpened: whole, measured.TimeWait: whole, measured.Fairness: fraction,
	measured.MemoryGrowth: bytesEach, measured.StartSkew: format.Micros, measured.StartSkewError: format.Micros,
	measured.Trend: signed, measured.LargestDip: format.Percent,
	measured.ListenOverflows: whole, measured.SynRetransmits: whole, measured.HungConnections: whole, measured.AuditedAnswers: whole,
	measured.SampledAnswers: whole,
	measured.ServerMHz:      whole, measured.WorkChange: signed,
	measured.StillShare: format.Percent,
}

func whole(v float64) string     { return format.Integer(int64(math.Round(v))) }
func fraction(v float64) string  { return strconv.FormatFloat(v, 'f', 3, 64) }
func bytesEach(v float64) string { return format.Digits(v) + " B" }

func signed(v float64) string {
	if v > 0 {
		return "+" + format.Percent(v)
	}
	return format.Percent(v)
}

func (v levels) seenTable() table.Table {
	t := table.Table{Head: []table.Cell{v.Th("quantity")}}
	for _, i := range v.Table.Implementations {
		c := v.implementation(i)
		c.Number = true
		t.Head = append(t.Head, c)
	}
	for _, l := range v.Table.Levels {
		s := v.body(l)
		for _, name := range measured.ObservationNames {
			if r, ok := v.seenRow(l, name); ok {
				s.Rows = append(s.Rows, r)
			}
		}
		if len(s.Rows) > 0 {
			t.Bodies = append(t.Bodies, s)
		}
	}
	return t
}

// seenRow is left out if no implementation has the observation.
func (v levels) seenRow(l planned.Level, name measured.ObservationName) (table.Row, bool) {
	r, known, print := table.Row{Cells: []table.Cell{table.Word(v.Say("seen." + string(name)))}}, false, seenPrint[name]
	for _, i := range v.Table.Implementations {
		text := table.Num(format.Missing)
		for _, o := range v.Table.Group(l.Point, i.Name).Observations {
			if o.Name == name {
				known = true
				text = table.NumSub(print(o.Summary.Mean), v.Say("seen.of", print(o.Summary.Min), print(o.Summary.Max), format.Integer(o.Summary.N)))
			}
		}
		r.Cells = append(r.Cells, text)
	}
	return r, known
}
