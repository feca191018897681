package report

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

const (
	// roomInComment is the most bytes of a report: GitHub accepts 65,536 characters, and more text may surround it.
	roomInComment = 60_000
	// rowsInComment is the most table rows, and headline sentences, in a comment.
	rowsInComment = 20
)

type comment struct {
	parts []string
	bytes int
	cut   bool
}

func (c *comment) add(part string) {
	part = strings.TrimSpace(part)
	switch {
	case part == "":
	case c.bytes+len(part) > roomInComment:
		c.cut = true
	default:
		c.parts, c.bytes = append(c.parts, part), c.bytes+len(part)+len("\n\n")
	}
}

// Markdown prints a comment for a pull request or job summary: verdict, objectives, deciding comparisons and caveats.
// It cuts long parts and says so.
func Markdown(t analysis.Table) ([]byte, error) {
	v, c := run{view.New(t, phrase.English)}, &comment{}
	entries := v.headline()
	for _, e := range entries[:min(len(entries), rowsInComment)] {
		c.add(table.Bold(e.Title) + " " + table.Escape(strings.Join(e.Lines, " ")))
	}
	c.add(v.more("comment.sentences", len(entries)-rowsInComment))
	about := []string{v.Say("title", t.Run.Name), v.Say("run.when", format.Instant(t.Run.Started), format.Instant(t.Run.Ended))}
	for _, b := range v.badges() {
		about = append(about, b.Text)
	}
	c.add(table.Escape(strings.Join(about, " · ")))
	if len(t.Objectives) > 0 {
		e := v.objectiveTables("")
		c.add("### " + v.Say("objectives.title") + "\n\n" + table.Escape(e.Leads[0]))
		c.add(v.tabled(e.Table))
		c.add(v.captioned(e.FoldedTitle, e.Folded))
	}
	if compared := v.deciding(); len(compared.Bodies[0].Rows) > 0 {
		c.add("### " + table.Escape(v.Say("forest.title", t.Run.Baseline)))
		if len(t.Objectives) == 0 {
			c.add(table.Escape(v.NoiseFloor(t))) // Objectives show it next to their counts.
		}
		c.add(v.tabled(compared))
	}
	v.warn(c)
	end := v.Say("comment.page", pageFile)
	if c.cut {
		end = v.Say("comment.long") + " " + end
	}
	return []byte(strings.Join(append(c.parts, table.Escape(end)), "\n\n") + "\n"), nil
}

func (v run) warn(c *comment) {
	care := v.caveats()
	c.add("### " + v.Say("care.title") + "\n\n" + table.Escape(care.None))
	var gaps []string
	for _, g := range v.Gaps(v.Table.Headline()) {
		gaps = append(gaps, "- "+table.Escape(g))
	}
	if more := len(gaps) - rowsInComment; more > 0 {
		gaps = append(gaps[:rowsInComment], "- "+v.more("comment.sentences", more))
	}
	c.add(strings.Join(gaps, "\n"))
	for _, p := range care.Parts {
		c.add(v.captioned(p.Title, p.Table))
	}
}

func (v run) captioned(title string, t table.Table) string {
	if len(t.Bodies) == 0 {
		return ""
	}
	return table.Bold(title) + "\n\n" + v.tabled(t)
}

func (v run) tabled(t table.Table) string {
	text, left := table.Markdown(t, rowsInComment)
	return strings.TrimSpace(text + "\n" + v.more("comment.rows", left))
}

func (v run) more(key string, n int) string {
	if n <= 0 {
		return ""
	}
	return table.Escape(v.Count(key, n, pageFile))
}

// deciding lists the deciding results of levels, searches and cases, and those that contradict them.
func (v run) deciding() table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), v.Th("at"), v.Th("metric"), v.ThNum("change"), v.ThInterval(), v.ThNum("blocks"), v.Th("verdict"),
	}}
	var body table.Body
	add := func(implementation, at, metric string, r verdict.Result, words, why string) {
		body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{
			table.Word(implementation), table.Word(at), table.Word(metric), table.Num(v.ChangeOf(r)), table.Num(v.EffectInterval(r)), table.Count(r.Blocks),
			table.Wrapped(words, why),
		}})
	}
	for _, c := range v.Table.Comparisons {
		for _, e := range v.Effects(c) {
			for _, r := range e.Results {
				against := slices.ContainsFunc(c.Against, func(w verdict.Winner) bool {
					return w.Metric == r.Metric && (w.Point == e.Point || w.Point == record.Point{} && (e.Overall || len(c.Levels) == 1))
				})
				if r.Decides || against {
					said, reason := e.Said(r)
					words, why := v.RowVerdict(r, said, reason)
					add(c.Implementation, e.Label, v.Metric(r.Metric), r, words, why)
				}
			}
		}
	}
	for _, c := range v.Table.Capacities {
		if r := c.ToBaseline; r != nil {
			words, why := v.CapacityVerdict(*r)
			add(c.Implementation, c.Load, v.Metric(r.Metric), *r, words, why)
		}
	}
	for _, r := range v.Table.Rows {
		if r.Decides {
			words, why := v.CaseVerdict(r)
			add(r.Implementation, r.Case, v.CaseMetric(string(r.Metric), r.Unit, r.Better), *r.Result, words, why)
		}
	}
	t.Bodies = []table.Body{body}
	return t.Finish("", false)
}
