package suite

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	// heldFor bounds how long news of a round waits for change points; other suites may be read first.
	heldFor = StoreDeadline + 5*time.Minute
	// lastTry bounds the last read from an unavailable store.
	lastTry = time.Minute
)

// Held returns how long news of an ended round waits for its change points; 0 if it need not wait. The wait for the
// store counts from the first read.
func Held(s *v1alpha1.BenchmarkSuite, line v1alpha1.SuiteRound, now time.Time) time.Duration {
	d := toldBy(s)
	judged := d.result()
	if judged == nil || judged.Round != line.Round || !d.unreadOf(judged) {
		return 0
	}
	until := line.CompletionTime.Add(heldFor)
	if first := judged.ChangePoints.StartTime; first != nil && first.Add(StoreDeadline+lastTry).After(until) {
		until = first.Add(StoreDeadline + lastTry)
	}
	return max(0, until.Sub(now))
}

// toldBy rebuilds what the status has of the newest decision.
func toldBy(s *v1alpha1.BenchmarkSuite) *decision {
	return &decision{Facts: Facts{Suite: s}, in: inputs{hash: s.Status.Inputs.Hash}, lines: slices.Clone(s.Status.History)}
}

// Told returns the event of an ended round, by the suite's runs.
func Told(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, line v1alpha1.SuiteRound) notify.Event {
	var told []notify.Run
	for _, r := range roundsOf(runs) {
		if r.number != line.Round {
			continue
		}
		for _, run := range r.runs {
			told = append(told, notify.Run{
				Name: run.record.Run, BenchmarkRun: run.object.Name, Verdict: run.object.Status.Verdict, Report: run.object.Status.Report.URI,
			})
		}
	}
	return notify.EventOf(s, line, gateOf(s, line), told)
}

// gateOf returns the suite's Ready condition if the round judges it, otherwise Unknown; nil for a round without a
// result. A newer spec may have other inputs and another gate.
func gateOf(s *v1alpha1.BenchmarkSuite, line v1alpha1.SuiteRound) *notify.Gate {
	if !isResult(line.Outcome) {
		return nil
	}
	if line.PullRequest != "" {
		return unknown("rounds of pull requests do not judge the suite")
	}
	judged, ready := toldBy(s).result(), meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != s.Generation:
		return unknown("the suite's spec changed, and its new state was unknown when this was sent")
	case judged == nil || judged.Round != line.Round:
		return unknown("this round does not judge the suite")
	}
	return &notify.Gate{Ready: ready.Status, Reason: ready.Reason, Message: ready.Message}
}

func unknown(why string) *notify.Gate {
	return &notify.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: why}
}
