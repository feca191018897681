package report

import (
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
)

// view puts a table into the words and pictures of one language.
type view struct {
	language
	t     analysis.Table
	looks map[string]look
}

func newView(t analysis.Table, l language) *view {
	v := &view{language: l, t: t, looks: map[string]look{}}
	next := 0
	for _, i := range t.Implementations {
		limit := i.Role == record.RoleLimit
		v.looks[i.Name] = lookOf(next, limit)
		if !limit {
			next++
		}
	}
	return v
}

// page is what the template prints.
type page struct {
	Lang, Title, Kicker, Name, When string
	Headline                        headline
	Badges                          []badge
	ContentsTitle                   string
	Contents                        []link
	Legend, Contenders              []legend
	Objectives, Scaling, Noise      *extra
	Capacity                        *capacitySection
	Forest                          *forest
	LevelsTitle, LevelsLead         string
	Charts                          []facetCharts
	LatencyTitle, LatencyLead       string
	Latency                         table
	CurvesTitle                     string
	Latencies                       []chart
	KindsTitle                      string
	Kinds                           table
	OverTitle, OverLead             string
	Over                            []chart
	OverDips                        []string
	NumbersTitle, NumbersLead       string
	Speed                           table
	TestsTitle, TestsLead           string
	Tests                           table
	Care                            care
	SpreadTitle, SpreadLead         string
	Spread                          table
	SeenTitle, SeenLead             string
	Seen                            table
	RawTitle, RawLead               string
	Raw                             table
	Environment                     environment
	PlanTitle, PlanLead             string
	Plan                            []fact
	Notes                           []string
	DetailsTitle                    string
	ArtifactsTitle, ArtifactsLead   string
	Artifacts                       table
	MethodTitle                     string
	Method                          []string
}

// link is a line of the contents: a section's id and its title.
type link struct{ ID, Title string }

// legend is one implementation's mark.
type legend struct {
	Name string
	Note string
	Look look
}

func (v *view) page() page {
	r := v.t.Run
	p := page{
		Lang: v.say("lang"), Title: v.say("title", r.Name), Kicker: v.say("kicker"), Name: r.Namespace + "/" + r.Name,
		When:     v.say("run.when", instant(r.Started), instant(r.Ended)),
		Headline: v.headline(), Badges: v.badges(), Legend: v.legend(v.t.Implementations), Contenders: v.legend(v.drawn()), Forest: v.forest(),
		LevelsTitle: v.say("levels.title"), LevelsLead: v.say("levels.lead", v.confidence()), Charts: v.levelCharts(),
		LatencyTitle: v.say("latency.title"), LatencyLead: v.latencyLead(), Latency: v.latencyTable().finish(v.say("latency.title"), true),
		CurvesTitle: v.say("latency.curves"), Latencies: v.latencyCharts(),
		KindsTitle: v.say("latency.kinds"), Kinds: v.kindsTable().finish(v.say("latency.kinds"), false),
		OverTitle: v.say("over.title"), OverLead: v.say("over.lead"), Over: v.overTimeCharts(), OverDips: v.dips(),
		NumbersTitle: v.say("numbers.title"), NumbersLead: v.say("numbers.lead"), Speed: v.speedTable().finish(v.say("numbers.title"), true),
		TestsTitle: v.say("tests.title"), TestsLead: join(" ", v.say("tests.lead", plainNumber(v.t.Rules.Alpha)), v.noiseFloor()),
		Tests:      v.testsTable().finish(v.say("tests.title"), true),
		Objectives: v.objectives(), Scaling: v.scaling(), Noise: v.noise(), Capacity: v.capacity(),
		Care:         v.care(),
		DetailsTitle: v.say("details.title"),
		SpreadTitle:  v.say("spread.title"), SpreadLead: v.say("spread.lead"), Spread: v.spreadTable().finish(v.say("spread.title"), false),
		SeenTitle: v.say("seen.title"), SeenLead: v.say("seen.lead"), Seen: v.seenTable().finish(v.say("seen.title"), false),
		RawTitle: v.say("raw.title"), RawLead: v.say("raw.lead"), Raw: v.rawTable().finish(v.say("raw.title"), false),
		Environment: v.environment(),
		PlanTitle:   v.say("plan.title"), PlanLead: v.say("plan.reproduce"), Plan: v.plan(), Notes: r.Notes,
		ArtifactsTitle: v.say("artifacts.title"), ArtifactsLead: v.say("artifacts.lead"),
		Artifacts:   v.artifactTable().finish(v.say("artifacts.title"), false),
		MethodTitle: v.say("method.title"), Method: v.method(),
	}
	p.ContentsTitle, p.Contents = v.say("contents.title"), p.contents()
	return p
}

// contents are the sections that the page has, in its order.
func (p page) contents() []link {
	var out []link
	add := func(shown bool, id, title string) {
		if shown {
			out = append(out, link{id, title})
		}
	}
	extras := func(e *extra, id string) {
		if e != nil {
			add(true, id, e.Title)
		}
	}
	extras(p.Objectives, "objectives")
	if p.Forest != nil {
		add(true, "comparison", p.Forest.Title)
	}
	if p.Capacity != nil {
		add(true, "capacity", p.Capacity.Title)
	}
	add(len(p.Charts) > 0, "levels", p.LevelsTitle)
	add(len(p.Charts) > 0, "latency", p.LatencyTitle)
	add(len(p.Over) > 0, "time", p.OverTitle)
	add(len(p.Speed.Sections) > 0, "numbers", p.NumbersTitle)
	add(len(p.Tests.Sections) > 0, "tests", p.TestsTitle)
	extras(p.Scaling, "scaling")
	extras(p.Noise, "noise")
	add(true, "care", p.Care.Title)
	add(true, "method", p.MethodTitle)
	add(true, "environment", p.Environment.Title)
	add(true, "plan", p.PlanTitle)
	add(true, "data", p.DetailsTitle)
	return out
}

func (v *view) confidence() string { return plainPercent(v.t.Rules.Confidence) }

// plainNumber and plainPercent print constants of the rules.
func plainNumber(n float64) string      { return strconv.FormatFloat(n, 'g', 4, 64) }
func plainPercent(share float64) string { return plainNumber(share*100) + " %" }

func (v *view) pointName(p record.Point) string {
	name := v.count("connections", int(p.Connections))
	l := slices.IndexFunc(v.t.Levels, func(l planned.Level) bool { return l.Point == p })
	switch {
	case p.RequestsPerSecond > 0 && l >= 0 && v.t.Levels[l].RampToRequestsPerSecond > 0:
		return v.say("level.ramp", name, integer(int64(p.RequestsPerSecond)), integer(int64(v.t.Levels[l].RampToRequestsPerSecond)))
	case p.RequestsPerSecond > 0:
		return v.say("level.rate", name, integer(int64(p.RequestsPerSecond)))
	}
	return name
}

// manyGenerators says whether a generator needs its name to be told from others.
func (v *view) manyGenerators() bool {
	return slices.ContainsFunc(v.t.Levels, func(l planned.Level) bool { return l.Generators > 1 })
}

func (v *view) legend(of []planned.Implementation) []legend {
	var out []legend
	for _, i := range of {
		l := legend{Name: i.Name, Look: v.looks[i.Name]}
		switch {
		case i.Role == record.RoleLimit:
			l.Note = v.say("legend.limit")
		case i.Baseline && len(v.t.Comparisons) > 0:
			l.Note = v.say("legend.baseline")
		}
		out = append(out, l)
	}
	return out
}

func (v *view) plan() []fact {
	r := v.t.Run
	rows := []struct{ key, value string }{
		{"plan.baseline", r.Baseline},
		{"plan.blocks", integer(int64(r.Blocks))},
		{"plan.pinning", string(r.Pinning)},
		{"plan.seed", strconv.FormatUint(r.Seed, 10)},
		{"plan.hash", r.PlanHash},
		{"plan.uid", r.UID},
		{"plan.operator", r.Operator},
	}
	var out []fact
	for _, row := range rows {
		out = append(out, fact{Name: v.say(row.key), Values: []string{row.value}})
	}
	return out
}

func (v *view) method() []string {
	rules := v.t.Rules
	return []string{
		v.say("method.1"), v.say("method.2"), v.say("method.3", plainPercent(rules.LoadsShare), plainPercent(rules.DecidingShare), plainPercent(1-rules.LoadsShare), integer(int64(rules.MinBlocks))),
		v.say("method.4", v.confidence(), plainPercent(rules.EquivalenceMargin)), v.say("method.5"),
	}
}

// join puts words in a row, leaving out empty ones.
func join(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), separator)
}
