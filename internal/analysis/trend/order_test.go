package trend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// ordersSeed makes figures reproducible.
const ordersSeed = 20_27

// upperBound is the one-sided 95 % upper bound of a share.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

// drifting is a run of equal servers on a machine that steadily becomes slower.
type drifting struct {
	implementations, levels int
	blocks                  int32
	// drift is the log of the slowdown over the run, noise the standard deviation of a cell's log.
	drift, noise float64
	// repeated counts void blocks, each at random, with as many repeat blocks at the end.
	repeated int32
}

func (d drifting) String() string {
	s := fmt.Sprintf("%dx%d-%dblocks-drift%.0f%%-noise%.1f%%", d.implementations, d.levels, d.blocks, 100*d.drift, 100*d.noise)
	if d.repeated > 0 {
		s += fmt.Sprintf("-%drepeated", d.repeated)
	}
	return s
}

// draw returns the log ratios to the first implementation.
func (d drifting) draw(random *rand.Rand, mirrored bool) [][]verdict.Ratios {
	plan := record.Plan{Seed: random.Uint64(), Mirrored: mirrored}
	names := make([]string, d.implementations)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	blocks := d.blocks + d.repeated
	logs := make([][][]float64, d.implementations)
	for k := range logs {
		logs[k] = make([][]float64, d.levels)
	}
	void := random.Perm(int(d.blocks))[:d.repeated]
	at, all := 0.0, float64(int(blocks)*d.implementations*d.levels)
	for block := range blocks {
		for _, name := range kind.Order(plan, block+1, names) {
			k, _ := strconv.Atoi(name)
			for l := range d.levels {
				logs[k][l] = append(logs[k][l], d.drift*at/all+d.noise*random.NormFloat64())
				at++
			}
		}
	}
	var out [][]verdict.Ratios
	for k := 1; k < d.implementations; k++ {
		var levels []verdict.Ratios
		for l := range d.levels {
			values := make([]float64, blocks)
			for b := range values {
				values[b] = logs[0][l][b] - logs[k][l][b]
			}
			for _, b := range void {
				values[b] = math.NaN()
			}
			levels = append(levels, verdict.Ratios{Point: record.Point{Load: "s", Connections: int32(l + 1)}, Logs: map[verdict.Metric][]float64{verdict.Throughput: values}})
		}
		out = append(out, levels)
	}
	return out
}

// showsADifference reports whether a run of equal servers shows a difference anywhere, also one within the margin of practical equivalence.
func showsADifference(comparisons []verdict.Comparison) bool {
	shown := func(r verdict.Result) bool { return r.AdjustedP != nil && *r.AdjustedP <= inference.Alpha }
	for _, c := range comparisons {
		if slices.ContainsFunc(c.Overall, shown) || slices.ContainsFunc(c.Levels, func(l verdict.LevelComparison) bool { return slices.ContainsFunc(l.Results, shown) }) {
			return true
		}
	}
	return false
}

func (d drifting) falseDifferences(runs int, mirrored bool) (wrong int) {
	for i := range runs {
		random := rand.New(rand.NewPCG(ordersSeed, uint64(i)))
		if showsADifference(verdict.Decide(d.draw(random, mirrored), verdict.Rulebook{})) {
			wrong++
		}
	}
	return wrong
}

func TestASteadyDriftShowsNoDifference(t *testing.T) {
	runs, err := figures.Drawn(400)
	if err != nil {
		t.Fatal(err)
	}
	before, after := 0, 0
	for _, d := range []drifting{
		{4, 4, 7, 0.4, 0.01, 0},
		{4, 4, 10, 0.4, 0.01, 0},
		{4, 4, 7, 0.1, 0.003, 0},
		{2, 1, 7, 0.2, 0.005, 0},
		{2, 1, 10, 0.2, 0.005, 0},
		{7, 1, 7, 0.2, 0.005, 0},
		{4, 4, 7, 0.4, 0.01, 1},
		{4, 4, 10, 0.4, 0.01, 2},
	} {
		shuffled, mirrored := d.falseDifferences(runs, false), d.falseDifferences(runs, true)
		f := figures.Of("false-differences-"+d.String(), 100*upperBound(mirrored, runs), "%", figures.AtMost(1.2), fmt.Sprintf("n=%d, %.2f%%; in random order %.2f%%", runs, 100*float64(mirrored)/float64(runs), 100*float64(shuffled)/float64(runs)))
		t.Log(f.Line())
		if mirrored > runs/100 {
			t.Errorf("%s: %d of %d runs of equal servers show a difference", d, mirrored, runs)
		}
		before, after = before+shuffled, after+mirrored
	}
	if before < 10*max(after, 2) {
		t.Errorf("in random order only %d runs show a difference, and in mirrored order %d: the test shows no difference", before, after)
	}
}

// aging is a sweep of a server whose throughput rises up to a number of connections, and with its age.
type aging struct {
	name        string
	connections []int32
	saturates   float64
	// gain is the log of the gain after some levels.
	gain func(levels int) float64
}

func steadily(levels int) float64 { return 0.05 * float64(levels) }

// warmingUp loses 20 % at first, and a third of that at each further level.
func warmingUp(levels int) float64 { return -0.2 * math.Pow(3, -float64(levels)) }

func (a aging) run(random *rand.Rand, mirrored bool) scaling.Result {
	plan := record.Plan{Seed: random.Uint64(), Mirrored: mirrored}
	p := planned.Run{Baseline: "go", Implementations: []planned.Implementation{{Name: "go", Role: record.RoleContender, Baseline: true, CPUs: 1}}}
	var names []string
	groups := map[string]*validity.Group{}
	for _, c := range a.connections {
		point := record.Point{Load: "s", Connections: c}
		p.Levels = append(p.Levels, planned.Level{Point: point})
		names = append(names, point.Name())
		groups[point.Name()] = &validity.Group{Point: point, Implementation: "go", Role: record.RoleContender}
	}
	for block := int32(1); block <= 10; block++ {
		order := names
		if mirrored {
			order = kind.Order(plan, block, names)
		}
		for age, name := range order {
			g := groups[name]
			rate := 1000 * math.Min(float64(g.Connections), a.saturates) * math.Exp(a.gain(age)+0.02*random.NormFloat64())
			g.Cells = append(g.Cells, validity.Cell{Block: block, Validity: validity.Valid, Values: measured.Values{Throughput: &rate}})
		}
	}
	var all []validity.Group
	for _, name := range names {
		g := groups[name]
		var rates []float64
		for _, c := range g.Cells {
			rates = append(rates, *c.Throughput)
		}
		g.Throughput = inference.Summarise(rates)
		all = append(all, *g)
	}
	return scaling.Of(p, all, plan.Seed)[0]
}

// wrong reports whether the result claims a rise after the server is saturated.
func (a aging) wrong(r scaling.Result) bool {
	switch r.Outcome {
	case scaling.NotReached:
		return true
	case scaling.SaturatesBetween, scaling.Knee:
		return float64(r.From) >= a.saturates
	case scaling.SaturatedAtOrBelowFirst, scaling.GeneratorLimited, scaling.Unclear:
	}
	return false
}

func TestAServersAgeIsNoScaling(t *testing.T) {
	runs, err := figures.Drawn(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []aging{
		{"5-levels", []int32{10, 50, 100, 200, 500}, 10, steadily},
		{"8-levels", []int32{1, 2, 4, 8, 16, 32, 64, 128}, 8, steadily},
		{"warm-up-5-levels", []int32{10, 50, 100, 200, 500}, 10, warmingUp},
	} {
		wrong := map[bool]int{}
		for _, mirrored := range []bool{false, true} {
			for i := range runs {
				if a.wrong(a.run(rand.New(rand.NewPCG(ordersSeed, uint64(i))), mirrored)) {
					wrong[mirrored]++
				}
			}
		}
		f := figures.Of("age-said-to-be-scaling-"+a.name, 100*upperBound(wrong[true], runs), "%", figures.AtMost(1.2), fmt.Sprintf("n=%d, %.2f%%; in the order of the spec %.2f%%", runs, 100*float64(wrong[true])/float64(runs), 100*float64(wrong[false])/float64(runs)))
		t.Log(f.Line())
		if wrong[true] > runs*3/100 {
			t.Errorf("%s: %d of %d runs call age a rise", a.name, wrong[true], runs)
		}
		if wrong[false] < runs/2 {
			t.Errorf("%s in the order of the spec: only %d of %d runs call age a rise, so the test shows nothing", a.name, wrong[false], runs)
		}
	}
}
