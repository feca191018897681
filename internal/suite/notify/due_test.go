package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// world is a suite, its sinks, and a clock.
type world struct {
	t     *testing.T
	suite *v1alpha1.BenchmarkSuite
	now   time.Time
	// held rounds are not told yet.
	held map[int32]bool
}

// newWorld has sinks that were first seen at noon.
func newWorld(t *testing.T, sinks ...string) *world {
	t.Helper()
	w := &world{t: t, suite: named(), now: noon, held: map[int32]bool{}}
	for _, name := range sinks {
		w.suite.Spec.Notifications = append(w.suite.Spec.Notifications, v1alpha1.Notification{Name: name, URL: "https://" + name + ".example/"})
	}
	w.remember()
	return w
}

func (w *world) remember(answers ...Answer) { w.suite.Status = Remember(w.suite, answers, w.now) }

func (w *world) ends(round int32, outcome v1alpha1.RoundOutcome) {
	before := w.suite.DeepCopy()
	line := ended(round, outcome, int(w.now.Sub(noon).Minutes()))
	w.suite.Status.History = append([]v1alpha1.SuiteRound{line}, w.suite.Status.History...)
	w.suite.Status.History = w.suite.Status.History[:min(len(w.suite.Status.History), 20)]
	Forget(before, &w.suite.Status, w.now)
}

// next returns the due rounds, such as "a 3", or "a 3 for b" for a later commit, and when to look again.
func (w *world) next() ([]Due, string, time.Duration) {
	due, after := Next(w.suite, w.now, func(line v1alpha1.SuiteRound) time.Duration {
		if w.held[line.Round] {
			return time.Minute
		}
		return 0
	})
	var texts []string
	for _, d := range due {
		text := fmt.Sprintf("%s %d", d.Sink.Name, d.Round.Round)
		if d.FirstSeenTime != nil {
			text += " for " + value(d.Round, "commit")
		}
		texts = append(texts, text)
	}
	return due, strings.Join(texts, ", "), after
}

// try lets every due sink answer, and checks which were due.
func (w *world) try(want string, answers map[string]Answer) {
	w.t.Helper()
	due, got, _ := w.next()
	if got != want {
		w.t.Errorf("%s after noon %q is due, want %q", w.now.Sub(noon), got, want)
	}
	var all []Answer
	for _, d := range due {
		a := answers[d.Sink.Name]
		a.Due = d
		all = append(all, a)
	}
	w.remember(all...)
}

func (w *world) notified() metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionNotified)
	if c == nil {
		w.t.Fatal("there is no condition Notified")
	}
	return *c
}

// rounds are the ones that a sink is done with, such as "3 Passed taken".
func (w *world) rounds(name string) string {
	var texts []string
	for _, r := range find(w.suite, name).Rounds {
		how := "given up"
		if r.DeliveryTime != nil {
			how = "taken"
		}
		if r.FirstSeenTime != nil {
			how += " for a later commit"
		}
		texts = append(texts, fmt.Sprintf("%d %s %s", r.Round, r.Outcome, how))
	}
	return strings.Join(texts, ", ")
}

func down(a *Answer) map[string]Answer { return map[string]Answer{"a": *a} }

var away = &Answer{Reason: v1alpha1.ReasonSinkRefused, Message: "answers 503 Service Unavailable"}

// Rounds can end faster than a sink accepts them. It hears of twenty at most; the others are counted.
func TestUnsentRoundsThatLeaveHistoryAreCounted(t *testing.T) {
	w := newWorld(t, "a", "b")
	for n := int32(1); n <= 23; n++ {
		w.ends(n, v1alpha1.RoundPassed)
		w.remember(Answer{Due: Due{Sink: w.suite.Spec.Notifications[0], Round: w.suite.Status.History[0]}})
	}
	if a, b := find(w.suite, "a").UntoldRounds, find(w.suite, "b").UntoldRounds; a != 0 || b != 3 {
		t.Errorf("who takes each is not told of %d, and who takes none of %d", a, b)
	}
	const want = "a received round 23; b has received no round of the history yet; rounds that left the history before they were sent: 3"
	if got := w.notified().Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	before := w.suite.DeepCopy()
	w.suite.Status.History, w.suite.Status.Current.Round = w.suite.Status.History[1:], 23
	if Forget(before, &w.suite.Status, w.now); find(w.suite, "b").UntoldRounds != 3 {
		t.Errorf("a round that goes on counts: %d", find(w.suite, "b").UntoldRounds)
	}
}

func TestEachSinkGetsEachRoundOnce(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.try("", nil)
	w.now = w.now.Add(time.Minute)
	w.ends(1, v1alpha1.RoundPassed)
	w.try("a 1, b 1", nil)
	w.try("", nil)
	w.ends(2, v1alpha1.RoundMissed)
	w.now = w.now.Add(time.Minute)
	w.ends(3, v1alpha1.RoundPassed)
	w.try("a 2, b 2", down(away))
	w.try("b 3", nil)
	if got := w.rounds("b"); got != "3 Passed taken, 2 Missed taken, 1 Passed taken" {
		t.Errorf("b is done with %s", got)
	}
	c := w.notified()
	if want := "a answers 503 Service Unavailable: each round is retried for an hour; b received round 3"; c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonSinkRefused || c.Message != want {
		t.Errorf("Notified is %+v", c)
	}
	w.now = w.now.Add(10 * time.Second)
	w.try("a 2", nil)
	w.try("a 3", nil)
	w.try("", nil)
	if c := w.notified(); c.Status != metav1.ConditionTrue || c.Message != "a received round 3; b received round 3" {
		t.Errorf("Notified is %+v", c)
	}
}

func TestNewSinkGetsNoEarlierRounds(t *testing.T) {
	w := newWorld(t)
	if w.suite.Status.Conditions != nil || w.suite.Status.Notifications != nil {
		t.Errorf("a suite without sinks has %+v", w.suite.Status)
	}
	w.ends(1, v1alpha1.RoundPassed)
	w.suite.Spec.Notifications = []v1alpha1.Notification{{Name: "a", URL: "https://a.example"}}
	if Known(w.suite) {
		t.Error("a sink that is new is known")
	}
	w.remember()
	if !Known(w.suite) {
		t.Error("a sink that was remembered is not known")
	}
	w.try("", nil)
	w.now = w.now.Add(time.Minute)
	w.ends(2, v1alpha1.RoundPassed)
	w.try("a 2", nil)
	w.suite.Spec.Notifications[0].Name = "b"
	if Known(w.suite) {
		t.Error("a sink with another name is known")
	}
	w.now = w.now.Add(time.Minute)
	w.remember()
	w.try("", nil)
	w.suite.Spec.Notifications = nil
	w.remember()
	if s := w.suite.Status; s.Notifications != nil || len(s.Conditions) > 0 {
		t.Errorf("without its sinks, the suite has %+v", s)
	}
}

// Pauses grow with the time of failure, and end at last.
func TestFailingSinkIsRetriedWithBackoff(t *testing.T) {
	w := newWorld(t, "a")
	w.ends(1, v1alpha1.RoundPassed)
	var pauses []time.Duration
	for {
		w.try("a 1", down(away))
		if w.rounds("a") != "" {
			break
		}
		_, _, after := w.next()
		pauses = append(pauses, after)
		w.now = w.now.Add(after)
	}
	s := time.Second
	want := []time.Duration{10 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 320 * s, 640 * s, 900 * s, 900 * s, 900 * s}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("the pauses (-want +got):\n%s", diff)
	}
	if got := w.rounds("a"); got != "1 Passed given up" {
		t.Errorf("after %s it is done with %s", w.now.Sub(noon), got)
	}
	if c := w.notified(); !strings.HasSuffix(c.Message, "each round is retried for an hour; given up: round 1 (Passed)") || c.Status != metav1.ConditionFalse {
		t.Errorf("Notified is %+v", c)
	}
	if due, _, after := w.next(); len(due) > 0 || after > 0 {
		t.Errorf("a round that was given up is due: %v after %s", due, after)
	}
	// The next round is offered for an hour too, even to a sink that was down for a day.
	w.now = w.now.Add(24 * time.Hour)
	w.ends(2, v1alpha1.RoundMissed)
	w.try("a 2", down(away))
	w.now = w.now.Add(15 * time.Minute)
	w.try("a 2", nil)
	if got := w.rounds("a"); got != "2 Missed taken, 1 Passed given up" {
		t.Errorf("it is done with %s", got)
	}
	if c := w.notified(); c.Status != metav1.ConditionTrue || c.Message != "a received round 2; given up: round 1 (Passed)" {
		t.Errorf("Notified is %+v", c)
	}
}

// A forge's refusal may concern one commit or pull request only.
func TestRefusedRoundDoesNotBlockOtherRounds(t *testing.T) {
	for name, tc := range map[string]struct {
		second *Answer
		want   string
	}{
		"the next is taken":        {&Answer{}, "2 Passed taken, 1 Passed given up"},
		"the next is refused, too": {away, "2 Passed given up, 1 Passed given up"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			w.ends(1, v1alpha1.RoundPassed)
			w.now = w.now.Add(time.Minute)
			w.ends(2, v1alpha1.RoundPassed)
			for range 50 {
				if w.rounds("a") != "" {
					break
				}
				w.try("a 1", down(away))
				_, _, after := w.next()
				w.now = w.now.Add(after)
			}
			if got := w.rounds("a"); got != "1 Passed given up" {
				t.Errorf("without a try of the next, it is done with %s", got)
			}
			w.try("a 2", down(tc.second))
			if got := w.rounds("a"); got != tc.want {
				t.Errorf("it is done with %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSinkRetryAfterIsRespected(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 5 * time.Second: 10 * time.Second, 90 * time.Second: 90 * time.Second, 18 * time.Hour: 15 * time.Minute} {
		w := newWorld(t, "a")
		w.ends(1, v1alpha1.RoundPassed)
		w.try("a 1", down(&Answer{Reason: v1alpha1.ReasonSinkRefused, Message: "answers 429", After: asked}))
		if _, due, after := w.next(); after != want || due != "" {
			t.Errorf("asked to wait for %s, it waits for %s", asked, after)
		}
	}
}

// One round delays another, but costs it nothing else.
func TestRoundsAreSentInOrderOfTheirEnds(t *testing.T) {
	w := newWorld(t, "a")
	w.ends(1, v1alpha1.RoundReplaced)
	w.try("a 1", nil)
	w.now = w.now.Add(time.Minute)
	w.ends(2, v1alpha1.RoundPassed)
	w.held[2] = true
	if _, due, after := w.next(); due != "" || after != time.Minute {
		t.Errorf("a round that is held is due: %q after %s", due, after)
	}
	// The first continues, and ends differently.
	w.now = w.now.Add(time.Minute)
	w.suite.Status.History[1] = ended(1, v1alpha1.RoundPassed, 2)
	w.try("", nil)
	w.held[2] = false
	w.try("a 2", nil)
	w.try("a 1", nil)
	w.try("", nil)
	if got := w.rounds("a"); got != "2 Passed taken, 1 Passed taken" {
		t.Errorf("it is done with %s", got)
	}
}

// An operator that was down for a night tells of the last round and offers it for an hour; after a day it is old.
func TestNotificationsAfterOperatorAbsence(t *testing.T) {
	w := newWorld(t, "a")
	w.ends(1, v1alpha1.RoundPassed)
	w.now = w.now.Add(9 * time.Hour)
	w.try("a 1", down(away))
	w.now = w.now.Add(50 * time.Minute)
	w.try("a 1", nil)
	w.ends(2, v1alpha1.RoundPassed)
	w.now = w.now.Add(25 * time.Hour)
	w.try("", nil)
}

// The status respects the schema's limits.
func TestNotificationStatusIsBounded(t *testing.T) {
	w := newWorld(t, "a")
	for n := int32(1); n <= 50; n++ {
		w.now = w.now.Add(time.Minute)
		w.ends(n, v1alpha1.RoundMissed)
		answer := *away
		answer.Message = strings.Repeat("é", 600)
		if n%2 == 0 {
			answer = Answer{}
		}
		w.try(fmt.Sprintf("a %d", n), down(&answer))
		if n%2 == 1 {
			w.now = w.now.Add(time.Minute)
			w.try(fmt.Sprintf("a %d", n), nil)
		}
		if rounds := find(w.suite, "a").Rounds; len(rounds) > 20 || len(find(w.suite, "a").Message) > 512 {
			t.Fatalf("after %d rounds, it remembers %+v", n, rounds)
		}
	}
}
