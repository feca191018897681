package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// doubt says how much is unknown about the cells of a drawn run.
type doubt struct {
	name string
	// suspect and uncounted are shares of the blocks.
	suspect, uncounted float64
}

// runIn draws a run of two servers whose cells are in doubt. effect is the log of their ratio.
func runIn(r *rand.Rand, effect float64, d doubt) record.RunData {
	o := recordtest.Duel(7 + int32(r.IntN(4)))
	o.Seed, o.Levels, o.Noise = r.Uint64(), [][]int32{{10}, {10, 100}}[r.IntN(2)], 0.01
	o.Servers = []recordtest.Server{{Name: "A", CPUMicros: 11, RSSBytes: 1 << 20}, {Name: "B", CPUMicros: 11 * math.Exp(effect), RSSBytes: 1 << 20}}
	run := recordtest.Run(o)
	for i := range run.Trials {
		t := &run.Trials[i]
		at := float64(t.Manifest.Block-1) / float64(o.Blocks)
		for k := range t.Servers[0].Cells {
			if at < d.suspect {
				t.Servers[0].Cells[k].Sockets = nil
			}
			if at < d.uncounted && t.Manifest.Servers[0] == "B" {
				t.Servers[0].Cells[k].CPUUncounted = []string{"it is connected to another process"}
				t.Servers[0].Cells[k].CPUNanos /= 10
			}
		}
	}
	return run
}

func lineOf(t *testing.T, d record.RunData) (string, analysis.Table) {
	t.Helper()
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return Line(table.Headline()), table
}

func TestNoLineClaimsWhatIsInDoubt(t *testing.T) {
	effects := []float64{-0.6, -0.25, 0, 0.02, 0.25, 0.6}
	claims := map[string]int{}
	for _, d := range []doubt{{name: "none"}, {"some cells suspect", 0.4, 0}, {"all cells suspect", 1, 0}, {"some CPU time uncounted", 0, 0.5}, {"all CPU time uncounted", 0, 1}} {
		for world, effect := range effects {
			line, table := lineOf(t, runIn(rand.New(rand.NewPCG(drawnSeed, uint64(world))), effect, d))
			if why := misleads(line, decidedIn(table.Comparisons...), len(line) >= 510); why != "" {
				t.Errorf("%s, world %d: %s:\n%s", d.name, world, why, line)
			}
			named := said(line)
			claims[d.name] += counted(named.any())
			if d.suspect == 1 && named.any() {
				t.Errorf("world %d: all cells are suspect, and the line names a winner:\n%s", world, line)
			}
			if d.suspect > 0 && d.suspect < 1 && named.any() && !strings.Contains(line, "suspect") {
				t.Errorf("world %d: some cells are suspect, and the line does not say so:\n%s", world, line)
			}
			if strings.Contains(line, "CPU time per request than") && d.uncounted > 0 {
				t.Errorf("world %d: the CPU time is unknown, and the line compares it:\n%s", world, line)
			}
			if strings.Contains(fmt.Sprint(table.Groups), "NoisyNeighbours") {
				t.Errorf("%s, world %d: uncounted CPU time is blamed on others", d.name, world)
			}
		}
	}
	if claims["none"] < len(effects)/2 {
		t.Errorf("only %d of %d runs without doubts claim anything: the test looks at too little", claims["none"], len(effects))
	}
}

// A search whose end is open found a bound, and the line says so.
func TestLinesMarkOpenEndsOfSearches(t *testing.T) {
	open := 0
	for _, steps := range []int32{4, 6, 12} {
		for _, start := range []int32{100, 20_000} {
			o := recordtest.Duel(8)
			o.Noise = 0.01
			o.Servers = []recordtest.Server{{Name: "A", CPUMicros: 20, RSSBytes: 1 << 20}, {Name: "B", CPUMicros: 30, RSSBytes: 1 << 20}}
			line, table := lineOf(t, recordtest.Search(o, record.Search{Percentile: 99, MaxMilliseconds: 50, StartRequestsPerSecond: start, Steps: steps}))
			for _, c := range table.Capacities {
				marked := strings.Contains(line, c.Implementation+" sustains at least ")
				if c.IsBound && c.Rate != nil && strings.Contains(line, c.Implementation+" sustains ") && !marked {
					t.Errorf("%d steps from %d/s: the rate of %s is a lower bound, and the line does not say so:\n%s", steps, start, c.Implementation, line)
				}
				if marked && !c.IsBound {
					t.Errorf("%d steps from %d/s: the rate of %s is no lower bound:\n%s", steps, start, c.Implementation, line)
				}
			}
			open += counted(slices.ContainsFunc(table.Capacities, func(c capacity.Capacity) bool { return c.IsBound }))
		}
	}
	if open == 0 {
		t.Error("no search has an open end: the test looks at nothing")
	}
}

func TestTheLineSaysThatCPUTimeIsUnknown(t *testing.T) {
	h := analysis.Headline{Entries: []analysis.HeadlineEntry{{
		Implementation: "B", Baseline: "A", Verdict: verdict.Inconclusive, Reason: verdict.CPUUncounted, Metric: verdict.CPUPerRequest,
	}}}
	const want = "Inconclusive: B may or may not differ from A in server CPU time per request (the CPU time per request is unknown, because other processes may do the server's work)"
	if line := Line(h); line != want {
		t.Errorf("the line is %q, want %q", line, want)
	}
}
