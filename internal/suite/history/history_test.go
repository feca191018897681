package history_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite/history"
)

var update = flag.Bool("update", false, "write golden files")

// round has factors for the machine's slowness and for go-slow's cost.
type round struct{ machine, cost float64 }

func rounds(n int, cost func(i int) float64) []round {
	rng := rand.New(rand.NewPCG(3, 1))
	var all []round
	for i := range n {
		all = append(all, round{0.8 + 0.4*rng.Float64(), cost(i)})
	}
	return all
}

// stored caches reports of earlier tests.
var stored = map[string][]byte{}

func reportOf(t *testing.T, i int, r round, servers int) analysis.Table {
	t.Helper()
	name := fmt.Sprint(i, r, servers)
	if stored[name] == nil {
		o := recordtest.Duel(6)
		o.Levels, o.Seconds, o.Noise, o.Seed = []int32{100}, 1, 0.01, uint64(i+1)
		o.Servers = slices.Clone(o.Servers[:2])
		for k := range o.Servers {
			o.Servers[k].CPUMicros *= r.machine
		}
		o.Servers[1].CPUMicros *= r.cost
		o.Servers = o.Servers[2-servers:]
		made, err := analysis.Analyse(recordtest.Run(o))
		if err != nil {
			t.Fatal(err)
		}
		if stored[name], err = report.JSON(made); err != nil {
			t.Fatal(err)
		}
	}
	var table analysis.Table
	if err := json.Unmarshal(stored[name], &table); err != nil {
		t.Fatal(err)
	}
	return table
}

func reports(t *testing.T, rounds []round, servers int, change func(i int, table *analysis.Table)) []history.Values {
	t.Helper()
	var all []history.Values
	for i, r := range rounds {
		table := reportOf(t, i, r, servers)
		for k := range table.Environment {
			if f := &table.Environment[k]; f.Implementation == "go-slow" && f.Key == environment.ImageID {
				f.Values = []environment.Value{{Value: fmt.Sprintf("sha256:%d", i)}} // Each round measures another image.
			}
		}
		if change != nil {
			change(i, &table)
		}
		all = append(all, history.Report{Round: int32(i + 1), Run: "small", Table: table}.Values())
	}
	return all
}

func seriesOf(t *testing.T, h history.History, m verdict.Metric) history.Series {
	t.Helper()
	i := slices.IndexFunc(h.Series, func(s history.Series) bool { return s.Metric == m })
	if i < 0 {
		t.Fatalf("%s has no history: %+v", m, h)
	}
	return h.Series[i]
}

func always(int) float64 { return 1 }

func fromRound(n int, cost float64) func(int) float64 {
	return func(i int) float64 {
		if i+1 < n {
			return 1
		}
		return cost
	}
}

func TestAStepIsFoundInItsRoundThoughTheMachineDrifts(t *testing.T) {
	h := history.Of("checkout", 0.03, reports(t, rounds(24, fromRound(13, 1.1)), 2, nil), nil)
	s := seriesOf(t, h, verdict.CPUPerRequest)
	if len(s.Points) != 1 || s.Points[0].Round != 13 || !s.Points[0].Worse || math.Abs(s.Points[0].Ratio/1.1-1) > 0.01 || s.Points[0].BeforeN != 12 || s.Points[0].AfterN != 12 {
		t.Errorf("its change points are %+v", s.Points)
	}
	if s.Baseline != "go" || s.Unit != "ratio" || s.Values[0].Blocks != 6 {
		t.Errorf("its series is %+v", s)
	}
	if s := seriesOf(t, h, verdict.Throughput); len(s.Points) != 1 || s.Points[0].Round != 13 || !s.Points[0].Worse || s.Points[0].Ratio >= 1 {
		t.Errorf("the throughput's change points are %+v", s.Points)
	}
}

func TestOnlyANewLossIsToldOf(t *testing.T) {
	worse := history.Of("checkout", 0.03, reports(t, rounds(24, fromRound(18, 1.1)), 2, nil), nil)
	for within, want := range map[int]string{0: "", 4: "", 5: "small, throughput of go-slow / go under sweep: round 18: −", 24: "server CPU time per request"} {
		if got := worse.Worse(within); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("within %d rounds it tells of %q, want %q", within, got, want)
		}
	}
	for name, cost := range map[string]func(int) float64{
		"nothing has changed":  always,
		"it has become better": fromRound(13, 0.9),
		"a loss was repaired": func(i int) float64 {
			if i < 12 || i >= 24 {
				return 1
			}
			return 1.1
		},
	} {
		if got := history.Of("checkout", 0.03, reports(t, rounds(36, cost), 2, nil), nil).Worse(36); got != "" {
			t.Errorf("though %s, it tells of %q", name, got)
		}
	}
}

func TestLossSaysWhenItBeganAndWasFound(t *testing.T) {
	losses := history.Of("checkout", 0.03, reports(t, rounds(24, fromRound(18, 1.1)), 2, nil), nil).Losses()
	if len(losses) == 0 {
		t.Fatal("nothing has become worse")
	}
	for _, l := range losses {
		// A change in a tail is located to within a round or so, since its values scatter.
		off := int32(0)
		if strings.Contains(l.Text, "p99") {
			off = 1
		}
		if found := fmt.Sprintf(", found in round %d", 25-l.Rounds); l.Round < 18-off || l.Round > 18+off || l.Rounds > 6 || !strings.HasSuffix(l.Text, found) {
			t.Errorf("a loss is of round %d, found %d rounds ago: %s", l.Round, l.Rounds, l.Text)
		}
		if want := fmt.Sprintf(" of go-slow / go under sweep: round %d: ", l.Round); !strings.HasPrefix(l.Text, "small, ") || !strings.Contains(l.Text, want) {
			t.Errorf("a loss says %q, want %q", l.Text, want)
		}
	}
}

func TestAHistorySaysHowManyRoundsItLacks(t *testing.T) {
	for n, want := range map[int]string{0: "no round has a value", 4: "not enough rounds yet: 4 of ", 24: ""} {
		if got := history.Of("checkout", 0.03, reports(t, rounds(n, always), 2, nil), nil).Young(); (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("of %d rounds it says %q, want %q", n, got, want)
		}
	}
}

func TestAnImprovementIsNoLoss(t *testing.T) {
	h := history.Of("checkout", 0.03, reports(t, rounds(24, fromRound(13, 0.9)), 2, nil), nil)
	if s := seriesOf(t, h, verdict.CPUPerRequest); len(s.Points) != 1 || s.Points[0].Worse {
		t.Errorf("its change points are %+v", s.Points)
	}
}

func TestAMachineThatDriftsIsNoChange(t *testing.T) {
	h := history.Of("checkout", 0.03, reports(t, rounds(40, always), 2, nil), nil)
	for _, s := range h.Series {
		if len(s.Points) > 0 || len(s.Breaks) > 0 {
			t.Errorf("%s has the change points %+v and the breaks %+v", s.Metric, s.Points, s.Breaks)
		}
	}
}

func TestWhatCannotBeComparedBreaksTheSeries(t *testing.T) {
	anew := func(change func(table *analysis.Table)) func(int, *analysis.Table) {
		return func(i int, table *analysis.Table) {
			for k := range table.Implementations {
				table.Implementations[k].ConfigMaps = []record.ConfigMap{{Name: "app", SHA256: "a"}}
			}
			table.Requests = []planned.Request{{Load: "sweep", From: "orders/one.json", BodySHA256: "a"}}
			table.Artifacts = []analysis.Artifact{{Artifact: record.Artifact{Name: "scripts/sweep", SHA256: "a"}}}
			if i >= 12 {
				change(table)
			}
		}
	}
	for name, tc := range map[string]struct {
		servers int
		change  func(*analysis.Table)
		want    string
	}{
		"another image of the anchor": {2, func(table *analysis.Table) {
			for i := range table.Environment {
				if f := &table.Environment[i]; f.Implementation == "go" && f.Key == "imageID" {
					f.Values[0].Value = "sha256:other"
				}
			}
		}, "another baseline"},
		"another load":                                       {2, func(table *analysis.Table) { table.Levels[0].DurationSeconds = 60 }, "other levels of the load"},
		"another machine, of ratios":                         {2, func(table *analysis.Table) { table.Fingerprint = "other" }, ""},
		"another content of a ConfigMap of the anchor":       {2, func(table *analysis.Table) { table.Implementations[0].ConfigMaps[0].SHA256 = "b" }, "another content of the baseline's ConfigMap app"},
		"another content of a ConfigMap of what is measured": {2, func(table *analysis.Table) { table.Implementations[1].ConfigMaps[0].SHA256 = "b" }, ""},
		"contents of ConfigMaps that no earlier round knows": {2, func(table *analysis.Table) { table.Implementations[0].ConfigMaps[0].Name = "other" }, ""},
		"contents of ConfigMaps, of other keys": {2, func(table *analysis.Table) {
			table.Implementations[0].ConfigMaps[0] = record.ConfigMap{Name: "app", Keys: []string{"port"}, SHA256: "b"}
		}, ""},
		"another text of a body":                  {2, func(table *analysis.Table) { table.Requests[0].BodySHA256 = "b" }, "another body from orders/one.json"},
		"another text of a body, of plain values": {1, func(table *analysis.Table) { table.Requests[0].BodySHA256 = "b" }, "another body from orders/one.json"},
		"a body that only later rounds know":      {2, func(table *analysis.Table) { table.Requests[0].From = "orders/two.json" }, ""},
		"another text of the script":              {2, func(table *analysis.Table) { table.Artifacts[0].SHA256 = "b" }, "another script of sweep"},
		"another script of another load":          {2, func(table *analysis.Table) { table.Artifacts[0].SHA256, table.Artifacts[0].Name = "b", "scripts/other" }, ""},
		"another machine, of plain values":        {1, func(table *analysis.Table) { table.Fingerprint = "other" }, "another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			steady := rounds(24, fromRound(13, 1.1))
			for i := range steady {
				steady[i].machine = 1
			}
			s := seriesOf(t, history.Of("checkout", 0.03, reports(t, steady, tc.servers, anew(tc.change)), nil), verdict.CPUPerRequest)
			if tc.want == "" {
				if len(s.Breaks) > 0 || len(s.Points) != 1 {
					t.Errorf("its breaks are %+v and its change points %+v", s.Breaks, s.Points)
				}
				return
			}
			if len(s.Breaks) != 1 || s.Breaks[0].Round != 13 || s.Breaks[0].Why != tc.want || len(s.Points) > 0 || s.Comparable() != 12 {
				t.Errorf("its breaks are %+v and its change points %+v", s.Breaks, s.Points)
			}
		})
	}
}

func TestSeriesShareOneErrorBudget(t *testing.T) {
	h := history.Of("checkout", 0.03, reports(t, rounds(2, always), 2, nil), nil)
	if want := history.Odds * float64(len(h.Series)); len(h.Series) < 2 || h.Odds != want || h.Series[0].Needed != 10 {
		t.Errorf("each of %d series needs odds of %v, and %d rounds", len(h.Series), h.Odds, h.Series[0].Needed)
	}
}

// drawnRound is a round of one series; its value is a ratio, its image measured in several rounds.
func drawnRound(round int, value float64, image string) history.Values {
	table := analysis.Table{Implementations: []planned.Implementation{{Name: "candidate"}, {Name: "anchor"}}}
	if image != "" {
		table.Environment = []environment.Fact{{Implementation: "candidate", Key: environment.ImageID, Values: []environment.Value{{Value: image}}}}
	}
	table.Comparisons = []verdict.Comparison{{
		Implementation: "candidate", Baseline: "anchor", Load: "sweep", Overall: []verdict.Result{{Metric: verdict.Throughput, Ratio: &value, Blocks: 10}},
	}}
	return history.Report{Round: int32(round), Run: "small", Table: table}.Values()
}

// The former method, one test of the whole history per round, closes the gate in each of these suites: images differ by chance, and it took five
// rounds of one image for five values.
func TestGateStaysOpenWhenImagesDifferByLuck(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		var all []history.Values
		luck := 0.0
		for i := range 100 {
			if i%5 == 0 {
				luck = 0.02 * r.NormFloat64()
			}
			all = append(all, drawnRound(i+1, math.Exp(luck+0.01*r.NormFloat64()), fmt.Sprint("sha256:", i/5)))
			if worse := history.Of("checkout", 0.03, all, nil).Worse(20); worse != "" {
				t.Fatalf("with seed %d the gate of an unchanged service closes after %d rounds: %s", seed, i+1, worse)
			}
		}
	}
}

func TestRepeatedInputsStartNoChange(t *testing.T) {
	for name, tc := range map[string]struct {
		image func(i int) string
		want  int
	}{
		"a new image each round":   {func(i int) string { return fmt.Sprint(i) }, 1},
		"the image is unknown":     {func(int) string { return "" }, 1},
		"one image measured again": {func(int) string { return "sha256:a" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, 5))
			var all []history.Values
			for i := range 40 {
				value := math.Exp(0.01 * r.NormFloat64())
				if i >= 20 {
					value *= 0.9
				}
				all = append(all, drawnRound(i+1, value, tc.image(i)))
			}
			if got := history.Of("checkout", 0.03, all, nil).Series[0].Points; len(got) != tc.want {
				t.Errorf("its change points are %+v, want %d", got, tc.want)
			}
		})
	}
}

func TestRepairEndsALoss(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	var all []history.Values
	var lost []int
	for i := range 40 {
		value := math.Exp(0.01 * r.NormFloat64())
		if i >= 20 && i < 28 {
			value *= 0.9
		}
		all = append(all, drawnRound(i+1, value, fmt.Sprint(i)))
		if len(history.Of("checkout", 0.03, all, nil).Losses()) > 0 {
			lost = append(lost, i+1)
		}
	}
	if len(lost) == 0 || lost[0] > 26 || lost[len(lost)-1] != 30 {
		t.Errorf("a loss of rounds 21 to 28 is shown in rounds %v, want up to round 30, the second after the repair", lost)
	}
}

func TestSmallImprovementRepairsNoLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	var all []history.Values
	for i := range 50 {
		value := math.Exp(0.005 * r.NormFloat64())
		switch {
		case i >= 35:
			value *= 0.86
		case i >= 20:
			value *= 0.8
		}
		all = append(all, drawnRound(i+1, value, fmt.Sprint(i)))
	}
	h := history.Of("checkout", 0.03, all, nil)
	if points := h.Series[0].Points; len(points) != 2 || points[1].Worse {
		t.Fatalf("the changes are %+v, want a loss and a small improvement", points)
	}
	if losses := h.Losses(); len(losses) != 1 || losses[0].Round != 21 {
		t.Errorf("the losses are %+v, want that of round 21", losses)
	}
}

func TestMinimumEffectIgnoresSmallerChanges(t *testing.T) {
	var all []history.Values
	r := rand.New(rand.NewPCG(8, 5))
	for i := range 60 {
		value := math.Exp(0.002 * r.NormFloat64())
		if i >= 30 {
			value *= 0.98
		}
		all = append(all, drawnRound(i+1, value, fmt.Sprint(i)))
	}
	for effect, want := range map[float64]int{0.01: 1, 0.03: 0} {
		if got := history.Of("checkout", effect, all, nil).Series[0].Points; len(got) != want {
			t.Errorf("with a smallest effect of %v, a change by 2 %% is %+v, want %d", effect, got, want)
		}
	}
}

func TestPrint(t *testing.T) {
	lower := func(i int, table *analysis.Table) {
		if i >= 30 {
			table.Levels[0].DurationSeconds = 60
		}
	}
	for name, h := range map[string]history.History{
		"nothing": history.Of("checkout", 0.03, nil, nil),
		"young":   history.Of("checkout", 0.03, reports(t, rounds(4, always), 2, nil), []history.Gap{{Round: 5, Run: "small", Reason: "it ended without a report"}}),
		"step":    history.Of("checkout", 0.03, reports(t, rounds(24, fromRound(13, 1.1)), 2, nil), nil),
		"broken":  history.Of("checkout", 0.03, reports(t, rounds(34, fromRound(13, 1.1)), 2, lower), nil),
		"plain":   history.Of("checkout", 0.03, reports(t, rounds(3, always), 1, nil), nil),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := h.Print(&out); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); diff != "" {
				t.Errorf("it prints (-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkAThousandRounds(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 1))
	var all []history.Values
	for i := range 1000 {
		c := verdict.Comparison{Implementation: "candidate", Baseline: "anchor", Load: "sweep"}
		for _, m := range []verdict.Metric{verdict.Throughput, verdict.CPUPerRequest, verdict.LatencyAt("50"), verdict.LatencyAt("99")} {
			ratio := fromRound(400, 1.02)(i) * fromRound(700, 0.97)(i) * (1 + 0.01*rng.NormFloat64())
			c.Overall = append(c.Overall, verdict.Result{Metric: m, Ratio: &ratio, Blocks: 10})
		}
		all = append(all, history.Report{Round: int32(i + 1), Run: "small", Table: analysis.Table{Comparisons: []verdict.Comparison{c}}}.Values())
	}
	for b.Loop() {
		if h := history.Of("checkout", 0.03, all, nil); len(h.Series) != 4 || len(h.Series[0].Points) != 2 {
			b.Fatalf("the history is %+v", h.Series[0].Points)
		}
	}
}
