package report

import (
	"math"
	"strconv"

	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/stats"
)

// seenPrint says how each observation is printed.
var seenPrint = map[stats.ObservationName]func(float64) string{
	stats.RunQueue: micros, stats.Pressure: percent, stats.StrangersShare: percent, stats.AgentShare: percent,
	stats.RetransmittedShare: percent, stats.ConnectionsOpened: whole, stats.TimeWait: whole, stats.Fairness: fraction,
	stats.MemoryGrowth: bytesEach, stats.StartSkew: micros, stats.StartSkewError: micros, stats.Trend: signed, stats.LargestDip: percent,
	stats.ListenOverflows: whole, stats.SynRetransmits: whole, stats.HungConnections: whole, stats.AuditedAnswers: whole,
	stats.ServerMHz: whole, stats.WorkChange: signed,
	stats.StillShare: percent,
}

func whole(v float64) string     { return integer(int64(math.Round(v))) }
func fraction(v float64) string  { return strconv.FormatFloat(v, 'f', 3, 64) }
func bytesEach(v float64) string { return digits(v) + " B" }

// signed prints a share with its sign, which tells growth from decline.
func signed(v float64) string {
	if v > 0 {
		return "+" + percent(v)
	}
	return percent(v)
}

// seenTable has a row for each observation of a level and a column for each implementation.
func (v *view) seenTable() table {
	t := table{Head: []cell{v.th("quantity")}}
	for _, i := range v.t.Implementations {
		c := v.implementation(i)
		c.Number = true
		t.Head = append(t.Head, c)
	}
	for _, l := range v.t.Levels {
		s := v.section(l)
		for _, name := range stats.ObservationNames {
			if r, ok := v.seenRow(l, name); ok {
				s.Rows = append(s.Rows, r)
			}
		}
		if len(s.Rows) > 0 {
			t.Sections = append(t.Sections, s)
		}
	}
	return t
}

// seenRow is one observation of all implementations; it is left out if none has it.
func (v *view) seenRow(l planned.Level, name stats.ObservationName) (row, bool) {
	r, known, print := row{Cells: []cell{word(v.say("seen." + string(name)))}}, false, seenPrint[name]
	for _, i := range v.t.Implementations {
		text := num(missing)
		for _, o := range v.t.Group(l.Point, i.Name).Observations {
			if o.Name == name {
				known = true
				text = numSub(print(o.Summary.Mean), v.say("seen.of", print(o.Summary.Min), print(o.Summary.Max), integer(int64(o.Summary.N))))
			}
		}
		r.Cells = append(r.Cells, text)
	}
	return r, known
}
