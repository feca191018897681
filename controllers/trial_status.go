package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// trialStatus is the whole status that follows from what a pass has seen. It is the only place that writes conditions.
func trialStatus(s *trialScope) v1alpha1.TrialStatus {
	st := *s.trial.Status.DeepCopy()
	if s.ended() {
		return st
	}
	st.ObservedGeneration = &s.trial.Generation
	st.Attempt = s.attempt
	if st.AttemptTime == nil && s.turn {
		st.AttemptTime = &metav1.Time{Time: s.now}
	}
	if s.startTime != nil {
		st.StartTime, st.Nodes = &metav1.MicroTime{Time: *s.startTime}, s.placed()
	}
	st.SuspectSince = nil
	if s.suspectSince != nil && s.fault == nil {
		st.SuspectSince = &metav1.MicroTime{Time: *s.suspectSince}
	}
	st.Progress = cmp.Or(s.progress(), st.Progress)
	if s.fault != nil && attemptFacts(s).Retried(s.fault) {
		return nextAttempt(s, st)
	}
	if s.manifest != nil {
		st.ManifestKey, st.ManifestSHA256 = s.manifest.Key, s.manifest.SHA256
	}
	if s.manifest != nil || s.fault != nil {
		st.CompletionTime = &metav1.MicroTime{Time: s.now}
	}
	st.Conditions = trialConditions(s, st.Conditions)
	siblings := s.siblings
	if viewFacts(s).Awaits(s.planned()) != "" {
		siblings = nil // Nothing asks again while another comes first: what is said of that is said at once.
	}
	return facts.WrittenTrial(s.trial.Status, st, attemptFacts(s), siblings)
}

// progress is the number of cells that have ended, and of all; empty if the plan is not known. Work that ends by itself may end before its time is over.
func (s *trialScope) progress() string {
	if _, unplanned := s.work().(kind.Unknown); unplanned {
		return ""
	}
	done, all := attemptFacts(s).CellsDone(), len(s.work().Slots())
	if s.measured {
		done = all
	}
	return facts.Progress(done, all)
}

// nextAttempt starts over after a failure of the infrastructure; what was measured so far is dropped, never averaged in.
func nextAttempt(s *trialScope, st v1alpha1.TrialStatus) v1alpha1.TrialStatus {
	note := util.Clip(attemptFacts(s).Note(s.fault), reconciler.MaxMessage)
	if !s.fault.Waited {
		st.Failures = append(st.Failures, note)
	}
	st.Attempt = s.attempt + 1
	st.AttemptTime = &metav1.Time{Time: s.now}
	st.StartTime, st.Nodes = nil, nil
	st.Progress = facts.Progress(0, len(s.work().Slots()))
	next := *s
	next.fault, next.prepared, next.measured, next.why = nil, false, false, ""
	next.waiting = note + "; retrying"
	st.Conditions = trialConditions(&next, st.Conditions)
	return st
}

func trialConditions(s *trialScope, old []metav1.Condition) []metav1.Condition {
	c := reconciler.NewConditions(old, s.trial.Generation, s.now)
	measured, stored := s.measured || s.manifest != nil, s.manifest != nil
	milestone(c, v1alpha1.ConditionPrepared, s.prepared || measured, s)
	milestone(c, v1alpha1.ConditionMeasured, measured, s)
	milestone(c, v1alpha1.ConditionStored, stored, s)
	milestone(c, v1alpha1.ConditionSucceeded, stored, s)
	return c.Sorted()
}

// milestone states whether an attempt has come so far. What it has reached stays true, whatever ends it.
func milestone(c *reconciler.Conditions, kind string, reached bool, s *trialScope) {
	switch {
	case reached, s.fault != nil && c.IsTrue(kind):
		c.Set(kind, metav1.ConditionTrue, v1alpha1.ReasonDone, "")
	case s.fault != nil:
		c.Set(kind, metav1.ConditionFalse, s.fault.Reason, s.fault.Message)
	default:
		c.Set(kind, metav1.ConditionUnknown, cmp.Or(s.why, v1alpha1.ReasonInProgress), s.waiting)
	}
}

// key is where a file of this attempt lies in the store.
func (s *trialScope) key(member, file string) string {
	return s.prefix() + "/" + member + "/" + file
}

func (s *trialScope) manifestKey() string { return artifact.ManifestKey(s.prefix()) }

// prefix is where the files of this attempt lie.
func (s *trialScope) prefix() string {
	return artifact.TrialPrefix(s.runPrefix(), s.trial.Name, s.attempt)
}

func (s *trialScope) runPrefix() string {
	return runPrefix(s.run)
}

func (s *trialScope) newManifest(version string) record.TrialManifest {
	of := conduct.TrialRecord{Run: facts.Run(s.run), Attempt: s.attempt, Failures: s.trial.Status.Failures, Operator: version}
	for _, p := range s.pods() {
		of.Pods = append(of.Pods, facts.Pod(p))
	}
	return s.planned().Manifest(of)
}

// most is how many operators may end over one report. With the pauses between the starts of a pod they take some minutes.
const most = 5

// ErrTooMany is why a report is not begun once more.
var ErrTooMany = errors.New("operators have ended while they made the report")

// Tries are those of one operator. Its zero value is ready; one goroutine uses it at a time.
type Tries struct{ begun map[types.UID]bool }

// Begin writes into the status of a run, which lies at a prefix, that this operator begins to make its report, once; ErrTooMany if as many have ended over it
// as may. It counts none once the report has been made: what is left is to store it.
func (t *Tries) Begin(ctx context.Context, c client.StatusClient, store artifact.Bucket, run *v1alpha1.BenchmarkRun, prefix string) error {
	if t.begun[run.UID] {
		return nil
	}
	switch _, err := store.Find(ctx, artifact.MadeKey(prefix)); {
	case err == nil:
		return nil
	case !artifact.Unreadable(err) && !errors.Is(err, artifact.ErrDenied): // A key that may not list hears of none that is missing.
		return err
	case run.Status.Report.Tries >= most:
		return fmt.Errorf("%d %w, maybe for want of memory: raise it (chart values operator.goMemoryLimit and operator.resources), or make the report elsewhere with loadstone report --again",
			most, ErrTooMany)
	}
	if err := writeTries(ctx, c, run, run.Status.Report.Tries+1); err != nil {
		return err
	}
	if t.begun == nil {
		t.begun = map[types.UID]bool{}
	}
	t.begun[run.UID] = true
	return nil
}

// Survived takes the tries back at a report that could not be made, such as for a store that went away: nobody has ended over it.
func (t *Tries) Survived(ctx context.Context, c client.StatusClient, run *v1alpha1.BenchmarkRun) error {
	if run.Status.Report.Tries == 0 {
		return nil
	}
	return writeTries(ctx, c, run, 0)
}

func writeTries(ctx context.Context, c client.StatusClient, run *v1alpha1.BenchmarkRun, tries int32) error {
	before := run.DeepCopy()
	run.Status.Report.Tries = tries
	if err := c.Status().Patch(ctx, run, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("counting the tries at a report: %w", err)
	}
	return nil
}
