package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

func (w *world) told() notify.Event { return Told(w.suite, w.runs, w.suite.Status.History[0]) }

func TestEventMatchesSuiteStatus(t *testing.T) {
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("its runs end", ends(well, missed))
	e := w.told()
	if e.Type != "dev.loadstone.round.missed" || e.ID != "0c9f3f11-0000-4000-8000-000000000001/1/missed" || !e.Time.Equal(&metav1.Time{Time: w.now}) {
		t.Errorf("the event is %+v", e)
	}
	if g := e.Data.Gate; g.Ready != metav1.ConditionFalse || g.Reason != v1alpha1.ReasonObjectivesMissed || g.Message != "round 1: large: throughput 0.81 of anchor's, at least 0.9 wanted" {
		t.Errorf("the gate is %+v", g)
	}
	if r := e.Data.Runs; len(r) != 2 || r[0].Name != "small" || r[0].Verdict != "all objectives met" || r[1].BenchmarkRun != w.runs[1].Name || r[1].Report != w.runs[1].Status.Report.URI {
		t.Errorf("the runs are %+v", r)
	}
	w.step("the gate takes what is inconclusive", commit(func(s *v1alpha1.BenchmarkSuiteSpec) {
		faster(s)
		s.Gate.OnInconclusive = v1alpha1.InconclusivePasses
	}))
	w.step("the round is inconclusive", ends(undecided, well))
	if e := w.told(); e.Type != "dev.loadstone.round.inconclusive" || e.Data.Gate.Ready != metav1.ConditionTrue || e.Data.Gate.Reason != v1alpha1.ReasonObjectivesUndecided {
		t.Errorf("the event is %+v with the gate %+v", e, e.Data.Gate)
	}
}

func TestRoundWithoutVerdictHasNoGate(t *testing.T) {
	w := newWorld(t, concurrency(v1alpha1.ConcurrencyReplace))
	w.step("the suite is applied")
	w.step("another spec is committed", commit(faster))
	if e := w.told(); e.Type != "dev.loadstone.round.replaced" || e.Data.Gate != nil {
		t.Errorf("the event is %+v", e)
	}
}

// News of an open gate waits until it is open, but not forever.
func TestRoundIsSentWhenChangePointsAreKnown(t *testing.T) {
	w := newWatched(t, 5)
	w.ratio = func(round int32) float64 {
		if round < 13 {
			return 1
		}
		return 0.9
	}
	for n := int32(1); n <= 16; n++ {
		w.round(n, well)
	}
	line := w.suite.Status.History[0]
	if g := w.told().Data.Gate; Held(w.suite, line, w.now) != 0 || g.Ready != metav1.ConditionFalse || g.Reason != v1alpha1.ReasonRegressed || !strings.Contains(g.Message, "round 13: −10.0 %") {
		t.Errorf("of a value that became worse, the gate is %+v", g)
	}
	w.away = &Problem{v1alpha1.ReasonStoreUnavailable, "no route to the store"}
	w.round(17, well)
	line = w.suite.Status.History[0]
	if held := Held(w.suite, line, w.now); held != 15*time.Minute {
		t.Errorf("while the store is away, the round is held for %s", held)
	}
	if held := Held(w.suite, w.suite.Status.History[1], w.now); held != 0 {
		t.Errorf("a round by which the suite is not judged is held for %s", held)
	}
	const away = "round 17: gate.changePoints waits for the reports of its rounds: no route to the store"
	if g := w.told().Data.Gate; g.Ready != metav1.ConditionUnknown || g.Reason != v1alpha1.ReasonStoreUnavailable || g.Message != away {
		t.Errorf("of change points that nobody knows, the gate is %+v", g)
	}
	if held := Held(w.suite, line, w.now.Add(15*time.Minute)); held != 0 {
		t.Errorf("after a quarter of an hour, the round is held for %s", held)
	}
	line.ChangePoints.StartTime = &metav1.Time{Time: w.now.Add(14 * time.Minute)}
	w.suite.Status.History[0].ChangePoints.StartTime = line.ChangePoints.StartTime
	if held := Held(w.suite, line, w.now.Add(15*time.Minute)); held != 10*time.Minute {
		t.Errorf("while the store is waited for since a minute, the round is held for %s", held)
	}
	w.suite.Status.History[0].ChangePoints.StartTime = &metav1.Time{Time: w.now}
	w.now = w.now.Add(StoreDeadline)
	w.look()
	if g := w.told().Data.Gate; Held(w.suite, w.suite.Status.History[0], w.now) != 0 || g.Ready != metav1.ConditionFalse || g.Reason != v1alpha1.ReasonStoreUnavailable {
		t.Errorf("when the store was waited for, the gate is %+v", g)
	}
}

func TestNonJudgingRoundPassesNoGate(t *testing.T) {
	const other, changed = "this round does not judge the suite", "the suite's spec changed, and its new state was unknown when this was sent"
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied")
	w.step("its runs end", ends(well, missed))
	w.step("the webhook gives another image", has("shop/checkout:1"), request("a", "shop/checkout:1"))
	w.step("its round passes", ends(well, well))
	if e := w.told(); e.Type != "dev.loadstone.round.passed" || *e.Data.Gate != (notify.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: other}) {
		t.Errorf("of a pipeline's own image, the gate is %+v", e.Data.Gate)
	}
	if g := Told(w.suite, w.runs, w.suite.Status.History[1]).Data.Gate; g.Ready != metav1.ConditionFalse || g.Reason != v1alpha1.ReasonObjectivesMissed {
		t.Errorf("of the round that the suite is judged by, the gate is %+v", g)
	}
	commit(faster)(w)
	if g := Told(w.suite, w.runs, w.suite.Status.History[1]).Data.Gate; *g != (notify.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: changed}) {
		t.Errorf("of a spec that nobody has looked at, the gate is %+v", g)
	}
	w.step("the spec is looked at")
	if g := Told(w.suite, w.runs, w.suite.Status.History[1]).Data.Gate; *g != (notify.Gate{Ready: metav1.ConditionUnknown, Reason: v1alpha1.ReasonPending, Message: other}) {
		t.Errorf("of the round of an earlier spec, the gate is %+v", g)
	}
}

// A round's result goes to its first commit, whatever the spec says later.
func TestRoundKeepsItsCommit(t *testing.T) {
	w := newWorld(t, commit(knows("1")))
	w.step("the suite is applied")
	w.step("another commit comes while its round is in progress", commit(knows("2")), commit(faster))
	w.step("the round of the first passes", ends(well, well))
	w.step("the round of the second passes", ends(well, well))
	for i, digit := range []string{"2", "1"} {
		line := w.suite.Status.History[i]
		if diff := cmp.Diff([]v1alpha1.ParameterValue{{Name: "commit", Value: strings.Repeat(digit, 40)}}, line.Noted); diff != "" {
			t.Errorf("round %d notes (-want +got):\n%s", line.Round, diff)
		}
	}
}
