package suite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/suite/history"
)

// watched is a world whose gate uses change points, and a store with its reports.
type watched struct {
	*world
	// ratio is each round's throughput; lost reports are gone.
	ratio func(round int32) float64
	lost  func(round int32) bool
	// away is the store's error; nil if it answers.
	away *Problem
	// read lists the rounds whose reports were read.
	read []int32
}

func newWatched(t *testing.T, within int32, deltas ...func(*world)) *watched {
	t.Helper()
	w := &watched{world: newWorld(t, deltas...)}
	w.suite.Spec.Gate.ChangePoints.WithinRounds = within
	w.ratio = func(int32) float64 { return 1 }
	w.lost = func(int32) bool { return false }
	return w
}

func (w *watched) reading(asked *Asked) *Reading {
	w.read = append(w.read, asked.Round)
	if w.away != nil {
		return &Reading{Round: asked.Round, Away: w.away}
	}
	var values []history.Values
	var gaps []history.Gap
	for _, m := range asked.Measured {
		if m.Round > asked.Round || m.Report == "" {
			w.t.Errorf("up to round %d, %+v is asked for", asked.Round, m)
		}
		if w.lost(m.Round) {
			gaps = append(gaps, history.Gap{Round: m.Round, Run: m.Run, Reason: "no such object"})
			continue
		}
		ratio := w.ratio(m.Round) * (1 + 0.001*float64(m.Round%3))
		c := verdict.Comparison{Implementation: "candidate", Baseline: "anchor", Load: "sweep", Overall: []verdict.Result{{Metric: verdict.Throughput, Ratio: &ratio, Blocks: 10}}}
		values = append(values, history.Report{Round: m.Round, Run: m.Run, Table: analysis.Table{Comparisons: []verdict.Comparison{c}}}.Values())
	}
	return &Reading{Round: asked.Round, History: history.Of(w.suite.Name, MinimumEffect(w.suite), values, gaps)}
}

func (w *watched) look() Decision {
	w.t.Helper()
	f := w.facts()
	d := Decide(f)
	if d.Read != nil {
		f.Reading = w.reading(d.Read)
		if d = Decide(f); d.Read != nil {
			w.t.Errorf("what was read is asked for again: %+v", d.Read)
		}
	}
	w.apply(d, always)
	w.isSettled(fmt.Sprint("round ", w.suite.Status.LastRound.Round))
	return d
}

// round measures another image; both of its runs end this way.
func (w *watched) round(n int32, way func(*v1alpha1.BenchmarkRun)) {
	w.t.Helper()
	push(fmt.Sprintf("sha256:%04x", n))(w.world)
	w.look()
	ends(way, way)(w.world)
	w.look()
}

func (w *watched) ready() metav1.Condition {
	return *meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionReady)
}

func (w *watched) wants(when string, status metav1.ConditionStatus, reason string, parts ...string) {
	w.t.Helper()
	c := w.ready()
	if c.Status != status || c.Reason != reason {
		w.t.Errorf("%s: Ready is %+v, want %s and %s", when, c, status, reason)
	}
	for _, part := range parts {
		if !strings.Contains(c.Message, part) {
			w.t.Errorf("%s: the message is %q, want %q", when, c.Message, part)
		}
	}
}

func TestWorseValueFailsGateWithinNewestRounds(t *testing.T) {
	for name, tc := range map[string]struct {
		after  float64
		misses bool
	}{
		"a tenth less":        {0.9, true},
		"a tenth more":        {1.1, false},
		"nothing has changed": {1, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 5)
			w.ratio = func(round int32) float64 {
				if round < 13 {
					return 1
				}
				return tc.after
			}
			missed := map[int32]bool{}
			for n := int32(1); n <= 21; n++ {
				w.round(n, well)
				missed[n] = w.ready().Status == metav1.ConditionFalse
				if s := w.suite.Status; s.LastGood.Round != n || s.LastRound.Outcome != v1alpha1.RoundPassed {
					t.Errorf("round %d has passed, and is not good: %+v", n, s.LastRound)
				}
			}
			// Round 13 is the first that is worse; round 15 confirms it, and counts for five rounds.
			for n, got := range missed {
				if want := tc.misses && n >= 15 && n <= 19; got != want {
					t.Errorf("round %d misses the gate: %v", n, got)
				}
			}
			var want []int32
			for n := int32(1); n <= 21; n++ {
				want = append(want, n)
			}
			if diff := cmp.Diff(want, w.read); diff != "" {
				t.Errorf("reports are not read once per round (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangedBoundRereadsNoReports(t *testing.T) {
	w := newWatched(t, 5)
	w.ratio = func(round int32) float64 {
		if round < 13 {
			return 1
		}
		return 0.9
	}
	for n := int32(1); n <= 17; n++ {
		w.round(n, well)
	}
	w.wants("a value became worse", metav1.ConditionFalse, v1alpha1.ReasonRegressed,
		"round 17: found to be worse within the newest 5 rounds: ", "large, throughput of candidate / anchor under sweep: round 13: −10.0 %, worse, from 1.00× (12 rounds) to 0.90× (5 rounds), found in round 15")
	if got := w.kstatus(); got != "Failed" || w.health() != "Degraded" {
		t.Errorf("Flux reads %s and Argo CD %s", got, w.health())
	}
	if c := w.suite.Status.History[0].ChangePoints; len(c.Worse) != 2 || c.Worse[0].Round != 13 || c.Worse[0].Rounds != 3 || c.CompletionTime == nil {
		t.Errorf("the round remembers %+v", c)
	}
	read := len(w.read)
	bound := func(n int32) {
		commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Gate.ChangePoints.WithinRounds = n })(w.world)
		w.look()
	}
	bound(2)
	w.wants("of old rounds", metav1.ConditionTrue, v1alpha1.ReasonDone)
	bound(3)
	w.wants("of new rounds", metav1.ConditionFalse, v1alpha1.ReasonRegressed)
	bound(0)
	w.wants("without the bound", metav1.ConditionTrue, v1alpha1.ReasonDone)
	if len(w.read) != read {
		t.Errorf("reports were read %d times more", len(w.read)-read)
	}
}

func TestAddedGateReadsExistingRound(t *testing.T) {
	w := newWatched(t, 0)
	w.round(1, well)
	if len(w.read) > 0 || w.suite.Status.LastRound.ChangePoints.StartTime != nil {
		t.Errorf("without a gate, reports are read: %+v", w.suite.Status.LastRound)
	}
	commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Gate.ChangePoints.WithinRounds = 3 })(w.world)
	w.look()
	w.wants("one round", metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met; change points: not enough rounds yet: 1 of ")
	if diff := cmp.Diff([]int32{1}, w.read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func TestMissedRoundReadsNoReports(t *testing.T) {
	w := newWatched(t, 5)
	w.round(1, missed)
	w.wants("an objective is missed", metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed)
	w.round(2, undecided)
	w.wants("an objective is undecided", metav1.ConditionFalse, v1alpha1.ReasonObjectivesUndecided)
	if len(w.read) > 0 {
		t.Errorf("reports are read up to rounds %d", w.read)
	}
	commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Gate.OnInconclusive = v1alpha1.InconclusivePasses })(w.world)
	w.look()
	if diff := cmp.Diff([]int32{2}, w.read); diff != "" {
		t.Errorf("a round that now opens the gate is not read (-want +got):\n%s", diff)
	}
}

func TestMissingReportsAreNamed(t *testing.T) {
	w := newWatched(t, 5)
	w.lost = func(round int32) bool { return round == 1 || round == 2 }
	for n := int32(1); n <= 3; n++ {
		w.round(n, well)
	}
	w.wants("two rounds are gone", metav1.ConditionTrue, v1alpha1.ReasonDone,
		"not enough rounds yet: 1 of ", "large of round 1 left out: no such object; small of round 1 left out", "1 more runs left out")
}

func TestUnavailableStoreIsRetriedUntilGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		onInconclusive v1alpha1.OnInconclusive
		status         metav1.ConditionStatus
		reason, says   string
	}{
		"the gate stays shut":        {v1alpha1.InconclusiveFails, metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable, "gate.changePoints is unknown"},
		"the gate opens if it may":   {v1alpha1.InconclusivePasses, metav1.ConditionTrue, v1alpha1.ReasonDone, "change points are not known: the store is away"},
		"and it stays shut unbidden": {"", metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable, "it is retried every 10m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 5)
			w.suite.Spec.Gate.OnInconclusive = tc.onInconclusive
			w.away = &Problem{v1alpha1.ReasonStoreUnavailable, "the store is away"}
			w.round(1, well)
			w.wants("at first", metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable, "gate.changePoints waits for the reports of its rounds: the store is away")
			if w.kstatus() != "InProgress" {
				t.Errorf("Flux reads %s", w.kstatus())
			}
			after(StoreDeadline - time.Second)(w.world)
			if d := w.look(); d.After != RetryStore {
				t.Errorf("the store is asked again after %s", d.After)
			}
			w.wants("just before the deadline", metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable)
			after(time.Second)(w.world)
			if d := w.look(); d.After == RetryStore {
				t.Error("a store that was given up is asked again")
			}
			w.wants("at the deadline", tc.status, tc.reason, tc.says)
			read := len(w.read)
			after(StoreDeadline - time.Second)(w.world)
			w.look()
			if len(w.read) != read {
				t.Error("what was given up is read again at once")
			}
			after(time.Second)(w.world)
			w.look()
			w.wants("when it is still away", tc.status, tc.reason, tc.says)
			if len(w.read) != read+1 {
				t.Errorf("it is asked %d times", len(w.read)-read)
			}
			w.away = nil
			w.round(2, well)
			w.wants("after the next round", metav1.ConditionTrue, v1alpha1.ReasonDone)
		})
	}
}

// A store that returns an hour late still tells of the round, without another round.
func TestStoreIsReadAfterLateRecovery(t *testing.T) {
	w := newWatched(t, 5)
	w.away = &Problem{v1alpha1.ReasonStoreUnavailable, "the store is away"}
	w.round(1, well)
	for range 7 {
		after(StoreDeadline)(w.world)
		w.look()
	}
	w.wants("an hour later", metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable, "it is retried every 10m0s")
	w.away = nil
	after(StoreDeadline)(w.world)
	w.look()
	w.wants("when it is back", metav1.ConditionTrue, v1alpha1.ReasonDone)
	if c := w.suite.Status.LastGood.ChangePoints; c.Reason != "" || !c.CompletionTime.Time.Equal(w.now) {
		t.Errorf("the round remembers %+v", c)
	}
	read := len(w.read)
	after(StoreDeadline)(w.world)
	w.look()
	if len(w.read) != read {
		t.Error("what is known is read again")
	}
}

func TestStoreIsReadAfterRecoveryInTime(t *testing.T) {
	w := newWatched(t, 5)
	w.away = &Problem{v1alpha1.ReasonStoreRefused, "the key is wrong"}
	w.round(1, well)
	w.wants("at first", metav1.ConditionUnknown, v1alpha1.ReasonStoreRefused, "the key is wrong")
	w.away = nil
	after(time.Minute)(w.world)
	w.look()
	w.wants("when the key is right", metav1.ConditionTrue, v1alpha1.ReasonDone)
	if c := w.suite.Status.LastGood.ChangePoints; c.Reason != "" || c.CompletionTime.Sub(c.StartTime.Time) != time.Minute {
		t.Errorf("the round remembers %+v", c)
	}
}

func TestSuiteWaitsForReportsOfOtherSuite(t *testing.T) {
	w := newWatched(t, 5)
	w.step("the suite is applied")
	w.step("the round ends, and nobody reads", ends(well, well))
	w.wants("unread", metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "waiting for the reports of another suite")
	if d := Decide(w.facts()); d.After != RetryStore || d.Read == nil || d.Read.Round != 1 || len(d.Read.Measured) != 2 {
		t.Errorf("the decision is %+v", d)
	}
}

// A round older than all in the status judges a reverted commit.
func TestJudgingRoundIsKeptInHistory(t *testing.T) {
	hundred := int32(100)
	w := newWatched(t, 5, func(w *world) { w.suite.Spec.History.Passed = &hundred })
	for n := int32(1); n <= 25; n++ {
		w.round(n, well)
	}
	read := len(w.read)
	push("sha256:0001")(w.world)
	for range 3 {
		w.look()
	}
	w.wants("the first image is back", metav1.ConditionTrue, v1alpha1.ReasonDone, "round 1: ")
	lines := w.suite.Status.History
	if len(lines) != maxLines || lines[0].Round != 25 || lines[maxLines-1].Round != 1 {
		t.Errorf("the history has %d rounds, from %d to %d", len(lines), lines[0].Round, lines[len(lines)-1].Round)
	}
	if len(w.read)-read != 1 {
		t.Errorf("its reports were read %d times", len(w.read)-read)
	}
}
