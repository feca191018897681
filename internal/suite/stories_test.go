package suite

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func suspend(s *v1alpha1.BenchmarkSuiteSpec) { yes := true; s.Suspend = &yes }
func resume(s *v1alpha1.BenchmarkSuiteSpec)  { s.Suspend = nil }
func faster(s *v1alpha1.BenchmarkSuiteSpec) {
	s.Runs[0] = suiteRun("small", strings.Replace(template, "10}", "20}", 1))
}
func asBefore(s *v1alpha1.BenchmarkSuiteSpec) { s.Runs[0] = suiteRun("small", template) }
func typo(s *v1alpha1.BenchmarkSuiteSpec) {
	s.Runs[0] = suiteRun("small", strings.Replace(template, "levels", "level", 1))
}

func unmeasured(s *v1alpha1.BenchmarkSuiteSpec) {
	s.Runs[0] = suiteRun("small", strings.Replace(template, `"baseline"`, `"order": "SlicedDuet", "latencyPercentiles": ["99"], "baseline"`, 1))
}

func nightly(w *world) {
	w.suite.Spec.Triggers = v1alpha1.Triggers{Schedules: []v1alpha1.Schedule{{Cron: "0 3 * * *", TimeZone: "Europe/Berlin", StartingDeadlineSeconds: 3600}}}
}

func concurrency(c v1alpha1.Concurrency) func(*world) {
	return func(w *world) { w.suite.Spec.Concurrency = c }
}

// Each story records the operator's steps, the suite's state, and how Flux and Argo CD read it.
func TestStories(t *testing.T) {
	for name, tell := range map[string]func(*testing.T) *world{
		"a-change-is-measured":          aChangeIsMeasured,
		"a-commit-is-reverted":          aCommitIsReverted,
		"a-gate-is-missed":              aGateIsMissed,
		"the-image-changes":             theImageChanges,
		"the-registry-is-away":          theRegistryIsAway,
		"a-typo":                        aTypo,
		"the-night-comes":               theNightComes,
		"a-round-is-asked-for":          aRoundIsAskedFor,
		"changes-wait-in-a-queue":       changesWaitInAQueue,
		"a-change-replaces-a-round":     aChangeReplacesARound,
		"what-comes-is-skipped":         whatComesIsSkipped,
		"nothing-starts-in-suspense":    nothingStartsInSuspense,
		"old-rounds-go":                 oldRoundsGo,
		"inconclusive-and-broken":       inconclusiveAndBroken,
		"a-run-is-deleted-by-someone":   aRunIsDeletedBySomeone,
		"rounds-are-compared":           roundsAreCompared,
		"good-rounds-are-remembered":    goodRoundsAreRemembered,
		"templates-come-and-go":         templatesComeAndGo,
		"a-comparison-is-interrupted":   aComparisonIsInterrupted,
		"the-webhook-is-called":         theWebhookIsCalled,
		"the-webhook-replaces-a-round":  theWebhookReplacesARound,
		"only-the-webhook-is-a-trigger": onlyTheWebhookIsATrigger,
		"pull-requests-are-measured":    pullRequestsAreMeasured,
	} {
		t.Run(name, func(t *testing.T) { tell(t).golden(name) })
	}
}

func aChangeIsMeasured(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("its first run ends", ends(well))
	w.step("its second run ends", ends(well))
	w.step("it is applied again", commit(func(*v1alpha1.BenchmarkSuiteSpec) {}))
	w.step("another spec is committed", commit(faster))
	w.step("the round ends", ends(well, well))
	w.step("the commit is reverted: those inputs are known", commit(asBefore))
	return w
}

func aGateIsMissed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("one of its runs misses an objective", ends(well, missed))
	w.step("a repair is pushed", push("sha256:bb"))
	w.step("the round passes", ends(well, well))
	return w
}

func theImageChanges(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("the round passes", ends(well, well))
	w.step("the registry says the same", after(10*time.Minute))
	w.step("there is another image behind the tag", after(10*time.Minute), push("sha256:bb"))
	w.step("the operator looks again")
	w.step("the image is put back while its round is in progress", ends(well), push("sha256:aa"))
	w.step("the round ends", ends(missed))
	return w
}

func theRegistryIsAway(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, away(v1alpha1.ReasonRegistryUnavailable, "shop: connection refused"))
	w.step("the suite is applied")
	w.step("the registry does not have the image", away(v1alpha1.ReasonImageNotFound, "shop does not have shop/checkout:main"))
	w.step("it has", func(w *world) { w.digests = map[string]string{} }, push("sha256:aa"))
	w.step("the round passes", ends(well, well))
	w.step("it is away again: the result stands", away(v1alpha1.ReasonRegistryUnavailable, "shop: connection refused"))
	w.step("a round is asked for meanwhile", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	w.step("a spec is committed meanwhile", commit(faster))
	w.step("it is back", func(w *world) { w.digests = map[string]string{} }, push("sha256:aa"))
	return w
}

func aTypo(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("a typo is committed while a run is in progress", commit(typo))
	w.step("the runs end", ends(well, well))
	w.step("it is repaired", commit(asBefore))
	w.step("what cannot be measured is committed", commit(unmeasured))
	w.step("the API server refuses a value", commit(faster), func(w *world) { w.refused = "small: spec.blocks: 0 should be 1 or more" })
	w.step("it is repaired", commit(asBefore), func(w *world) { w.refused = "" })
	return w
}

func theNightComes(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, nightly)
	w.step("the suite is applied")
	w.step("a spec is committed: no change starts a round", commit(faster), after(time.Hour))
	w.step("three o'clock in Berlin", after(13*time.Hour))
	w.step("the round misses an objective", ends(missed, well))
	w.step("the operator was away for days, and three o'clock is more than an hour ago", after(3*24*time.Hour+2*time.Hour))
	w.step("it was away until a few minutes after three", after(21*time.Hour+50*time.Minute))
	w.step("the round passes", ends(well, well))
	w.step("clocks go forward on 29 March, and three comes an hour sooner", func(w *world) { w.now = time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC) })
	return w
}

func aRoundIsAskedFor(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied, and a round asked for", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	w.step("the round passes", ends(well, well))
	w.step("another is asked for", annotate(v1alpha1.AnnotationRequestedAt, "2"))
	w.step("Flux asks, too", annotate(v1alpha1.AnnotationReconcileAt, "2026-03-02T13:00:00Z"))
	w.step("the round misses an objective", ends(missed, well))
	w.step("the next round passes", ends(well, well))
	return w
}

func changesWaitInAQueue(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("another image is pushed", push("sha256:bb"))
	w.step("and another", push("sha256:cc"))
	w.step("the first round ends", ends(well, well))
	w.step("the round of the newest ends", ends(well, well))
	return w
}

func aChangeReplacesARound(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, concurrency(v1alpha1.ConcurrencyReplace))
	w.step("the suite is applied")
	w.step("another image is pushed after its first run", ends(well), push("sha256:bb"))
	w.step("the first is put back", push("sha256:aa"))
	w.step("the round passes", ends(well))
	return w
}

func whatComesIsSkipped(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, concurrency(v1alpha1.ConcurrencySkip), func(w *world) {
		w.suite.Spec.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "*/15 * * * *"}}
	})
	w.step("the suite is applied")
	w.step("a scheduled time comes", after(16*time.Minute))
	w.step("a round is asked for", annotate(v1alpha1.AnnotationRequestedAt, "1"))
	w.step("another image is pushed", push("sha256:bb"))
	w.step("the round ends", ends(well, well))
	return w
}

func nothingStartsInSuspense(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(w *world) { w.suite.Spec.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "0 * * * *"}} })
	w.step("the suite is applied")
	w.step("it is suspended: what has begun goes on", commit(suspend))
	w.step("the round ends", ends(well, well))
	w.step("another image is pushed, and an hour strikes", push("sha256:bb"), after(time.Hour))
	w.step("it is resumed", commit(resume))
	return w
}

func oldRoundsGo(t *testing.T) *world {
	t.Helper()
	none, one := int32(0), int32(1)
	w := newWorld(t, func(w *world) { w.suite.Spec.History = v1alpha1.History{Passed: &one, Failed: &none} })
	w.step("the suite is applied")
	w.step("its round passes", ends(well, well))
	w.step("the next round", push("sha256:bb"))
	w.step("passes, too", ends(well, well))
	w.step("the third round", push("sha256:cc"))
	w.step("misses an objective", ends(missed, missed))
	w.step("the fourth round", push("sha256:dd"))
	w.step("fails: the last good one stays", ends(broken, well))
	w.step("the image of the first comes back: its result is known", push("sha256:aa"))
	return w
}

func inconclusiveAndBroken(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("an objective is undecided", ends(well, undecided))
	w.step("the gate lets that pass", commit(func(s *v1alpha1.BenchmarkSuiteSpec) { s.Gate.OnInconclusive = v1alpha1.InconclusivePasses }))
	w.step("the next round", push("sha256:bb"))
	w.step("has a run that fails", ends(undecided, broken))
	return w
}

func aRunIsDeletedBySomeone(t *testing.T) *world {
	t.Helper()
	remove := func(w *world) { w.runs = w.runs[1:] }
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("a run is deleted before it has ended: it is made again", remove)
	w.step("another image is pushed, and a run deleted again", push("sha256:bb"), remove)
	w.step("the other run ends", ends(well))
	w.step("the next round passes", ends(well, well))
	w.step("a run of it is deleted: its outcome stands", func(w *world) { w.runs = w.runs[:len(w.runs)-1] })
	return w
}
