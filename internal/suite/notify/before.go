package notify

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

// maxBefore is how many commits a suite remembers that came when their inputs were measured.
const maxBefore = 20

// telling is what sinks are told: how a round has ended, of the commit with which it began, or of one that came when it had its inputs.
type telling struct {
	// SuiteRound is the round. Of a commit that came later it notes what that has.
	v1alpha1.SuiteRound
	// came is when that commit came; nil of the commit with which the round began.
	came *metav1.Time
}

// at is from when on there is something to tell.
func (t telling) at() time.Time {
	var at time.Time
	if t.CompletionTime != nil {
		at = t.CompletionTime.Time
	}
	if t.came != nil && t.came.After(at) {
		at = t.came.Time
	}
	return at
}

// inOrder orders tellings as sinks hear them.
func inOrder(a, b telling) int { return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.Round, b.Round)) }

// tellings are what there is to tell of some rounds: of the commit of each, and then of commits that came later, the oldest first.
func tellings(rounds []v1alpha1.SuiteRound, before []v1alpha1.MeasuredBefore) []telling {
	var all []telling
	for _, r := range rounds {
		all = append(all, telling{SuiteRound: r})
	}
	for _, b := range slices.Backward(before) {
		r := util.First(rounds, func(r *v1alpha1.SuiteRound) bool { return r.Round == b.Round })
		if r == nil {
			continue
		}
		of := *r
		of.Noted, of.Parameters = b.Noted, nil
		all = append(all, telling{of, b.FirstSeenTime})
	}
	return all
}

// without reports whether a round has ended without a result.
func without(o v1alpha1.RoundOutcome) bool {
	return o == v1alpha1.RoundReplaced || o == v1alpha1.RoundIncomplete
}

// Keep keeps, in the status of a suite after a decision, what forges are to be told: the commit that the suite has now, if the round that has its inputs
// began with another. It counts what leaves the status untold. by is that round, which may be in progress; nil if there is none, or if it is not known.
func Keep(before *v1alpha1.BenchmarkSuite, after *v1alpha1.BenchmarkSuiteStatus, by *v1alpha1.SuiteRound, now time.Time) {
	after.MeasuredBefore = slices.DeleteFunc(after.MeasuredBefore, func(b v1alpha1.MeasuredBefore) bool {
		line := func(l v1alpha1.SuiteRound) bool { return l.Round == b.Round }
		return b.Round != after.Current.Round && !slices.ContainsFunc(after.History, line)
	})
	own := v1alpha1.SuiteRound{Noted: Noted(before.Spec, after.Inputs.Parameters, nil)}
	untold := before.Spec // To repositories that have heard it, the commit of another says nothing.
	untold.Notifications = slices.DeleteFunc(slices.Clone(before.Spec.Notifications), func(n v1alpha1.Notification) bool {
		return !onForge(n) || by == nil || !hears(after, *by, n, commitOf(n, own))
	})
	if Known(before) && len(untold.Notifications) > 0 {
		noted := Noted(untold, after.Inputs.Parameters, nil)
		all := []v1alpha1.MeasuredBefore{{Round: by.Round, Noted: noted, FirstSeenTime: comes(before, after, now)}}
		for _, b := range after.MeasuredBefore {
			if len(all) < maxBefore && (b.Round != by.Round || !slices.Equal(b.Noted, noted)) { // One that comes again is told once.
				all = append(all, b)
			}
		}
		after.MeasuredBefore = all
	}
	Forget(before, after, now)
}

// commitOf is the commit of a round as a forge is told it; empty if the round has none.
func commitOf(n v1alpha1.Notification, r v1alpha1.SuiteRound) string {
	return value(r, ForgeOf(n).CommitParameter)
}

// comes is when a commit comes that is first seen now: after all that there is to tell, and not before the sinks that are to hear of it.
func comes(before *v1alpha1.BenchmarkSuite, after *v1alpha1.BenchmarkSuiteStatus, now time.Time) *metav1.Time {
	came := begins(after, now)
	for _, b := range after.MeasuredBefore { // Of one whose round is in progress there is nothing to tell yet.
		if !b.FirstSeenTime.Before(came) {
			came = &metav1.Time{Time: b.FirstSeenTime.Add(time.Second)}
		}
	}
	for _, n := range before.Status.Notifications {
		if came.Before(n.StartTime) {
			came = n.StartTime.DeepCopy()
		}
	}
	return came
}

// hears reports whether a forge is to hear of a commit what a round says that has its inputs: unless the newest that it hears of that commit, from the
// suite's own rounds, is a result of the same inputs. What a pipeline has measured for itself is no word of the suite.
func hears(status *v1alpha1.BenchmarkSuiteStatus, by v1alpha1.SuiteRound, n v1alpha1.Notification, commit string) bool {
	if beforeSink(status, by, n) {
		return false
	}
	rounds := status.History
	if !slices.ContainsFunc(rounds, func(r v1alpha1.SuiteRound) bool { return r.Round == by.Round }) { // It is in progress.
		if commitOf(n, by) == commit {
			return false
		}
		rounds = append([]v1alpha1.SuiteRound{by}, rounds...)
	}
	var newest telling
	for _, t := range tellings(rounds, status.MeasuredBefore) {
		own := t.came != nil || t.Webhook == "" || t.Round == by.Round
		if own && commitOf(n, t.SuiteRound) == commit && inOrder(newest, t) <= 0 {
			newest = t
		}
	}
	return commit != "" && newest.Round != by.Round && (newest.Inputs != by.Inputs || without(newest.Outcome))
}

// beforeSink reports whether a round ended before a sink was there and does not know what the sink's commit was then: it may have begun with any.
func beforeSink(status *v1alpha1.BenchmarkSuiteStatus, by v1alpha1.SuiteRound, n v1alpha1.Notification) bool {
	entry := util.First(status.Notifications, func(e *v1alpha1.NotificationStatus) bool { return e.Name == n.Name })
	knows := slices.ContainsFunc(slices.Concat(by.Noted, by.Parameters), func(v v1alpha1.ParameterValue) bool { return v.Name == ForgeOf(n).CommitParameter })
	return entry != nil && !knows && by.CompletionTime.Before(entry.StartTime)
}
