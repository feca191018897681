package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

// maxCondition bounds the condition's message, which has a part for each sink.
const maxCondition = 1024

// Answer is the result of a try.
type Answer struct {
	Due
	// Reason says in one word why the sink refused, Message in a sentence that is equal at each try; both empty on
	// success.
	Reason, Message string
	// After is the pause that the sink asks for; 0 if none.
	After time.Duration
	// Final: only this round would be refused, at any try. It is given up.
	Final bool
}

// Remember returns the status after some tries. New sinks hear of rounds that end from now on; removed ones are
// forgotten.
func Remember(s *v1alpha1.BenchmarkSuite, answers []Answer, now time.Time) v1alpha1.BenchmarkSuiteStatus {
	after := s.DeepCopy()
	after.Status.Notifications = nil
	for _, sink := range s.Spec.Notifications {
		entry := v1alpha1.NotificationStatus{Name: sink.Name, StartTime: begins(&s.Status, now)}
		if known := find(s, sink.Name); known != nil {
			entry = *known.DeepCopy()
		}
		entry.Rounds = slices.DeleteFunc(entry.Rounds, func(r v1alpha1.NotifiedRound) bool {
			return !slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(t telling) bool { return is(r, t) })
		})
		if i := slices.IndexFunc(answers, func(a Answer) bool { return a.Sink.Name == sink.Name }); i >= 0 {
			entry = answered(s, entry, answers[i], now)
		}
		after.Status.Notifications = append(after.Status.Notifications, entry)
	}
	condition(after, now)
	return after.Status
}

// begins returns from when a new sink hears of rounds: after all that ended, and all commits that came. The status
// has whole seconds.
func begins(status *v1alpha1.BenchmarkSuiteStatus, now time.Time) *metav1.Time {
	from := now.Truncate(time.Second)
	for _, t := range tellings(status.History, status.MeasuredBefore) {
		if !t.at().Before(from) {
			from = t.at().Add(time.Second)
		}
	}
	return &metav1.Time{Time: from}
}

func answered(s *v1alpha1.BenchmarkSuite, entry v1alpha1.NotificationStatus, a Answer, now time.Time) v1alpha1.NotificationStatus {
	at := &metav1.Time{Time: now.Truncate(time.Second)}
	if a.Reason == "" || a.Final {
		entry.FailureTime, entry.NextTime, entry.Reason, entry.Message = nil, nil, "", ""
		r := v1alpha1.NotifiedRound{Round: a.Round.Round, Outcome: a.Round.Outcome, FirstSeenTime: a.FirstSeenTime, DeliveryTime: at}
		if c := a.Round.ChangePoints; c.Reason == "" && at.Before(c.CompletionTime) {
			r.DeliveryTime = c.CompletionTime.DeepCopy() // Another node's clock is ahead: its news was sent.
		}
		if a.Final {
			r.DeliveryTime, r.Message = nil, util.Clip(a.Message, maxText)
		}
		if onForge(a.Sink) && !a.Final && overtaken(s, a.Round) {
			return entry // It is sent again, with the news since then.
		}
		return done(s, entry, r)
	}
	entry.Reason, entry.Message = a.Reason, util.Clip(a.Message, maxText)
	if entry.FailureTime == nil {
		entry.FailureTime = at
	}
	longest := longestPause
	if onForge(a.Sink) {
		longest = deadline // If the sink names a time within an hour, it is exact.
	}
	pause := max(min(max(now.Sub(entry.FailureTime.Time), shortestPause), longestPause), min(a.After, longest))
	entry.NextTime = &metav1.Time{Time: now.Add(pause).Truncate(time.Second)}
	tried := v1alpha1.NotifiedRound{Round: a.Round.Round, Outcome: a.Round.Outcome, FirstSeenTime: a.FirstSeenTime}
	for _, t := range waiting(s, a.Sink, &entry, now) { // The fault may concern the tried round only, so each gets a try.
		if is(tried, t) && now.Sub(t.at()) >= deadline && now.Sub(entry.FailureTime.Time) >= deadline {
			entry = done(s, entry, tried)
		}
	}
	return entry
}

func overtaken(s *v1alpha1.BenchmarkSuite, told v1alpha1.SuiteRound) bool {
	known := func(l v1alpha1.SuiteRound) bool {
		return l.ChangePoints.CompletionTime != nil && l.ChangePoints.Reason == ""
	}
	return !known(told) && slices.ContainsFunc(s.Status.History, func(l v1alpha1.SuiteRound) bool {
		return l.Round == told.Round && l.Outcome == told.Outcome && known(l)
	})
}

// done records a round that a sink took or that was given up. Rounds outside the history are forgotten.
func done(s *v1alpha1.BenchmarkSuite, entry v1alpha1.NotificationStatus, r v1alpha1.NotifiedRound) v1alpha1.NotificationStatus {
	if !slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(t telling) bool { return is(r, t) }) {
		return entry
	}
	told := func(old v1alpha1.NotifiedRound) bool {
		return old.Round == r.Round && old.Outcome == r.Outcome && old.FirstSeenTime.Equal(r.FirstSeenTime)
	}
	entry.Rounds = append(slices.DeleteFunc(entry.Rounds, told), r) // A repeated message has the newer state.
	slices.SortStableFunc(entry.Rounds, func(a, b v1alpha1.NotifiedRound) int { return cmp.Compare(b.Round, a.Round) })
	return entry
}

func condition(s *v1alpha1.BenchmarkSuite, now time.Time) {
	if len(s.Spec.Notifications) == 0 {
		meta.RemoveStatusCondition(&s.Status.Conditions, v1alpha1.ConditionNotified)
		return
	}
	status, reason := metav1.ConditionTrue, v1alpha1.ReasonDone
	var texts []string
	for _, n := range s.Status.Notifications {
		text := n.Name + " " + taken(n)
		if n.FailureTime != nil {
			status, reason = metav1.ConditionFalse, n.Reason
			text = fmt.Sprintf("%s %s: each round is retried for an hour", n.Name, n.Message)
		}
		if lost := GivenUp(n); len(lost) > 0 {
			text += "; given up: " + strings.Join(lost, ", ")
		}
		if n.UntoldRounds > 0 {
			text += fmt.Sprintf("; rounds that left the history before they were sent: %d", n.UntoldRounds)
		}
		texts = append(texts, text)
	}
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionNotified, Status: status, Reason: reason, Message: util.Clip(strings.Join(texts, "; "), maxCondition),
		ObservedGeneration: s.Generation, LastTransitionTime: metav1.Time{Time: now},
	})
	slices.SortFunc(s.Status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
}

func taken(n v1alpha1.NotificationStatus) string {
	for _, r := range n.Rounds {
		if r.DeliveryTime != nil {
			return fmt.Sprintf("received round %d", r.Round)
		}
	}
	return "has received no round of the history yet"
}

// GivenUp names the rounds in the history that a sink never took.
func GivenUp(n v1alpha1.NotificationStatus) []string {
	var lost []string
	for _, r := range n.Rounds {
		if r.DeliveryTime == nil {
			text := fmt.Sprintf("round %d (%s)", r.Round, r.Outcome)
			if r.FirstSeenTime != nil {
				text += " for a commit that came later"
			}
			if r.Message != "" {
				text += ", since it " + r.Message
			}
			lost = append(lost, text)
		}
	}
	return lost
}
