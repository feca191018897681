package notify

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

const (
	// shortestPause and longestPause bound the pause after a failed try; in between it equals the time since the
	// first failure.
	shortestPause, longestPause = 10 * time.Second, 15 * time.Minute
	// deadline is how long a round is offered to a failing sink.
	deadline = time.Hour
	// news is the most age of a round's end at the first try.
	news = 24 * time.Hour
)

// Due is a round that a sink must get now.
type Due struct {
	Sink  v1alpha1.Notification
	Round v1alpha1.SuiteRound
	// FirstSeenTime is when the suite first saw the sink's commit, if that came after the round began; nil otherwise.
	FirstSeenTime *metav1.Time
}

// Next returns the rounds to tell now, at most one per sink, and when to look again; 0 for never. A held round blocks
// those that ended after it.
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

func Known(s *v1alpha1.BenchmarkSuite) bool {
	unknown := func(n v1alpha1.Notification) bool { return find(s, n.Name) == nil }
	return len(s.Spec.Notifications) == len(s.Status.Notifications) && !slices.ContainsFunc(s.Spec.Notifications, unknown)
}

func find(s *v1alpha1.BenchmarkSuite, name string) *v1alpha1.NotificationStatus {
	i := slices.IndexFunc(s.Status.Notifications, func(n v1alpha1.NotificationStatus) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Status.Notifications[i]
}

// waiting returns the rounds that a sink has not got, in the order of their ends. A forge hears of rounds that know
// their commit, of later commits, and again if change points became known, since its statuses replace each other. An
// event is sent once.
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

// Forget counts, for each sink, the rounds that leave the history untold. A round that continues will end again.
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

// is reports whether a sink's finished round is that of a telling. A round that was ended and then continued counts
// as another.
func is(r v1alpha1.NotifiedRound, t telling) bool {
	return r.Round == t.Round && r.Outcome == t.Outcome && r.FirstSeenTime.Equal(t.came)
}

func replaced(s *v1alpha1.BenchmarkSuite, to Forge, t telling) bool {
	return slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(l telling) bool { return stands(to, t, l) })
}

func stands(to Forge, earlier, l telling) bool {
	at, p := PlaceOf(to, earlier.SuiteRound), PlaceOf(to, l.SuiteRound)
	return p.Commit != "" && earlier.at().Before(l.at()) && (p.Commit == at.Commit || at.Pull != "" && p.Pull == at.Pull)
}

// behind reports whether a forge already shows a later round there: an old round is remembered again, and was sent
// before.
func behind(s *v1alpha1.BenchmarkSuite, sink v1alpha1.Notification, entry *v1alpha1.NotificationStatus, t telling) bool {
	return onForge(sink) && slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(l telling) bool {
		shown := func(r v1alpha1.NotifiedRound) bool { return is(r, l) && r.DeliveryTime != nil }
		return stands(ForgeOf(sink), t, l) && slices.ContainsFunc(entry.Rounds, shown)
	})
}

func outdated(r v1alpha1.NotifiedRound, line v1alpha1.SuiteRound) bool {
	c := line.ChangePoints
	return r.DeliveryTime != nil && c.CompletionTime != nil && c.Reason == "" && r.DeliveryTime.Before(c.CompletionTime)
}
