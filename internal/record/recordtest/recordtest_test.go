package recordtest

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

// pair is a run of two servers at two levels; the second costs twice as much.
func pair(change func(*Options)) Options {
	o := Options{
		Name: "pair", Seed: 3, Blocks: 3, Levels: []int32{10, 100}, Seconds: 1,
		Servers: []Server{{Name: "one", CPUMicros: 10, RSSBytes: 1 << 20}, {Name: "two", CPUMicros: 20, RSSBytes: 1 << 20}},
	}
	if change != nil {
		change(&o)
	}
	return o
}

func TestTheSameOptionsMakeTheSameRun(t *testing.T) {
	noisy := func(o *Options) { o.Noise, o.Drift = 0.05, 0.05 }
	for name, tc := range map[string]struct {
		one, other Options
		wantSame   bool
	}{
		"the same":     {pair(noisy), pair(noisy), true},
		"another seed": {pair(noisy), pair(func(o *Options) { noisy(o); o.Seed = 4 }), false},
		"less noise":   {pair(noisy), pair(func(o *Options) { noisy(o); o.Noise = 0.01 }), false},
		"no drift":     {pair(noisy), pair(func(o *Options) { o.Noise = 0.05 }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cmp.Equal(Run(tc.one), Run(tc.other)); got != tc.wantSame {
				t.Errorf("the runs are the same: %v, want %v", got, tc.wantSame)
			}
		})
	}
}

func TestABlockHoldsEveryServerOnceInAnyOrder(t *testing.T) {
	d := Run(pair(func(o *Options) { o.Blocks, o.Levels = 20, o.Levels[:1] }))
	first := map[string]int{}
	for i, trial := range d.Trials {
		m, e := trial.Manifest, d.Manifest.Trials[i]
		if m.Block != int32(i/2)+1 || m.Index != int32(i) {
			t.Errorf("trial %d is number %d, in block %d", i, m.Index, m.Block)
		}
		if e.Name != m.Name || e.Index != m.Index || e.Block != m.Block || e.Servers[0] != m.Servers[0] || e.Manifest == nil {
			t.Errorf("the run's manifest says %+v of trial %s", e, m.Name)
		}
		if i%2 == 0 {
			first[m.Servers[0]]++
		} else if m.Servers[0] == d.Trials[i-1].Manifest.Servers[0] {
			t.Errorf("block %d holds %s twice", m.Block, m.Servers[0])
		}
	}
	if len(d.Trials) != 40 || first["one"] < 4 || first["two"] < 4 {
		t.Errorf("%d trials, first in a block: %v; want 40, and either server first in some", len(d.Trials), first)
	}
}

func TestNothingIsDoubtedInARunThatNobodySpoils(t *testing.T) {
	for name, tc := range map[string]struct {
		options Options
		// wantLimited is the server that is faster than its generator.
		wantLimited string
	}{
		"two servers":        {options: pair(nil)},
		"a noisy machine":    {options: pair(func(o *Options) { o.Noise, o.Drift = 0.05, 0.05 })},
		"several generators": {options: pair(func(o *Options) { o.Generators = 3 })},
		"a duet":             {options: pair(func(o *Options) { o.Duet = true })},
		"a duel":             {options: Duel(2), wantLimited: "epoll"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := analysis.Analyse(Run(tc.options))
			if err != nil {
				t.Fatal(err)
			}
			if want := len(tc.options.Levels) * len(tc.options.Servers); len(table.Groups) != want {
				t.Errorf("%d groups, want %d", len(table.Groups), want)
			}
			for _, g := range table.Groups {
				limited := len(g.Findings) == 1 && g.Findings[0].Code == validity.GeneratorLimited
				if limited != (g.Implementation == tc.wantLimited) || !limited && (g.Valid != int(tc.options.Blocks) || len(g.Findings) > 0) {
					t.Errorf("%s: %d of %d cells are valid: %+v", g.Implementation, g.Valid, tc.options.Blocks, g.Findings)
				}
			}
		})
	}
}

func TestWithoutNoiseACellCostsWhatItsServerCosts(t *testing.T) {
	d := Run(pair(nil))
	for _, trial := range d.Trials {
		want := map[string]float64{"one": 10_000, "two": 20_000}[trial.Manifest.Servers[0]]
		for k, seen := range trial.Servers[0].Cells {
			m := trial.Generators[0].Cells[k].Measurement
			more := 1 + 0.08*math.Log10(float64(seen.Connections)/10+1)
			if got := float64(seen.CPUNanos) / float64(m.Requests); math.Abs(got/(want*more)-1) > 1e-4 {
				t.Errorf("%s at %d connections: %.0f ns a request, want %.0f", trial.Manifest.Servers[0], seen.Connections, got, want*more)
			}
			if got := float64(m.Requests) / float64(m.DurationMicros) * float64(seen.CPUNanos) / float64(m.Requests) / 1e3; math.Abs(got-0.995) > 0.01 {
				t.Errorf("%s at %d connections used %.3f of its CPU, want all but a little", trial.Manifest.Servers[0], seen.Connections, got)
			}
		}
	}
}

func TestNoiseHasTheSpreadThatIsAskedFor(t *testing.T) {
	d := Run(pair(func(o *Options) { o.Blocks, o.Noise, o.Levels, o.Servers = 400, 0.05, o.Levels[:1], o.Servers[:1] }))
	var sum, squares float64
	for _, trial := range d.Trials {
		v := math.Log(float64(trial.Servers[0].Cells[0].CPUNanos) / float64(trial.Generators[0].Cells[0].Measurement.Requests))
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(d.Trials))
	if sd := math.Sqrt(squares/n - sum*sum/n/n); math.Abs(sd-0.05) > 0.006 {
		t.Errorf("the log of the CPU time per request has an sd of %.4f, want 0.05", sd)
	}
}

func TestDriftHitsThoseWhoTakeTurnsAlike(t *testing.T) {
	var apart, together float64
	const pairs = 200
	m := newMachine(Options{Seed: 1, Drift: 0.1})
	for range pairs {
		v := math.Log(m.over(5) / m.over(5))
		apart += v * v / pairs
		both := m.turns(5)
		v = math.Log(both[0] / both[1])
		together += v * v / pairs
	}
	if ratio := math.Sqrt(together / apart); ratio > 0.25 {
		t.Errorf("of two who take turns the log ratio spreads %.2f times as much as of two one after the other, want far less", ratio)
	}
}

func TestGeneratorsShareALevel(t *testing.T) {
	for name, generators := range map[string]int32{"none is one": 0, "two": 2, "more than divide the connections": 7} {
		t.Run(name, func(t *testing.T) {
			d := Run(pair(func(o *Options) { o.Generators = generators }))
			for _, trial := range d.Trials {
				if len(trial.Generators) != int(max(generators, 1)) {
					t.Fatalf("%d generators, want %d", len(trial.Generators), generators)
				}
				for k, seen := range trial.Servers[0].Cells {
					var connections int32
					var requests int64
					for _, g := range trial.Generators {
						m := g.Cells[k].Measurement
						connections, requests = connections+m.Connections, requests+m.Requests
						if m.Bytes != m.Requests*answerBytes {
							t.Errorf("%d bytes of %d answers", m.Bytes, m.Requests)
						}
					}
					if connections != seen.Connections || requests != seen.Network.SegmentsOut {
						t.Errorf("they have %d connections and %d requests, the server %d and %d", connections, requests, seen.Connections, seen.Network.SegmentsOut)
					}
				}
			}
		})
	}
}

func TestEveryAnswerHasALatency(t *testing.T) {
	for _, trial := range Run(pair(nil)).Trials {
		for _, c := range trial.Generators[0].Cells {
			observed := decoded(t, c.Measurement.Latency[0])
			if observed.Samples() != c.Measurement.Requests {
				t.Errorf("%d latencies of %d answers", observed.Samples(), c.Measurement.Requests)
			}
			// All connections always wait for an answer.
			if want := float64(c.Connections) * float64(c.Measurement.DurationMicros) / float64(c.Measurement.Requests); math.Abs(observed.Mean()/want-1) > 0.1 {
				t.Errorf("a mean of %.0f µs, want about %.0f", observed.Mean(), want)
			}
			if corrected := decoded(t, c.Measurement.Latency[1]); corrected.Quantile(0.999) < observed.Quantile(0.999) {
				t.Error("the corrected distribution has less of a tail")
			}
		}
	}
}

func decoded(t *testing.T, l record.Latency) *histogram.Histogram {
	t.Helper()
	h, err := histogram.Decode(l.HDR)
	if err != nil {
		t.Fatal(err)
	}
	if l.Samples != h.Samples() {
		t.Errorf("%d samples are said of %d", l.Samples, h.Samples())
	}
	return h
}

func TestADroppedTrialHasAReasonAndNoRecord(t *testing.T) {
	d := Run(pair(nil))
	Drop(&d, 2, "two", v1alpha1.ReasonServerExited, "exit status 1")
	for _, trial := range d.Trials {
		if trial.Manifest.Block == 2 && trial.Manifest.Servers[0] == "two" {
			t.Error("its record is still there")
		}
	}
	lost := 0
	for _, e := range d.Manifest.Trials {
		if e.Manifest != nil {
			continue
		}
		lost++
		if e.Block != 2 || e.Servers[0] != "two" || e.Reason != v1alpha1.ReasonServerExited || e.Message != "exit status 1" {
			t.Errorf("the run's manifest says %+v", e)
		}
	}
	if len(d.Trials) != 5 || lost != 1 {
		t.Errorf("%d trials have a record and %d have none, want 5 and 1", len(d.Trials), lost)
	}
}

func TestChangingACell(t *testing.T) {
	d := Run(pair(nil))
	run, seen := Cell(&d, 2, "two", 100)
	run.Error, seen.CPUNanos = "changed", -1
	SetRequests(run.Measurement, 5)
	changed := 0
	for _, trial := range d.Trials {
		for k, c := range trial.Generators[0].Cells {
			if c.Error == "" {
				continue
			}
			changed++
			if m := trial.Manifest; m.Block != 2 || m.Servers[0] != "two" || c.Connections != 100 || trial.Servers[0].Cells[k].CPUNanos != -1 {
				t.Errorf("%s at %d connections in block %d is changed", m.Servers[0], c.Connections, m.Block)
			}
			if c.Measurement.Requests != 5 || c.Measurement.Bytes != 5*answerBytes {
				t.Errorf("it has %d requests and %d bytes", c.Measurement.Requests, c.Measurement.Bytes)
			}
		}
	}
	if changed != 1 {
		t.Errorf("%d cells are changed, want 1", changed)
	}
	for name, wrong := range map[string]func(){
		"a block that there is not":  func() { Cell(&d, 9, "two", 100) },
		"a server that there is not": func() { Cell(&d, 2, "three", 100) },
		"a level that there is not":  func() { Cell(&d, 2, "two", 7) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a cell was found")
				}
			}()
			wrong()
		})
	}
}

func TestThePlanOfARun(t *testing.T) {
	s := plan(pair(func(o *Options) {
		o.Servers = append(o.Servers, Server{Name: "most", Role: record.RoleReference, CPUMicros: 4})
	}))
	var names []string
	for _, i := range s.Implementations {
		names = append(names, i.Name)
	}
	if s.Baseline != "one" || !slices.Equal(names, []string{"one", "two", "most"}) || s.Implementations[2].Role != record.RoleReference {
		t.Errorf("baseline %s of %v", s.Baseline, names)
	}
	if s.Order != record.OrderBlocks || plan(pair(func(o *Options) { o.Duet = true })).Order != record.OrderSlicedDuet {
		t.Error("the order is not that of the options")
	}
}
