package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/conduct"
	"loadstone.dev/loadstone/internal/guard"
	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/scripts"
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
	// interim is set when this pass has made an interim analysis.
	interim *conduct.Interim
	// scan is set when this pass has scanned for disturbed cells.
	scan *conduct.Scan
	// reported is set when the report is stored.
	reported *reported
	// end is set when the run is over before it was measured and reported as planned.
	end *conduct.Ending
}

// reported is a stored report and what it says.
type reported struct {
	html record.Artifact
	uri  string
	conduct.Verdict
}

// unreported ends the run without a report. Why it ended before keeps the first word.
func (s *runScope) unreported(end *conduct.Ending) {
	if s.end != nil {
		s.end.Message += "; what was measured could not be reported: " + end.Message
		return
	}
	s.end = end
}

// verdict is what the stored report says; nil if there is none.
func (s *runScope) verdict() *conduct.Verdict {
	if s.reported == nil {
		return nil
	}
	return &s.reported.Verdict
}

// Hindered implements pass.Scope. An operator that fails at a run before its turn would do so for ever, and let no other run come first; after
// that, the run's time is over one day.
func (s *runScope) Hindered(err error) {
	s.waiting = err.Error()
	if errors.Is(err, guard.ErrPanic) && !s.ended() && (s.plan == nil || !s.active()) {
		s.end = conduct.NotLed(err)
	}
}

// States implements pass.Scope.
func (s *runScope) States() (before, after *v1alpha1.BenchmarkRun) {
	after = s.run.DeepCopy()
	after.Status = runStatus(s)
	return s.run, after
}

// refuse ends a run that cannot be planned, and passes on what is no violation.
func (s *runScope) refuse(err error) (pass.Step, error) {
	var v *plan.Violation
	if !errors.As(err, &v) {
		return pass.Halt, fmt.Errorf("compiling: %w", err)
	}
	s.end = conduct.Refused(v)
	return pass.Halt, nil
}

// noRoom waits for nodes that are away and may come back, and refuses a run for which there would be no room with them either.
func (s *runScope) noRoom(v *plan.Violation, awaited string) (pass.Step, error) {
	if awaited == "" {
		return s.refuse(v)
	}
	s.why, s.waiting = v.Reason, awaited+": "+v.Message
	return pass.Again(retryNodes), nil
}

func (s *runScope) ended() bool { return s.run.Status.CompletionTime != nil }

// active reports whether the run's turn has come.
func (s *runScope) active() bool { return s.run.Status.StartTime != nil }

// executed reports whether every trial that is needed has ended.
func (s *runScope) executed() bool { return s.plan != nil && runFacts(s).Executed() }

// held reports whether the trial whose turn it is waits for its step: then no load runs.
func (s *runScope) held() bool {
	for i := range s.trials {
		if t := &s.trials[i]; t.Status.CompletionTime == nil {
			return t.Spec.Start == v1alpha1.StartHeld
		}
	}
	return false
}

// heldUpAfter is how long a trial may be prepared before its run says for what it waits. Most trials take less, and need no word.
const heldUpAfter = 30 * time.Second

// heldUp is what the trial whose turn it is has waited for, for some time; empty if nothing holds it up.
func (s *runScope) heldUp() string {
	since := s.run.Status.StartTime.Time
	for i := range s.trials {
		t := &s.trials[i]
		if t.Status.CompletionTime != nil {
			since = t.Status.CompletionTime.Time
			continue
		}
		if t.Status.AttemptTime != nil {
			since = t.Status.AttemptTime.Time
		}
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionPrepared)
		if c == nil || c.Status != metav1.ConditionUnknown || s.now.Sub(since) < heldUpAfter {
			return ""
		}
		return fmt.Sprintf("trial %s: %s", t.Name, c.Message)
	}
	return ""
}

// stuck is the trial that ended some time ago while the next was not released: Argo has lost the answer, or its agent pod.
func (s *runScope) stuck(patience time.Duration) *v1alpha1.Trial {
	var last *v1alpha1.Trial
	for i := range s.trials {
		t := &s.trials[i]
		if t.Status.CompletionTime == nil {
			if last != nil && s.partOf(last) == s.partOf(t) && t.Spec.Start == v1alpha1.StartHeld && s.now.Sub(last.Status.CompletionTime.Time) > patience {
				return last
			}
			return nil
		}
		last = t
	}
	return nil
}

// partOf is the part of the run to which a trial belongs: each has a workflow of its own.
func (s *runScope) partOf(t *v1alpha1.Trial) plan.Part {
	if s.plan == nil {
		return plan.Part{}
	}
	return s.plan.PartOf(record.PlannedTrial{Block: t.Spec.Block})
}

// firstOf is the run whose turn it is: the one that has begun, else the oldest; nil if none is open. One of which everything is measured
// waits for its store, and for no turn; nor does one that waits for nodes hold up those that fit without them.
func firstOf(runs []v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	open := slices.DeleteFunc(runs, func(r v1alpha1.BenchmarkRun) bool {
		return r.Status.CompletionTime != nil || !r.DeletionTimestamp.IsZero() || measuredAll(&r) || awaitsNodes(&r)
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

// measuredAll reports whether every trial of a run had ended when its status was written.
func measuredAll(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionExecuted)
	return c != nil && c.Status != metav1.ConditionUnknown
}

// awaitsNodes reports whether a run whose turn has not come waits for nodes that are away.
func awaitsNodes(r *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionPlanned)
	return r.Status.StartTime == nil && c != nil && c.Status == metav1.ConditionUnknown &&
		(c.Reason == v1alpha1.ReasonNotEnoughCPUs || c.Reason == v1alpha1.ReasonNotEnoughMemory)
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// record is what the run's manifest says beside how the run was led.
func (s *runScope) record(version string) conduct.RunRecord {
	return conduct.RunRecord{Run: runRecord(s.run), Spec: s.run.Spec, Scripts: scripts.Record(s.run.Status.Scripts, s.prefix()), Ending: s.end, Operator: version}
}
