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
)

// since adds an objective that compares with the last good rounds.
func since(n int) string {
	objective := fmt.Sprintf(`"objectives": [{"metric": "Regression", "of": "Throughput", "min": "0.95", "against": {"lastGood": %d, "anchor": "anchor"}}, `, n)
	return strings.Replace(template, `"objectives": [`, objective, 1)
}

func runs(list ...v1alpha1.SuiteRun) func(*v1alpha1.BenchmarkSuiteSpec) {
	return func(s *v1alpha1.BenchmarkSuiteSpec) { s.Runs = list }
}

// compares is a suite of one run that compares with the last good rounds.
func compares(n int) func(*world) {
	return func(w *world) { runs(suiteRun("small", since(n)))(&w.suite.Spec) }
}

// remembers gives a suite two good rounds, whose runs were deleted long ago, with one run of each template.
func remembers(templates ...string) func(*world) {
	return func(w *world) {
		for number := int32(1); number <= 2; number++ {
			round := v1alpha1.GoodRound{Round: number}
			for _, template := range templates {
				run := fmt.Sprintf("old-%d-%s", number, template)
				round.Runs = append(round.Runs, v1alpha1.GoodRun{
					Name: template, Prefix: "perf/" + run, Run: v1alpha1.PastRun{Name: run, UID: digest(run), ManifestSHA256: digest(run)},
				})
			}
			w.suite.Status.GoodRounds = append([]v1alpha1.GoodRound{round}, w.suite.Status.GoodRounds...)
			w.suite.Status.History = append([]v1alpha1.SuiteRound{{
				Round: number, Trigger: v1alpha1.TriggerChange, Outcome: v1alpha1.RoundPassed, Inputs: digest(fmt.Sprint(number)), StartTime: &metav1.Time{Time: noon}, CompletionTime: &metav1.Time{Time: noon},
			}}, w.suite.Status.History...)
		}
	}
}

var (
	slower  = endsAs("False", v1alpha1.ReasonObjectivesMissed, "1 of 2 objectives missed; ratio to earlier runs of throughput of candidate at sweep: 10 connections is -12.0 %, min -5.0 %", "True", v1alpha1.ReasonDone)
	deleted = endsAs("False", v1alpha1.ReasonObjectivesUndecided, "1 of 2 objectives undecided; ratio to earlier runs of throughput of candidate at sweep: 10 connections is not known (NoEarlierRun: no such object), min -5.0 %", "True", v1alpha1.ReasonDone)
)

func roundsAreCompared(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, compares(3), remembers("small"))
	w.step("the suite is applied: two good rounds are too few to compare with")
	w.step("its round passes", ends(well))
	w.step("the next is compared with these three", push("sha256:bb"))
	w.step("it is slower", ends(slower))
	w.step("the next is compared with the same three", push("sha256:cc"))
	w.step("it passes", ends(well))
	w.step("the next is compared with the newest three", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	w.step("it is undecided", ends(undecided))
	w.step("the next is compared with the same three", annotate(v1alpha1.AnnotationRequestedAt, "2"))
	w.step("it passes", ends(well))
	w.step("the next has the newest three: good rounds are no new input", annotate(v1alpha1.AnnotationRequestedAt, "4"))
	w.step("the artifacts of one of them are gone", ends(deleted))
	w.step("the slow image comes back: it is known", push("sha256:bb"))
	w.step("the operator looks again")
	return w
}

func goodRoundsAreRemembered(t *testing.T) *world {
	t.Helper()
	none := int32(0)
	w := newWorld(t, compares(3), func(w *world) { w.suite.Spec.History = v1alpha1.History{Passed: &none, Failed: &none} })
	for i, image := range []string{"sha256:aa", "sha256:bb", "sha256:cc"} {
		w.step(fmt.Sprintf("image %d is pushed", i+1), push(image))
		w.step("it passes, and its run alone stays", ends(well))
	}
	w.step("the last run is deleted by hand", func(w *world) { w.runs = nil })
	w.step("another image is compared with three rounds whose runs are deleted", push("sha256:dd"))
	return w
}

func templatesComeAndGo(t *testing.T) *world {
	t.Helper()
	small, large := suiteRun("small", since(3)), suiteRun("large", since(3))
	w := newWorld(t, remembers("small"), commit(runs(small)))
	w.step("the suite is applied")
	w.step("it passes", ends(well))
	w.step("a template is added", commit(runs(small, large)))
	w.step("the round passes: it is the first good one of the new template", ends(well, well))
	w.step("a template is renamed, and has nothing to compare with", commit(runs(suiteRun("tiny", since(3)), large)))
	w.step("it passes", ends(well, well))
	w.step("the name is taken back: those inputs are known", commit(runs(small, large)))
	w.step("a round is asked for: small is compared with the good ones of its name, and large has too few", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	return w
}

func aComparisonIsInterrupted(t *testing.T) *world {
	t.Helper()
	small, large := suiteRun("small", since(3)), suiteRun("large", since(3))
	w := newWorld(t, remembers("small", "large"), concurrency(v1alpha1.ConcurrencyReplace), commit(runs(small, large)))
	w.step("the suite is applied")
	w.step("it passes", ends(well, well))
	w.step("another image is pushed", push("sha256:bb"))
	w.step("a third replaces it: what was replaced is compared with by nobody", ends(well), push("sha256:cc"))
	w.step("a run is deleted: it is made again, and compared with the same", func(w *world) { w.runs = w.runs[:len(w.runs)-1] })
	w.step("it passes", ends(well, well))
	w.step("the second image comes back: the rest of its round is compared with what its first run was", push("sha256:bb"))
	return w
}

func TestGoodRoundsAreNotInputs(t *testing.T) {
	w := newWorld(t, compares(3))
	w.step("the suite is applied")
	before := w.suite.Status.Inputs.Hash
	w.step("it passes", ends(well))
	w.step("the operator looks again", after(time.Hour))
	if len(w.runs) != 1 || w.suite.Status.Inputs.Hash != before {
		t.Errorf("%d runs, and the inputs are %s, were %s", len(w.runs), w.suite.Status.Inputs.Hash, before)
	}
	w.step("another number is committed", commit(runs(suiteRun("small", since(4)))))
	if len(w.runs) != 2 || w.suite.Status.Inputs.Hash == before {
		t.Error("another number is no other input")
	}
}

// A round with only comparisons to earlier rounds can become the first good one, whatever its comparison within the
// run.
func TestTheFirstRoundPassesWithoutAVerdict(t *testing.T) {
	w := newWorld(t, compares(3))
	w.suite.Spec.Runs[0].Template.Spec.Raw = []byte(strings.Replace(since(3), `, {"metric": "RatioToBaseline", "of": "Throughput", "min": "0.9"}`, "", 1))
	w.step("the suite is applied")
	w.step("its run has no verdict", ends(endsAs("True", v1alpha1.ReasonDone, "the difference may be due to chance", "False", v1alpha1.ReasonNoiseTooHigh)))
	const want = "round 1: small: too few good rounds to compare with yet; small: the difference may be due to chance"
	if c := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionReady); w.suite.Status.LastGood.Round != 1 || c.Message != want {
		t.Errorf("the last good round is %d, and Ready says %q", w.suite.Status.LastGood.Round, c.Message)
	}
}

// The API server checks a run as it will be created: a refused prefix stalls the suite instead of blocking it
// silently.
func TestDraftUsesReferencesOfRound(t *testing.T) {
	w := newWorld(t, compares(3), remembers("small"))
	w.step("the suite is applied")
	w.step("it passes", ends(well))
	push("sha256:bb")(w)
	var drafted, created []string
	for _, run := range Draft(w.facts()) {
		drafted = append(drafted, run.Name+against(run))
	}
	for _, run := range Decide(w.facts()).Create {
		created = append(created, run.Name+against(run))
	}
	if diff := cmp.Diff(created, drafted); diff != "" || !strings.Contains(created[0], " against perf/checkout-") {
		t.Errorf("(-created +drafted):\n%s%q", diff, created)
	}
}

func TestWhereARunLies(t *testing.T) {
	for uri, want := range map[string]string{
		"s3://bench/perf/checkout-1-00-0c9f3f11/reports/0123456789ab/report.html":     "perf/checkout-1-00-0c9f3f11",
		"s3://bench/a/reports/b/perf/checkout-1-00-0c9f3f11/reports/0123/report.html": "a/reports/b/perf/checkout-1-00-0c9f3f11",
		"":                       "",
		"s3://bench/report.html": "",
	} {
		run := &v1alpha1.BenchmarkRun{Status: v1alpha1.BenchmarkRunStatus{Report: v1alpha1.ReportRef{URI: uri}}}
		if got := prefixOf(run); got != want {
			t.Errorf("the run of %q lies in %q, want %q", uri, got, want)
		}
	}
}

func TestTheStatusRemembersAsManyGoodRoundsAsAnObjectiveMayAskFor(t *testing.T) {
	w := newWorld(t, compares(20))
	for i := range maxGood + 3 {
		w.step("an image is pushed", push(fmt.Sprintf("sha256:%02x", i)))
		w.step("its round passes", ends(well))
	}
	w.step("the next round", push("sha256:ff"))
	if good, last := w.suite.Status.GoodRounds, w.runs[len(w.runs)-1]; len(good) != maxGood || good[0].Round != maxGood+3 || len(last.Spec.Objectives[0].Against.Runs) != maxGood {
		t.Errorf("%d good rounds are remembered, and a run is compared with %+v", len(good), last.Spec.Objectives[0].Against.Runs)
	}
}

func TestRunWithoutReportIsNoReference(t *testing.T) {
	w := newWorld(t, compares(3), remembers("small"))
	w.step("the suite is applied")
	ends(well)(w)
	w.runs[0].Status.Report = v1alpha1.ReportRef{}
	w.step("it passes")
	w.step("the next round", push("sha256:bb"))
	if w.suite.Status.LastGood.Round != 3 || len(w.suite.Status.GoodRounds) != 2 || w.runs[1].Spec.Objectives[0].Against.LastGood != 3 {
		t.Errorf("the status is %+v, and the run is compared with %+v", w.suite.Status.GoodRounds, w.runs[1].Spec.Objectives[0].Against)
	}
}
