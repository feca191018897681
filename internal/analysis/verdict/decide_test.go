package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func ratiosOf(levels, blocks int, name string, cell func(string, int, int) (float64, float64)) []Ratios {
	var out []Ratios
	for l := range levels {
		var cpu, throughput []float64
		for b := range blocks {
			c, t := cell(name, l, b)
			baseC, baseT := cell("base", l, b)
			cpu, throughput = append(cpu, math.Log(c/baseC)), append(throughput, math.Log(t/baseT))
		}
		out = append(out, Ratios{
			Point: record.Point{Load: "l", Connections: int32(l + 1)}, Logs: map[Metric][]float64{CPUPerRequest: cpu, Throughput: throughput},
		})
	}
	return out
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
		want := Compare(p, groupsOf(p, blocks, cell), nil, Searches{})
		var ratios [][]Ratios
		for _, name := range []string{"c0", "c1", "c2"} {
			ratios = append(ratios, ratiosOf(4, blocks, name, cell))
		}
		got := Decide(ratios, Rulebook{Foresight: true})
		ignored := cmpopts.IgnoreFields(Comparison{}, "Implementation", "Baseline")
		if diff := cmp.Diff(want, got, ignored, cmpopts.IgnoreUnexported(Result{}, Comparison{}), cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Fatalf("%d blocks (-whole run +Decide):\n%s", blocks, diff)
		}
	}
}

func TestDecideKnowsBounds(t *testing.T) {
	r := ratiosOf(1, 10, "c0", steady(0.8))
	r[0].ThroughputIsBound = true
	c := Decide([][]Ratios{r}, Rulebook{})[0]
	if c.Metric != CPUPerRequest || c.Verdict != Worse {
		t.Errorf("%s by %s, want Worse by the CPU time", c.Verdict, c.Metric)
	}
}

func BenchmarkDecide(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	noise := func(string, int, int) (float64, float64) {
		return math.Exp(0.06 * random.NormFloat64()), math.Exp(0.06 * random.NormFloat64())
	}
	family := [][]Ratios{ratiosOf(4, 10, "a", noise), ratiosOf(4, 10, "b", noise), ratiosOf(4, 10, "c", noise)}
	for b.Loop() {
		Decide(family, Rulebook{})
	}
}

func TestAResultThatOnlyItsBracketsLeaveOpenSaysSo(t *testing.T) {
	for wide, want := range map[float64]bool{0: false, 0.1: true} {
		var samples []inference.Sample
		for block := range int32(10) {
			mid := 0.02 + 0.01*float64(block%3-1)
			samples = append(samples, inference.Sample{Block: block + 1, Span: inference.Span{Low: mid - wide, Mid: mid, High: mid + wide}})
		}
		r := NewResult(Throughput, samples)
		r.Verdict, r.Reason = Inconclusive, NoiseTooHigh
		if r.foresee(Alpha); r.Bracketed != want || (r.BlocksNeeded == 0) != want {
			t.Errorf("known within %g: bracketed %v, %d blocks would decide", wide, r.Bracketed, r.BlocksNeeded)
		}
	}
}
