package report

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
)

var objectiveTones = map[objectives.Outcome]string{objectives.Met: "faster", objectives.Missed: "missed", objectives.Undecided: "unknown"}

func (v run) objectives() page.Section {
	out := v.section("objectives", "objectives.title")
	if len(v.Table.Objectives) > 0 {
		out.Data = v.objectiveTables(out.Title)
	}
	return out
}

// objectiveTables shows objectives that block success; met ones are folded.
func (v run) objectiveTables(title string) page.Extra {
	n := phrase.CountOutcomes(v.Table)
	counts := v.Say("objectives.counts", format.Integer(n[objectives.Met]), format.Integer(n[objectives.Missed]), format.Integer(n[objectives.Undecided]))
	e := page.Extra{Leads: []string{format.Join(" ", counts, v.NoiseFloor(v.Table)), v.Say("objectives.lead", v.Confidence())}}
	e.Table.Head = []table.Cell{
		v.Th("objective"), v.Th("at"), v.Th("impl"), v.ThNum("bound"), v.ThNum("value"), v.ThInterval(), v.ThNum("blocks"),
		v.ThNum("floor"), v.Th("outcome"),
	}
	met := e.Table
	for _, outcome := range []objectives.Outcome{objectives.Missed, objectives.Undecided, objectives.Met} {
		s := table.Body{Title: v.Say("outcome." + string(outcome))}
		for _, o := range worstFirst(v.Table.Objectives) {
			if o.Outcome == outcome {
				s.Rows = append(s.Rows, table.Row{Cells: v.objectiveCells(o)})
			}
		}
		switch {
		case len(s.Rows) == 0:
		case outcome == objectives.Met && len(e.Table.Bodies) > 0:
			met.Bodies = []table.Body{{Rows: s.Rows}}
		default:
			e.Table.Bodies = append(e.Table.Bodies, s)
		}
	}
	e.Table = e.Table.Finish(title, true)
	if len(met.Bodies) > 0 {
		e.FoldedTitle = v.Say("objectives.met", format.Integer(n[objectives.Met]))
		e.Folded = met.Finish(e.FoldedTitle, true)
	}
	return e
}

func worstFirst(results []objectives.Result) []objectives.Result {
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b objectives.Result) int { return cmp.Compare(b.Beyond(), a.Beyond()) })
	return out
}

func (v run) objectiveBadge() page.Badge {
	n := phrase.CountOutcomes(v.Table)
	b := page.Badge{Text: v.Say("badge.objectives", format.Integer(n[objectives.Met]), format.Integer(len(v.Table.Objectives))), Tone: "care"}
	switch {
	case n[objectives.Missed] > 0:
		b.Text, b.Tone = format.Join(", ", b.Text, v.Say("badge.missed", format.Integer(n[objectives.Missed]))), "bad"
	case int(n[objectives.Met]) == len(v.Table.Objectives):
		b.Tone = "good"
	}
	return b
}

func (v run) objectiveCells(o objectives.Result) []table.Cell {
	print := phrase.PrinterOf(o.Metric)
	name := table.Cell{Text: v.ObjectiveMetric(o), Wrap: true}
	if o.Name != "" {
		name.Text, name.Sub = o.Name, name.Text
	}
	if o.Kind != "" {
		name.Sub = format.Join(", ", name.Sub, v.Say("latency.kind."+string(o.Kind)))
	}
	at := format.Missing
	switch {
	case o.Case != "":
		at = o.Case
	case o.Load != "":
		at = v.LevelName(o.Point)
	}
	outcome := table.Cell{Text: v.Say("outcome." + string(o.Outcome)), Sub: v.objectiveWhy(o), Tone: objectiveTones[o.Outcome], Wrap: true}
	return []table.Cell{
		name, table.Word(at), table.Word(o.Implementation), table.Num(v.bound(o)), table.Num(format.OrMissing(o.Value, print)),
		table.Num(v.objectiveInterval(o, print)), v.objectiveN(o), table.Num(v.floorBeside(o)), outcome,
	}
}

func (v run) objectiveN(o objectives.Result) table.Cell {
	n := table.Count(o.N)
	if o.Metric == v1alpha1.ObjectiveRegression {
		n.Text = v.Say("objective.earlier", format.Integer(o.N), format.Integer(o.EarlierN))
	}
	if o.Metric == v1alpha1.ObjectiveErrorRate {
		n.Sub = v.Count("objective.requests", int(o.Requests))
	}
	if o.EarlierRuns > 1 {
		n.Sub = v.Count("objective.runs", o.EarlierRuns)
	}
	return n
}

func (v run) objectiveWhy(o objectives.Result) string {
	why := ""
	if o.Reason != "" {
		why = format.Join(": ", v.Say("why."+string(o.Reason)), o.Detail)
	}
	return why
}

func (v run) bound(o objectives.Result) string {
	print := phrase.PrinterOf(o.Metric)
	if o.Min != nil {
		return v.Say("objective.min", print(*o.Min))
	}
	return v.Say("objective.max", format.OrMissing(o.Max, print))
}

func (v run) objectiveInterval(o objectives.Result, print func(float64) string) string {
	switch {
	case o.Value != nil && o.Low != nil && o.High != nil && (o.Metric == v1alpha1.ObjectiveRatioToBaseline || o.Metric == v1alpha1.ObjectiveRegression):
		return v.ChangeInterval(*o.Value, *o.Low, *o.High)
	case o.Low != nil && o.High != nil:
		return v.Say("range", print(*o.Low), print(*o.High))
	case o.Low != nil:
		return v.Say("objective.above", print(*o.Low))
	case o.High != nil:
		return v.Say("objective.below", print(*o.High))
	}
	return format.Missing
}
