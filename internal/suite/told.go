package suite

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/notice"
)

// heldFor bounds how long nobody is told of a round whose change points the gate waits for: the store has its deadline, and others come before.
const heldFor = StoreDeadline + 5*time.Minute

// Held is how long nobody is to be told of a round that has ended, since the gate waits for its change points; 0 if it is to be told.
func Held(s *v1alpha1.BenchmarkSuite, line v1alpha1.SuiteRound, now time.Time) time.Duration {
	d := &decision{Facts: Facts{Suite: s}, in: inputs{hash: s.Status.Inputs.Hash}, lines: slices.Clone(s.Status.History)}
	if judged := d.result(); judged == nil || judged.Round != line.Round || !d.unreadOf(judged) {
		return 0
	}
	return line.CompletionTime.Add(heldFor).Sub(now)
}

// Told is the event of a round that has ended, by the runs that the suite has.
func Told(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, line v1alpha1.SuiteRound) notice.Event {
	var told []notice.Run
	for _, r := range roundsOf(runs) {
		if r.number != line.Round {
			continue
		}
		for _, run := range r.runs {
			told = append(told, notice.Run{
				Name: run.record.Run, BenchmarkRun: run.object.Name, Verdict: run.object.Status.Verdict, Report: run.object.Status.Report.URI,
			})
		}
	}
	return notice.EventOf(s, line, gateOf(s, line), told)
}

// gateOf is what a round means for a suite that is judged by it; nil if no suite is, since it says nothing.
func gateOf(s *v1alpha1.BenchmarkSuite, line v1alpha1.SuiteRound) *notice.Gate {
	if !isResult(line.Outcome) {
		return nil
	}
	d := &decision{Facts: Facts{Suite: s}, in: inputs{hash: line.Inputs}}
	if d.unreadOf(&line) {
		return &notice.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: "no change points were looked for when this was sent"}
	}
	stands := d.judged(line)
	return &notice.Gate{Ready: stands.ready, Reason: stands.reason, Message: stands.message}
}
