package report

import (
	"math"
	"strconv"

	"loadstone.dev/loadstone/internal/measured"
	"loadstone.dev/loadstone/internal/planned"
)

// seenPrint says how each observation is printed.
var seenPrint = map[measured.ObservationName]func(float64) string{
	measured.RunQueue: micros, measured.Pressure: percent, measured.StrangersShare: percent, measured.AgentShare: percent,
	measured.RetransmittedShare: percent, measured.ConnectionsOpened: whole, measured.TimeWait: whole, measured.Fairness: fraction,
	measured.MemoryGrowth: bytesEach, measured.StartSkew: micros, measured.StartSkewError: micros, measured.Trend: signed, measured.LargestDip: percent,
	measured.ListenOverflows: whole, measured.SynRetransmits: whole, measured.HungConnections: whole, measured.AuditedAnswers: whole,
	measured.ServerMHz: whole, measured.WorkChange: signed,
	measured.StillShare: percent,
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
		for _, name := range measured.ObservationNames {
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
func (v *view) seenRow(l planned.Level, name measured.ObservationName) (row, bool) {
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
