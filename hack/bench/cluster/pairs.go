package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/kind/kinds"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/render"
)

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
	t := &v1alpha1.Trial{Spec: kinds.Write("bench-hold", p.plan.Plan, p.plan.Trials[0])}
	t.Name, t.Namespace = trial+"-hold", namespace
	pod := render.Pod(t, sweep.Read(t.Spec).Members()[0], time.Duration(p.plan.TrialSeconds*float64(time.Second)), render.PodOptions{AgentImage: p.run.Spec.Implementations[0].Image, RunUID: "bench-hold", Attempt: 1})
	pod.OwnerReferences = nil
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "loadstone.dev/bench"}}
	return pod
}
