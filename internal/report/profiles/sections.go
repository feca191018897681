// Package profiles makes the section on what profilers found after all blocks.
package profiles

import (
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

//go:embed profiles.gohtml
var text string

var templates = page.Templates(text)

type profiles struct{ *view.View }

type shown struct {
	Title, Lead string
	Table       table.Table
	Charts      []chart.Chart
	Legend      []chart.Legend
	Limits      []string
	Parts       []part
}

type part struct {
	Title string
	Leads []string
	Table table.Table
	// Flame is a picture from words that its template escaped.
	Flame template.HTML
}

// Profiles is the section on profiles.
func Profiles(w *view.View) page.Section {
	v := profiles{w}
	s := page.Section{ID: "profiles", Title: v.Say("profiles.title"), Templates: templates}
	if len(v.Table.Profiles) == 0 {
		return s
	}
	data := struct {
		Lead     string
		Profiles []shown
	}{Lead: v.Say("profiles.lead")}
	for _, p := range v.Table.Profiles {
		data.Profiles = append(data.Profiles, v.profile(p))
	}
	s.Data = data
	return s
}

func (v profiles) profile(p analysis.Profile) shown {
	asked := p.Request.Verb() + " " + p.Request.Path
	lead := v.Say("profiles.what", asked, format.Integer(p.Requests), v.Count("connections", int(p.Connections)))
	if p.Tool.Counts() {
		lead = v.Say("profiles.counted", asked, format.Integer(p.Requests), format.Integer(2*p.Requests), v.Count("connections", int(p.Connections)),
			v.Count("profiles.times", int(p.Repeats)))
	}
	title := v.Say("profiles.of", p.Name, string(p.Tool))
	out := shown{Title: title, Lead: lead, Table: v.summary(p).Finish(title, true), Limits: limits(p)}
	if c, ok := v.heapChart(p); ok {
		out.Charts = append(out.Charts, c)
		out.Legend = v.Legend(v.Table.Implementations)
	}
	for _, f := range p.Found {
		if one := v.part(f); one.Title != "" {
			out.Parts = append(out.Parts, one)
		}
	}
	return out
}

func limits(p analysis.Profile) []string {
	var out []string
	for _, f := range p.Found {
		for _, r := range f.Remarks {
			if !slices.Contains(out, r.Sentence) {
				out = append(out, r.Sentence)
			}
		}
	}
	return out
}

func (v profiles) summary(p analysis.Profile) table.Table {
	t := table.Table{Head: []table.Cell{
		v.Th("impl"), table.Word(v.Say("profiles.errors")), table.Word(v.Say("profiles.leaks")), table.Num(v.Say("profiles.value." + string(p.Tool))),
		table.Num(v.Say("profiles.versus", v.Table.Run.Baseline)), table.Num(v.Say("profiles.requests")), table.Num(v.Say("profiles.first")),
	}}
	var body table.Body
	for _, f := range p.Found {
		body.Rows = append(body.Rows, v.line(f))
	}
	t.Bodies = append(t.Bodies, body)
	return t
}

func (v profiles) line(f analysis.Profiled) table.Row {
	look := v.Looks[f.Implementation]
	head := table.Cell{Text: f.Implementation, Look: &look}
	if f.Missing != "" {
		row := table.Row{Cells: []table.Cell{head, {}, {}, {}, {}, {}, {}}}
		row.Notes = []table.Note{{Weight: v.Say("profiles.missing"), Text: f.Missing, Tone: "void"}}
		return row
	}
	row := table.Row{Cells: []table.Cell{head, {}, {}, v.value(f), v.ratio(f.Versus), v.requests(f), table.Num(format.Micros(float64(f.FirstAnswerMillis) * 1000))}}
	if f.FirstAnswerMillis == 0 || f.Silent > 0 {
		row.Cells[6] = table.Num(format.Missing)
	}
	if m := f.Result; m != nil && m.Memcheck != nil {
		row.Cells[1], row.Cells[2] = v.answer(m.Memcheck.Verdicts.Errors, v.errorsFound(*m)), v.answer(m.Memcheck.Verdicts.Leaks, v.leaksFound(*m))
	}
	if f.Launches == 0 && f.Tool == profiler.Memcheck {
		none := profiler.Verdict{Answer: profiler.Inconclusive}
		row.Cells[1], row.Cells[2] = v.answer(none, ""), v.answer(none, "")
	}
	row.Notes = v.notes(f)
	return row
}

func (v profiles) notes(f analysis.Profiled) []table.Note {
	var out []table.Note
	add := func(text string) {
		if text != "" {
			out = append(out, table.Note{Weight: v.Say("Validity.Suspect"), Text: text, Tone: "suspect"})
		}
	}
	if f.Silent > 0 {
		add(v.Say("profiles.mute", format.Integer(f.Silent), v.Count("profiles.launches", f.Launches), f.Example))
	}
	if f.Wrong > 0 {
		add(v.Say("profiles.wrong", format.Integer(f.Wrong), format.Integer(f.Asked), f.Example))
	}
	if f.Unended > 0 {
		add(v.Count("profiles.unended", f.Unended))
	}
	if f.Starved > 0 {
		add(v.Say("profiles.starved", v.Count("profiles.launches", f.Starved), format.Size(float64(f.MemoryBytes)), format.Size(float64(f.OwnBytes))))
	}
	if f.Said != "" {
		add(v.Say("profiles.said", f.Said))
	}
	add(f.Cut)
	if f.Result != nil {
		for _, u := range f.Result.Unread {
			add(v.Say("profiles.unread", u.File, u.Why))
		}
	}
	if f.Result != nil {
		for _, r := range reasons(*f.Result) {
			out = append(out, table.Note{Weight: v.Say("profiles.limit"), Text: r.Sentence, Tone: "soft"})
		}
	}
	return out
}

// reasons are those of both memcheck verdicts, each once; for other tools, what kept the program from running.
func reasons(found profiler.Result) []profiler.Remark {
	if found.Memcheck == nil {
		return found.Trouble()
	}
	v := found.Memcheck.Verdicts
	var out []profiler.Remark
	for _, r := range slices.Concat(v.Errors.Reasons, v.Leaks.Reasons) {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

func (v profiles) value(f analysis.Profiled) table.Cell {
	if c := f.PerRequest; c != nil {
		cell := v.spread(*c, format.Digits)
		for _, k := range f.Counters {
			if k.Event == perfstat.Instructions+perfstat.UserOnly && k.Whole != nil {
				cell.Sub = format.Join(", ", v.Say("profiles.userOnly"), cell.Sub)
			}
		}
		return cell
	}
	if why := unmeasured(f); why != "" {
		return table.Cell{Text: v.Say("profiles.unmeasured"), Sub: why, Number: true, Wrap: true}
	}
	if f.Result != nil && f.Result.Massif != nil && f.Result.Massif.HeapSeen() {
		return table.NumSub(format.Size(float64(f.Result.Massif.PeakHeap())), v.Say("profiles.by."+string(f.Tool)))
	}
	return table.Num(format.Missing)
}

func (v profiles) ratio(r *analysis.CountedRatio) table.Cell {
	switch {
	case r == nil:
		return table.Num(format.Missing)
	case r.Apart:
		return table.NumSub(format.Times(r.Ratio), v.Say("profiles.apart"))
	case !r.Once:
		return table.NumSub(format.Times(r.Ratio), v.Say("profiles.together"))
	}
	return table.NumSub(format.Times(r.Ratio), v.Say("profiles.once"))
}

func (v profiles) requests(f analysis.Profiled) table.Cell {
	return table.NumSub(format.Integer(f.Asked-f.Wrong), v.Count("profiles.launches", f.Launches))
}

func (v profiles) answer(a profiler.Verdict, found string) table.Cell {
	tone := map[profiler.Answer]string{profiler.Found: "missed", profiler.Clean: "faster", profiler.Inconclusive: "unknown"}[a.Answer]
	c := table.Cell{Text: v.Say("profiles.answer." + strings.ToLower(string(a.Answer))), Tone: tone}
	if a.Answer != profiler.Clean {
		c.Sub = found
	}
	return c
}

func (v profiles) errorsFound(r profiler.Result) string {
	if len(r.Memcheck.Errors) == 0 {
		return ""
	}
	var times int64
	for _, e := range r.Memcheck.Errors {
		times += e.Count
	}
	return v.Say("profiles.contexts", v.Count("profiles.sites", len(r.Memcheck.Errors)), format.Integer(times))
}

func (v profiles) leaksFound(r profiler.Result) string {
	var bytes, blocks int64
	for _, l := range r.Memcheck.Leaks {
		if l.Lost() {
			bytes, blocks = bytes+l.Bytes, blocks+l.Blocks
		}
	}
	if blocks == 0 {
		return ""
	}
	return v.Say("profiles.lost", format.Size(float64(bytes)), format.Integer(blocks))
}
