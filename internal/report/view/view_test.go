package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/stats/inference"
)

var (
	closed = record.Point{Load: "sweep", Connections: 10}
	open   = record.Point{Load: "open", Connections: 100, RequestsPerSecond: 2000}
	ramp   = record.Point{Load: "ramp", Connections: 1, RequestsPerSecond: 1000}
)

func duel() analysis.Table {
	return analysis.Table{
		Rules: analysis.Rules{Confidence: 0.99, MinBlocks: 7},
		Implementations: []planned.Implementation{
			{Name: "epoll", Role: record.RoleReference}, {Name: "go", Baseline: true}, {Name: "go2"},
		},
		Levels:      []planned.Level{{Point: closed, Generators: 1}, {Point: open, Generators: 1}, {Point: ramp, RampToRequestsPerSecond: 5000, Generators: 1}, {Point: record.Point{Load: "streams", Connections: 10}, StreamsPerConnection: 20, Generators: 1}},
		Comparisons: []verdict.Comparison{{Implementation: "go2", Baseline: "go"}},
	}
}

func ptr(v float64) *float64 { return &v }

func TestALevelIsNamedByItsLoadAndWhatIsImposed(t *testing.T) {
	v := New(duel(), phrase.English)
	for name, tc := range map[string]struct {
		at   record.Point
		want string
	}{
		"connections":              {closed, "sweep: 10 connections"},
		"streams":                  {record.Point{Load: "streams", Connections: 10}, "streams: 10 connections of 20 streams"},
		"a rate":                   {open, "open: 100 connections at 2,000 requests/s"},
		"a rate that rises":        {ramp, "ramp: 1 connection at 1,000 to 5,000 requests/s"},
		"a rate of no known level": {record.Point{Load: "x", Connections: 2, RequestsPerSecond: 7}, "x: 2 connections at 7 requests/s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.LevelName(tc.at); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestALimitIsDrawnApart(t *testing.T) {
	table := duel()
	v := New(table, phrase.English)
	names := func(of []planned.Implementation) (out []string) {
		for _, i := range of {
			out = append(out, i.Name)
		}
		return out
	}
	if diff := cmp.Diff([][]string{{"go", "go2"}, {"epoll"}}, [][]string{names(v.Drawn()), names(v.ReferencesDrawn())}); diff != "" {
		t.Errorf("drawn on the scale and beside it (-want +got):\n%s", diff)
	}
	want := []chart.Legend{
		{Name: "epoll", Note: "reference", Look: chart.LookOf(0, true)},
		{Name: "go", Note: "baseline", Look: chart.LookOf(0, false)},
		{Name: "go2", Look: chart.LookOf(1, false)},
	}
	if diff := cmp.Diff(want, v.Legend(table.Implementations)); diff != "" {
		t.Errorf("legend (-want +got):\n%s", diff)
	}
	table.Implementations, table.Comparisons = table.Implementations[:1], nil
	v = New(table, phrase.English)
	if len(v.Drawn()) != 1 || len(v.ReferencesDrawn()) != 0 {
		t.Errorf("a reference alone makes no scale: %v, %v", v.Drawn(), v.ReferencesDrawn())
	}
}

func TestAnIntervalMayBeOpen(t *testing.T) {
	v := New(duel(), phrase.English)
	for name, tc := range map[string]struct {
		low, high *float64
		want      string
	}{
		"both ends":         {ptr(1), ptr(2), "1.00–2.00"},
		"without an upper":  {ptr(1), nil, "≥ 1.00"},
		"without a lower":   {nil, ptr(2), "≤ 2.00"},
		"without either":    {nil, nil, format.Missing},
		"of nothing at all": {nil, nil, v.Mean(nil, format.Digits)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Limits(tc.low, tc.high, format.Digits); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := v.Mean(&inference.Summary{Mean: 2}, format.Digits); got != "2.00" {
		t.Errorf("a mean is %q", got)
	}
}

func TestAFindingSaysWhatHitWhomAndWhere(t *testing.T) {
	one, two := duel(), duel()
	two.Levels[0].Generators = 2
	for name, tc := range map[string]struct {
		run  analysis.Table
		of   validity.Finding
		want table.Note
	}{
		"every cell of the server": {
			one,
			validity.Finding{Code: validity.NotPinned, Weight: validity.Void, Scope: validity.ScopeCell, Subject: measured.SubjectServer, Blocks: []int32{1, 2, 3}, Details: []string{"a", "b"}},
			table.Note{Weight: "void", Where: "all blocks", Text: "the server was not pinned to CPUs of its own: a; b", Tone: "void", Code: "NotPinned"},
		},
		"a share of latencies alone": {
			one,
			validity.Finding{Code: validity.GeneratorBusy, Weight: validity.Suspect, Scope: validity.ScopeLatency, Blocks: []int32{2}, Least: 0.8, Most: 0.9},
			table.Note{Weight: "suspect", Where: "block 2", Text: "80.0 %–90.0 % of the generator's CPU time was used: requests may have queued in it", Scope: "latency only", Tone: "suspect", Code: "GeneratorBusy"},
		},
		"the only generator has no name": {
			one,
			validity.Finding{Code: validity.GeneratorLost, Weight: validity.Void, Scope: validity.ScopeCell, Subject: "generator-0", Blocks: []int32{1, 3}},
			table.Note{Weight: "void", Where: "2 blocks: 1, 3", Text: "the generator has no record of the cell", Tone: "void", Code: "GeneratorLost"},
		},
		"one of two has": {
			two,
			validity.Finding{Code: validity.GeneratorLost, Weight: validity.Void, Scope: validity.ScopeCell, Subject: "generator-1", Blocks: []int32{1, 3}},
			table.Note{Weight: "void", Where: "2 blocks: 1, 3", Text: "generator-1 has no record of the cell", Tone: "void", Code: "GeneratorLost"},
		},
		"a count with its limit": {
			one,
			validity.Finding{Code: validity.TooFewRequests, Weight: validity.Suspect, Scope: validity.ScopeCell, Blocks: []int32{1}, Least: 12, Most: 12, Limit: 100},
			table.Note{Weight: "suspect", Where: "block 1", Text: "12.0 requests were made; a meaningful mean needs at least 100", Tone: "suspect", Code: "TooFewRequests"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := New(tc.run, phrase.English).Notes(validity.Group{Findings: []validity.Finding{tc.of}, Cells: make([]validity.Cell, 3)})
			if diff := cmp.Diff([]table.Note{tc.want}, got); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindingsOfStreamsSpeakOfRequestsInFlight(t *testing.T) {
	v := New(duel(), phrase.English)
	streams := record.Point{Load: "streams", Connections: 10}
	for name, tc := range map[string]struct {
		at   record.Point
		of   validity.Finding
		want string
	}{
		"a pause with streams":    {streams, validity.Finding{Code: validity.StoodStill}, "once per request in flight"},
		"a pause with one stream": {closed, validity.Finding{Code: validity.StoodStill}, "once per connection"},
		"fewer requests in flight": {
			streams, validity.Finding{Code: validity.FewerInFlight, Least: 19.6, Most: 19.6, Limit: 2000}, "only 19.6 requests were in flight on average, and the load asks for 2000: ",
		},
		"a busy generator": {streams, validity.Finding{Code: validity.QueueInGenerator, Least: 0.25, Most: 0.25}, "25.0 % of the requests in flight were queued in the busy generator"},
	} {
		t.Run(name, func(t *testing.T) {
			got := v.Notes(validity.Group{Point: tc.at, Findings: []validity.Finding{tc.of}})
			if len(got) != 1 || !strings.Contains(got[0].Text, tc.want) {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
}

func TestTheReasonForNoVerdictIsSaidInAFewWords(t *testing.T) {
	v := New(duel(), phrase.English)
	for name, tc := range map[string]struct {
		of     verdict.Result
		said   verdict.Verdict
		reason verdict.Reason
		want   []string
	}{
		"a winner":                 {verdict.Result{}, verdict.Better, "", []string{"better", ""}},
		"noise":                    {verdict.Result{}, verdict.Inconclusive, verdict.NoiseTooHigh, []string{"inconclusive", "may be due to chance"}},
		"too few blocks":           {verdict.Result{Blocks: 3, FewestPairs: 1}, verdict.Inconclusive, verdict.TooFewBlocks, []string{"inconclusive", "1 block, 7 needed"}},
		"no block has both":        {verdict.Result{}, verdict.Inconclusive, verdict.TooFewBlocks, []string{"inconclusive", "no common block"}},
		"the levels may disagree":  {verdict.Result{}, verdict.Inconclusive, verdict.LevelsMayDiffer, []string{"inconclusive", "individual levels may differ"}},
		"who did not keep a rate":  {verdict.Result{}, verdict.Worse, verdict.RateNotSustained, []string{"worse", "rate not sustained"}},
		"different winners":        {verdict.Result{}, verdict.DependsOnLoad, "", []string{"depends on the load", ""}},
		"no difference is a word ": {verdict.Result{}, verdict.NoDifference, "", []string{"practically equivalent", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			words, why := v.RowVerdict(tc.of, tc.said, tc.reason)
			if diff := cmp.Diff(tc.want, []string{words, why}); diff != "" {
				t.Errorf("verdict and reason (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThePlacesOfAComparison(t *testing.T) {
	decides := func(m verdict.Metric) verdict.Result { return verdict.Result{Metric: m, Decides: true} }
	beside := func(m verdict.Metric) verdict.Result { return verdict.Result{Metric: m, Verdict: verdict.Worse} }
	level := func(p record.Point, of ...verdict.Result) verdict.LevelComparison {
		return verdict.LevelComparison{Point: p, Results: of, Verdict: verdict.Better}
	}
	both := []verdict.Result{decides(verdict.Throughput), beside(verdict.CPUPerRequest)}
	for name, tc := range map[string]struct {
		of   verdict.Comparison
		want []string
	}{
		"one level stands alone": {verdict.Comparison{Load: "sweep", Overall: both, Levels: []verdict.LevelComparison{level(closed)}}, []string{"sweep: 10 connections"}},
		"a mean stands above its levels": {
			verdict.Comparison{Load: "sweep", Overall: both, Levels: []verdict.LevelComparison{level(closed), level(open)}},
			[]string{"sweep: mean of 2 levels", "sweep: 10 connections", "open: 100 connections at 2,000 requests/s"},
		},
		"all loads together":           {verdict.Comparison{Overall: both}, []string{"all loads, weighted"}},
		"a load whose mean nobody has": {verdict.Comparison{Load: "sweep", Levels: []verdict.LevelComparison{level(closed), level(open)}}, []string{"sweep: 10 connections", "open: 100 connections at 2,000 requests/s"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range New(duel(), phrase.English).Effects(tc.of) {
				got = append(got, e.Label)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}

	run := duel()
	run.Comparisons = []verdict.Comparison{
		{Implementation: "go2", Levels: []verdict.LevelComparison{level(closed, beside(verdict.CPUPerRequest), beside(verdict.LatencyAt("50")), decides(verdict.Throughput))}},
		{Implementation: "go3", Levels: []verdict.LevelComparison{level(closed, both...)}},
	}
	v := New(run, phrase.English)
	if diff := cmp.Diff([]verdict.Metric{verdict.Throughput, verdict.CPUPerRequest, verdict.LatencyAt("50")}, v.ComparedMetrics()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if e := v.AllEffects("go3"); len(e) != 1 || len(e[0].Results) != 2 {
		t.Errorf("effects of one contender: %+v", e)
	}
}

func TestTheVerdictOfAPlaceStandsAtTheMetricThatDecides(t *testing.T) {
	place := Effect{Verdict: verdict.DependsOnLoad, Reason: verdict.LevelsMayDiffer}
	if said, why := place.Said(verdict.Result{Decides: true, Verdict: verdict.Better}); said != verdict.DependsOnLoad || why != verdict.LevelsMayDiffer {
		t.Errorf("where it decides: %s, %s", said, why)
	}
	if said, why := place.Said(verdict.Result{Verdict: verdict.Better}); said != verdict.Better || why != "" {
		t.Errorf("beside it: %s, %s", said, why)
	}
}

func TestAnIntervalIsShownFromAsManyBlocksOnAsAVerdictNeeds(t *testing.T) {
	v := New(duel(), phrase.English)
	r := verdict.Result{Metric: verdict.Throughput, Ratio: ptr(1.1), Low: ptr(1.05), High: ptr(1.15), FewestPairs: 7}
	if got := v.EffectInterval(r); got != "+5.0 % to +15.0 %" {
		t.Errorf("seven blocks: %q", got)
	}
	r.FewestPairs = 6
	if got := v.EffectInterval(r); got != "" {
		t.Errorf("six blocks: %q", got)
	}
}
