package controllers

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func (s *runScope) prefix() string { return runPrefix(s.run) }

func runStatus(s *runScope) v1alpha1.BenchmarkRunStatus {
	st := *s.run.Status.DeepCopy()
	st.ObservedGeneration, st.DownloadKey = &s.run.Generation, s.downloadKey
	if s.ended() {
		return st
	}
	st.WaitingSince = facts.WaitingSince(s.run, s.why, s.now)
	st.Absence = facts.AbsenceStatus(s.run, s.absence, s.why, s.now)
	if s.begins {
		st.StartTime = &metav1.Time{Time: s.now}
	}
	if f := s.frozen; f != nil {
		st.Scripts, st.Bodies, st.ConfigMaps = f.Scripts, f.Bodies, f.ConfigMaps
	}
	if s.interim != nil || s.scan != nil {
		st.Report.Tries = 0 // This process survived the analysis.
	}
	if s.interim != nil {
		st.Interim = v1alpha1.InterimStatus{AnalysedBlocks: s.interim.After, StoppedAfterBlock: s.interim.Stopped}
	}
	if s.scan != nil {
		st.Repeats = v1alpha1.RepeatStatus{ScannedBlocks: s.scan.Blocks, DisturbedBlocks: s.scan.Disturbed}
	}
	if s.plan != nil {
		run := runFacts(s)
		done, all := run.Progress()
		if st.PlanHash == "" || !s.active() {
			st.PlanHash = s.plan.Hash() // A run that has begun keeps its plan, whatever another version makes of its spec.
		}
		st.Progress = facts.Progress(done, all)
		st.TimeLeft = run.Left().String()
	}
	if s.reported != nil {
		st.Report = v1alpha1.ReportRef{URI: s.reported.uri, SHA256: s.reported.html.SHA256, ManifestSHA256: s.reported.manifest.SHA256}
		st.Verdict, st.ShortVerdict = util.Clip(s.reported.Text, 512), s.reported.Short
	}
	if s.reported != nil || s.end != nil {
		st.CompletionTime = &metav1.Time{Time: s.now}
		st.TimeLeft = ""
	}
	c := reconciler.NewConditions(st.Conditions, s.run.Generation, s.now)
	stepConditions(c, s)
	summaryConditions(c, s)
	st.Conditions = c.Sorted()
	return facts.WrittenRun(s.run.Status, st, runFacts(s))
}

func stepConditions(c *reconciler.Conditions, s *runScope) {
	steps := []struct {
		kind    string
		reached bool
		done    string
	}{
		{v1alpha1.ConditionPlanned, s.plan != nil && !queue.Suspended(s.run), ""},
		{v1alpha1.ConditionExecuted, s.executed(), ""},
		{v1alpha1.ConditionReported, s.reported != nil, ""},
	}
	if s.plan != nil {
		steps[0].done, steps[1].done = s.plan.Size(), runFacts(s).WithoutResult()
	}
	end, pending := cmp.Or(s.end, s.over), false
	for _, step := range steps {
		switch {
		case end != nil && end.Condition == step.kind:
			c.Set(step.kind, metav1.ConditionFalse, end.Reason, end.Message)
			pending = true
		case step.reached:
			c.Set(step.kind, metav1.ConditionTrue, v1alpha1.ReasonDone, step.done)
		case s.plan == nil && s.active() && c.Known(step.kind):
			// It was reached before the plan became unreadable: the next run may have started since.
		case pending:
			c.Set(step.kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
		default:
			c.Set(step.kind, metav1.ConditionUnknown, cmp.Or(s.why, v1alpha1.ReasonInProgress), s.waiting)
			pending = true
		}
	}
	if failures := runFacts(s).Failures(); (end == nil || end.Condition != v1alpha1.ConditionExecuted) && s.executed() && failures != "" {
		c.Set(v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, failures)
	}
	switch {
	case s.reported == nil:
		c.Set(v1alpha1.ConditionConclusive, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
	case s.reported.Conclusive:
		c.Set(v1alpha1.ConditionConclusive, metav1.ConditionTrue, v1alpha1.ReasonDone, s.reported.Text)
	default:
		c.Set(v1alpha1.ConditionConclusive, metav1.ConditionFalse, s.reported.Reason, s.reported.Text)
	}
}

// summaryConditions sets Succeeded, Reconciling and Stalled (kstatus).
func summaryConditions(c *reconciler.Conditions, s *runScope) {
	outcome := runFacts(s).Outcome(s.end, s.verdict())
	reason, message := outcome.Reason, outcome.Message
	var status, going, stalled metav1.ConditionStatus
	switch outcome.State {
	case conduct.Ongoing:
		status, going, stalled = metav1.ConditionUnknown, metav1.ConditionTrue, metav1.ConditionFalse
		reason, message = cmp.Or(s.why, reason), cmp.Or(s.waiting, queue.TooLate(s.run))
	case conduct.Failed:
		status, going, stalled = metav1.ConditionFalse, metav1.ConditionFalse, metav1.ConditionTrue
	case conduct.Succeeded:
		status, going, stalled = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionFalse
	}
	c.Set(v1alpha1.ConditionSucceeded, status, reason, message)
	c.Set(v1alpha1.ConditionReconciling, going, reason, message)
	c.Set(v1alpha1.ConditionStalled, stalled, reason, message)
}
