package report

import (
	"strings"
	"unicode"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/validity"
	"loadstone.dev/loadstone/internal/verdict"
)

// care is what a reader has to be careful about.
type care struct {
	Title, None string
	Parts       []carePart
}

type carePart struct {
	Title string
	Table table
}

func (v *view) care() care {
	c := care{Title: v.say("care.title")}
	add := func(key string, t table) {
		if len(t.Sections) > 0 && len(t.Sections[0].Rows) > 0 {
			c.Parts = append(c.Parts, carePart{Title: v.say(key), Table: t.finish(v.say(key), true)})
		}
	}
	add("care.missing", v.missingTable())
	add("care.repeated", v.repeatedTable())
	add("care.cells", v.findingsTable())
	add("care.unknown", v.unknownTable())
	if len(c.Parts) == 0 {
		c.None = v.say("care.none")
	}
	return c
}

func (v *view) missingTable() table {
	t := table{Head: []cell{v.th("impl"), v.thNum("block"), v.th("reason"), v.th("message")}}
	var s section
	for _, m := range v.t.Coverage.Missing {
		s.Rows = append(s.Rows, row{Cells: []cell{
			word(m.Implementation), num(integer(int64(m.Block))), wrapped(v.reasonWords("missing.", m.Reason), m.Reason), wrapped(m.Message, m.Trial),
		}})
	}
	t.Sections = append(t.Sections, s)
	return t
}

// reasonWords are the words for a code, or the code taken apart where it has none.
func (v *view) reasonWords(prefix, code string) string {
	if words, ok := v.language[prefix+code]; ok {
		return words
	}
	return apart(code)
}

// apart spells a code of several words: NotPinned becomes "not pinned".
func apart(code string) string {
	var out strings.Builder
	for i, r := range code {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

func (v *view) repeatedTable() table {
	t := table{Head: []cell{v.th("trial"), v.thNum("attempt"), v.th("faults")}}
	var s section
	for _, r := range v.t.Coverage.Repeated {
		s.Rows = append(s.Rows, row{Cells: []cell{word(r.Trial), num(integer(int64(r.Attempt))), wrapped(strings.Join(r.Faults, "; "), "")}})
	}
	t.Sections = append(t.Sections, s)
	return t
}

func (v *view) findingsTable() table {
	t := table{Head: []cell{v.th("at"), v.th("impl"), v.th("validity"), v.th("block"), v.th("reason")}}
	var s section
	add := func(at, implementation string, notes []note) {
		for _, n := range notes {
			s.Rows = append(s.Rows, row{Cells: []cell{
				word(at), word(implementation), {Text: n.Weight, Sub: n.Scope, Tone: n.Tone}, wrapped(n.Where, ""), wrapped(n.Text, n.Code),
			}})
		}
	}
	for _, g := range v.t.Groups {
		add(v.levelName(g.Point), g.Implementation, v.notes(g))
	}
	for _, c := range v.t.Capacities {
		add(v.say("care.search", c.Load), c.Implementation, v.notesOf(c.Findings, len(c.Trials)))
	}
	t.Sections = append(t.Sections, s)
	return t
}

func (v *view) unknownTable() table {
	t := table{Head: []cell{v.th("impl"), v.th("reason"), v.thNum("validity")}}
	var s section
	for _, u := range v.t.Unknowns {
		s.Rows = append(s.Rows, row{Cells: []cell{word(u.Implementation), wrapped(u.Sentence, ""), num(v.count("unknown.cells", u.Cells))}})
	}
	t.Sections = append(t.Sections, s)
	return t
}

// testsTable holds every comparison with its tests.
func (v *view) testsTable() table {
	t := table{Head: []cell{
		v.th("at"), v.th("metric"), v.thNum("blocks"), v.thNum("change"), num(v.say("th.interval", v.confidence())), v.thNum("pt"), v.thNum("padj"), v.thNum("pflip"),
		v.thNum("detectable"), v.th("verdict"),
	}}
	for _, c := range v.t.Comparisons {
		s := section{Title: v.say("comparison.heading", c.Implementation, c.Baseline)}
		for _, e := range v.effects(c) {
			s.Rows = append(s.Rows, v.testRows(e)...)
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) testRows(e effect) []row {
	var out []row
	for _, decides := range []bool{true, false} {
		for _, r := range e.results {
			if r.Decides == decides {
				out = append(out, v.testRow(e, r))
			}
		}
	}
	return out
}

func (v *view) testRow(e effect, r verdict.Result) row {
	metric := word(v.metric(r.Metric))
	if r.Decides {
		metric.Sub = v.say("decides")
	}
	outcome, reason := e.said(r)
	verdict, why := v.rowVerdict(r, outcome, reason)
	return row{Muted: !r.Decides, Cells: []cell{
		word(e.label), metric, num(integer(int64(r.Blocks))), num(v.changeOf(r)), num(v.changeLimits(r)),
		num(probability(r.P)), num(probability(r.AdjustedP)), num(probability(r.SignFlipP)),
		num(orMissing(r.Detectable, percent)),
		{Text: verdict, Sub: why, Tone: tones[outcome]},
	}}
}

// spreadTable holds the statistics of every quantity of every group.
func (v *view) spreadTable() table {
	t := table{Head: []cell{
		v.th("impl"), v.th("quantity"), v.thNum("n"), v.thNum("mean"), v.thNum("meansd"), v.thNum("sd"), v.thNum("min"), v.thNum("most"),
	}}
	t.Head[5].Sub = "%"
	for _, l := range v.t.Levels {
		s := v.section(l)
		for _, i := range v.t.Implementations {
			s.Rows = append(s.Rows, v.spreadRows(*v.t.Group(l.Point, i.Name), i)...)
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) spreadRows(g validity.Group, i planned.Implementation) []row {
	kind := ""
	if g.LatencyKind != "" {
		kind = v.say("latency.kind." + g.LatencyKind)
	}
	latency := v.say("quantity.latency", kind)
	if g.MeanLatencyLow != nil {
		latency = v.say("quantity.latency.high", kind)
	}
	var out []row
	for _, q := range []struct {
		name  string
		of    *inference.Summary
		print func(float64) string
	}{
		{v.say("quantity.throughput"), g.Throughput, rate},
		{v.say("quantity.latency.low", kind), g.MeanLatencyLow, micros},
		{latency, g.MeanLatency, micros},
		{v.say("quantity.cpu"), g.CPUPerRequest, micros},
		{v.say("quantity.servercpu"), g.ServerCPUs, digits},
		{v.say("quantity.generatorcpu"), g.GeneratorCPUs, digits},
		{v.say("quantity.rss"), g.ServerRSS, size},
		{v.say("quantity.peak"), g.ServerPeakMemory, size},
	} {
		if q.of == nil {
			continue
		}
		out = append(out, row{Cells: []cell{
			v.implementation(i), word(q.name), num(integer(int64(q.of.N))), num(q.print(q.of.Mean)), num(orMissing(q.of.StdDev, q.print)),
			num(v.deviation(q.of)), num(q.print(q.of.Min)), num(q.print(q.of.Max)),
		}})
	}
	return out
}

// rawTable holds every cell.
func (v *view) rawTable() table {
	t := table{Head: []cell{
		v.th("impl"), v.thNum("block"), v.thNum("throughput"), v.thNum("requests"), v.thNum("cpu"), v.thNum("servercpu"), v.thNum("generatorcpu"),
		v.thNum("latency"), v.thNum("memory"), v.th("validity"),
	}}
	t.Head[2].Sub = v.say("unit.rate")
	for _, l := range v.t.Levels {
		s := v.section(l)
		for _, i := range v.t.Implementations {
			for _, c := range v.t.Group(l.Point, i.Name).Cells {
				s.Rows = append(s.Rows, v.rawRow(c, i))
			}
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

func (v *view) rawRow(c validity.Cell, i planned.Implementation) row {
	grade := word(v.say("Validity." + string(c.Validity)))
	if c.Validity != validity.Valid {
		grade.Tone = strings.ToLower(string(c.Validity))
	}
	name := cell{Text: i.Name, Link: v.beside(c.Raw)}
	if name.Link == "" {
		name.Sub = c.Trial
	}
	throughput := orMissing(c.Throughput, rate)
	if c.ThroughputIsBound {
		throughput = v.say("atleast", throughput)
	}
	var codes []string
	for _, r := range c.Reasons {
		codes = append(codes, apart(string(r.Code)))
	}
	grade.Sub = strings.Join(codes, ", ")
	return row{Muted: c.Validity == validity.Void, Cells: []cell{
		name,
		num(integer(int64(c.Block))),
		num(throughput), num(integer(c.Requests)), num(orMissing(c.CPUPerRequest, micros)),
		num(orMissing(c.ServerCPUs, digits)), num(orMissing(c.GeneratorCPUs, digits)), num(v.meanLatency(c)),
		num(orMissing(c.ServerRSS, size)), grade,
	}}
}

func (v *view) meanLatency(c validity.Cell) string {
	if c.MeanLatency != nil && c.MeanLatencyLow != nil {
		return v.between(*c.MeanLatencyLow, *c.MeanLatency)
	}
	return orMissing(c.MeanLatency, micros)
}

func (v *view) artifactTable() table {
	t := table{Head: []cell{v.th("key"), v.thNum("bytes"), v.th("sha")}}
	var s section
	for _, a := range v.t.Artifacts {
		key := mono(a.Key)
		if key.Link = v.beside(a.Key); key.Link != "" {
			key.Text = v.belowRun(a.Key)
		}
		s.Rows = append(s.Rows, row{Cells: []cell{key, num(integer(a.Bytes)), mono(a.SHA256)}})
	}
	t.Sections = append(t.Sections, s)
	return t
}
