package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// span is a time in which load ran, in the operator's clock. A zero span is none.
type span struct{ from, to time.Time }

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// cellLoad is the load of one cell.
type cellLoad struct {
	warmup, measured span
	// late is how much later than planned the measured tool was started.
	late time.Duration
}

// first is when the cell's load began.
func (c cellLoad) first() time.Time {
	if c.warmup.from.IsZero() {
		return c.measured.from
	}
	return c.warmup.from
}

// gap is the time without load between warm-up and measured time.
func (c cellLoad) gap() time.Duration {
	if c.warmup.from.IsZero() {
		return 0
	}
	return c.measured.from.Sub(c.warmup.to)
}

// trialLoads finds when load ran in a trial, cell by cell.
func trialLoads(t record.TrialData) ([]cellLoad, error) {
	m := t.Manifest
	if len(t.Generators) == 0 || len(t.Generators[0].Cells) != len(m.Cells) {
		return nil, fmt.Errorf("reading the loads of trial %s: its generator's record does not have its %d cells", m.Name, len(m.Cells))
	}
	var offset time.Duration
	for _, c := range m.Clocks {
		if c.Member == record.MemberGenerator(0) {
			offset = time.Duration(c.OffsetNanos)
		}
	}
	loads := make([]cellLoad, 0, len(m.Cells))
	for i, slot := range timetable.Of(m.Cells) {
		run := t.Generators[0].Cells[i]
		if run.Measurement == nil {
			return nil, fmt.Errorf("reading the loads of trial %s: cell %s has no measurement: %s", m.Name, timetable.CellName(slot.Cell), run.Error)
		}
		c := cellLoad{}
		c.measured.from = run.Started.Add(-offset)
		c.measured.to = c.measured.from.Add(time.Duration(run.Measurement.DurationMicros) * time.Microsecond)
		c.late = c.measured.from.Sub(m.Start.Add(slot.Measure))
		if slot.Measure > slot.Warmup {
			c.warmup = span{m.Start.Add(slot.Warmup + max(c.late, 0)), m.Start.Add(slot.Measure - timetable.WarmupGap)}
		}
		loads = append(loads, c)
	}
	return loads, nil
}

// betweenCells are the times without load from each cell's end to the next one's measured time.
func betweenCells(loads []cellLoad) []time.Duration {
	var dead []time.Duration
	for i := 1; i < len(loads); i++ {
		dead = append(dead, loads[i].first().Sub(loads[i-1].measured.to)+loads[i].gap())
	}
	return dead
}

// underLoad is the time in which load ran.
func underLoad(loads []cellLoad) time.Duration {
	var sum time.Duration
	for _, c := range loads {
		sum += c.warmup.length() + c.measured.length()
	}
	return sum
}

// begin and end are when a trial's load began and ended.
func begin(loads []cellLoad) time.Time { return loads[0].first() }
func end(loads []cellLoad) time.Time   { return loads[len(loads)-1].measured.to }

// stage is something that has to happen; it has happened when all its facts have been seen.
type stage struct {
	name  string
	facts []string
}

// stretch is a time that one would like to be shorter, with the stages that it is made of.
type stretch struct {
	from, to time.Time
	stages   []stage
}

// row is one line of a breakdown.
type row struct {
	name string
	n    int
	// at is the median of the instants, reckoned from the stretch's begin; step is the time since the row before.
	at, step time.Duration
}

// breakdown says where the time of stretches goes: their stages, by the median of their instants. A stage that was not seen in a
// stretch does not count there.
func breakdown(stretches []stretch, seen map[string]time.Time) []row {
	at := map[string][]time.Duration{}
	for _, s := range stretches {
		for _, g := range s.stages {
			if t, ok := last(g.facts, seen); ok {
				at[g.name] = append(at[g.name], t.Sub(s.from))
			}
		}
		at["first load"] = append(at["first load"], s.to.Sub(s.from))
	}
	var rows []row
	for name, values := range at {
		rows = append(rows, row{name: name, n: len(values), at: figures.Median(values)})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	before := time.Duration(0)
	for i := range rows {
		rows[i].step, before = rows[i].at-before, rows[i].at
	}
	return rows
}

func last(facts []string, seen map[string]time.Time) (time.Time, bool) {
	var latest time.Time
	for _, f := range facts {
		t, ok := seen[f]
		if !ok {
			return latest, false
		}
		if t.After(latest) {
			latest = t
		}
	}
	return latest, true
}

func tellBreakdown(log *figures.Log, title string, rows []row) {
	log.Say("%s\n%9s %9s  %s", title, "at ms", "step ms", "stage (median)")
	for _, r := range rows {
		log.Say("%9.0f %9.0f  %s (n=%d)", float64(r.at.Microseconds())/1000, float64(r.step.Microseconds())/1000, r.name, r.n)
	}
}

// preparing are the stages from a trial's turn to its first load.
func preparing(trial string, attempt int32) []stage {
	s, g := render.PodName(trial, attempt, record.MemberServer(0)), render.PodName(trial, attempt, record.MemberGenerator(0))
	return []stage{
		{"pods created", []string{podFact(s, created), podFact(g, created)}},
		{"pods scheduled", []string{podFact(s, scheduled), podFact(g, scheduled)}},
		{"server pod running", []string{podFact(s, running)}},
		{"generator pod running", []string{podFact(g, running)}},
		{"trial prepared", []string{trialFact(trial, prepared)}},
		{"trial released by its step", []string{trialFact(trial, released)}},
		{"start instant written", []string{trialFact(trial, started)}},
	}
}

// ending are the stages from a trial's last load until nothing of it holds a CPU.
func ending(trial string, attempt int32) []stage {
	s, g := render.PodName(trial, attempt, record.MemberServer(0)), render.PodName(trial, attempt, record.MemberGenerator(0))
	return []stage{
		{"previous trial measured and stored", []string{trialFact(trial, stored)}},
		{"previous pods told to end", []string{podFact(s, deleting), podFact(g, deleting)}},
		{"previous server pod gone", []string{podFact(s, gone)}},
		{"previous generator pod gone", []string{podFact(g, gone)}},
	}
}

const (
	// settle is how long the pods run before somebody types a command in one of them: servers listen by then.
	settle = 500 * time.Millisecond
	// fingers is what executing a command costs beside the command.
	fingers = 500 * time.Millisecond
)

// byHandTakes is about how long a trial waits for what is done by hand.
func (b *Bench) byHandTakes() time.Duration {
	return time.Duration(b.sizes.pairWarmup+b.sizes.pairDuration)*time.Second + settle + fingers
}

// Pairs compares the throughput through Loadstone with that of wrk by hand, in the same pods.
func (b *Bench) Pairs(ctx context.Context) ([]figures.Figure, error) {
	byHand := map[string]float64{}
	p, err := b.perform(ctx, b.sizes.pairsRun(), func(ctx context.Context, p *performance) error {
		for _, line := range p.plan.Trials {
			rate, err := b.whileHeld(ctx, p, line)
			if err != nil {
				return fmt.Errorf("measuring by hand before %s: %w", line.Name, err)
			}
			byHand[line.Name] = rate
			b.log.Step("%s: %.0f requests/s by hand", line.Name, rate)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var ratios []float64
	for _, t := range p.data.Trials {
		through := throughput(t.Generators[0].Cells[0].Measurement)
		ratios = append(ratios, through/byHand[t.Manifest.Name])
		b.log.Say("%s: %.0f requests/s through Loadstone, %.3f times as many as by hand", t.Manifest.Name, through, through/byHand[t.Manifest.Name])
	}
	i, err := figures.Geometric(ratios)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("geometric mean of %d pairs, %.0f %% interval %.3f to %.3f", len(ratios), 100*figures.Confidence, i.Low, i.High)
	return []figures.Figure{figures.Of("throughput-against-wrk-by-hand", i.Mean, "ratio", figures.AtLeast(0.98), note)}, nil
}

func throughput(m *record.Measurement) float64 {
	return float64(m.Requests) / (time.Duration(m.DurationMicros) * time.Microsecond).Seconds()
}

// whileHeld holds a trial whose pods have just been made, and runs wrk in them.
func (b *Bench) whileHeld(ctx context.Context, p *performance, line record.PlannedTrial) (rate float64, err error) {
	const attempt = 1
	names := []string{render.PodName(line.Name, attempt, record.MemberServer(0)), render.PodName(line.Name, attempt, record.MemberGenerator(0))}
	for _, n := range names {
		if _, err := p.journal.await(ctx, podFact(n, created)); err != nil {
			return 0, err
		}
	}
	hold := holdingPod(p, line.Name)
	if err := b.cluster.Create(ctx, hold); err != nil {
		return 0, fmt.Errorf("creating the pod that holds the trial: %w", err)
	}
	defer func() {
		gone := b.cluster.Delete(context.WithoutCancel(ctx), hold, client.GracePeriodSeconds(0))
		err = errors.Join(err, client.IgnoreNotFound(gone))
	}()
	var pods [2]corev1.Pod
	for i, n := range names {
		if _, err := p.journal.await(ctx, podFact(n, running)); err != nil {
			return 0, err
		}
		if err := b.cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: n}, &pods[i]); err != nil {
			return 0, fmt.Errorf("reading pod %s: %w", n, err)
		}
	}
	time.Sleep(settle)
	rate, err = b.byHand(ctx, &pods[1], pods[0].Status.PodIP)
	if err != nil {
		return 0, err
	}
	if seen, _ := p.journal.seen(); !seen[trialFact(line.Name, started)].IsZero() {
		return 0, errors.New("the trial did not wait: both have measured at once")
	}
	return rate, nil
}

// byHand runs wrk twice in the generator's pod, the first time to warm up.
func (b *Bench) byHand(ctx context.Context, generator *corev1.Pod, server string) (float64, error) {
	target := "http://" + server + ":8080/"
	wrk := func(seconds int32) (string, error) {
		args := []string{"wrk", "-t1", "-c100", fmt.Sprintf("-d%ds", seconds), "--latency", target}
		return b.cluster.exec(ctx, generator, sweep.ProcessGenerator, args)
	}
	if _, err := wrk(b.sizes.pairWarmup); err != nil {
		return 0, err
	}
	out, err := wrk(b.sizes.pairDuration)
	if err != nil {
		return 0, err
	}
	return printedRate(out)
}

var rateLine = regexp.MustCompile(`(?m)^Requests/sec:\s+([0-9.]+)$`)

// printedRate is the throughput that wrk prints.
func printedRate(out string) (float64, error) {
	m := rateLine.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("reading wrk's output: it has no line Requests/sec: %q", out)
	}
	rate, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("reading wrk's output: %w", err)
	}
	return rate, nil
}

// holdingPod looks to the operator like a measured pod of somebody else's, but never gets a node.
func holdingPod(p *performance, trial string) *corev1.Pod {
	t := &v1alpha1.Trial{Spec: v1alpha1.TrialSpec{RunName: "bench-hold"}}
	t.Name, t.Namespace = trial+"-hold", namespace
	pod := render.Pod(t, kinds.Planned(p.plan.Plan, p.plan.Trials[0]).Members()[0], time.Duration(p.plan.TrialSeconds*float64(time.Second)), render.PodOptions{AgentImage: p.run.Spec.Implementations[0].Image, RunUID: "bench-hold", Attempt: 1})
	pod.OwnerReferences = nil
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "loadstone.dev/bench"}}
	return pod
}
