package notify

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

const (
	// shortestPause and longestPause bound how long a sink is left alone after a try that failed; in between it is as long as it has failed already.
	shortestPause, longestPause = 10 * time.Second, 15 * time.Minute
	// deadline is how long a round is offered to a sink that fails.
	deadline = time.Hour
	// news is how old the end of a round may be at the first try.
	news = 24 * time.Hour
)

// Due is a round that a sink is to be told of now.
type Due struct {
	Sink  v1alpha1.Notification
	Round v1alpha1.SuiteRound
	// FirstSeenTime is when the suite first saw the commit of which the sink is told, if it came when the round had its inputs; nil of the commit with
	// which it began.
	FirstSeenTime *metav1.Time
}

// Next are the rounds that sinks of a suite are to be told of now, one a sink, and when to look again if nothing happens before; 0 for never. A round
// that is held is not told yet, and neither are those that ended after it.
func Next(s *v1alpha1.BenchmarkSuite, now time.Time, held func(v1alpha1.SuiteRound) time.Duration) (due []Due, after time.Duration) {
	sooner := func(d time.Duration) {
		if after == 0 || d < after {
			after = d
		}
	}
	for _, sink := range s.Spec.Notifications {
		entry := find(s, sink.Name)
		if entry == nil {
			continue
		}
		rounds := waiting(s, sink, entry, now)
		if len(rounds) == 0 {
			continue
		}
		if entry.NextTime != nil && entry.NextTime.After(now) {
			sooner(entry.NextTime.Sub(now))
		} else if d := held(rounds[0].SuiteRound); d > 0 {
			sooner(d)
		} else {
			due = append(due, Due{sink, rounds[0].SuiteRound, rounds[0].came})
		}
	}
	return due, after
}

// Known reports whether the status has exactly the sinks of the spec.
func Known(s *v1alpha1.BenchmarkSuite) bool {
	unknown := func(n v1alpha1.Notification) bool { return find(s, n.Name) == nil }
	return len(s.Spec.Notifications) == len(s.Status.Notifications) && !slices.ContainsFunc(s.Spec.Notifications, unknown)
}

// find is what the status of a suite has of a sink; nil if nothing.
func find(s *v1alpha1.BenchmarkSuite, name string) *v1alpha1.NotificationStatus {
	i := slices.IndexFunc(s.Status.Notifications, func(n v1alpha1.NotificationStatus) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Status.Notifications[i]
}

// waiting are the rounds that a sink has not been told of, in the order in which they ended. A forge is told of those that know their commit, also of
// commits that came later, and again of one whose change points became known later: its statuses replace themselves, and an event that was sent is another's.
func waiting(s *v1alpha1.BenchmarkSuite, sink v1alpha1.Notification, entry *v1alpha1.NotificationStatus, now time.Time) []telling {
	var rounds []telling
	for _, t := range tellings(s.Status.History, s.Status.MeasuredBefore) {
		old := t.CompletionTime == nil || now.Sub(t.at()) > news || entry.StartTime != nil && t.at().Before(entry.StartTime.Time)
		unknown := onForge(sink) && commitOf(sink, t.SuiteRound) == "" || !onForge(sink) && t.came != nil
		done := func(r v1alpha1.NotifiedRound) bool {
			return is(r, t) && (!onForge(sink) || !outdated(r, t.SuiteRound) || replaced(s, ForgeOf(sink), t))
		}
		if !old && !unknown && !slices.ContainsFunc(entry.Rounds, done) && !behind(s, sink, entry, t) {
			rounds = append(rounds, t)
		}
	}
	slices.SortStableFunc(rounds, inOrder)
	return rounds
}

// Forget counts, for each sink, the rounds that leave the history of a suite untold: those that the sink waits for and that a newer status has no more.
// One that goes on will end again.
func Forget(before *v1alpha1.BenchmarkSuite, after *v1alpha1.BenchmarkSuiteStatus, now time.Time) {
	for i := range after.Notifications {
		entry := &after.Notifications[i]
		sink := util.First(before.Spec.Notifications, func(n *v1alpha1.Notification) bool { return n.Name == entry.Name })
		if sink == nil {
			continue
		}
		for _, t := range waiting(before, *sink, entry, now) {
			told := slices.ContainsFunc(entry.Rounds, func(r v1alpha1.NotifiedRound) bool { return is(r, t) })
			stays := slices.ContainsFunc(tellings(after.History, after.MeasuredBefore), func(l telling) bool {
				return l.Round == t.Round && (l.came == nil) == (t.came == nil) && commitOf(*sink, l.SuiteRound) == commitOf(*sink, t.SuiteRound)
			})
			if !told && !stays && t.Round != after.Current.Round {
				entry.UntoldRounds++
			}
		}
	}
}

// is reports whether a round with which a sink is done is that of a telling: one that was ended, and then gone on with, is another.
func is(r v1alpha1.NotifiedRound, t telling) bool {
	return r.Round == t.Round && r.Outcome == t.Outcome && r.FirstSeenTime.Equal(t.came)
}

// replaced reports whether a later telling stands where one would be told again: on its commit, or in its pull request.
func replaced(s *v1alpha1.BenchmarkSuite, to Forge, t telling) bool {
	return slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(l telling) bool { return stands(to, t, l) })
}

// stands reports whether a telling stands where an earlier one would be told.
func stands(to Forge, earlier, l telling) bool {
	at, p := PlaceOf(to, earlier.SuiteRound), PlaceOf(to, l.SuiteRound)
	return p.Commit != "" && earlier.at().Before(l.at()) && (p.Commit == at.Commit || at.Pull != "" && p.Pull == at.Pull)
}

// behind reports whether a forge shows a later round where it would be told of one: that is remembered again, and was told before it had left the history.
func behind(s *v1alpha1.BenchmarkSuite, sink v1alpha1.Notification, entry *v1alpha1.NotificationStatus, t telling) bool {
	return onForge(sink) && slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(l telling) bool {
		shown := func(r v1alpha1.NotifiedRound) bool { return is(r, l) && r.DeliveryTime != nil }
		return stands(ForgeOf(sink), t, l) && slices.ContainsFunc(entry.Rounds, shown)
	})
}

// outdated reports whether the change points of a round became known after a sink had taken it: it was told that nobody knew them.
func outdated(r v1alpha1.NotifiedRound, line v1alpha1.SuiteRound) bool {
	c := line.ChangePoints
	return r.DeliveryTime != nil && c.CompletionTime != nil && c.Reason == "" && r.DeliveryTime.Before(c.CompletionTime)
}
