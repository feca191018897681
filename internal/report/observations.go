package report

import (
	"math"
	"strconv"

	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/validity"
)

// seenPrint says how each observation is printed.
var seenPrint = map[validity.ObservationName]func(float64) string{
	validity.RunQueue: micros, validity.Pressure: percent, validity.StrangersShare: percent, validity.AgentShare: percent,
	validity.RetransmittedShare: percent, validity.ConnectionsOpened: whole, validity.TimeWait: whole, validity.Fairness: fraction,
	validity.MemoryGrowth: bytesEach, validity.StartSkew: micros, validity.StartSkewError: micros, validity.Trend: signed, validity.LargestDip: percent,
	validity.ListenOverflows: whole, validity.SynRetransmits: whole, validity.HungConnections: whole, validity.AuditedAnswers: whole,
	validity.ServerMHz: whole, validity.WorkChange: signed,
	validity.StillShare: percent,
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
		for _, name := range validity.ObservationNames {
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
func (v *view) seenRow(l planned.Level, name validity.ObservationName) (row, bool) {
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
