// Package cluster measures Loadstone as it is installed: how long a run takes to begin (start), how much time it loses between trials and
// between cells (sweep), what measuring through it costs (pairs), how far apart its generators start and what its agents use (generators),
// what its operator needs when idle (memory) and
// where many runs have ended (stored), and how long helm test takes (chart).
//
// # What is called load
//
// All instants are in the operator's clock; agents' clocks are corrected by the offsets in the manifests, and the clock of this
// program must agree with the operator's. Load runs from the instant at which a tool is started. A measured tool ends its load
// after the time that it says itself that it ran; the rest of its life, in which it writes its histogram, is no load. A warm-up
// is load: it runs from its planned instant, later by as much as the measured tool of its cell was, until it is killed. The first
// request is told by the start of the first tool.
//
// # By hand
//
// The figure "throughput-against-wrk-by-hand" compares in one and the same pair of pods. A trial is held when its pods exist, by a
// pod that never runs but counts as measured, since the operator lets no load begin beside another measured pod. While it waits,
// wrk is executed in its generator pod, as a person would, and then the trial goes on. So process, CPUs and minute are the same,
// and what is left is Loadstone.
//
// The objects that it made are deleted, however it ends. The artifacts of its runs stay in the object store, under bench/, since nothing of
// Loadstone deletes artifacts.
package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Bench measures on a cluster. It must be connected before it measures.
type Bench struct {
	sizes   Sizes
	log     *figures.Log
	cluster *cluster
	// data are the records of all runs so far.
	data []record.RunData
}

// New is a benchmark of some sizes, which tells a log what it does.
func New(log *figures.Log, sizes Sizes) *Bench { return &Bench{log: log, sizes: sizes} }

// Connect finds the cluster of the current kubeconfig, and Loadstone's object store in it.
func (b *Bench) Connect(ctx context.Context) (err error) {
	b.cluster, err = connect(ctx)
	return err
}

// Close ends the connection.
func (b *Bench) Close() { b.cluster.close() }

// Times are about how long each measurement takes.
type Times struct{ Start, Sweep, Pairs, Generators, Memory, Profiles, Stored, Dependency, Chart time.Duration }

// Times are reckoned from the runs that are to be made.
func (b *Bench) Times() Times {
	s := b.sizes
	return Times{
		Start:      time.Duration(s.starts) * reckoned(s.startRun()),
		Sweep:      reckoned(s.sweepRun()),
		Pairs:      reckoned(s.pairsRun()) + time.Duration(s.pairs)*b.byHandTakes(),
		Generators: reckoned(s.generatorsRun()),
		Memory:     s.rest + memorySamples*memoryEvery,
		Profiles:   reckoned(s.profilesRun()),
		Stored:     2*time.Duration(s.starts)*reckoned(s.startRun()) + time.Duration(s.stored)*storedTakes,
		Dependency: reckoned(s.dependencyRun()),
		Chart:      time.Duration(s.chartTests) * chartTestTakes,
	}
}

// Sizes say how much is measured.
type Sizes struct {
	starts int
	// sweep
	levels           []int32
	warmup, duration int32
	blocks           int32
	// pairs
	pairs                    int32
	pairWarmup, pairDuration int32
	// rest is how long the operator is left alone before its memory is read.
	rest time.Duration
	// profiled are the servers that are profiled, and requests those of a profile.
	profiled []string
	requests int32
	// stored is how many runs have ended before.
	stored int
	// dependencyBlocks are those of a server alone and beside a database.
	dependencyBlocks int32
	// chartTests is how often the chart is tested.
	chartTests int
}

// Full is what the figures are defined by; Tiny only shows that everything works.
var (
	Full = Sizes{
		starts: 5, levels: []int32{10, 50, 100, 500}, warmup: 2, duration: 10, blocks: 3,
		pairs: 20, pairWarmup: 2, pairDuration: 5, rest: 30 * time.Second, profiled: []string{"epoll", "gohttp", "uvhttp"}, requests: 20_000, stored: 1000,
		dependencyBlocks: 20, chartTests: 3,
	}
	Tiny = Sizes{
		starts: 2, levels: []int32{10, 50}, warmup: 1, duration: 1, blocks: 2,
		pairs: 3, pairWarmup: 1, pairDuration: 1, rest: 2 * time.Second, profiled: []string{"epoll"}, requests: 500, stored: 10,
		dependencyBlocks: 2, chartTests: 1,
	}
)

func implementation(name string) v1alpha1.Implementation {
	registry, tag := os.Getenv("REGISTRY"), os.Getenv("TAG")
	if registry == "" {
		registry = "localhost/loadstone"
	}
	if tag == "" {
		tag = "dev"
	}
	return v1alpha1.Implementation{
		Name: name, Image: registry + "/" + name + ":" + tag, Command: []string{"/usr/local/bin/" + name, "--port=8080"}, Port: 8080,
	}
}

func benchmarkRun(name string, warmup, duration, blocks int32, levels []int32, implementations ...string) *v1alpha1.BenchmarkRun {
	body := "helloworld"
	load := v1alpha1.Load{
		Name: "sweep", Tool: v1alpha1.ToolWrk, WarmupSeconds: &warmup, DurationSeconds: duration,
		Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: &body}},
	}
	for _, l := range levels {
		load.Levels = append(load.Levels, v1alpha1.Level{Connections: l})
	}
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Loads: []v1alpha1.Load{load}, Blocks: blocks, Baseline: implementations[0],
			Artifacts: v1alpha1.Artifacts{Prefix: "bench"},
		},
	}
	for _, i := range implementations {
		run.Spec.Implementations = append(run.Spec.Implementations, implementation(i))
	}
	return run
}

func (s Sizes) startRun() *v1alpha1.BenchmarkRun {
	return benchmarkRun("bench-start", 0, 1, 1, []int32{10}, "gohttp")
}

func (s Sizes) sweepRun() *v1alpha1.BenchmarkRun {
	return benchmarkRun("bench-sweep", s.warmup, s.duration, s.blocks, s.levels, "gohttp", "epoll")
}

func (s Sizes) pairsRun() *v1alpha1.BenchmarkRun {
	return benchmarkRun("bench-pairs", s.pairWarmup, s.pairDuration, s.pairs, []int32{100}, "gohttp")
}

// chartTestTakes is what a test of the chart is reckoned to take.
const chartTestTakes = 80 * time.Second

// Chart measures how long helm test takes, from the command to the end of a comparison with a verdict.
func (b *Bench) Chart(ctx context.Context) ([]figures.Figure, error) {
	var took []time.Duration
	for range b.sizes.chartTests {
		if err := b.cluster.awaitFree(ctx, b.log); err != nil {
			return nil, err
		}
		began := time.Now()
		out, err := exec.CommandContext(ctx, "helm", "test", "loadstone", "--namespace", system, "--timeout", "10m").CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("helm test: %w: %s", err, out)
		}
		took = append(took, time.Since(began))
		var run v1alpha1.BenchmarkRun
		if err := b.cluster.Get(ctx, client.ObjectKey{Namespace: system, Name: "loadstone-test"}, &run); err != nil {
			return nil, fmt.Errorf("reading the run of helm test: %w", err)
		}
		b.log.Say("helm test has ended after %s: %s", took[len(took)-1].Round(time.Second), run.Status.Verdict)
	}
	note := fmt.Sprintf("from the command to the verdict; %s", figures.Spread(took))
	return []figures.Figure{figures.Of("helm-test", figures.Median(took).Seconds(), "s", figures.AtMost(90), note)}, nil
}

// around is what starting a run and removing it are reckoned to take.
const around = 8 * time.Second

// reckoned is about how long a run takes from one to the next.
func reckoned(run *v1alpha1.BenchmarkRun) time.Duration {
	p, err := plan.Compile(run.Spec, plan.Options{Name: run.Name})
	if err != nil {
		return 0
	}
	slots := timetable.Of(p.Cells)
	return time.Duration(len(p.Following))*plan.FollowingEstimate + time.Duration(len(p.Trials))*(slots[len(slots)-1].End+3*time.Second) + around
}
