package notify

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

// maxBefore is how many commits with already measured inputs a suite remembers.
const maxBefore = 20

// beforeBytes limits their JSON.
const beforeBytes = 32 << 10

// telling is news for sinks: how a round ended, for its own commit or for a later one with the same
// inputs.
type telling struct {
	v1alpha1.SuiteRound
	came *metav1.Time
}

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

func inOrder(a, b telling) int { return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.Round, b.Round)) }

// tellings returns the news of some rounds: for each one's commit, then for later commits, oldest first.
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

// without reports whether a round ended without a result.
func without(o v1alpha1.RoundOutcome) bool {
	return o == v1alpha1.RoundReplaced || o == v1alpha1.RoundIncomplete
}

// Keep records in the status what forges must hear: the suite's commit, if the round with its inputs began with
// another one. It counts what the status loses untold. by is that round, possibly in progress; nil if unknown.
func Keep(before *v1alpha1.BenchmarkSuite, after *v1alpha1.BenchmarkSuiteStatus, by *v1alpha1.SuiteRound, now time.Time) {
	after.MeasuredBefore = slices.DeleteFunc(after.MeasuredBefore, func(b v1alpha1.MeasuredBefore) bool {
		line := func(l v1alpha1.SuiteRound) bool { return l.Round == b.Round }
		return b.Round != after.Current.Round && !slices.ContainsFunc(after.History, line)
	})
	own := v1alpha1.SuiteRound{Noted: Noted(before.Spec, after.Inputs.Parameters, nil)}
	untold := before.Spec // A repository that heard its commit needs no news from another's.
	untold.Notifications = slices.DeleteFunc(slices.Clone(before.Spec.Notifications), func(n v1alpha1.Notification) bool {
		return !onForge(n) || by == nil || !hears(after, *by, n, commitOf(n, own))
	})
	if Known(before) && len(untold.Notifications) > 0 {
		noted := Noted(untold, after.Inputs.Parameters, nil)
		all := []v1alpha1.MeasuredBefore{{Round: by.Round, Noted: noted, FirstSeenTime: comes(before, after, now)}}
		for _, b := range after.MeasuredBefore {
			if len(all) < maxBefore && (b.Round != by.Round || !slices.Equal(b.Noted, noted)) { // A returning commit gets one message.
				all = append(all, b)
			}
		}
		after.MeasuredBefore = util.Within(all, beforeBytes)
	}
	Forget(before, after, now)
}

func commitOf(n v1alpha1.Notification, r v1alpha1.SuiteRound) string {
	return value(r, ForgeOf(n).CommitParameter)
}

// comes returns when a newly seen commit counts as come: after all other news, and not before its sinks.
func comes(before *v1alpha1.BenchmarkSuite, after *v1alpha1.BenchmarkSuiteStatus, now time.Time) *metav1.Time {
	came := begins(after, now)
	for _, b := range after.MeasuredBefore { // A round in progress has no news yet.
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

// hears reports whether a forge must hear a round's result for a commit. Not if its newest news on that commit, from the suite's own rounds, is a
// result of the same inputs. Rounds by webhook do not count.
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

// beforeSink reports whether a round ended before a sink existed and does not know the sink's commit: it may have
// begun with any.
func beforeSink(status *v1alpha1.BenchmarkSuiteStatus, by v1alpha1.SuiteRound, n v1alpha1.Notification) bool {
	entry := util.First(status.Notifications, func(e *v1alpha1.NotificationStatus) bool { return e.Name == n.Name })
	knows := slices.ContainsFunc(slices.Concat(by.Noted, by.Parameters), func(v v1alpha1.ParameterValue) bool { return v.Name == ForgeOf(n).CommitParameter })
	return entry != nil && !knows && by.CompletionTime.Before(entry.StartTime)
}
