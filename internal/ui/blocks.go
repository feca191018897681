package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// Trials are a run's trials, or the error of reading them.
type Trials struct {
	All []v1alpha1.Trial
	Err error
}

type blocks struct {
	// Done of All are measured, in units of Counted (cells or trials). Left is the estimated rest; empty if unknown.
	Done, All     int
	Counted, Left string
	// Now is the current trial. Disturbed says which blocks were disturbed, and why.
	Now, Disturbed string
	// Rows are begun blocks; ToCome counts planned ones that have not begun.
	Rows    []block
	ToCome  int
	Trouble string
}

type block struct {
	Name, Note string
	Trials     []trial
	Ended      *moment
}

type trial struct {
	Servers string
	standing
}

func blocksOf(r *v1alpha1.BenchmarkRun, t Trials, now time.Time) *blocks {
	if r.Status.StartTime == nil && len(t.All) == 0 {
		return nil
	}
	b := &blocks{Counted: "cells"}
	if t.Err != nil {
		b.Trouble = t.Err.Error()
	}
	if len(r.Spec.Loads) == 0 {
		b.Counted = "trials"
	}
	_, _ = fmt.Sscanf(r.Status.Progress, "%d/%d", &b.Done, &b.All) // A run without a plan has neither.
	if r.Status.CompletionTime == nil {
		b.Left = r.Status.TimeLeft
	}
	p := facts.KnownPlan(r)
	b.tell(new(facts.Follower).See(facts.Sight{Run: r, Plan: p, Trials: t.All, Now: now}))
	for _, same := range together(t.All, p) {
		if begun := slices.ContainsFunc(same, func(t v1alpha1.Trial) bool { return t.Status.Attempt > 0 || t.Status.CompletionTime != nil }); begun {
			b.Rows = append(b.Rows, blockOf(r, same, p, now))
		} else {
			b.ToCome++
		}
	}
	return b
}

func (b *blocks) tell(events []progress.Event) {
	for _, e := range events {
		b.Disturbed = e.Troubles
		if e.Kind != progress.EventProgress {
			continue
		}
		b.Now = nameOf(e.Trial.Block, e.Blocks, kinds.Field(*e.Trial)) + ": " + strings.Join(e.Trial.Servers, " and ")
		if e.Cell != "" {
			b.Now += ", " + e.Cell
		}
	}
}

func together(all []v1alpha1.Trial, p plan.Plan) [][]v1alpha1.Trial {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b v1alpha1.Trial) int {
		return cmp.Or(cmp.Compare(facts.Index(&a), facts.Index(&b)), strings.Compare(a.Name, b.Name))
	})
	var out [][]v1alpha1.Trial
	at := map[string]int{}
	for _, t := range all {
		key := fmt.Sprint(t.Spec.Block, facts.Trial(&t, p).Item)
		i, known := at[key]
		if !known {
			i, at[key] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], t)
	}
	return out
}

func blockOf(r *v1alpha1.BenchmarkRun, trials []v1alpha1.Trial, p plan.Plan, now time.Time) block {
	first := trials[0]
	b := block{Name: nameOf(first.Spec.Block, p.Blocks, kinds.Field(facts.Trial(&first, p).PlannedTrial))}
	if first.Spec.Block > 0 && slices.Contains(r.Status.Repeats.DisturbedBlocks, first.Spec.Block) {
		b.Note = "disturbed"
	}
	var last time.Time
	for _, t := range trials {
		b.Trials = append(b.Trials, trial{strings.Join(facts.Trial(&t, p).Servers, " and "), trialStanding(t)})
		if ended := t.Status.CompletionTime; ended == nil {
			last = now.Add(time.Hour)
		} else if ended.After(last) {
			last = ended.Time
		}
	}
	if !last.After(now) {
		b.Ended = momentOf(last, now)
	}
	return b
}

func nameOf(number, planned int32, field string) string {
	switch {
	case number == 0:
		return field
	case number > planned:
		return fmt.Sprintf("repeat block %d", number-planned)
	}
	return fmt.Sprintf("block %d of %d", number, planned)
}

func stepOf(t v1alpha1.Trial) string {
	switch {
	case meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionMeasured):
		return "storing"
	case t.Status.StartTime != nil || meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionPrepared):
		return "measuring"
	}
	return "preparing"
}

func trialStanding(t v1alpha1.Trial) standing {
	c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case t.Status.CompletionTime == nil && t.Status.Attempt == 0:
		return standing{Text: "to come", Tone: tonePlain}
	case t.Status.CompletionTime == nil:
		s := standing{Text: stepOf(t), Tone: toneLive}
		if n := len(t.Status.Failures); n > 0 {
			s.Note = fmt.Sprintf("attempt %d, after: %s", t.Status.Attempt, t.Status.Failures[n-1])
		}
		return s
	case c == nil || c.Status == metav1.ConditionTrue:
		return standing{Text: "measured", Tone: toneGood}
	case c.Reason == v1alpha1.ReasonStoppedEarly:
		return standing{Text: "not needed", Tone: tonePlain}
	}
	return standing{Text: "failed", Note: c.Message, Tone: toneBad}
}
