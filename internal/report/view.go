package report

import (
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats"
)

// view puts a table into the words and pictures of one language.
type view struct {
	language
	t     stats.Table
	looks map[string]look
}

func newView(t stats.Table, l language) *view {
	v := &view{language: l, t: t, looks: map[string]look{}}
	next := 0
	for _, i := range t.Implementations {
		limit := i.Role == v1alpha1.RoleLimit
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
	Legend                          []legend
	Objectives, Scaling, Noise      *extra
	Capacity                        *capacity
	Forest                          *forest
	LevelsTitle, LevelsLead         string
	Charts                          []chart
	LatencyTitle, LatencyLead       string
	Latencies                       []chart
	OverTitle, OverLead             string
	Over                            []chart
	OverDips                        []string
	NumbersTitle, NumbersLead       string
	Speed, Latency                  table
	TestsTitle, TestsLead           string
	Tests                           table
	Care                            care
	SpreadTitle, SpreadLead         string
	Spread                          table
	SeenTitle, SeenLead             string
	Seen                            table
	RawTitle, RawLead               string
	Raw                             table
	EnvironmentTitle                string
	Environment                     []factGroup
	PlanTitle, PlanLead             string
	Plan                            []fact
	Notes                           []string
	ArtifactsTitle, ArtifactsLead   string
	Artifacts                       table
	MethodTitle                     string
	Method                          []string
}

// badge is one thing to know at a glance.
type badge struct {
	Text string
	// Tone is good or care.
	Tone string
}

// legend is one implementation's mark.
type legend struct {
	Name string
	Note string
	Look look
}

// fact is a named value; Differs marks one that should not.
type fact struct {
	Name    string
	Values  []string
	Differs string
}

// factGroup holds the facts of one role, or of one implementation in its role.
type factGroup struct {
	Title string
	Facts []fact
}

func (v *view) page() page {
	r := v.t.Run
	return page{
		Lang: v.say("lang"), Title: v.say("title", r.Name), Kicker: v.say("kicker"), Name: r.Namespace + "/" + r.Name,
		When:     v.say("run.when", instant(r.Started), instant(r.Ended)),
		Headline: v.headline(), Badges: v.badges(), Legend: v.legend(), Forest: v.forest(),
		LevelsTitle: v.say("levels.title"), LevelsLead: v.say("levels.lead", v.confidence()),
		Charts:       v.levelCharts(),
		LatencyTitle: v.say("latency.title"), LatencyLead: v.latencyLead(), Latencies: v.latencyCharts(),
		OverTitle: v.say("over.title"), OverLead: v.say("over.lead"), Over: v.overTimeCharts(), OverDips: v.dips(),
		NumbersTitle: v.say("numbers.title"), NumbersLead: v.say("numbers.lead"), Speed: v.speedTable(), Latency: v.latencyTable(),
		TestsTitle: v.say("tests.title"), TestsLead: join(" ", v.say("tests.lead", plainNumber(v.t.Rules.Alpha)), v.noiseFloor()), Tests: v.testsTable(),
		Objectives: v.objectives(), Scaling: v.scaling(), Noise: v.noise(), Capacity: v.capacity(),
		Care:        v.care(),
		SpreadTitle: v.say("spread.title"), SpreadLead: v.say("spread.lead"), Spread: v.spreadTable(),
		SeenTitle: v.say("seen.title"), SeenLead: v.say("seen.lead"), Seen: v.seenTable(),
		RawTitle: v.say("raw.title"), RawLead: v.say("raw.lead"), Raw: v.rawTable(),
		EnvironmentTitle: v.say("environment.title"), Environment: v.environment(),
		PlanTitle: v.say("plan.title"), PlanLead: v.say("plan.reproduce"), Plan: v.plan(), Notes: r.Notes,
		ArtifactsTitle: v.say("artifacts.title"), ArtifactsLead: v.say("artifacts.lead"), Artifacts: v.artifactTable(),
		MethodTitle: v.say("method.title"), Method: v.method(),
	}
}

func (v *view) confidence() string { return plainPercent(v.t.Rules.Confidence) }

// plainNumber and plainPercent print constants of the rules.
func plainNumber(n float64) string      { return strconv.FormatFloat(n, 'g', 4, 64) }
func plainPercent(share float64) string { return plainNumber(share*100) + " %" }

// manyLoads says whether a level needs its load's name to be told from others.
func (v *view) manyLoads() bool {
	return slices.ContainsFunc(v.t.Levels, func(l stats.Level) bool { return l.Load != v.t.Levels[0].Load })
}

// levelName names a level with its load, pointName without.
func (v *view) levelName(p record.Point) string { return v.say("forest.level", p.Load, v.pointName(p)) }

func (v *view) pointName(p record.Point) string {
	name := v.count("connections", int(p.Connections))
	l := slices.IndexFunc(v.t.Levels, func(l stats.Level) bool { return l.Point == p })
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
	return slices.ContainsFunc(v.t.Levels, func(l stats.Level) bool { return l.Generators > 1 })
}

func (v *view) legend() []legend {
	var out []legend
	for _, i := range v.t.Implementations {
		l := legend{Name: i.Name, Look: v.looks[i.Name]}
		switch {
		case i.Role == v1alpha1.RoleLimit:
			l.Note = v.say("legend.limit")
		case i.Baseline && len(v.t.Comparisons) > 0:
			l.Note = v.say("legend.baseline")
		}
		out = append(out, l)
	}
	return out
}

func (v *view) badges() []badge {
	c := v.t.Coverage
	var out []badge
	add := func(good bool, words string) {
		tone := "care"
		if good {
			tone = "good"
		}
		out = append(out, badge{Text: words, Tone: tone})
	}
	n := func(i int) string { return integer(int64(i)) }
	if len(v.t.Objectives) > 0 {
		add(v.objectiveBadge())
	}
	add(c.MeasuredTrials == c.PlannedTrials, v.say("badge.trials", n(c.MeasuredTrials), n(c.PlannedTrials)))
	words := v.say("badge.valid", n(c.MeasuredCells-c.VoidCells-c.SuspectCells), n(c.PlannedCells))
	if c.SuspectCells > 0 {
		words += ", " + v.say("badge.suspect", n(c.SuspectCells))
	}
	if c.VoidCells > 0 {
		words += ", " + v.say("badge.void", n(c.VoidCells))
	}
	add(c.VoidCells == 0 && c.SuspectCells == 0 && c.MeasuredCells == c.PlannedCells, words)
	if c.PinnedCells == c.MeasuredCells {
		add(c.MeasuredCells > 0, v.say("badge.pinned"))
	} else {
		add(false, v.say("badge.pinned.not", n(c.MeasuredCells-c.PinnedCells), n(c.MeasuredCells)))
	}
	if slices.ContainsFunc(v.t.Environment, func(f stats.Fact) bool { return f.Differs }) {
		add(false, v.say("badge.environment"))
	} else {
		add(true, v.say("badge.environment.same"))
	}
	return out
}

func (v *view) environment() []factGroup {
	var out []factGroup
	for _, f := range v.t.Environment {
		title := v.say("role." + f.Role)
		if f.Implementation != "" {
			title = v.say("role.of", title, f.Implementation)
		}
		if i := slices.IndexFunc(out, func(g factGroup) bool { return g.Title == title }); i >= 0 {
			out[i].Facts = append(out[i].Facts, v.fact(f))
			continue
		}
		out = append(out, factGroup{Title: title, Facts: []fact{v.fact(f)}})
	}
	return out
}

func (v *view) fact(f stats.Fact) fact {
	out := fact{Name: v.say("fact." + string(f.Key))}
	if f.Differs {
		out.Differs = v.say("environment.differs")
	}
	for _, value := range f.Values {
		words := value.Value
		if bytes, err := strconv.ParseInt(words, 10, 64); err == nil && f.Key == stats.FactMemory {
			words = size(float64(bytes))
		}
		if f.Differs {
			words += " (" + v.count("environment.trials", value.Trials) + ")"
		}
		out.Values = append(out.Values, words)
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
		v.say("method.1"), v.say("method.2"), v.say("method.3", integer(int64(rules.MinBlocks))),
		v.say("method.4", v.confidence(), plainPercent(rules.EquivalenceMargin)), v.say("method.5"),
	}
}

// join puts words in a row, leaving out empty ones.
func join(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), separator)
}
