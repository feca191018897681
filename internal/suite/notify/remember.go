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

// maxCondition bounds the message of the condition, which has a part for each sink.
const maxCondition = 1024

// Answer is what became of a try.
type Answer struct {
	Due
	// Reason is why the sink has not taken the event, in a word, and Message in a sentence that is the same at each try; empty if it has taken it.
	Reason, Message string
	// After is how long the sink asks to be left alone; 0 if it does not ask.
	After time.Duration
	// Final is true if it would say the same of this round at any other try, and nothing of others: the round is given up.
	Final bool
}

// Remember is the status of a suite after some tries. A sink that is new is told of the rounds that end from now on; one that is gone is forgotten.
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

// begins is from when on the rounds of a suite are told to a sink that is first seen now: after the end of all that have ended, and after the commits that
// came. The status knows of no parts of a second.
func begins(status *v1alpha1.BenchmarkSuiteStatus, now time.Time) *metav1.Time {
	from := now.Truncate(time.Second)
	for _, t := range tellings(status.History, status.MeasuredBefore) {
		if !t.at().Before(from) {
			from = t.at().Add(time.Second)
		}
	}
	return &metav1.Time{Time: from}
}

// answered is what the status has of a sink after a try.
func answered(s *v1alpha1.BenchmarkSuite, entry v1alpha1.NotificationStatus, a Answer, now time.Time) v1alpha1.NotificationStatus {
	at := &metav1.Time{Time: now.Truncate(time.Second)}
	if a.Reason == "" || a.Final {
		entry.FailureTime, entry.NextTime, entry.Reason, entry.Message = nil, nil, "", ""
		r := v1alpha1.NotifiedRound{Round: a.Round.Round, Outcome: a.Round.Outcome, FirstSeenTime: a.FirstSeenTime, DeliveryTime: at}
		if c := a.Round.ChangePoints; c.Reason == "" && at.Before(c.CompletionTime) {
			r.DeliveryTime = c.CompletionTime.DeepCopy() // Another's clock is ahead: what it knew of them was told.
		}
		if a.Final {
			r.DeliveryTime, r.Message = nil, util.Clip(a.Message, maxText)
		}
		if onForge(a.Sink) && !a.Final && overtaken(s, a.Round) {
			return entry // It is told again, of what became known while it was told.
		}
		return done(s, entry, r)
	}
	entry.Reason, entry.Message = a.Reason, util.Clip(a.Message, maxText)
	if entry.FailureTime == nil {
		entry.FailureTime = at
	}
	longest := longestPause
	if onForge(a.Sink) {
		longest = deadline // What it lets in within an hour, it says to the second.
	}
	pause := max(min(max(now.Sub(entry.FailureTime.Time), shortestPause), longestPause), min(a.After, longest))
	entry.NextTime = &metav1.Time{Time: now.Add(pause).Truncate(time.Second)}
	tried := v1alpha1.NotifiedRound{Round: a.Round.Round, Outcome: a.Round.Outcome, FirstSeenTime: a.FirstSeenTime}
	for _, t := range waiting(s, a.Sink, &entry, now) { // What is wrong may be of the one that was tried alone: each has a try.
		if is(tried, t) && now.Sub(t.at()) >= deadline && now.Sub(entry.FailureTime.Time) >= deadline {
			entry = done(s, entry, tried)
		}
	}
	return entry
}

// overtaken reports whether the change points of a round became known after it was read to be told.
func overtaken(s *v1alpha1.BenchmarkSuite, told v1alpha1.SuiteRound) bool {
	known := func(l v1alpha1.SuiteRound) bool {
		return l.ChangePoints.CompletionTime != nil && l.ChangePoints.Reason == ""
	}
	return !known(told) && slices.ContainsFunc(s.Status.History, func(l v1alpha1.SuiteRound) bool {
		return l.Round == told.Round && l.Outcome == told.Outcome && known(l)
	})
}

// done notes a round with which a sink is done, since it has taken it or it is given up. One that the history has no longer is forgotten.
func done(s *v1alpha1.BenchmarkSuite, entry v1alpha1.NotificationStatus, r v1alpha1.NotifiedRound) v1alpha1.NotificationStatus {
	if !slices.ContainsFunc(tellings(s.Status.History, s.Status.MeasuredBefore), func(t telling) bool { return is(r, t) }) {
		return entry
	}
	told := func(old v1alpha1.NotifiedRound) bool {
		return old.Round == r.Round && old.Outcome == r.Outcome && old.FirstSeenTime.Equal(r.FirstSeenTime)
	}
	entry.Rounds = append(slices.DeleteFunc(entry.Rounds, told), r) // A forge that is told again has what is newer.
	slices.SortStableFunc(entry.Rounds, func(a, b v1alpha1.NotifiedRound) int { return cmp.Compare(b.Round, a.Round) })
	return entry
}

// condition states whether the sinks of a suite take what they are told; a suite without any has no such condition.
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
			text = fmt.Sprintf("%s %s: each round is offered for an hour", n.Name, n.Message)
		}
		if lost := GivenUp(n); len(lost) > 0 {
			text += "; given up: " + strings.Join(lost, ", ")
		}
		if n.UntoldRounds > 0 {
			text += fmt.Sprintf("; rounds that left the history before it was told of them: %d", n.UntoldRounds)
		}
		texts = append(texts, text)
	}
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionNotified, Status: status, Reason: reason, Message: util.Clip(strings.Join(texts, "; "), maxCondition),
		ObservedGeneration: s.Generation, LastTransitionTime: metav1.Time{Time: now},
	})
	slices.SortFunc(s.Status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
}

// taken tells of the newest round that a sink has taken.
func taken(n v1alpha1.NotificationStatus) string {
	for _, r := range n.Rounds {
		if r.DeliveryTime != nil {
			return fmt.Sprintf("has taken round %d", r.Round)
		}
	}
	return "has taken no round of the history yet"
}

// GivenUp names the rounds of the history that a sink was not told of, since it failed for too long or would never take them.
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
