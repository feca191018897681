package suite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
)

// events applies one random event; each leaves a valid world.
func events(w *world, random *rand.Rand) {
	switch random.IntN(7) {
	case 0:
		push(fmt.Sprintf("sha256:%02x", random.IntN(4)))(w)
	case 1:
		annotate(v1alpha1.AnnotationRequestedAt, fmt.Sprint(random.IntN(4)))(w)
	case 2:
		commit([]func(*v1alpha1.BenchmarkSuiteSpec){faster, asBefore, typo}[random.IntN(3)])(w)
	case 3:
		request(fmt.Sprint(random.IntN(1000)), []string{"shop/checkout:main", "shop/checkout:1", "shop/checkout:2"}[random.IntN(3)])(w)
	case 4:
		after(time.Duration(random.IntN(90)) * time.Minute)(w)
	default:
		if slices.ContainsFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Status.CompletionTime == nil }) {
			ends([]func(*v1alpha1.BenchmarkRun){well, well, well, well, missed, undecided, broken}[random.IntN(7)])(w)
		}
	}
}

// play applies forty events. An operator that dies carries out part of its decision and writes no status; another
// follows at once.
func play(t *testing.T, seed uint64, dies bool) *world {
	t.Helper()
	few := int32(seed % 2)
	w := newWorld(t, func(w *world) {
		w.suite.Spec.Runs[1] = suiteRun("large", since(3))
		hooked(&w.suite.Spec)
		has("shop/checkout:1")(w)
		has("shop/checkout:2")(w)
		w.suite.Spec.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "0 * * * *"}}
		w.suite.Spec.Concurrency = []v1alpha1.Concurrency{"", v1alpha1.ConcurrencyReplace, v1alpha1.ConcurrencySkip}[seed%3]
		if w.suite.Spec.Concurrency != v1alpha1.ConcurrencyReplace { // The rest of a replaced round would be deleted one decision later.
			w.suite.Spec.History = v1alpha1.History{Passed: &few, Failed: &few}
		}
	})
	what, when := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	passed := map[int32]good{}
	for range 40 {
		events(w, what)
		witness(w, passed)
		for range 3 {
			if d := Decide(w.facts()); dies {
				w.apply(d, when.IntN(len(d.Create)+len(d.Delete)+1))
			}
		}
		w.apply(Decide(w.facts()), always)
		w.isSettled(fmt.Sprint("seed ", seed))
		w.isSound()
		w.isCompared(passed)
	}
	if s := w.kstatus(); (w.health() == "Healthy") != (s == "Current") {
		w.t.Errorf("Flux reads %s, and Argo CD %s", s, w.health())
	}
	return w
}

// isSound checks invariants: the last good round exists, names are unique, and no two rounds are measured at once.
func (w *world) isSound() {
	w.t.Helper()
	going := 0
	rounds := roundsOf(w.runs)
	for _, r := range rounds {
		if r.measuring() {
			going++
		}
	}
	if going > 1 {
		w.t.Errorf("%d rounds are in progress at a time", going)
	}
	good := w.suite.Status.LastGood.Round
	if good > 0 && !slices.ContainsFunc(rounds, func(r *round) bool { return r.number == good && r.whole() }) {
		w.t.Errorf("the runs of the last good round %d are gone", good)
	}
}

// good is a passed round, as seen by a witness that records everything.
type good struct {
	at  time.Time
	run v1alpha1.PastRun
}

// witness records passed rounds before any operator sees them.
func witness(w *world, passed map[int32]good) {
	for _, r := range roundsOf(w.runs) {
		isGood := func(run roundRun) bool { return run.object.Status.Verdict == "all objectives met" }
		if r.whole() && !slices.ContainsFunc(r.runs, func(run roundRun) bool { return !isGood(run) }) {
			passed[r.number] = good{r.over().Time, pastOf(r.runs[1].object)}
		}
	}
}

// isCompared checks that the comparing run names the last three rounds that were good when its round began, or none
// if there were fewer.
func (w *world) isCompared(passed map[int32]good) {
	w.t.Helper()
	for _, r := range roundsOf(w.runs) {
		var want []v1alpha1.PastRun
		for _, number := range slices.Backward(slices.Sorted(maps.Keys(passed))) {
			if at := passed[number].at; at.After(r.Begun.Time) || number == r.number || len(want) == 3 {
				continue
			}
			want = append(want, passed[number].run)
		}
		if len(want) < objectives.LeastRegressionRuns {
			want = nil
		}
		for _, run := range r.runs {
			if run.record.Run != "large" {
				continue
			}
			against := run.object.Spec.Objectives[0].Against
			if !slices.Equal(against.Runs, want) || (against.LastGood > 0) == (len(want) > 0) {
				w.t.Errorf("round %d is compared with %+v, want %+v", r.number, against, want)
			}
		}
	}
}

func TestCrashedOperatorStartsEachRoundOnce(t *testing.T) {
	rounds := 0
	for seed := range uint64(24) {
		unhurt, hurt := play(t, seed, false), play(t, seed, true)
		if diff := cmp.Diff(unhurt.created, hurt.created); diff != "" {
			t.Errorf("seed %d: other runs were created (-unhurt +hurt):\n%s", seed, diff)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(hurt.created)))
		if len(distinct) != len(hurt.created) && seed%3 != 1 { // A replaced round can return.
			t.Errorf("seed %d: a run was created twice: %q", seed, hurt.created)
		}
		rounds += len(distinct) / 2
	}
	if rounds < 80 {
		t.Errorf("only %d rounds were made", rounds)
	}
}
