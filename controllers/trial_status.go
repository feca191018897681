package controllers

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// trialStatus computes the whole status from a pass. Only this function sets conditions.
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
	st.FilesSHA256 = cmp.Or(st.FilesSHA256, s.announced)
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
		siblings = nil // No later pass comes while another trial is first, so report that at once.
	}
	return facts.WrittenTrial(s.trial.Status, st, attemptFacts(s), siblings)
}

// A microbenchmark may finish early.
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

// nextAttempt restarts after an infrastructure failure. Earlier measurements of the trial are dropped, never averaged in.
func nextAttempt(s *trialScope, st v1alpha1.TrialStatus) v1alpha1.TrialStatus {
	note := util.Clip(attemptFacts(s).Note(s.fault), reconciler.MaxMessage)
	if !s.fault.Waited {
		st.Failures = append(st.Failures, note)
	}
	st.Attempt = s.attempt + 1
	st.AttemptTime = &metav1.Time{Time: s.now}
	st.StartTime, st.Nodes, st.FilesSHA256 = nil, nil, ""
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

// milestone sets the condition of a reached step. It stays True whatever ends the attempt.
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

func (s *trialScope) key(member, file string) string {
	return s.prefix() + "/" + member + "/" + file
}

func (s *trialScope) manifestKey() string { return artifact.ManifestKey(s.prefix()) }

func (s *trialScope) prefix() string {
	return artifact.TrialPrefix(s.runPrefix(), s.trial.Name, s.attempt)
}

func (s *trialScope) runPrefix() string {
	return runPrefix(s.run)
}

func (s *trialScope) newManifest(version string) record.TrialManifest {
	of := conduct.TrialRecord{Run: facts.Run(s.run), Attempt: s.attempt, Failures: s.trial.Status.Failures, Operator: version}
	for _, m := range s.members {
		if m.pod != nil {
			of.Pods = append(of.Pods, facts.Pod(m.pod, m.Processes[0].Name))
		}
	}
	return s.planned().Manifest(of)
}
