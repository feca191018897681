package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

func duel(contenders, levels int) planned.Run {
	p := planned.Run{Baseline: "base", Implementations: []planned.Implementation{{Name: "base", Role: record.RoleContender, Baseline: true, CPUs: 1}}}
	for i := range contenders {
		p.Implementations = append(p.Implementations, planned.Implementation{Name: fmt.Sprintf("c%d", i), Role: record.RoleContender, CPUs: 1})
	}
	for i := range levels {
		p.Levels = append(p.Levels, planned.Level{Point: record.Point{Load: "l", Connections: int32(i + 1)}})
	}
	return p
}

func groupsOf(p planned.Run, blocks int, cell func(implementation string, level, block int) (cpu, throughput float64)) []validity.Group {
	var out []validity.Group
	for l, level := range p.Levels {
		for _, i := range p.Implementations {
			g := validity.Group{Point: level.Point, Implementation: i.Name, Role: i.Role}
			for b := range blocks {
				cpu, throughput := cell(i.Name, l, b)
				g.Cells = append(g.Cells, validity.Cell{Block: int32(b + 1), Validity: validity.Valid, Values: measured.Values{CPUPerRequest: &cpu, Throughput: &throughput}})
			}
			out = append(out, g)
		}
	}
	return out
}

// steady makes c0 faster by a factor, with alternating noise of 1 %.
func steady(factor float64) func(string, int, int) (float64, float64) {
	return func(name string, _, block int) (float64, float64) {
		if name == "base" {
			return 10, 1000
		}
		f := factor * (1 + 0.01*float64(block%3-1))
		return 10 / f, 1000 * f
	}
}

func TestVerdicts(t *testing.T) {
	for name, tc := range map[string]struct {
		blocks  int
		cell    func(string, int, int) (float64, float64)
		change  func([]validity.Group)
		verdict Verdict
		reason  Reason
		metric  Metric
	}{
		"a clear advantage":               {blocks: 10, cell: steady(1.2), verdict: Better, metric: Throughput},
		"a clear disadvantage":            {blocks: 10, cell: steady(0.8), verdict: Worse, metric: Throughput},
		"practically equivalent":          {blocks: 10, cell: steady(1), verdict: NoDifference, metric: Throughput},
		"six blocks give no verdict":      {blocks: 6, cell: steady(2), verdict: Inconclusive, reason: TooFewBlocks, metric: Throughput},
		"seven blocks give one":           {blocks: 7, cell: steady(2), verdict: Better, metric: Throughput},
		"no blocks at all give none":      {blocks: 0, cell: steady(2), verdict: Inconclusive, reason: TooFewBlocks, metric: Throughput},
		"noise larger than what it hides": {blocks: 10, cell: noisy(0.3), verdict: Inconclusive, reason: NoiseTooHigh, metric: Throughput},
		"void cells leave too few blocks": {
			blocks: 10, cell: steady(2), change: each("c0", func(c *validity.Cell) { c.Validity = validity.Void }, 4),
			verdict: Inconclusive, reason: TooFewBlocks, metric: Throughput,
		},
		"the generator limited the faster side: CPU time decides": {
			blocks: 10, cell: steady(1.2), change: each("c0", func(c *validity.Cell) { c.ThroughputIsBound = true }, 1),
			verdict: Better, metric: CPUPerRequest,
		},
		"the generator limited both and the server was not seen": {
			blocks: 10, cell: steady(1.2), change: func(g []validity.Group) {
				unseen(g)
				each("", func(c *validity.Cell) { c.ThroughputIsBound = true }, 10)(g)
			},
			verdict: Inconclusive, reason: BoundsOnly, metric: Throughput,
		},
		"a bound that is higher still wins": {
			blocks: 10, cell: steady(1.2), change: func(g []validity.Group) {
				unseen(g)
				each("c0", func(c *validity.Cell) { c.ThroughputIsBound = true }, 10)(g)
			},
			verdict: Better, metric: Throughput,
		},
		"a bound that is lower does not lose": {
			blocks: 10, cell: steady(0.8), change: func(g []validity.Group) {
				unseen(g)
				each("c0", func(c *validity.Cell) { c.ThroughputIsBound = true }, 10)(g)
			},
			verdict: Inconclusive, reason: BoundsOnly, metric: Throughput,
		},
		"a bound is not equal either": {
			blocks: 10, cell: steady(1), change: func(g []validity.Group) {
				unseen(g)
				each("base", func(c *validity.Cell) { c.ThroughputIsBound = true }, 10)(g)
			},
			verdict: Inconclusive, reason: BoundsOnly, metric: Throughput,
		},
		"who answers errors cannot win by the blocks that it survived": {
			blocks: 10, cell: steady(1.5), change: each("c0", failed, 2),
			verdict: Inconclusive, reason: ImplementationFailures, metric: Throughput,
		},
		"who answers errors can lose": {
			blocks: 10, cell: steady(0.5), change: each("c0", failed, 2),
			verdict: Worse, metric: Throughput,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := duel(1, 1)
			groups := groupsOf(p, tc.blocks, tc.cell)
			if tc.change != nil {
				tc.change(groups)
			}
			c := Compare(p, groups, nil, Searches{})[0]
			if c.Verdict != tc.verdict || c.Reason != tc.reason || c.Metric != tc.metric {
				t.Errorf("verdict %s %q by %s, want %s %q by %s", c.Verdict, c.Reason, c.Metric, tc.verdict, tc.reason, tc.metric)
			}
			if l := c.Levels[0]; l.Verdict != tc.verdict || l.Reason != tc.reason {
				t.Errorf("the only level has %s %q, want %s %q", l.Verdict, l.Reason, tc.verdict, tc.reason)
			}
		})
	}
}

func noisy(sd float64) func(string, int, int) (float64, float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	return func(string, int, int) (float64, float64) {
		f := math.Exp(rng.NormFloat64() * sd)
		return 10 / f, 1000 * f
	}
}

func each(implementation string, change func(*validity.Cell), cells int) func([]validity.Group) {
	return func(groups []validity.Group) {
		for g := range groups {
			for k := range groups[g].Cells {
				if k < cells && (implementation == "" || groups[g].Implementation == implementation) {
					change(&groups[g].Cells[k])
				}
			}
		}
	}
}

func unseen(groups []validity.Group) {
	each("", func(c *validity.Cell) { c.CPUPerRequest = nil }, math.MaxInt)(groups)
}

func failed(c *validity.Cell) {
	c.Validity, c.Reasons = validity.Void, []validity.Reason{{Code: validity.WrongStatus, Weight: validity.Void}}
}

func TestLevelsThatCrossAreNeverAveragedToOneSentence(t *testing.T) {
	for name, factors := range map[string][2]float64{
		"to no difference": {1.3, 1 / 1.3},
		"to a winner":      {1.5, 1 / 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			p := duel(1, 2)
			c := Compare(p, groupsOf(p, 10, func(name string, level, block int) (float64, float64) {
				return steady(factors[level])(name, level, block)
			}), nil, Searches{})[0]
			if c.Verdict != DependsOnLoad || c.Levels[0].Verdict != Better || c.Levels[1].Verdict != Worse {
				t.Errorf("overall %s, levels %s and %s", c.Verdict, c.Levels[0].Verdict, c.Levels[1].Verdict)
			}
		})
	}
}

func TestALevelThatIsDecidedIsNotAveragedToNoDifference(t *testing.T) {
	p := duel(1, 16)
	c := Compare(p, groupsOf(p, 10, func(name string, level, block int) (float64, float64) {
		if level == 0 {
			return steady(1.08)(name, level, block)
		}
		return steady(1)(name, level, block)
	}), nil, Searches{})[0]
	if r := c.Deciding(); !r.equivalent() || c.Verdict != DependsOnLoad {
		t.Errorf("%s at a mean of %v to %v, want DependsOnLoad", c.Verdict, *r.Low, *r.High)
	}
}

func TestALimitTakesNoPart(t *testing.T) {
	p := duel(2, 1)
	p.Implementations[2].Role = record.RoleReference
	if got := Compare(p, groupsOf(p, 10, steady(2)), nil, Searches{}); len(got) != 1 || got[0].Implementation != "c0" {
		t.Errorf("compared: %+v", got)
	}
}

func TestSwappingTheSidesInvertsTheRatio(t *testing.T) {
	noise := noisy(0.05)
	there := duel(1, 3)
	groups := groupsOf(there, 12, func(name string, level, block int) (float64, float64) {
		cpu, throughput := noise(name, level, block)
		if name == "base" {
			return cpu * 1.1, throughput / 1.1
		}
		return cpu, throughput
	})
	back := there
	back.Baseline = "c0"
	back.Implementations = []planned.Implementation{{Name: "base", Role: record.RoleContender}, {Name: "c0", Role: record.RoleContender, Baseline: true}}
	a, b := Compare(there, groups, nil, Searches{})[0], Compare(back, groups, nil, Searches{})[0]
	for k := range a.Overall {
		x, y := a.Overall[k], b.Overall[k]
		for name, got := range map[string]float64{
			"ratio": *x.Ratio * *y.Ratio, "low and high": *x.Low * *y.High, "high and low": *x.High * *y.Low, "p": *x.P / *y.P, "sign-flip p": *x.SignFlipP / *y.SignFlipP,
		} {
			if math.Abs(got-1) > 1e-9 {
				t.Errorf("%s: %s multiply to %v", x.Metric, name, got)
			}
		}
	}
	if inverted := map[Verdict]Verdict{Better: Worse, Worse: Better}[a.Verdict]; b.Verdict != inverted {
		t.Errorf("verdicts are %s and %s", a.Verdict, b.Verdict)
	}
}

// TestFalseVerdictsAreRare simulates runs without differences. At the family alpha of 0.01 about 10 of 1,000 may name
// a winner among 3 contenders and 4 levels; at 0.05 it is about 50.
func TestFalseVerdictsAreRare(t *testing.T) {
	const runs = 1000
	wrong := 0
	for run := range runs {
		for _, c := range verdictsOf(duel(3, 4), simulated(uint64(run), 0)) {
			if c.Verdict == Better || c.Verdict == Worse || anyLevel(c, Better, Worse) {
				wrong++
				break
			}
		}
	}
	if wrong > 22 {
		t.Errorf("%d of %d runs without a difference name a winner", wrong, runs)
	}
	t.Logf("%d of %d runs without a difference name a winner", wrong, runs)
}

// TestRealDifferencesAreFound simulates contenders that are faster by a tenth.
func TestRealDifferencesAreFound(t *testing.T) {
	const runs = 100
	found, contrary := 0, 0
	for run := range runs {
		for _, c := range verdictsOf(duel(3, 4), simulated(uint64(run), math.Log(1.1))) {
			if c.Verdict == Better {
				found++
			}
			if c.Verdict == Worse || anyLevel(c, Worse) {
				contrary++
			}
		}
	}
	if found < 3*runs*95/100 || contrary > 0 {
		t.Errorf("of %d contenders that are faster by a tenth, %d were found and %d were called slower", 3*runs, found, contrary)
	}
}

// verdictsOf compares without foresight, which takes most of the time.
func verdictsOf(p planned.Run, groups []validity.Group) []Comparison {
	out := comparisons(p, groups, nil)
	judgeAll(out, Searches{}, Alpha, false)
	return out
}

func anyLevel(c Comparison, verdicts ...Verdict) bool {
	for _, l := range c.Levels {
		for _, v := range verdicts {
			if l.Verdict == v {
				return true
			}
		}
	}
	return false
}

// simulated cells have noise of process, block and cell, as on a shared machine: pairs have a standard deviation of 6
// %.
func simulated(seed uint64, advantage float64) []validity.Group {
	rng := rand.New(rand.NewPCG(seed, 42))
	block := make([]float64, 10)
	for b := range block {
		block[b] = rng.NormFloat64() * 0.1
	}
	process := map[string]float64{}
	return groupsOf(duel(3, 4), 10, func(name string, level, b int) (float64, float64) {
		key := fmt.Sprint(name, b)
		if level == 0 {
			process[key] = rng.NormFloat64() * 0.02
		}
		log := block[b] + process[key] + rng.NormFloat64()*0.04
		if name != "base" {
			log += advantage
		}
		return 10 / math.Exp(log), 1000 * math.Exp(log)
	})
}

// doubt marks cells as suspect with one reason.
func doubt(code validity.Code, scope validity.Scope) func(*validity.Cell) {
	return func(c *validity.Cell) {
		c.Validity, c.Reasons = validity.Suspect, []validity.Reason{{Code: code, Weight: validity.Suspect, Scope: scope}}
	}
}

func TestSuspectCellsAloneGiveNoVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func([]validity.Group)
		verdict Verdict
		reason  Reason
		suspect int
	}{
		"every cell":                         {each("", doubt(validity.WarmupNotOver, validity.ScopeCell), 10), Inconclusive, SuspectCells, 20},
		"every cell, for its load":           {each("", doubt(validity.SlowedDown, validity.ScopeLoad), 10), Inconclusive, SuspectCells, 20},
		"every cell, for its latencies only": {each("", doubt(validity.StoodStill, validity.ScopeLatency), 10), Better, "", 0},
		"all cells but one": {func(g []validity.Group) {
			each("", doubt(validity.WarmupNotOver, validity.ScopeCell), 10)(g)
			g[0].Cells[3].Reasons, g[1].Cells[3].Reasons = nil, nil
		}, Better, "", 18},
		"one side": {each("c0", doubt(validity.WarmupNotOver, validity.ScopeCell), 10), Inconclusive, SuspectCells, 10},
		"the side of the baseline, and one cell of the other": {func(g []validity.Group) {
			each("base", doubt(validity.WarmupNotOver, validity.ScopeCell), 10)(g)
			each("c0", doubt(validity.WarmupNotOver, validity.ScopeCell), 1)(g)
		}, Inconclusive, SuspectCells, 11},
	} {
		t.Run(name, func(t *testing.T) {
			p := duel(1, 1)
			groups := groupsOf(p, 10, steady(1.2))
			tc.change(groups)
			c := Compare(p, groups, nil, Searches{})[0]
			suspect, cells, why := c.Deciding().Suspects()
			if c.Verdict != tc.verdict || c.Reason != tc.reason || suspect != tc.suspect || cells != 20 || len(why) != asInt(tc.suspect > 0) {
				t.Errorf("%s %q with %d of %d suspect %v, want %s %q with %d of 20", c.Verdict, c.Reason, suspect, cells, why, tc.verdict, tc.reason, tc.suspect)
			}
		})
	}
}

func TestCellsThatAreSuspectForTheThroughputStillDecideByCPUTime(t *testing.T) {
	p := duel(1, 2)
	groups := groupsOf(p, 10, steady(1.2))
	each("", func(c *validity.Cell) {
		doubt(validity.GeneratorLimited, validity.ScopeLoad)(c)
		c.ThroughputIsBound = true
	}, 10)(groups)
	c := Compare(p, groups, nil, Searches{})[0]
	if suspect, cells, _ := c.Deciding().Suspects(); c.Verdict != Better || c.Metric != CPUPerRequest || suspect != 0 || cells != 40 {
		t.Errorf("%s by %s, with %d of %d cells suspect", c.Verdict, c.Metric, suspect, cells)
	}
}

func TestAWinnerInsideTheMarginIsNoWinner(t *testing.T) {
	for factor, want := range map[float64]Verdict{1.001: NoDifference, 1.03: NoDifference, 1 / 1.03: NoDifference, 1.08: Better, 1 / 1.08: Worse} {
		p := duel(1, 1)
		if c := Compare(p, groupsOf(p, 10, steady(factor)), nil, Searches{})[0]; c.Verdict != want {
			r := c.Deciding()
			t.Errorf("a factor of %g is %s (%g to %g, adjusted p %g), want %s", factor, c.Verdict, *r.Low, *r.High, *r.AdjustedP, want)
		}
	}
}

func TestMetricsThatDisagreeGiveMixed(t *testing.T) {
	sides := func(cpu, throughput float64) func(string, int, int) (float64, float64) {
		return func(name string, _, block int) (float64, float64) {
			if name == "base" {
				return 10, 1000
			}
			f := 1 + 0.01*float64(block%3-1)
			return 10 * cpu * f, 1000 * throughput * f
		}
	}
	for name, tc := range map[string]struct {
		cpu, throughput float64
		want, main      Verdict
		against         int
	}{
		"both better":                       {0.8, 1.2, Better, "", 0},
		"both worse":                        {1.2, 0.8, Worse, "", 0},
		"more throughput for more CPU time": {1.2, 1.2, Mixed, Better, 1},
		"less of both":                      {0.8, 0.8, Mixed, Worse, 1},
		"equal throughput, less CPU time":   {0.8, 1, Mixed, NoDifference, 1},
		"more throughput, equal CPU time":   {1, 1.2, Better, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := duel(1, 2)
			c := Compare(p, groupsOf(p, 10, sides(tc.cpu, tc.throughput)), nil, Searches{})[0]
			if c.Verdict != tc.want || c.Main != tc.main || len(c.Against) != tc.against {
				t.Errorf("%s (main %q) against %+v, want %s (main %q) and %d", c.Verdict, c.Main, c.Against, tc.want, tc.main, tc.against)
			}
		})
	}
}

func TestOnlyAnImposedRateGivesLatenciesAVerdict(t *testing.T) {
	around := func(mid float64) []float64 {
		return []float64{mid, mid + 0.01, mid - 0.01, mid, mid + 0.01, mid - 0.01, mid, mid + 0.01, mid - 0.01, mid}
	}
	for name, tc := range map[string]struct {
		rate    int32
		verdict Verdict
		reason  Reason
		against int
	}{"a closed loop": {0, Inconclusive, ClosedLoopLatency, 0}, "a rate": {1000, Worse, "", 1}} {
		t.Run(name, func(t *testing.T) {
			one := Ratios{Point: record.Point{Load: "s", Connections: 50, RequestsPerSecond: tc.rate}, Logs: map[Metric][]float64{
				CPUPerRequest: around(-0.2), Throughput: around(0.2), LatencyAt("99"): around(1),
			}}
			c := Decide([][]Ratios{{one}}, Rulebook{})[0]
			p99 := InMetric(c.Overall, LatencyAt("99"))
			if p99.Verdict != tc.verdict || p99.Reason != tc.reason || p99.ClosedLoop != (tc.rate == 0) || (p99.AdjustedP == nil) != (tc.rate == 0) || len(c.Against) != tc.against {
				t.Errorf("p99 is %s %s, closed loop %v, adjusted p %v, against %+v", p99.Verdict, p99.Reason, p99.ClosedLoop, p99.AdjustedP, c.Against)
			}
		})
	}
}
