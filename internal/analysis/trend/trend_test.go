package trend

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

var connections = []int32{10, 20, 50, 100}

// world is a run of two servers whose cells have noise. Servers become faster by drift per block, and each by its own
// share per second of its age.
type world struct {
	mirrored             bool
	blocks               int32
	noise, drift, age    float64
	missing              float64
	rate                 int32
	trials               []record.TrialData
	groups               []validity.Group
	generatorIsTheLimits bool
}

func (w *world) run(random *rand.Rand) Result {
	plan := record.Plan{Seed: random.Uint64(), Mirrored: w.mirrored}
	w.groups, w.trials = nil, nil
	for _, name := range []string{"go", "c"} {
		for _, c := range connections {
			w.groups = append(w.groups, validity.Group{Point: record.Point{Load: "s", Connections: c, RequestsPerSecond: w.rate}, Implementation: name, ThroughputIsBound: w.generatorIsTheLimits})
		}
	}
	for block := int32(1); block <= w.blocks; block++ {
		order := []string{"s-10", "s-20", "s-50", "s-100"}
		if w.mirrored {
			order = kind.Order(plan, block, order)
		}
		var cells []record.Cell
		for at, name := range order {
			for g := range w.groups {
				group := &w.groups[g]
				point := record.Point{Load: "s", Connections: group.Connections}
				if point.Name() != name {
					continue
				}
				if group.Implementation == "go" {
					cells = append(cells, record.Cell{Load: "s", Connections: group.Connections})
				}
				if random.Float64() < w.missing {
					continue
				}
				log := w.drift*float64(block) + w.noise*random.NormFloat64()
				if group.Implementation == "c" {
					log += w.age * float64(at)
				}
				throughput, cost := 1000*math.Exp(log), 50*math.Exp(-log)
				group.Cells = append(group.Cells, validity.Cell{Block: block, Validity: validity.Valid, Values: measured.Values{AgeSeconds: float64(at) + 0.01*random.Float64(), Throughput: &throughput, CPUPerRequest: &cost}})
			}
		}
		w.trials = append(w.trials, record.TrialData{Manifest: record.TrialManifest{Cells: cells}})
	}
	return Of(plan, w.trials, w.groups)
}

func TestAgeAndDriftAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		of         world
		drift, age bool
	}{
		"neither":                         {of: world{noise: 0.02}},
		"a drift":                         {of: world{noise: 0.02, drift: -0.03}, drift: true},
		"one server's age":                {of: world{noise: 0.02, age: 0.05}, age: true},
		"both":                            {of: world{noise: 0.02, drift: 0.03, age: -0.05}, drift: true, age: true},
		"age, with cells missing":         {of: world{noise: 0.02, age: 0.05, missing: 0.1}, age: true},
		"age, at an imposed rate":         {of: world{noise: 0.02, age: 0.05, rate: 100}, age: true},
		"age, where the generator limits": {of: world{noise: 0.02, age: 0.05, generatorIsTheLimits: true}, age: true},
	} {
		t.Run(name, func(t *testing.T) {
			tc.of.mirrored, tc.of.blocks = true, 10
			r := tc.of.run(rand.New(rand.NewPCG(1, 2)))
			if r.OverRun == nil || len(r.WithAge) != 2 || r.LevelOrders < 4 || !r.Mirrored {
				t.Fatalf("got %+v", r)
			}
			if r.OverRun.Found() != tc.drift || r.WithAge[0].Found() || r.WithAge[1].Found() != tc.age {
				t.Errorf("found %+v and %+v", *r.OverRun, r.WithAge)
			}
			if want := math.Expm1(9 * tc.of.drift); !tc.age && (r.OverRun.Low > want || r.OverRun.High < want) {
				t.Errorf("the drift %+v lacks %.3f", *r.OverRun, want)
			}
			if want := math.Expm1(3 * tc.of.age); r.WithAge[1].Low > want || r.WithAge[1].High < want {
				t.Errorf("the age's effect %+v lacks %.3f", r.WithAge[1], want)
			}
		})
	}
}

func TestOneOrderOfLevelsTellsNothingOfAge(t *testing.T) {
	w := world{blocks: 10, noise: 0.02, age: 0.05}
	if r := w.run(rand.New(rand.NewPCG(1, 2))); r.LevelOrders != 1 || len(r.WithAge) != 0 || r.OverRun == nil {
		t.Errorf("got %+v", r)
	}
}

func TestTooFewBlocksHaveNoTrend(t *testing.T) {
	w := world{mirrored: true, blocks: 3, noise: 0.02}
	if r := w.run(rand.New(rand.NewPCG(1, 2))); r.OverRun != nil || len(r.WithAge) != 0 {
		t.Errorf("got %+v", r)
	}
	if r := Of(record.Plan{}, nil, nil); r.OverRun != nil || r.LevelOrders != 0 {
		t.Errorf("a run without cells has %+v", r)
	}
}

// Reports are JSON, which has no infinity. Blocks with a single cell have almost no spread of age.
func TestTrendsAreFinite(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		w := world{mirrored: true, blocks: 7, noise: 0.05, missing: 0.3 + 0.6*random.Float64()}
		if _, err := json.Marshal(w.run(random)); err != nil {
			t.Fatalf("with %.0f %% of the cells missing: %v", 100*w.missing, err)
		}
	}
}

func TestTrendsAreRarelyFoundWhereThereAreNone(t *testing.T) {
	const runs = 300
	for _, blocks := range []int32{7, 10} {
		random, found := rand.New(rand.NewPCG(3, uint64(blocks))), 0
		for range runs {
			w := world{mirrored: true, blocks: blocks, noise: 0.05}
			r := w.run(random)
			any := r.OverRun.Found()
			for _, c := range r.WithAge {
				any = any || c.Found()
			}
			if any {
				found++
			}
		}
		t.Logf("%d of %d runs of %d blocks have a false trend", found, runs, blocks)
		if found > runs*3/100 {
			t.Errorf("%d of %d runs of %d blocks have a false trend", found, runs, blocks)
		}
	}
}
