package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/render"
	"loadstone.dev/loadstone/internal/validity"
)

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
	return []figures.Figure{figures.Of("time-to-first-request", figures.Median(times).Seconds(), "s", figures.AtMost(4), "median, "+figures.Spread(times))}, nil
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
