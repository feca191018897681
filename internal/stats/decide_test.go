package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ratiosOf are the ratios that compare would find in the groups of the tests.
func ratiosOf(levels, blocks int, name string, cell func(string, int, int) (float64, float64)) Ratios {
	r := Ratios{}
	for l := range levels {
		var cpu, throughput []float64
		for b := range blocks {
			c, t := cell(name, l, b)
			baseC, baseT := cell("base", l, b)
			cpu, throughput = append(cpu, math.Log(c/baseC)), append(throughput, math.Log(t/baseT))
		}
		r.CPUPerRequest, r.Throughput = append(r.CPUPerRequest, cpu), append(r.Throughput, throughput)
	}
	return r
}

func TestDecideDecidesAsAWholeRunIsDecided(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		noise, effect := 0.01+0.1*random.Float64(), math.Exp(0.1*random.NormFloat64())
		drawn := map[[3]any][2]float64{}
		cell := func(name string, l, b int) (float64, float64) {
			v, ok := drawn[[3]any{name, l, b}]
			if !ok {
				v = [2]float64{10 * math.Exp(noise*random.NormFloat64()), 1000 * math.Exp(noise*random.NormFloat64())}
				if name == "c0" {
					v[0], v[1] = v[0]*effect, v[1]/effect
				}
				drawn[[3]any{name, l, b}] = v
			}
			return v[0], v[1]
		}
		blocks := 2 + random.IntN(12)
		p := duel(3, 4)
		want := compare(p, groupsOf(p, blocks, cell), Coverage{})
		var ratios []Ratios
		for _, name := range []string{"c0", "c1", "c2"} {
			ratios = append(ratios, ratiosOf(4, blocks, name, cell))
		}
		got := Decide(ratios)
		ignored := cmpopts.IgnoreFields(Comparison{}, "Implementation", "Baseline")
		prospects := cmpopts.IgnoreFields(Result{}, "Detectable", "BlocksNeeded", "SignFlipP")
		points := cmpopts.IgnoreFields(LevelComparison{}, "Point")
		if diff := cmp.Diff(want, got, ignored, prospects, points, cmpopts.IgnoreUnexported(Result{}), cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Fatalf("%d blocks (-whole run +Decide):\n%s", blocks, diff)
		}
	}
}

func TestDecideKnowsBounds(t *testing.T) {
	r := ratiosOf(1, 10, "c0", steady(0.8))
	r.ThroughputIsBound = true
	c := Decide([]Ratios{r})[0]
	if c.Metric != CPUPerRequest || c.Verdict != Slower {
		t.Errorf("%s by %s, want Slower by the CPU time", c.Verdict, c.Metric)
	}
}

func BenchmarkDecide(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	noise := func(string, int, int) (float64, float64) {
		return math.Exp(0.06 * random.NormFloat64()), math.Exp(0.06 * random.NormFloat64())
	}
	family := []Ratios{ratiosOf(4, 10, "a", noise), ratiosOf(4, 10, "b", noise), ratiosOf(4, 10, "c", noise)}
	for b.Loop() {
		Decide(family)
	}
}

func TestLevelsAreLeftOutWhileTooFewBlocksHaveThemAll(t *testing.T) {
	// level has a pair in each of ten blocks but some, each of the ratio e.
	level := func(log float64, without ...int32) Result {
		r := Result{Metric: CPUPerRequest, Levels: 1}
		for b := int32(1); b <= 10; b++ {
			if !slices.Contains(without, b) {
				r.pair(b, log)
			}
		}
		r.estimate()
		return r
	}
	for name, tc := range map[string]struct {
		levels         []Result
		levelsN, wantN int
		mean           float64
	}{
		"all are whole":                                {[]Result{level(1), level(2)}, 2, 10, 1.5},
		"seven blocks have all":                        {[]Result{level(1, 1, 2), level(2, 3)}, 2, 7, 1.5},
		"the one that most blocks lack is left out":    {[]Result{level(1), level(2, 1, 2, 3), level(3, 4)}, 2, 9, 2},
		"two are left out":                             {[]Result{level(1, 1, 2), level(2, 3, 4), level(3, 5, 6)}, 1, 8, 3},
		"one with too few for a verdict is left out":   {[]Result{level(1), level(2, 1, 2, 3, 4)}, 1, 10, 1},
		"where none has enough, those with most count": {[]Result{level(1, 1, 2, 3, 4), level(2, 1, 2, 3, 4), level(3, 1, 2, 3, 4, 5)}, 2, 6, 1.5},
		"nothing was measured":                         {[]Result{level(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := overLevels(CPUPerRequest, tc.levels)
			if got.Levels != tc.levelsN || got.Blocks != tc.wantN {
				t.Fatalf("%d levels and %d blocks, want %d and %d", got.Levels, got.Blocks, tc.levelsN, tc.wantN)
			}
			for _, log := range got.logs {
				if log != tc.mean {
					t.Errorf("a block's mean is %v, want %v", log, tc.mean)
				}
			}
		})
	}
}
