package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// These tests draw random worlds, decide them with the real rules, print the real line, titles and short verdict, and
// read them again. No sentence may hide a winner of the other side, or any winner behind "equivalent" or
// "inconclusive".

// drawnWorlds is the default of LOADSTONE_TEST_DRAWN_WORLDS, some seconds' worth. LOADSTONE_TEST_SEED draws others.
const drawnWorlds, drawnSeed = 2000, 37

func numberOf(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a whole number", name, text)
	}
	return n
}

// effects are the logs of true differences: mostly none, small or ordinary ones, sometimes enormous.
func effectIn(r *rand.Rand) float64 {
	sign := float64(1 - 2*r.IntN(2))
	switch r.IntN(8) {
	case 0, 1, 2:
		return 0
	case 3:
		return sign * 0.02 * r.Float64()
	case 4, 5:
		return sign * 0.3 * r.Float64()
	case 6:
		return sign * math.Log(50) * r.Float64()
	}
	return sign * 0.05 * r.Float64()
}

func logsIn(r *rand.Rand, blocks int, effect, sd, void float64) []float64 {
	out := make([]float64, blocks)
	for b := range out {
		out[b] = effect + sd*r.NormFloat64()
		if r.Float64() < void {
			out[b] = math.NaN()
		}
	}
	return out
}

// levelIn draws a level. With common set, its metrics mostly share one effect, as on real servers.
func levelIn(r *rand.Rand, at record.Point, blocks int, common float64, duet bool) verdict.Ratios {
	sd, void := math.Exp(-7+5*r.Float64()), 0.0
	if r.IntN(10) == 0 {
		void = 0.1
	}
	effect := func() float64 {
		if r.IntN(3) == 0 {
			return effectIn(r)
		}
		return common
	}
	capacity := effect()
	out := verdict.Ratios{Point: at, Logs: map[verdict.Metric][]float64{}, ThroughputIsBound: r.IntN(3) == 0}
	if r.IntN(20) > 0 || at.RequestsPerSecond > 0 {
		out.Logs[verdict.CPUPerRequest] = logsIn(r, blocks, effect(), sd, void)
	}
	if at.RequestsPerSecond == 0 {
		out.Logs[verdict.Throughput] = logsIn(r, blocks, -capacity, sd, void)
	}
	for _, p := range []string{"50", "99"} {
		follows := capacity
		if r.IntN(3) == 0 {
			follows = effect()
		}
		if !duet && r.IntN(5) > 0 {
			out.Logs[verdict.LatencyAt(p)] = logsIn(r, blocks, follows, sd*(1+r.Float64()), void)
		}
	}
	if at.RequestsPerSecond > 0 {
		out.Rate = rateIn(r, blocks)
	}
	return out
}

func rateIn(r *rand.Rand, blocks int) *verdict.RateCounts {
	switch r.IntN(8) {
	case 0:
		return &verdict.RateCounts{ContenderMissed: blocks, OnlyContenderMissed: blocks, BaselineSustained: blocks}
	case 1:
		return &verdict.RateCounts{BaselineMissed: blocks, OnlyBaselineMissed: blocks, ContenderSustained: blocks}
	case 2:
		return &verdict.RateCounts{ContenderMissed: blocks, BaselineMissed: blocks}
	}
	return &verdict.RateCounts{ContenderSustained: blocks, BaselineSustained: blocks}
}

// tableIn draws a run of one contender, with one to three loads of one to four levels.
func tableIn(r *rand.Rand) analysis.Table {
	blocks, duet := 6+r.IntN(8), r.IntN(8) == 0
	rules := verdict.Rulebook{Duet: duet, Weights: map[string]float64{}}
	var levels []verdict.Ratios
	loads := 1 + max(0, r.IntN(5)-2)
	for l := range loads {
		name, common := fmt.Sprintf("load%d", l), effectIn(r)
		rules.Weights[name] = 1 / float64(loads)
		var rate int32
		if r.IntN(3) == 0 {
			rate = 1000
		}
		for k := range 1 + r.IntN(4) {
			at := record.Point{Load: name, Connections: int32(math.Pow(4, float64(k))), RequestsPerSecond: rate}
			levels = append(levels, levelIn(r, at, blocks, common, duet))
		}
	}
	if loads == 1 || r.IntN(2) == 0 {
		rules.Weights = nil
	}
	return tableOf(verdict.Decide([][]verdict.Ratios{levels}, rules))
}

// tableOf makes the table of comparisons of B with A.
func tableOf(compared []verdict.Comparison) analysis.Table {
	for k := range compared {
		compared[k].Implementation, compared[k].Baseline = "B", "A"
	}
	return analysis.Table{
		Comparisons: compared, Implementations: []planned.Implementation{{Name: "A", Baseline: true}, {Name: "B"}},
		Run: analysis.Run{Baseline: "A"},
		Rules: analysis.Rules{
			Alpha: verdict.Alpha, Confidence: inference.Confidence, Power: inference.Power, MinBlocks: verdict.MinBlocks, EquivalenceMargin: inference.EquivalenceMargin,
		},
	}
}

// sides are the sides that facts or a text give the win.
type sides struct{ better, worse bool }

func (s sides) any() bool { return s.better || s.worse }

func (s *sides) see(v verdict.Verdict) {
	s.better, s.worse = s.better || v == verdict.Better, s.worse || v == verdict.Worse
}

// decidedIn are the winners in any metric and at any level of comparisons.
func decidedIn(all ...verdict.Comparison) (s sides) {
	for _, c := range all {
		for _, r := range c.Overall {
			s.see(r.Verdict)
		}
		for _, l := range c.Levels {
			if l.Reason == verdict.RateNotSustained {
				s.see(l.Verdict)
			}
			for _, r := range l.Results {
				s.see(r.Verdict)
			}
		}
	}
	return s
}

var (
	effectWords = regexp.MustCompile(`B (?:uses|has) (?:at least )?\S+(?: %)? (more|less|higher|lower|the) (CPU time|throughput|p[\d.]+ latency)`)
	missedWords = regexp.MustCompile(`([AB]) (?:does not sustain|missed) the rate`)
	winWords    = regexp.MustCompile(`B (?:uses|has) [^()]*\([\d.]+ % interval ([+−-][\d.]+) % to ([+−-][\d.]+) %`)
	loadWords   = regexp.MustCompile(`\(weight [\d.]+\): (better|worse)`)
	openWords   = regexp.MustCompile(`^(Mixed|Inconclusive|Neither|Whether|B and A differ)`)
	equalWords  = "practically equivalent in"
)

func said(text string) (s sides) {
	for _, m := range effectWords.FindAllStringSubmatch(text, -1) {
		more := m[1] != "less" && m[1] != "lower"
		s.see(map[bool]verdict.Verdict{true: verdict.Better, false: verdict.Worse}[more == (m[2] == "throughput")])
	}
	for _, m := range missedWords.FindAllStringSubmatch(text, -1) {
		s.see(map[string]verdict.Verdict{"A": verdict.Better, "B": verdict.Worse}[m[1]])
	}
	for _, m := range loadWords.FindAllStringSubmatch(text, -1) {
		s.see(map[string]verdict.Verdict{"better": verdict.Better, "worse": verdict.Worse}[m[1]])
	}
	return s
}

// misleads describes the fault of a text, given the decided facts; empty if it has none. A text that was cut off must
// begin with a word that claims nothing for one side.
func misleads(text string, facts sides, cut bool) string {
	s := said(text)
	open := openWords.MatchString(text)
	depends := strings.HasPrefix(text, "Whether") || strings.HasPrefix(text, "B and A differ")
	switch {
	case cut && facts.better && facts.worse && !open:
		return "it was cut before the other side"
	case cut || depends && !s.any():
		return ""
	case s.better && facts.worse && !s.worse:
		return "B is worse somewhere, and the text says only that it is better"
	case s.worse && facts.better && !s.better:
		return "B is better somewhere, and the text says only that it is worse"
	case facts.any() && !s.any():
		return "there is a winner, and the text names none"
	case s.any() && strings.Contains(text, equalWords) && !open:
		return "it says equivalent and names a winner"
	}
	for _, m := range winWords.FindAllStringSubmatch(text, -1) {
		if low, high := percent(m[1]), percent(m[2]); low > -4.7 && high < 4.9 {
			return "it names a winner by an interval inside the margin"
		}
	}
	return ""
}

func percent(text string) float64 {
	v, err := strconv.ParseFloat(strings.Replace(text, "−", "-", 1), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func TestNoSentenceHidesTheOtherSide(t *testing.T) {
	n, seed := numberOf(t, "LOADSTONE_TEST_DRAWN_WORLDS", drawnWorlds), numberOf(t, "LOADSTONE_TEST_SEED", drawnSeed)
	titles, misleading, decided, both := 0, 0, 0, 0
	wrongWorlds := map[uint64]bool{}
	for world := range n {
		table := tableIn(rand.New(rand.NewPCG(seed, world)))
		v, h := run{view.New(table, phrase.English)}, table.Headline()
		wrong := func(what, text, why string) {
			wrongWorlds[world] = true
			if misleading++; misleading <= 10 {
				t.Errorf("LOADSTONE_TEST_SEED=%d, world %d, %s: %s:\n%s", seed, world, what, why, text)
			}
		}
		for k, e := range h.Entries {
			facts := decidedOf(table, e)
			decided, both = decided+counted(facts.any()), both+counted(facts.better && facts.worse)
			prefix := phrase.English.LoadOf(h, e)
			line := phrase.English.Entry(h, e)
			if len(h.Entries) == 1 {
				line = phrase.English.Line(h)
			}
			page := v.headline()[k].Title
			for what, text := range map[string]string{"line": line, "title": page} {
				titles++
				text = strings.TrimPrefix(text, prefix)
				if why := misleads(text, facts, what == "line" && len(line) >= 510); why != "" {
					wrong(what, text, why)
				}
			}
			one := h
			one.Entries = []analysis.HeadlineEntry{e}
			short := phrase.Short(one)
			if facts.worse && strings.HasPrefix(short, "better") || facts.better && strings.HasPrefix(short, "worse") || facts.any() && short == "no difference" {
				wrong("short verdict", short+" for "+line, "it hides a winner")
			}
		}
	}
	if decided < int(n)/4 || both < int(n)/20 {
		t.Errorf("of %d worlds only %d decide something and %d both ways: the test looks at too little", n, decided, both)
	}
	upper := inference.BetaQuantile(0.95, float64(len(wrongWorlds)+1), float64(int(n)-len(wrongWorlds)))
	note := fmt.Sprintf("one-sided 95 %% upper bound; %d of %d worlds with crossing levels and metrics, bounds, rates and turns; %d texts", len(wrongWorlds), n, titles)
	t.Log(figures.Of("misleading-headlines", 100*upper, "%", figures.AtMost(1.2), note).Line())
	t.Logf("%d worlds: %d texts, %d misleading; %d comparisons decide something, %d both ways", n, titles, misleading, decided, both)
}

// decidedOf are the facts behind an entry: those of its load, or of all loads.
func decidedOf(t analysis.Table, e analysis.HeadlineEntry) sides {
	if len(e.Loads) > 0 {
		return decidedIn(t.Comparisons...)
	}
	for _, c := range t.Comparisons {
		if c.Load == e.Load {
			return decidedIn(c)
		}
	}
	return sides{}
}

func counted(b bool) int {
	if b {
		return 1
	}
	return 0
}

// around are ten blocks of a log ratio with a small spread.
func around(mid, sd float64) []float64 { return logsIn(rand.New(rand.NewPCG(1, 2)), 10, mid, sd, 0) }

// lonely is a sweep that the generator limits, except at one connection: there, B is 40 times slower.
func lonely(cpu float64) []verdict.Ratios {
	var levels []verdict.Ratios
	for l := range 4 {
		one := verdict.Ratios{Point: record.Point{Load: "sweep", Connections: int32(math.Pow(4, float64(l)))}, Logs: map[verdict.Metric][]float64{
			verdict.CPUPerRequest: around(cpu, 0.01), verdict.Throughput: around(0, 0.01),
		}}
		if one.ThroughputIsBound = l > 0; l == 0 {
			one.Logs[verdict.Throughput] = around(-math.Log(40), 0.01)
			one.Logs[verdict.LatencyAt("50")], one.Logs[verdict.LatencyAt("99")] = around(math.Log(40), 0.01), around(math.Log(40), 0.02)
		}
		levels = append(levels, one)
	}
	return levels
}

func atOneLevel(rate int32, logs map[verdict.Metric][]float64) []verdict.Ratios {
	one := verdict.Ratios{Point: record.Point{Load: "s", Connections: 50, RequestsPerSecond: rate}, Logs: logs}
	if rate > 0 {
		one.Rate = &verdict.RateCounts{ContenderSustained: 10, BaselineSustained: 10}
	}
	return []verdict.Ratios{one}
}

func TestTheLineNamesEverySide(t *testing.T) {
	cpu, throughput, p50, p99 := verdict.CPUPerRequest, verdict.Throughput, verdict.LatencyAt("50"), verdict.LatencyAt("99")
	for name, tc := range map[string]struct {
		levels []verdict.Ratios
		short  string
		want   []string
	}{
		"40 times slower at one level, with equal CPU time": {
			lonely(0), "mixed", []string{"Mixed: B and A are practically equivalent in CPU time per request, within 5 % (", ", but at sweep-1 B has 97.5 % lower throughput than A (99 % interval -97.5 % to -97.5 %, 10 blocks)"},
		},
		"40 times slower at one level, with less CPU time": {
			lonely(-0.1), "mixed", []string{"Mixed: B uses 9.4 % less CPU time per request than A (99 % interval", ", but at sweep-1 B has 97.5 % lower throughput than A"},
		},
		"50 times the latency at a rate, with equal CPU time": {
			atOneLevel(1000, map[verdict.Metric][]float64{cpu: around(0, 0.01), p50: around(math.Log(50), 0.05), p99: around(math.Log(20), 0.1)}), "mixed",
			[]string{"Mixed: B and A are practically equivalent in CPU time per request, within 5 % (", ", but B has 50.30x the p50 latency of A", "10 blocks); B has 20.24x the p99 latency of A"},
		},
		"50 times the latency at a rate, with less CPU time": {
			atOneLevel(1000, map[verdict.Metric][]float64{cpu: around(-0.2, 0.01), p50: around(math.Log(50), 0.05)}), "mixed",
			[]string{"Mixed: B uses 18.0 % less CPU time per request than A (", ", but B has 50.30x the p50 latency of A"},
		},
		"50 times the latency at a rate, with more CPU time": {
			atOneLevel(1000, map[verdict.Metric][]float64{cpu: around(0.2, 0.01), p50: around(math.Log(50), 0.05)}), "worse: +22.3 %",
			[]string{"B uses 22.3 % more CPU time per request than A (", ", and B has 50.30x the p50 latency of A"},
		},
		"50 times the latency at a rate, with an open CPU time": {
			atOneLevel(1000, map[verdict.Metric][]float64{cpu: around(0, 0.3), p50: around(math.Log(50), 0.05)}), "inconclusive",
			[]string{"Inconclusive: B may or may not differ from A in server CPU time per request (", ", but B has 50.30x the p50 latency of A"},
		},
		"more throughput and a long tail in a closed loop, which decides nothing": {
			atOneLevel(0, map[verdict.Metric][]float64{cpu: around(-0.1, 0.003), throughput: around(0.1, 0.003), p50: around(-0.1, 0.003), p99: around(math.Log(5), 0.05)}), "better: +10.6 %",
			[]string{"B has 10.6 % higher throughput than A (99 % interval +10.2 % to +10.9 %, 10 blocks); B uses 9.5 % less CPU time per request than A (99 % interval -9.8 % to -9.2 %)"},
		},
		"a difference of 0.1 %, measured exactly": {
			atOneLevel(0, map[verdict.Metric][]float64{cpu: around(-0.001, 0.0003), throughput: around(0.001, 0.0003)}), "no difference",
			[]string{"B and A are practically equivalent in throughput, within 5 % (+0.1 %, 99 % interval +0.07 % to +0.1 %, 10 blocks)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := tableOf(verdict.Decide([][]verdict.Ratios{tc.levels}, verdict.Rulebook{})).Headline()
			line := phrase.English.Line(h)
			if !strings.HasPrefix(line, tc.want[0]) {
				t.Errorf("the line does not begin with %q:\n%s", tc.want[0], line)
			}
			for _, words := range tc.want[1:] {
				if !strings.Contains(line, words) {
					t.Errorf("the line does not hold %q:\n%s", words, line)
				}
			}
			if short := phrase.Short(h); short != tc.short {
				t.Errorf("the short verdict is %q, want %q", short, tc.short)
			}
		})
	}
}

func TestEveryFormNamesBothSidesOfAMixedVerdict(t *testing.T) {
	table := tableOf(verdict.Decide([][]verdict.Ratios{lonely(-0.1)}, verdict.Rulebook{}))
	for k := range table.Comparisons[0].Levels {
		table.Levels = append(table.Levels, planned.Level{Point: table.Comparisons[0].Levels[k].Point})
	}
	for name, form := range map[string]func(analysis.Table) ([]byte, error){"Markdown": Markdown, "JUnit": JUnit} {
		out, err := form(table)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(out); !strings.Contains(text, "Mixed: B uses") || !strings.Contains(text, "97.5 % lower throughput") || strings.Contains(text, "<skipped") {
			t.Errorf("%s does not name both sides as a verdict:\n%s", name, text)
		}
	}
	if e := (run{view.New(table, phrase.English)}).headline()[0]; e.Tone != "unknown" || !strings.Contains(e.Title, "97.5 % lower throughput") {
		t.Errorf("the page's title is %q in tone %s", e.Title, e.Tone)
	}
}
