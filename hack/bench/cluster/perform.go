package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// performance is one run, from its creation to its end.
type performance struct {
	run  *v1alpha1.BenchmarkRun
	plan plan.Plan
	// applied is the instant before the run was created; ended that at which its completion was seen.
	applied, ended time.Time
	journal        *journal
	data           record.RunData
	// loads are those of the trials, in the order in which they ran.
	loads [][]cellLoad
}

// limit bounds a run in case it hangs.
func limit(run *v1alpha1.BenchmarkRun) time.Duration { return 2*reckoned(run) + 2*time.Minute }

// perform creates a run, lets meanwhile do its part, waits for the run's end, reads its record, and removes it.
func (b *Bench) perform(ctx context.Context, run *v1alpha1.BenchmarkRun, meanwhile func(context.Context, *performance) error) (p *performance, err error) {
	if err := b.cluster.awaitFree(ctx, b.log); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit(run))
	defer cancel()
	p = &performance{run: run, journal: newJournal()}
	for list, where := range map[client.ObjectList]string{
		&v1alpha1.BenchmarkRunList{}: namespace, &v1alpha1.TrialList{}: namespace, &corev1.PodList{}: "",
	} {
		if err := p.journal.watchAll(ctx, b.cluster, list, where); err != nil {
			return nil, err
		}
	}
	p.applied = time.Now()
	if err := b.cluster.Create(ctx, run); err != nil {
		return nil, fmt.Errorf("creating BenchmarkRun %s: %w", run.Name, err)
	}
	defer func() { err = errors.Join(err, b.cluster.remove(ctx, run)) }()
	p.plan, err = plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", run.Name, err)
	}
	if meanwhile != nil {
		if err := meanwhile(ctx, p); err != nil {
			return nil, err
		}
	}
	if p.ended, err = b.awaitEnd(ctx, p); err != nil {
		return nil, err
	}
	if err := b.read(ctx, p); err != nil {
		return nil, err
	}
	b.data = append(b.data, p.data)
	return p, nil
}

// awaitEnd waits for the run's completion and tells of its trials as they are stored.
func (b *Bench) awaitEnd(ctx context.Context, p *performance) (time.Time, error) {
	told := 0
	for {
		seen, changed := p.journal.seen()
		if at, ok := seen[runFact(p.run.Name, completed)]; ok {
			return at, nil
		}
		if n := count(seen, stored); n > told {
			told = n
			b.log.Step("%s: trial %d of %d is stored", p.run.Name, n, len(p.plan.Trials))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting for the end of run %s: %w", p.run.Name, ctx.Err())
		}
	}
}

// read takes a run's record from the object store.
func (b *Bench) read(ctx context.Context, p *performance) error {
	if err := b.cluster.Get(ctx, client.ObjectKeyFromObject(p.run), p.run); err != nil {
		return fmt.Errorf("reading BenchmarkRun %s: %w", p.run.Name, err)
	}
	if c := meta.FindStatusCondition(p.run.Status.Conditions, v1alpha1.ConditionSucceeded); c == nil || c.Status != "True" {
		return fmt.Errorf("the run %s has not succeeded: %+v", p.run.Name, c)
	}
	prefix := artifact.RunPrefix(p.run.Spec.Artifacts.Prefix, record.Run{Namespace: p.run.Namespace, Name: p.run.Name, UID: string(p.run.UID)})
	var err error
	if p.data, err = b.cluster.store.Load(ctx, prefix); err != nil {
		return err
	}
	for _, t := range p.data.Trials {
		l, err := trialLoads(t)
		if err != nil {
			return err
		}
		p.loads = append(p.loads, l)
	}
	// There are more if blocks were measured anew.
	if len(p.loads) < len(p.plan.Trials) {
		return fmt.Errorf("reading run %s: %d of its %d trials have a record", p.run.Name, len(p.loads), len(p.plan.Trials))
	}
	return nil
}

// start is the stretch from the run's creation to its first load.
func (p *performance) start() stretch {
	m := p.data.Trials[0].Manifest
	agent := p.data.Manifest.Run.UID
	return stretch{from: p.applied, to: begin(p.loads[0]), stages: append(runStages(p.run.Name, agent), preparing(m.Name, m.Attempt)...)}
}

// between are the stretches between the last load of a trial and the first of the next.
func (p *performance) between() []stretch {
	var list []stretch
	for i := 1; i < len(p.loads); i++ {
		a, b := p.data.Trials[i-1].Manifest, p.data.Trials[i].Manifest
		stages := append(ending(a.Name, a.Attempt), preparing(b.Name, b.Attempt)...)
		list = append(list, stretch{from: end(p.loads[i-1]), to: begin(p.loads[i]), stages: stages})
	}
	return list
}

// runStages are the stages from a run's creation to the first step of its workflow.
func runStages(run, uid string) []stage {
	w := render.WorkflowName(run, uid, plan.Part{})
	return []stage{
		{"run has begun", []string{runFact(run, begun)}},
		{"Argo's agent pod created", []string{agentFact(w, created)}},
		{"Argo's agent pod running", []string{agentFact(w, running)}},
	}
}

// Start measures the time from the creation of a run to its first request.
func (b *Bench) Start(ctx context.Context) ([]figures.Figure, error) {
	times, err := b.starts(ctx)
	if err != nil {
		return nil, err
	}
	return []figures.Figure{figures.Of("time-to-first-request", figures.Median(times).Seconds(), "s", figures.AtMost(4), "median, "+figures.Spread(times))}, nil
}

// starts are the times from the creation of runs to their first requests.
func (b *Bench) starts(ctx context.Context) ([]time.Duration, error) {
	var times []time.Duration
	var stretches []stretch
	seen := map[string]time.Time{}
	for i := range b.sizes.starts {
		run := b.sizes.startRun()
		// Facts are told apart by names.
		run.Name = fmt.Sprintf("%s-%d", run.Name, i)
		p, err := b.perform(ctx, run, nil)
		if err != nil {
			return nil, err
		}
		s := p.start()
		facts, _ := p.journal.seen()
		for f, at := range facts {
			seen[f] = at
		}
		stretches, times = append(stretches, s), append(times, s.to.Sub(s.from))
		b.log.Step("%s: %.3f s to the first request", run.Name, s.to.Sub(s.from).Seconds())
	}
	tellBreakdown(b.log, "From the creation of a run to its first load:", breakdown(stretches, seen))
	return times, nil
}

// Sweep measures the time without load in a run of several trials.
func (b *Bench) Sweep(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.sweepRun(), nil)
	if err != nil {
		return nil, err
	}
	var perTrial, perCell []time.Duration
	stretches := p.between()
	for _, s := range stretches {
		perTrial = append(perTrial, s.to.Sub(s.from))
	}
	var load time.Duration
	for _, l := range p.loads {
		perCell = append(perCell, betweenCells(l)...)
		load += underLoad(l)
	}
	seen, _ := p.journal.seen()
	tellBreakdown(b.log, "From the end of the load of a trial to the first load of the next:", breakdown(stretches, seen))
	first, last := begin(p.loads[0]), end(p.loads[len(p.loads)-1])
	b.log.Say("From the creation of the run to its first load %.3f s; from its last load to its completion %.3f s.", first.Sub(p.applied).Seconds(), p.ended.Sub(last).Seconds())
	return []figures.Figure{
		figures.Of("dead-time-per-trial", figures.Median(perTrial).Seconds(), "s", figures.AtMost(4), "median, "+figures.Spread(perTrial)),
		figures.Of("dead-time-between-cells", figures.Median(perCell).Seconds(), "s", figures.AtMost(0.3), "median, "+figures.Spread(perCell)),
		figures.Of(
			"share-under-load", 100*float64(load)/float64(p.ended.Sub(p.applied)), "%", figures.AtLeast(90),
			fmt.Sprintf("from creation to completion, %.1f s; from first to last load %.1f %%", p.ended.Sub(p.applied).Seconds(), 100*float64(load)/float64(last.Sub(first))),
		),
	}, nil
}

// Records are figures of all runs together: whether their cells can be believed, and how punctual their loads were.
func (b *Bench) Records() []figures.Figure {
	var late []time.Duration
	var valid, suspect, void int
	reasons := map[validity.Code]int{}
	for _, d := range b.data {
		for _, t := range d.Trials {
			loads, err := trialLoads(t)
			if err != nil {
				b.log.Say("%s", err)
				continue
			}
			for _, c := range loads {
				late = append(late, c.late)
			}
		}
		table, err := analysis.Analyse(d)
		if err != nil {
			b.log.Say("analysing a run: %s", err)
			continue
		}
		for _, g := range table.Groups {
			valid, suspect, void = valid+g.Valid, suspect+g.Suspect, void+g.Void+g.Missing
			for _, c := range g.Cells {
				for _, r := range c.Reasons {
					reasons[r.Code]++
				}
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	all := valid + suspect + void
	return []figures.Figure{
		figures.Of(
			"cells-not-void", 100*float64(valid+suspect)/float64(all), "%", figures.AtLeast(100),
			fmt.Sprintf("n=%d, valid %d, suspect %d, reasons %v", all, valid, suspect, reasons),
		),
		figures.Of("start-lateness", slices.Max(late).Seconds(), "s", figures.AtMost(0.1), fmt.Sprintf("largest; median %.4f s, n=%d", figures.Median(late).Seconds(), len(late))),
	}
}

// profilesRun profiles three servers: the instructions of a request three times over, and the memory of the static one.
func (s Sizes) profilesRun() *v1alpha1.BenchmarkRun {
	run := benchmarkRun("bench-profiles", 0, 1, 1, []int32{1}, s.profiled...)
	run.Spec.Loads[0].Request.Expect.Body = nil
	run.Spec.Profiles = []v1alpha1.Profile{
		{Name: "instructions", Tool: v1alpha1.ToolCallgrind, Requests: s.requests, Repeats: 3},
		{Name: "memory", Tool: v1alpha1.ToolMemcheck, Requests: s.requests, Implementations: []string{"epoll"}},
	}
	return run
}

// Profiles measures how well counts repeat themselves, and what profiling costs beside the profilers themselves.
func (b *Bench) Profiles(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.profilesRun(), nil)
	if err != nil {
		return nil, err
	}
	table, err := analysis.Analyse(p.data)
	if err != nil {
		return nil, err
	}
	var list []figures.Figure
	for _, profile := range table.Profiles {
		for _, f := range profile.Found {
			switch c := f.PerRequest; {
			case profile.Name == "memory":
				list = append(list, figures.Of("first-answer-under-memcheck", float64(f.FirstAnswerMillis)/1000, "s", figures.AtMost(20), "of a static server in an image of nothing else"))
			case c == nil:
				return nil, fmt.Errorf("the instructions of a request of %s are unknown: %+v", f.Implementation, f)
			default:
				list = append(list, figures.Of("instructions-spread-"+f.Implementation, 100*c.Spread(), "%", figures.AtMost(1),
					fmt.Sprintf("n=%d by %s, %.1f to %.1f instructions a request", c.N, f.Tool, c.Min, c.Max)))
			}
		}
	}
	beside := besideProfilers(p.data.Following)
	list = append(list, figures.Of("profile-beside-its-tool", figures.Median(beside).Seconds(), "s", figures.AtMost(5), "median, "+figures.Spread(beside)))
	return append(list, toolboxSize()...), nil
}

// besideProfilers is how long each trial took, to the next one's first launch, beside its own launches.
func besideProfilers(trials []record.TrialData) []time.Duration {
	var list []time.Duration
	for i := 1; i < len(trials); i++ {
		own, next := trials[i-1].Servers[0].Profiled.Launches, trials[i].Servers[0].Profiled.Launches
		if len(own) == 0 || len(next) == 0 {
			continue
		}
		beside := next[0].Started.Sub(own[0].Started)
		for _, l := range own {
			beside -= l.Ended.Sub(l.Started)
		}
		list = append(list, beside)
	}
	return list
}

// toolboxSize is the size of the image that is brought into others, as its archive lies in the cache; none if it does not.
func toolboxSize() []figures.Figure {
	cache := os.Getenv("LOADSTONE_CACHE")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache", "loadstone")
	}
	info, err := os.Stat(filepath.Join(cache, "images", "toolbox.tar"))
	if err != nil {
		return nil
	}
	return []figures.Figure{figures.Of("toolbox-image", float64(info.Size())/1e6, "MB", figures.AtMost(40), strings.TrimSuffix(info.Name(), ".tar")+", the archive")}
}
