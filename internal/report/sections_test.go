package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
)

func number(v float64) *float64 { return &v }

var ten = record.Point{Load: "sweep", Connections: 10}

func shown(t analysis.Table) run {
	t.Rules.Confidence, t.Rules.MinBlocks = 0.99, 7
	return run{view.New(t, phrase.English)}
}

func texts(of table.Table) (out [][]string) {
	for _, b := range of.Bodies {
		for _, r := range b.Rows {
			var row []string
			for _, c := range r.Cells {
				row = append(row, c.Text)
			}
			out = append(out, row)
		}
	}
	return out
}

func TestEachSectionHasANameATitleAndATemplateOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sections(shown(analysis.Table{}).View) {
		if s.ID == "" || s.Title == "" || seen[s.ID] || s.Templates.Lookup(s.ID) == nil {
			t.Errorf("the section %q with the title %q is there twice, or has no template", s.ID, s.Title)
		}
		seen[s.ID] = true
	}
}

func TestARunOfNothingHasTheSectionsThatAnyRunHas(t *testing.T) {
	var got []string
	for _, s := range sections(shown(analysis.Table{}).View) {
		if s.Data != nil {
			got = append(got, s.ID)
		}
	}
	if diff := cmp.Diff([]string{"care", "method", "environment", "plan", "data"}, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

func TestCaveats(t *testing.T) {
	for name, tc := range map[string]struct {
		of    analysis.Table
		title string
		rows  [][]string
	}{
		"a trial that failed": {
			analysis.Table{Coverage: analysis.Coverage{Missing: []analysis.MissingTrial{{Block: 2, Implementation: "go", Reason: "ServerExited", Message: "exit status 1"}}}},
			"Trials that were not measured",
			[][]string{{"go", "2", "the server exited", "exit status 1"}},
		},
		"a trial that failed for a reason without words": {
			analysis.Table{Coverage: analysis.Coverage{Missing: []analysis.MissingTrial{{Block: 2, Implementation: "go", Reason: "ServerVanished", Message: "-"}}}},
			"Trials that were not measured",
			[][]string{{"go", "2", "server vanished", "-"}},
		},
		"a trial that was not started": {
			analysis.Table{Coverage: analysis.Coverage{Missing: []analysis.MissingTrial{{Block: 2, Implementation: "go", Reason: "NotStarted", Message: "-"}}}},
			"Trials that were not measured",
			[][]string{{"go", "2", "it had not started when the run ended", "-"}},
		},
		"a profile that was not made": {
			analysis.Table{Profiles: []analysis.Profile{{Profile: record.Profile{Name: "heap"}, Found: []analysis.Profiled{{Implementation: "go", Trial: "p00-go", Missing: "pod c was evicted"}}}}},
			"Profiles that were not made",
			[][]string{{"go", "heap", "pod c was evicted"}},
		},
		"a trial that was repeated": {
			analysis.Table{Coverage: analysis.Coverage{Repeated: []analysis.RepeatedTrial{{Trial: "b01-go", Attempt: 3, Failures: []string{"PodLost", "ImagePull"}}}}},
			"Trials repeated after an infrastructure failure",
			[][]string{{"b01-go", "3", "PodLost; ImagePull"}},
		},
		"what could not be measured": {
			analysis.Table{Unknowns: []environment.Unknown{{Implementation: "go", Sentence: "the descriptors", Cells: 2}}},
			"What could not be measured",
			[][]string{{"go", "the descriptors", "in 2 cells"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := shown(tc.of).care().Data.(care)
			if len(got.Parts) != 1 || got.Parts[0].Title != tc.title || got.None != "" {
				t.Fatalf("section %+v", got)
			}
			if diff := cmp.Diff(tc.rows, texts(got.Parts[0].Table)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
	if got := shown(analysis.Table{}).care().Data.(care); len(got.Parts) != 0 || got.None == "" {
		t.Errorf("a run without trouble does not say so: %+v", got)
	}
}

func TestTheEnvironmentBeginsWithWhatDiffers(t *testing.T) {
	facts := []environment.Fact{
		{Role: "server", Key: environment.Kernel, Values: []environment.Value{{Value: "6.1", Trials: 4}}},
		{Role: "server", Key: environment.Memory, Values: []environment.Value{{Value: "1073741824, 2147483648", Trials: 4}}},
		{Role: "server", Implementation: "go", Key: environment.Headers, Values: []environment.Value{{Value: "/a b 131", Trials: 4}}},
		{Role: "generator", Key: environment.Node, Differs: true, Values: []environment.Value{{Value: "one", Trials: 3}, {Value: "two", Trials: 1}}},
	}
	got := shown(analysis.Table{Environment: facts}).environment().Data.(factSheet)
	want := factSheet{
		Lead: phrase.English.Say("environment.differ"), AllTitle: phrase.English.Say("environment.rest", "3"),
		Differs: []factGroup{{"generator", []page.Fact{{Name: "node", Values: []string{"one (3 trials)", "two (1 trial)"}, Differs: phrase.English.Say("environment.differs")}}}},
		All: []factGroup{
			{"server", []page.Fact{{Name: "kernel", Values: []string{"6.1"}}, {Name: "memory", Values: []string{"1.00 GiB, 2.00 GiB"}}}},
			{"server go", []page.Fact{{Name: "response headers", Values: []string{phrase.English.Say("fact.headers", "131", "/a b")}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if same := shown(analysis.Table{Environment: facts[:3]}).environment().Data.(factSheet); same.Lead != phrase.English.Say("environment.same") || len(same.Differs) != 0 {
		t.Errorf("equal trials are said to differ: %+v", same)
	}
}

func result(outcome objectives.Outcome, figure float64) objectives.Result {
	return objectives.Result{
		Metric: v1alpha1.ObjectiveThroughput, Point: ten, Implementation: "go", Min: number(1000), Value: number(figure),
		Low: number(figure * 0.9), High: number(figure * 1.1), N: 7, Outcome: outcome,
	}
}

func TestMetObjectivesAreFoldedBesideOthers(t *testing.T) {
	met, missed, worse, undecided := result(objectives.Met, 2000), result(objectives.Missed, 500), result(objectives.Missed, 100), result(objectives.Undecided, 1000)
	for name, tc := range map[string]struct {
		of            []objectives.Result
		shown, folded []string
		badge         page.Badge
	}{
		"all are met": {
			[]objectives.Result{met, met}, []string{"2,000/s", "2,000/s"}, nil, page.Badge{Text: "2 of 2 objectives met", Tone: "good"},
		},
		"some are missed, the worst first": {
			[]objectives.Result{met, missed, worse}, []string{"100/s", "500/s"}, []string{"2,000/s"}, page.Badge{Text: "1 of 3 objectives met, 2 missed", Tone: "bad"},
		},
		"undecided ones follow those missed": {
			[]objectives.Result{undecided, missed}, []string{"500/s", "1,000/s"}, nil, page.Badge{Text: "0 of 2 objectives met, 1 missed", Tone: "bad"},
		},
		"an undecided one is not met": {
			[]objectives.Result{undecided, met}, []string{"1,000/s"}, []string{"2,000/s"}, page.Badge{Text: "1 of 2 objectives met", Tone: "care"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := shown(analysis.Table{Objectives: tc.of})
			got := r.objectives().Data.(page.Extra)
			figures := func(of table.Table) (out []string) {
				for _, row := range texts(of) {
					out = append(out, row[4])
				}
				return out
			}
			if diff := cmp.Diff([][]string{tc.shown, tc.folded}, [][]string{figures(got.Table), figures(got.Folded)}); diff != "" {
				t.Errorf("shown and folded (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.badge, r.objectiveBadge()); diff != "" {
				t.Errorf("badge (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARowOfAnObjective(t *testing.T) {
	change := func(o *objectives.Result) {
		o.Metric, o.Of, o.Min, o.Max = v1alpha1.ObjectiveRatioToBaseline, v1alpha1.ComparedThroughput, nil, number(1.05)
		o.Value, o.Low, o.High = number(0.85), number(0.8), number(0.9)
	}
	for name, tc := range map[string]struct {
		change func(*objectives.Result)
		want   []string
	}{
		"a throughput":   {func(*objectives.Result) {}, []string{"throughput", "sweep: 10 connections", "go", "≥ 1,000/s", "2,000/s", "1,800/s–2,200/s", "7", "–", "met"}},
		"with a name":    {func(o *objectives.Result) { o.Name = "fast" }, []string{"fast", "sweep: 10 connections", "go", "≥ 1,000/s", "2,000/s", "1,800/s–2,200/s", "7", "–", "met"}},
		"a lower bound":  {func(o *objectives.Result) { o.High = nil }, []string{"throughput", "sweep: 10 connections", "go", "≥ 1,000/s", "2,000/s", "≥ 1,800/s", "7", "–", "met"}},
		"without figure": {func(o *objectives.Result) { o.Value, o.Low, o.High = nil, nil, nil }, []string{"throughput", "sweep: 10 connections", "go", "≥ 1,000/s", "–", "–", "7", "–", "met"}},
		"a ratio":        {change, []string{"ratio to the baseline of throughput", "sweep: 10 connections", "go", "≤ +5.0 %", "−15.0 %", "−20.0 % to −10.0 %", "7", "–", "met"}},
		"a regression": {func(o *objectives.Result) {
			change(o)
			o.Metric, o.EarlierN, o.EarlierRuns = v1alpha1.ObjectiveRegression, 14, 2
		}, []string{"ratio to earlier runs of throughput", "sweep: 10 connections", "go", "≤ +5.0 %", "−15.0 %", "−20.0 % to −10.0 %", "7 now, 14 earlier", "–", "met"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := result(objectives.Met, 2000)
			tc.change(&o)
			got := texts(table.Table{Bodies: []table.Body{{Rows: []table.Row{{Cells: shown(analysis.Table{}).objectiveCells(o)}}}}})
			if diff := cmp.Diff([][]string{tc.want}, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAARunShowsItsNoise(t *testing.T) {
	of := analysis.Table{NoiseFloor: &record.Calibration{
		Run: record.Run{UID: "1"}, Implementations: [2]string{"go", "go-again"}, Blocks: 10,
		Entries: []record.Noise{
			{Metric: string(verdict.Throughput), N: 21, LogStdDev: 0.03, Detectable: 0.047},
			{Metric: string(verdict.Throughput), Point: &ten, N: 7, LogStdDev: 0.02, Detectable: 0.03},
		},
	}}
	of.Run.UID = "1"
	got, ok := shown(of).noise().Data.(page.Extra)
	if !ok {
		t.Fatal("there is no section")
	}
	want := [][]string{{"one level, on average", "throughput", "21", "3.00 %", "4.70 %"}, {"sweep: 10 connections", "throughput", "7", "2.00 %", "3.00 %"}}
	if diff := cmp.Diff(want, texts(got.Table)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	of.Run.UID = "2"
	if s := shown(of).noise(); s.Data != nil {
		t.Errorf("another run on the machine shows it as its own: %+v", s)
	}
}

func TestTheDetailsEndWithWhatIsStored(t *testing.T) {
	of := analysis.Table{Run: analysis.Run{Run: record.Run{Namespace: "ns", Name: "run", UID: "0123456789"}}, Artifacts: []analysis.Artifact{
		{Artifact: record.Artifact{Key: "ns/run-01234567/plan.json", Bytes: 1234, SHA256: "abc"}},
		{Artifact: record.Artifact{Key: "elsewhere/plan.json", Bytes: 1, SHA256: "def"}},
	}}
	details := shown(of).data([]page.Detail{{Title: "first"}}).Data.([]page.Detail)
	if len(details) != 2 || details[0].Title != "first" {
		t.Fatalf("details %+v", details)
	}
	want := [][]string{{"plan.json", "1,234", "abc"}, {"elsewhere/plan.json", "1", "def"}}
	if diff := cmp.Diff(want, texts(details[1].Table)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	rows := details[1].Table.Bodies[0].Rows
	if rows[0].Cells[0].Link != "../../plan.json" || rows[1].Cells[0].Link != "" {
		t.Errorf("links %q and %q", rows[0].Cells[0].Link, rows[1].Cells[0].Link)
	}
}
