package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

// newForge has a repository that was first seen at noon.
func newForge(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "a")
	w.suite.Spec.Parameters = parametersOf("commit", "none", "pull", "none")
	w.suite.Spec.Notifications[0] = forged("a")
	return w
}

// measures ends a round that began with a commit.
func (w *world) measures(round int32, inputs, commit string, outcome v1alpha1.RoundOutcome) {
	w.now = w.now.Add(10 * time.Minute)
	w.ends(round, outcome)
	line := with(w.suite.Status.History[0], "commit", commit)
	line.Inputs = inputs
	w.suite.Status.History[0] = line
	w.suite.Status.Current = v1alpha1.CurrentRound{}
}

func (w *world) begins(round int32) { w.suite.Status.Current.Round = round }

// comes adds a commit a minute later; by is the round that has its inputs, or 0.
func (w *world) comes(commit string, by int32) {
	w.now = w.now.Add(time.Minute)
	w.suite.Status.Inputs.Parameters = []v1alpha1.ParameterValue{{Name: "commit", Value: commit}, {Name: "pull", Value: "none"}}
	w.look(by)
}

func (w *world) look(by int32) {
	w.t.Helper()
	before := w.suite.DeepCopy()
	round := util.First(before.Status.History, func(l *v1alpha1.SuiteRound) bool { return l.Round == by })
	if round == nil && by > 0 {
		open := with(v1alpha1.SuiteRound{Round: by, Inputs: fmt.Sprintf("of %d", by), CompletionTime: &metav1.Time{Time: w.now}}, "commit", "first")
		round = &open
	}
	Keep(before, &w.suite.Status, round, w.now)
	// Another operator reads the status, without fractions of a second.
	text, err := json.Marshal(w.suite.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	w.suite.Status = v1alpha1.BenchmarkSuiteStatus{}
	if err := json.Unmarshal(text, &w.suite.Status); err != nil {
		w.t.Fatal(err)
	}
}

// A branch that requires the status accepts no commit without one.
func TestCommitWithKnownInputsGetsEarlierRound(t *testing.T) {
	w := newForge(t)
	w.measures(1, "x", "a", v1alpha1.RoundPassed)
	w.comes("a", 1)
	w.try("a 1", nil)
	w.try("", nil)
	w.comes("b", 1)
	w.try("a 1 for b", down(away))
	w.look(1)
	w.now = w.now.Add(time.Minute)
	w.try("a 1 for b", nil)
	w.look(1)
	w.try("", nil)
	w.measures(2, "y", "c", v1alpha1.RoundMissed)
	w.comes("c", 2)
	w.try("a 2", nil)
	w.now = w.now.Add(30 * 24 * time.Hour) // However long ago it was measured.
	w.comes("d", 1)
	w.try("a 1 for d", nil)
	w.comes("c", 2) // Its own round has told of it.
	w.comes("d", 1)
	w.try("", nil)
	// The same commit with another image behind its tag, and back: the newest news must show the suite's state.
	w.comes("d", 2)
	w.try("a 2 for d", nil)
	w.comes("d", 1)
	w.try("a 1 for d", nil)
	w.look(1)
	w.try("", nil)
	w.comes("none", 1)
	w.comes("e", 0) // Its inputs are unknown, or its own round is about to begin.
	w.try("", nil)
	const want = "2 Missed taken, 2 Missed taken for a later commit, 1 Passed taken, 1 Passed taken for a later commit, 1 Passed taken for a later commit"
	if got := w.rounds("a"); got != want {
		t.Errorf("it is done with %s", got)
	}
}

// A commit that comes during a measurement waits for its end, and hears of a round without a result what that round's
// own commit hears.
func TestCommitDuringRoundOfItsInputs(t *testing.T) {
	w := newForge(t)
	w.begins(1)
	w.comes("first", 1)
	w.comes("b", 1)
	w.look(1)
	w.suite.Status.Inputs.Parameters[0].Value = "c" // Within the same second.
	w.look(1)
	w.try("", nil)
	w.measures(1, "of 1", "first", v1alpha1.RoundPassed)
	w.look(1)
	w.try("a 1", nil)
	w.try("a 1 for b", nil)
	w.try("a 1 for c", nil)
	w.try("", nil)
	w.begins(2)
	w.comes("d", 2)
	w.measures(2, "of 2", "first", v1alpha1.RoundReplaced)
	w.look(1)
	w.try("a 2", nil)
	w.try("a 2 for d", nil) // Like its first commit.
	w.try("a 1 for d", nil)
	w.try("", nil)
	// The round in progress began with this commit, so it hears of it as its own, however recently it heard of
	// another.
	w.comes("first", 1)
	w.try("a 1 for first", nil)
	w.begins(3)
	w.look(3)
	w.measures(3, "of 3", "first", v1alpha1.RoundPassed)
	w.look(3)
	w.try("a 3", nil)
	w.try("", nil)
}

func TestCommitStatusIsSentOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*world)
		want    string
	}{
		"another round of the same inputs": {func(w *world) { w.measures(2, "x", "a", v1alpha1.RoundMissed); w.look(2) }, "a 2"},
		"one that came to nothing": {func(w *world) {
			w.measures(2, "x", "b", v1alpha1.RoundIncomplete)
			w.look(1)
		}, "a 2, a 1 for b"},
		"one that came to nothing within the second of another": {func(w *world) {
			w.measures(2, "x", "b", v1alpha1.RoundPassed)
			w.now = w.now.Add(-10 * time.Minute)
			w.measures(3, "x", "b", v1alpha1.RoundReplaced)
			w.look(2)
		}, "a 2, a 3, a 2 for b"},
		"what a pipeline says of the same commit": {func(w *world) {
			w.measures(2, "z", "b", v1alpha1.RoundMissed)
			w.suite.Status.History[0].Webhook = "id"
			w.look(1)
		}, "a 2"},
		"change points that became known": {func(w *world) {
			w.now = w.now.Add(time.Minute)
			w.suite.Status.History[0].ChangePoints.CompletionTime = &metav1.Time{Time: w.now}
		}, "a 1, a 1 for b"},
		"nothing, after a day": {func(w *world) {
			w.now = w.now.Add(25 * time.Hour)
			w.suite.Status.Notifications[0].Rounds = nil
		}, ""},
		"a round that has left the history": {func(w *world) {
			w.suite.Status.History = nil
			w.look(0)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newForge(t)
			w.measures(1, "x", "a", v1alpha1.RoundPassed)
			w.comes("b", 1)
			w.try("a 1", nil)
			w.try("a 1 for b", nil)
			tc.happens(w)
			got := ""
			for range 5 {
				due, text, _ := w.next()
				if len(due) == 0 {
					break
				}
				got += ", " + text
				w.remember(Answer{Due: due[0]})
			}
			if got = strings.TrimPrefix(got, ", "); got != tc.want {
				t.Errorf("it is told %q, want %q", got, tc.want)
			}
		})
	}
}

// A new forge hears of what comes from then on; a sink of events hears of rounds only.
func TestSinksOfCommitMeasuredBefore(t *testing.T) {
	w := newForge(t)
	w.measures(1, "x", "a", v1alpha1.RoundPassed)
	w.comes("b", 1)
	w.suite.Spec.Notifications = append(w.suite.Spec.Notifications, forged("late"), v1alpha1.Notification{Name: "events", URL: "https://events.example/"})
	w.comes("c", 1)
	if n := len(w.suite.Status.MeasuredBefore); n != 1 {
		t.Errorf("before all sinks are known, %d commits are", n)
	}
	w.remember()
	w.look(1)
	w.try("a 1, late 1 for c", nil)
	w.try("a 1 for b", nil)
	w.try("a 1 for c", nil)
	w.try("", nil)
	w.suite.Spec.Notifications = w.suite.Spec.Notifications[2:]
	w.remember()
	w.comes("d", 1)
	if n := len(w.suite.Status.MeasuredBefore); n != 2 {
		t.Errorf("without repositories, there are %d commits", n)
	}
}

// The status respects the schema's limits, and counts the rest.
func TestCommitsThatCameLaterAreBounded(t *testing.T) {
	w := newForge(t)
	w.measures(1, "x", "a", v1alpha1.RoundPassed)
	w.try("a 1", nil)
	for n := range maxBefore + 3 {
		w.comes(fmt.Sprint("b", n), 1)
	}
	if n, untold := len(w.suite.Status.MeasuredBefore), find(w.suite, "a").UntoldRounds; n != maxBefore || untold != 3 {
		t.Errorf("%d commits are remembered, and %d were not told", n, untold)
	}
	for n := range maxBefore {
		w.try(fmt.Sprint("a 1 for b", n+3), nil)
	}
	w.try("", nil)
	if n := len(find(w.suite, "a").Rounds); n != maxBefore+1 {
		t.Errorf("it is done with %d", n)
	}
	w.suite.Status.History = nil
	w.look(0)
	w.remember()
	if s := w.suite.Status; len(s.MeasuredBefore) > 0 || len(s.Notifications[0].Rounds) > 0 {
		t.Errorf("when the round is forgotten, the status is %+v", s)
	}
}

func TestUnknownCommitIsGivenUp(t *testing.T) {
	w := newForge(t)
	w.measures(1, "x", "a", v1alpha1.RoundPassed)
	w.comes("b", 1)
	w.try("a 1", nil)
	w.try("a 1 for b", down(&Answer{Reason: v1alpha1.ReasonSinkRefused, Message: "has no commit b", Final: true}))
	w.look(1)
	w.try("", nil)
	const want = "a received round 1; given up: round 1 (Passed) for a commit that came later, since it has no commit b"
	if diff := cmp.Diff(want, w.notified().Message); diff != "" {
		t.Errorf("Notified (-want +got):\n%s", diff)
	}
}

// A commit of one repository means nothing to another.
func TestCommitIsSentToItsRepositoryOnly(t *testing.T) {
	w := newForge(t)
	other := forged("b")
	other.GitHub.CommitParameter = "config"
	w.suite.Spec.Parameters = append(w.suite.Spec.Parameters, parametersOf("config", "none")...)
	w.suite.Spec.Notifications = append(w.suite.Spec.Notifications, other)
	w.remember()
	comes := func(commit, config string, by int32) {
		w.now = w.now.Add(time.Minute)
		w.suite.Status.Inputs.Parameters = []v1alpha1.ParameterValue{{Name: "commit", Value: commit}, {Name: "config", Value: config}, {Name: "pull", Value: "none"}}
		w.look(by)
	}
	w.measures(1, "x", "a", v1alpha1.RoundPassed)
	w.suite.Status.History[0].Noted = append(w.suite.Status.History[0].Noted, v1alpha1.ParameterValue{Name: "config", Value: "k"})
	w.try("a 1, b 1", nil)
	// A pipeline measures b's commit with other inputs: its result stays.
	w.measures(2, "y", "none", v1alpha1.RoundMissed)
	w.suite.Status.History[0].Webhook = "id"
	w.suite.Status.History[0].Parameters = []v1alpha1.ParameterValue{{Name: "config", Value: "k"}}
	w.try("b 2", nil)
	comes("b", "k", 1)
	w.try("a 1 for b", nil)
	comes("b", "l", 1)
	w.try("b 1 for ", nil) // It has no value of a's parameter.
	comes("c", "m", 1)
	w.try("a 1 for c, b 1 for c", nil)
	w.try("", nil)
}

// A round that does not know its commit may have begun with the one that comes.
func TestNewRepositoryGetsNoOlderRoundWithoutCommit(t *testing.T) {
	none := []v1alpha1.ParameterValue{{Name: "commit", Value: "none"}}
	for name, tc := range map[string]struct {
		noted []v1alpha1.ParameterValue
		// there: the repository existed when the round ended.
		there bool
		want  string
	}{
		"it ended before, and nobody noted its commit":       {nil, false, ""},
		"it ended before, and is known to have had none":     {none, false, "late 1 for c"},
		"it ended afterwards, and nobody noted its commit":   {nil, true, "late 1 for c"},
		"it ended afterwards, and is known to have had none": {none, true, "late 1 for c"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newForge(t)
			w.suite.Spec.Notifications = nil
			w.remember()
			arrives := func() {
				w.now = w.now.Add(time.Minute)
				w.suite.Spec.Notifications = []v1alpha1.Notification{forged("late")}
				w.remember()
			}
			if tc.there {
				arrives()
			}
			w.measures(1, "x", "a", v1alpha1.RoundPassed)
			w.suite.Status.History[0].Noted = tc.noted
			if !tc.there {
				arrives()
			}
			w.comes("c", 1)
			w.try(tc.want, nil)
		})
	}
}

// The reader of change points and the notifier may run on different nodes.
func TestRoundIsSentOnceDespiteClockSkew(t *testing.T) {
	for name, tc := range map[string]struct{ reason, again string }{
		"of change points that were known":         {"", ""},
		"of those that a store did not give first": {v1alpha1.ReasonStoreUnavailable, "a 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newForge(t)
			w.measures(1, "x", "a", v1alpha1.RoundPassed)
			points := &w.suite.Status.History[0].ChangePoints
			points.Reason, points.CompletionTime = tc.reason, &metav1.Time{Time: w.now.Add(5 * time.Minute)}
			w.try("a 1", nil)
			w.try("", nil)
			w.now = w.now.Add(time.Minute)
			if points = &w.suite.Status.History[0].ChangePoints; tc.reason != "" {
				points.Reason, points.CompletionTime = "", &metav1.Time{Time: w.now}
			}
			w.try(tc.again, nil)
			w.try("", nil)
		})
	}
}
