package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// runScope is what one pass over a run knows. The gatherer fills the first group; phases fill the second.
type runScope struct {
	run    *v1alpha1.BenchmarkRun
	trials []v1alpha1.Trial
	// workflow is nil when there is none.
	workflow *unstructured.Unstructured
	now      time.Time

	// plan is nil until the spec has been compiled.
	plan *plan.Plan
	// begins is true in the pass in which the run's turn has come.
	begins bool
	// waiting says in a sentence what the run waits for, and why is its reason.
	waiting, why string
	// scripts is set when the users' scripts have been stored.
	scripts []v1alpha1.FrozenScript
	// looked is set to the block after which this pass has looked whether enough is measured, and stopped if it is.
	looked  int32
	stopped bool
	// reviewed is set to the number of blocks that this pass has searched for cells voided from outside, and spoiled to those that have one.
	reviewed int32
	spoiled  []int32
	// reported is set when the report is stored.
	reported *reported
	// end is set when the run is over without a report; failure says at which condition it failed.
	end *failure
}

// reported is a stored report and what it says.
type reported struct {
	html record.Artifact
	uri  string
	// text is the verdict in a few words; conclusive and reason are the condition Conclusive.
	text       string
	conclusive bool
	reason     string
	// unmet is the reason why the run has not succeeded in spite of its report, and objectives says so in a few words; both are empty
	// if every objective is met.
	unmet, objectives string
}

// failure ends a run: the condition that will not become True, and why.
type failure struct{ condition, reason, message string }

// refuse ends a run that cannot be planned, and passes on what is no violation.
func (s *runScope) refuse(err error) (step, error) {
	var v *plan.Violation
	if !errors.As(err, &v) {
		return halt, fmt.Errorf("compiling: %w", err)
	}
	s.end = &failure{v1alpha1.ConditionPlanned, v.Reason, v.Message}
	return halt, nil
}

func (s *runScope) ended() bool { return s.run.Status.CompletionTime != nil }

// active says whether the run's turn has come.
func (s *runScope) active() bool { return s.run.Status.StartTime != nil }

// deadline is when an active run has used up its time.
func (s *runScope) deadline() time.Time {
	return s.run.Status.StartTime.Add(time.Duration(s.plan.TimeoutSeconds) * time.Second)
}

// executed says whether every trial that is needed has ended.
func (s *runScope) executed() bool {
	return s.plan != nil && len(s.trials) == len(s.lines()) && s.allEnded() && !s.reviewDue()
}

func (s *runScope) allEnded() bool {
	return !slices.ContainsFunc(s.trials, func(t v1alpha1.Trial) bool { return t.Status.CompletionTime == nil })
}

// progress counts cells: those measured, and those planned.
func (s *runScope) progress() (done, all int) {
	for i := range s.trials {
		t := &s.trials[i]
		switch start := t.Status.StartTime; {
		case t.Status.ManifestKey != "":
			done += len(t.Spec.Cells)
		case start != nil && t.Status.CompletionTime == nil:
			for _, slot := range protocol.Timetable(t.Spec.Cells) {
				if !start.Add(slot.End).After(s.now) {
					done++
				}
			}
		}
	}
	return done, len(s.lines()) * len(s.plan.Cells)
}

// left is about how long the run will still take: what is planned for the trials that have not ended, less the time that
// the current one has been measuring.
func (s *runScope) left() time.Duration {
	open := len(s.lines())
	var spent time.Duration
	for i := range s.trials {
		t := &s.trials[i]
		switch {
		case t.Status.CompletionTime != nil:
			open--
		case t.Status.StartTime != nil:
			spent = max(spent, s.now.Sub(t.Status.StartTime.Time))
		}
	}
	return max(s.plan.Estimate(open)-spent, 0).Round(time.Second)
}

// held says whether the trial whose turn it is waits for its step: then no load runs.
func (s *runScope) held() bool {
	for i := range s.trials {
		if t := &s.trials[i]; t.Status.CompletionTime == nil {
			return t.Spec.Start == v1alpha1.StartHeld
		}
	}
	return false
}

// stuck is the trial that ended some time ago while the next was not released: Argo has lost the answer, or its agent pod.
func (s *runScope) stuck(patience time.Duration) *v1alpha1.Trial {
	var last *v1alpha1.Trial
	for i := range s.trials {
		t := &s.trials[i]
		if t.Status.CompletionTime == nil {
			if last != nil && t.Spec.Start == v1alpha1.StartHeld && s.now.Sub(last.Status.CompletionTime.Time) > patience {
				return last
			}
			return nil
		}
		last = t
	}
	return nil
}

// firstOf is the run whose turn it is: the one that has begun, else the oldest; nil if none is open.
func firstOf(runs []v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	open := slices.DeleteFunc(runs, func(r v1alpha1.BenchmarkRun) bool {
		return r.Status.CompletionTime != nil || !r.DeletionTimestamp.IsZero()
	})
	if len(open) == 0 {
		return nil
	}
	slices.SortFunc(open, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(
			cmp.Compare(boolRank(a.Status.StartTime != nil), boolRank(b.Status.StartTime != nil)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	return &open[0]
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// manifest is the run's record. It follows from the trials and what the looks at them have left in the status: made twice it is the same.
func (s *runScope) manifest(version string) record.RunManifest {
	m := record.RunManifest{
		Schema: record.RunManifestSchema, Run: runRecord(s.run), Spec: s.run.Spec,
		Notes: s.plan.Notes, Seed: s.plan.Seed, Blocks: s.plan.Blocks, SpareBlocks: s.spare(),
		Started: s.run.Status.StartTime.UTC(), Operator: version, Scripts: frozenScripts(s.run, s.prefix()),
	}
	m.Run.PlanHash = s.plan.Hash()
	if last := s.run.Status.StoppedAfterBlock; last > 0 {
		m.Blocks = last
		m.Notes = append(slices.Clone(m.Notes), fmt.Sprintf("the run ended after block %d of %d: every interval was at most %s wide (spec.stop.maxWidth)", last, s.plan.Blocks, s.run.Spec.Stop.MaxWidth))
	}
	if spare := s.spare(); spare > 0 {
		m.Notes = append(slices.Clone(m.Notes), fmt.Sprintf("%d of the blocks were measured beyond the planned %d, since faults from outside had hit others: %v", spare, s.plan.Blocks, s.hit()))
	}
	if nodes, note := boundNodes(s.trials); nodes != nil {
		m.Nodes, m.Notes = nodes, append(slices.Clone(m.Notes), note)
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.Status.CompletionTime == nil || notNeeded(t) {
			continue
		}
		e := record.TrialEntry{Trial: t.Name, Index: *t.Spec.Index, Block: t.Spec.Block, Implementation: t.Spec.Implementation.Name}
		if t.Spec.Beside != nil {
			e.Beside = t.Spec.Beside.Name
		}
		if t.Status.ManifestKey != "" {
			e.Manifest = &record.Artifact{Name: "manifest.json", Key: t.Status.ManifestKey, SHA256: t.Status.ManifestSHA256}
		} else {
			e.Reason, e.Message = trialOutcome(t)
		}
		if end := t.Status.CompletionTime.UTC(); end.After(m.Ended) {
			m.Ended = end
		}
		m.Trials = append(m.Trials, e)
	}
	return m
}
