package levels

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/stats/inference"
)

var (
	ten     = record.Point{Load: "sweep", Connections: 10}
	hundred = record.Point{Load: "sweep", Connections: 100}
	rated   = record.Point{Load: "sweep", Connections: 10, RequestsPerSecond: 2000}
	faster  = record.Point{Load: "sweep", Connections: 50, RequestsPerSecond: 4000}
)

func ptr[T any](v T) *T { return &v }

func gathered(points ...record.Point) analysis.Table {
	t := analysis.Table{
		Run: analysis.Run{Blocks: 3}, Rules: analysis.Rules{Confidence: 0.99},
		Implementations: []planned.Implementation{{Name: "go", CPUs: 1}, {Name: "epoll", Role: record.RoleReference, CPUs: 1}},
	}
	for _, p := range points {
		t.Levels = append(t.Levels, planned.Level{Point: p, Tool: record.ToolWrk, Generators: 1, Threads: 1, DurationSeconds: 10, WarmupSeconds: 2})
		for _, i := range t.Implementations {
			t.Groups = append(t.Groups, validity.Group{Point: p, Implementation: i.Name, Role: i.Role})
		}
	}
	return t
}

func of(t analysis.Table) levels { return levels{view.New(t, phrase.English)} }

func TestARunWithoutLevelsHasNoneOfTheSections(t *testing.T) {
	v := view.New(gathered(), phrase.English)
	for _, s := range []page.Section{Levels(v), Latency(v), OverTime(v), Numbers(v)} {
		if s.Data != nil {
			t.Errorf("there is a section %s", s.ID)
		}
	}
	for _, d := range Details(v) {
		if len(d.Table.Bodies) > 0 {
			t.Errorf("there are details: %s", d.Title)
		}
	}
}

func TestEachLoadAndModelHasAnAxisOfItsOwn(t *testing.T) {
	texts := func(c chart.Chart) (out []string) {
		for _, m := range c.Plot {
			if m.Kind == "text" && strings.HasPrefix(m.Class, "tick") {
				out = append(out, m.Text)
			}
		}
		return out
	}
	for name, tc := range map[string]struct {
		run    analysis.Table
		titles []string
		axis   []string
		unit   string
	}{
		"connections":           {gathered(ten, hundred), []string{""}, []string{"10", "100", "connections"}, "requests/s, more is better"},
		"rates":                 {gathered(rated), []string{""}, []string{"2,000", "target requests/s"}, "requests/s, at an imposed rate"},
		"rates and connections": {gathered(rated, faster), []string{""}, []string{"2,000", "10 connections", "4,000", "50 connections", "target requests/s"}, "requests/s, at an imposed rate"},
		"both models":           {gathered(ten, rated), []string{"sweep: fixed connections", "sweep: imposed arrival rate"}, []string{"10", "connections"}, "requests/s, more is better"},
	} {
		t.Run(name, func(t *testing.T) {
			got := of(tc.run).levelCharts()
			var titles []string
			for _, f := range got {
				titles = append(titles, f.Title)
			}
			if diff := cmp.Diff(tc.titles, titles); diff != "" {
				t.Errorf("facets (-want +got):\n%s", diff)
			}
			throughput := got[0].Charts[0]
			if diff := cmp.Diff(tc.axis, texts(throughput)); diff != "" || throughput.Unit != tc.unit {
				t.Errorf("unit %q, axis (-want +got):\n%s", throughput.Unit, diff)
			}
		})
	}
	ramp := gathered(rated)
	ramp.Levels[0].RampToRequestsPerSecond = 8000
	if got := of(ramp).tick(ramp.Levels[0]); got != "2,000 to 8,000" {
		t.Errorf("a ramp is labelled %q", got)
	}
}

func TestAPointShowsWhatItsCellIsWorth(t *testing.T) {
	y := chart.Span{Low: 0, High: 100, From: 200, To: 0}
	for name, tc := range map[string]struct {
		cell validity.Cell
		want []chart.Mark
	}{
		"a valid cell of the first block": {
			validity.Cell{Block: 1, Values: measured.Values{Throughput: ptr(50.0)}},
			[]chart.Mark{{Kind: "circle", X: "10.00%", Y: "100.0", Class: "dotted point c0", Title: "go, block 1: 50.0 requests/s"}},
		},
		"a bound of the last block": {
			validity.Cell{Block: 3, Values: measured.Values{Throughput: ptr(50.0), ThroughputIsBound: true}},
			[]chart.Mark{{Kind: "circle", X: "30.00%", Y: "100.0", Class: "dotted hollow c0", Title: "go, block 3: 50.0 requests/s (a lower bound: the generator was the bottleneck)"}},
		},
		"a void cell": {
			validity.Cell{Block: 2, Validity: validity.Void, Values: measured.Values{Throughput: ptr(50.0)}},
			[]chart.Mark{{Kind: "cross", X: "20.00%", Y: "100.0", Class: "void", Title: "go, block 2: 50.0 requests/s (void)"}},
		},
		"a cell without a figure":   {validity.Cell{Block: 2}, nil},
		"a cell beyond the picture": {validity.Cell{Block: 2, Values: measured.Values{Throughput: ptr(101.0)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := validity.Group{Implementation: "go", Cells: []validity.Cell{tc.cell}}
			got := of(gathered(ten)).points(throughputQuantity, y, g, 10, 20, chart.LookOf(0, false))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALimitIsALineOrAnArrowWithItsValue(t *testing.T) {
	y := chart.Span{Low: 0, High: 100, From: 200, To: 0}
	for name, tc := range map[string]struct {
		mean  float64
		bound bool
		want  []string
	}{
		"on the scale":             {50, false, []string{"line", "epoll 50.0"}},
		"a lower bound":            {50, true, []string{"line", "epoll ≥ 50.0"}},
		"beyond the scale":         {150, false, []string{"up", "epoll 150"}},
		"a lower bound far beyond": {5000, true, []string{"up", "epoll ≥ 5,000"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := gathered(ten)
			run.Groups[1].Throughput, run.Groups[1].ThroughputIsBound = &inference.Summary{Mean: tc.mean}, tc.bound
			v := of(run)
			got := v.referenceMarks(v.facets()[0], throughputQuantity, y, run.Implementations[1])
			if len(got) != 2 || got[0].Kind != tc.want[0] || got[1].Text != tc.want[1] {
				t.Errorf("marks %+v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhatIsUnknownOfALatencySaysWhy(t *testing.T) {
	v := of(gathered(ten))
	for name, tc := range map[string]struct {
		of   measured.Quantile
		want table.Cell
	}{
		"a value":         {measured.Quantile{Micros: ptr(int64(1500))}, table.Num("1.50 ms")},
		"an interval":     {measured.Quantile{LowMicros: ptr(int64(1000)), Micros: ptr(int64(1500))}, table.Num("[1.00, 1.50] ms")},
		"too few samples": {measured.Quantile{Unknown: measured.TooFewSamples}, table.Cell{Text: "too few samples", Number: true, Tone: "unknown"}},
		"timeouts":        {measured.Quantile{Unknown: measured.TimedOut}, table.Cell{Text: "timed out", Number: true, Tone: "unknown"}},
		"arrivals":        {measured.Quantile{Unknown: measured.NotSent}, table.Cell{Text: "not sent", Number: true, Tone: "unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, v.quantileCell(tc.of)); diff != "" {
				t.Errorf("cell (-want +got):\n%s", diff)
			}
		})
	}
	if got := v.censored(measured.Distribution{Timeouts: 1200, Dropped: 3}); got != "1,200 timed out, 3 not sent" {
		t.Errorf("what ranks above all samples: %q", got)
	}
}

func TestALevelShowsOneKindOfLatencyForAll(t *testing.T) {
	kind := func(k record.LatencyKind) measured.Distribution { return measured.Distribution{Kind: k} }
	for name, tc := range map[string]struct {
		contender, limit []measured.Distribution
		want             record.LatencyKind
	}{
		"none":                              {nil, nil, ""},
		"observed before corrected":         {[]measured.Distribution{kind(record.Corrected), kind(record.Observed)}, nil, record.Observed},
		"the intended start before both":    {[]measured.Distribution{kind(record.Observed), kind(record.FromIntended)}, nil, record.FromIntended},
		"the first that anybody has":        {[]measured.Distribution{kind(record.WithConnection)}, []measured.Distribution{kind(record.Observed)}, record.Observed},
		"corrected where there is no other": {nil, []measured.Distribution{kind(record.Corrected)}, record.Corrected},
	} {
		t.Run(name, func(t *testing.T) {
			run := gathered(ten)
			run.Groups[0].Latency, run.Groups[1].Latency = tc.contender, tc.limit
			if got := of(run).chartKind(run.Levels[0]); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheNumbersOfAGroup(t *testing.T) {
	v := of(gathered(ten))
	noisy := &inference.Summary{N: 3, Mean: 100, Min: 90, Max: 110, RelativeStdDev: ptr(0.1)}
	for name, tc := range map[string]struct{ got, want string }{
		"the spread":              {v.extent(noisy, format.Rate), "90.0–110"},
		"the spread of nothing":   {v.extent(nil, format.Rate), format.Missing},
		"the noise":               {v.deviation(noisy), "10.0 %"},
		"the noise of one value":  {v.deviation(&inference.Summary{N: 1}), format.Missing},
		"no errors":               {v.errors(record.Errors{}), "none"},
		"errors by kind":          {v.errors(record.Errors{Connect: 1, Timeout: 2000, Body: 3}), "connect: 1, timeouts: 2,000, wrong bodies: 3"},
		"cells of every validity": {v.cells(validity.Group{Valid: 4, Suspect: 3, Void: 2, Missing: 1}), "4 valid, 3 suspect, 2 void, 1 missing"},
		"no cells":                {v.cells(validity.Group{}), format.Missing},
		"pinned cells":            {v.pinned(validity.Group{Pinned: 1, Cells: make([]validity.Cell, 3)}), "1 of 3"},
		"no dip without samples":  {v.dip(validity.Group{}), format.Missing},
		"the largest dip":         {v.dip(validity.Group{OverTime: &measured.OverTime{LargestDip: 0.25}}), "25.0 %"},
		"a known mean latency":    {v.meanLatency(validity.Cell{Values: measured.Values{MeanLatency: ptr(1500.0)}}), "1.50 ms"},
		"one between two ends":    {v.meanLatency(validity.Cell{Values: measured.Values{MeanLatencyLow: ptr(500.0), MeanLatency: ptr(1500.0)}}), "[0.500, 1.50] ms"},
		"no mean latency":         {v.meanLatency(validity.Cell{}), format.Missing},
		"growth has a sign":       {signed(0.05), "+5.00 %"},
		"and so has decline":      {signed(-0.05), "-5.00 %"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestTheFindingsOfALimitRaiseNoAlarm(t *testing.T) {
	run := gathered(ten)
	g := validity.Group{Findings: []validity.Finding{{Code: validity.GeneratorBusy, Weight: validity.Void, Blocks: []int32{1}}}}
	v := of(run)
	if got := v.groupNotes(g, run.Implementations[0])[0].Tone; got != "void" {
		t.Errorf("a contender's finding has the tone %s", got)
	}
	if got := v.groupNotes(g, run.Implementations[1])[0].Tone; got != "soft" {
		t.Errorf("a limit's finding has the tone %s", got)
	}
}

func TestObservationsThatNobodyHasAreLeftOut(t *testing.T) {
	run := gathered(ten)
	run.Groups[0].Observations = []measured.Observation{{Name: measured.RunQueue, Summary: inference.Summary{N: 3, Mean: 2, Min: 1, Max: 3}}}
	got := of(run).seenTable()
	if len(got.Bodies) != 1 || len(got.Bodies[0].Rows) != 1 {
		t.Fatalf("table %+v", got)
	}
	want := []table.Cell{table.Word("CPU wait (run queue) per request"), table.NumSub("2.00 µs", "1.00 µs to 3.00 µs, n 3"), table.Num(format.Missing)}
	if diff := cmp.Diff(want, got.Bodies[0].Rows[0].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestThroughputOverTimeNamesTheLargestDip(t *testing.T) {
	run := gathered(ten, hundred)
	over := func(dip float64, byCPU bool) *measured.OverTime {
		return &measured.OverTime{
			EveryMillis: 100, Relative: []float64{1, 0.9, 1.1}, Least: []float64{0.9, 0.5, 1}, Most: []float64{1.1, 1, 1.2},
			LargestDip: dip, DipBlock: 2, DipMillis: 200, ByCPU: byCPU,
		}
	}
	run.Groups[0].OverTime, run.Groups[2].OverTime = over(0.2, false), over(0.5, true)
	v := of(run)
	if charts := v.overTimeCharts(); len(charts) != 2 || charts[0].Title != "sweep: 10 connections" || charts[0].Height != laneHeight+overFoot {
		t.Errorf("charts %+v", charts)
	}
	got := v.dips()
	if len(got) != 1 || !strings.Contains(got[0], "50.0 %") || !strings.Contains(got[0], "sweep: 100 connections") || !strings.HasSuffix(got[0], " (by CPU time)") {
		t.Errorf("dips %q, want that of 50 %% at 100 connections, by CPU time", got)
	}
}
