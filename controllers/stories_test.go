package controllers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// condition fails the test unless a condition is as wanted and its message holds every part.
func condition(t *testing.T, list []metav1.Condition, kind string, status metav1.ConditionStatus, reason string, parts ...string) {
	t.Helper()
	c := meta.FindStatusCondition(list, kind)
	if c == nil || c.Status != status || c.Reason != reason {
		t.Errorf("%s is %+v, want %s %s", kind, c, status, reason)
		return
	}
	for _, p := range parts {
		if !strings.Contains(c.Message, p) {
			t.Errorf("%s says %q, want it to say %q", kind, c.Message, p)
		}
	}
}

func TestRunFromApplyToReport(t *testing.T) {
	t.Parallel()
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		t.Parallel()
		w := newWorld(t, storedAt(at))
		run := w.apply("quick", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), func(s *v1alpha1.BenchmarkRunSpec) {
			s.Blocks, s.Artifacts.Prefix = 2, "suites/x"
		})
		run = w.awaitEnd(run)

		condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
		condition(t, run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionTrue, v1alpha1.ReasonDone, "4 trials of 1 cell")
		condition(t, run.Status.Conditions, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonTooFewBlocks)
		if run.Status.Progress != "4/4" {
			t.Errorf("progress is %s", run.Status.Progress)
		}
		if n := w.kubelet.crowd(); n != 1 {
			t.Errorf("pods of %d trials were there at the same time", n)
		}
		measuredOnce(t, w, run, 4)
		inTheirTurn(t, w, run)
		artifactsOf(t, w, run)

		workflow := &unstructured.Unstructured{}
		workflow.SetGroupVersionKind(render.WorkflowKind)
		workflow.SetNamespace(w.system)
		workflow.SetName(render.WorkflowName(run.Name, string(run.UID), plan.Part{}))
		await(w, workflow, "the workflow's end", argo.Ended)
		released := 0
		for _, answer := range strings.Split(w.argo.said(), "\n") {
			switch {
			case strings.HasPrefix(answer, "200 ") && strings.Contains(answer, `"succeeded":true`):
				released++
			case answer != "404 Not Found": // A step may come before the operator has heard of its trial, and asks again.
				t.Errorf("a step was answered %s", answer)
			}
		}
		if released != 4 {
			t.Errorf("%d steps were answered that their trials have succeeded", released)
		}
	})
}

// measuredOnce checks that the agents of each trial got one start, at its first attempt.
func measuredOnce(t *testing.T, w *world, run *v1alpha1.BenchmarkRun, trials int) {
	t.Helper()
	list := w.trials(run)
	if len(list) != trials {
		t.Errorf("%d trials", len(list))
	}
	var want []string
	for _, trial := range list {
		attempt := trial.Name + " attempt 1 "
		want = append(want, attempt+"generator-0", attempt+"server-0")
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	}
	if diff := cmp.Diff(want, w.agents.started()); diff != "" {
		t.Errorf("who was told to start (-want +got):\n%s", diff)
	}
}

// inTheirTurn checks that each trial's time began when its predecessor's had ended.
func inTheirTurn(t *testing.T, w *world, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	list := w.trials(run)
	for i := 1; i < len(list); i++ {
		if list[i].Status.AttemptTime == nil || list[i-1].Status.CompletionTime == nil {
			t.Errorf("trial %d has not begun, or its predecessor has not ended", i)
			continue
		}
		if began, ended := list[i].Status.AttemptTime.Time, list[i-1].Status.CompletionTime.Truncate(time.Second); began.Before(ended) {
			t.Errorf("the time of trial %d ran from %s on; its predecessor ended at %s", i, began, ended)
		}
	}
}

// artifactsOf checks that the store holds the whole run.
func artifactsOf(t *testing.T, w *world, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run)), "")
	w.must(err)
	if len(d.Trials) != len(d.Manifest.Trials) || d.Manifest.Run.PlanHash != run.Status.PlanHash || d.Manifest.Ended.Before(d.Manifest.Started) {
		t.Errorf("the run's manifest is %+v", d.Manifest)
	}
	for i, trial := range d.Trials {
		if len(trial.Manifest.Artifacts) != 3 || len(trial.Manifest.Pods) != 2 || len(trial.Manifest.Clocks) != 2 || len(trial.Generators) != 1 {
			t.Errorf("the manifest of trial %d is %+v", i, trial.Manifest)
		}
		for _, a := range trial.Manifest.Artifacts {
			if err := store.Verify(t.Context(), a); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := store.Get(t.Context(), artifact.ManifestKey(artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run))), run.Status.Report.ManifestSHA256); err != nil || run.Status.Report.ManifestSHA256 == "" {
		t.Errorf("the manifest of the run is not the one that its status names: %v", err)
	}
	key, found := strings.CutPrefix(run.Status.Report.URI, "s3://"+w.store.Bucket+"/")
	html, err := store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil || !found || !strings.Contains(string(html), "<html") {
		t.Errorf("the report %s: %v", run.Status.Report.URI, err)
	}
}

func TestSecondRunWaitsForFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.apply("first", ample)
	await(w, first, "its turn", func(r *v1alpha1.BenchmarkRun) bool { return r.Status.StartTime != nil })
	second := w.apply("second")
	await(w, second, "a place in the queue", func(r *v1alpha1.BenchmarkRun) bool {
		c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
		return c != nil && c.Reason == v1alpha1.ReasonQueued && strings.Contains(c.Message, "BenchmarkRun "+w.namespace+"/first is measuring")
	})
	condition(t, second.Status.Conditions, v1alpha1.ConditionExecuted, metav1.ConditionUnknown, v1alpha1.ReasonQueued)
	first, second = w.awaitHastened(first), w.awaitEnd(second)
	condition(t, second.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if second.Status.StartTime.Before(first.Status.CompletionTime) {
		t.Errorf("the second began at %s, the first ended at %s", second.Status.StartTime, first.Status.CompletionTime)
	}
	if w.kubelet.crowd() != 1 {
		t.Error("both were measured at the same time")
	}
}

// The oldest run is suspended before its turn, and takes it when resumed. A begun run continues.
func TestSuspendedRunDoesNotBlockQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suspend := func(r *v1alpha1.BenchmarkRun, is bool) {
		w.must(w.c.Patch(t.Context(), r, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {"suspend": %v}}`, is))))
	}
	suspended := saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonSuspended, "set spec.suspend to false")
	kept := func(s *v1alpha1.BenchmarkRunSpec) { s.Suspend = new(true) }
	first := await(w, w.apply("first", kept), "a word about its suspension", suspended)
	condition(t, first.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionUnknown, v1alpha1.ReasonSuspended)
	gone := await(w, w.apply("gone", kept), "a word about its suspension", suspended)

	second := w.apply("second", ample)
	await(w, second, "its turn", func(r *v1alpha1.BenchmarkRun) bool { return r.Status.StartTime != nil })
	suspend(second, true)
	await(w, second, "a word about what is too late", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonInProgress, "spec.suspend has no effect"))
	suspend(first, false)
	await(w, first, "a place in the queue", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonQueued, "place 1 in the queue"))
	suspend(first, true)
	await(w, first, "a word about its suspension", suspended)
	second = w.awaitHastened(second)
	condition(t, second.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)

	w.must(w.c.Delete(t.Context(), gone))
	await(w, first, "the end of another", func(*v1alpha1.BenchmarkRun) bool { return !w.exists(&v1alpha1.BenchmarkRun{}, "gone") })
	if err := w.c.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil || first.Status.StartTime != nil || len(w.trials(first)) > 0 {
		t.Errorf("a suspended run has %d trials, and the status %+v, %v", len(w.trials(first)), first.Status, err)
	}
	suspend(first, false)
	first = w.awaitEnd(first)
	condition(t, first.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	suspend(second, false)
	await(w, second, "an up-to-date status", func(r *v1alpha1.BenchmarkRun) bool { return *r.Status.ObservedGeneration == r.Generation })
}

func TestRunDeletedWhileMeasuringLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("gone", long)
	w.awaitMeasuring("gone-000-go", 1)
	if left := w.left(t.Context()); strings.Count(left, ",") != 6 {
		t.Errorf("while a run is measured there is %s; want a run, a trial, two pods, a token, a NetworkPolicy and a Workflow", left)
	}
	w.must(w.c.Delete(t.Context(), run))
	w.awaitLeft("nothing to be left", func(left string) bool { return left == "" })
	if pods := w.kubelet.pods(); len(pods) != 2 {
		t.Errorf("the deletion was taken for a fault from outside: pods %v", pods)
	}
}

func TestTrialDeletedAfterItsEndIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("taken", warm, func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 })
	deletePod(w, w.awaitMeasuring("taken-000-go", 1), record.MemberServer(0)) // It is measured at its next attempt.
	w.awaitTrial(run, w.awaitMeasuring("taken-000-go", 2))
	w.awaitMeasuring("taken-001-go", 1)
	before := w.agents.started()
	w.must(w.c.Delete(t.Context(), &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "taken-000-go"}}))
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if diff := cmp.Diff(before, w.agents.started()); diff != "" {
		t.Errorf("who was told to start, before and after:\n%s", diff)
	}
	var again v1alpha1.Trial
	w.must(w.c.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "taken-000-go"}, &again))
	if again.Status.StartTime == nil || len(again.Status.Nodes) != 2 {
		t.Errorf("of the trial that was measured before is known %+v", again.Status)
	}
}

func TestRestartedOperatorFinishesRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("restart", ample)
	w.awaitMeasuring("restart-000-go", 1)
	w.stop()
	w.hasten(run) // The agents measure to the end without an operator.
	w.within("the answer to the open step", func() bool { return strings.Contains(w.argo.said(), "503 the operator is shutting down: retry") })
	w.startManager()
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	measuredOnce(t, w, run, 1)
}

// warm gives every level an ample warm-up, to do harm in it. Its end comes by hasten.
func warm(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].WarmupSeconds = new(int32(ampleSeconds)) }

// deletePod deletes an attempt's pod and returns when the attempt is over. Do not hasten it before its operator has seen the deletion, or it measures
// to its end.
func deletePod(w *world, trial *v1alpha1.Trial, member string) {
	w.t.Helper()
	attempt := trial.Status.Attempt
	w.must(w.c.Delete(w.t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: render.PodName(trial.Name, attempt, member)}}))
	await(w, trial, "the end of the attempt", func(t *v1alpha1.Trial) bool { return t.Status.Attempt > attempt || t.Status.CompletionTime != nil })
}

func TestTrialIsRetriedAfterInfrastructureFailureBeforeMeasuring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("retry", warm)
	deletePod(w, w.awaitMeasuring("retry-000-go", 1), record.MemberServer(0))
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	trial := w.trials(run)[0]
	if f := trial.Status.Failures; trial.Status.Attempt != 2 || len(f) != 1 || !strings.HasPrefix(f[0], "attempt 1: PodLost: another client deleted pod retry-000-go-1-s0") {
		t.Errorf("attempt %d after faults %q", trial.Status.Attempt, f)
	}
	if !strings.Contains(trial.Status.ManifestKey, "/attempt-2/") {
		t.Errorf("the manifest lies in %s", trial.Status.ManifestKey)
	}
	want := []string{"retry-000-go attempt 1 generator-0", "retry-000-go attempt 1 server-0", "retry-000-go attempt 2 generator-0", "retry-000-go attempt 2 server-0"}
	if diff := cmp.Diff(want, w.agents.started()); diff != "" {
		t.Errorf("who was told to start (-want +got):\n%s", diff)
	}
	artifactsOf(t, w, run)
}

func TestTrialFailsAfterThreeInfrastructureFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("thrice", warm)
	for attempt := int32(1); attempt <= 3; attempt++ {
		deletePod(w, w.awaitMeasuring("thrice-000-go", attempt), record.MemberGenerator(0))
	}
	trial := await(w, w.trial("thrice-000-go"), "its end", func(t *v1alpha1.Trial) bool { return t.Status.CompletionTime != nil })
	condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "another client deleted pod thrice-000-go-3-g0")
	w.awaitHastened(run)
}

func TestDisturbedBlockIsRepeatedAsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("again", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample)
	first := w.awaitFirst("again")
	deletePod(w, first, record.MemberServer(0))
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	var got []string
	for _, trial := range w.trials(run) {
		reason, _ := facts.Outcome(&trial)
		got = append(got, fmt.Sprintf("block %d: %s", trial.Spec.Block, reason))
		if n := w.agents.tries(trial.Name); n != 1 {
			t.Errorf("%d attempts at %s were told to start", n, trial.Name)
		}
	}
	want := []string{"block 1: PodLost", "block 1: Done", "block 2: Done", "block 2: Done"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
	if run.Status.Progress != "3/4" {
		t.Errorf("progress is %s", run.Status.Progress)
	}
}

func TestBlockVoidedByNoisyNeighborsIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agents.disturb("noisy-001-go")
	run := w.awaitEnd(w.apply("noisy", func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 }))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if diff := cmp.Diff([]int32{2}, run.Status.Repeats.DisturbedBlocks); diff != "" {
		t.Errorf("spoiled blocks (-want +got):\n%s", diff)
	}
	if n := len(w.trials(run)); n != 3 || run.Status.Progress != "3/3" || run.Status.Repeats.ScannedBlocks != 3 {
		t.Errorf("%d trials, progress %s, %d blocks scanned", n, run.Status.Progress, run.Status.Repeats.ScannedBlocks)
	}
}

func TestOnlyBlockIsRepeatedAtMostTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("unlucky", long)
	for index := range 3 {
		deletePod(w, w.awaitMeasuring(fmt.Sprintf("unlucky-%03d-go", index), 1), record.MemberServer(0))
	}
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "3 of 3 trials failed", "another client deleted pod unlucky-000-go-1-s0")
}

func TestGeneratorsStartAtSameInstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("gang", func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Generators.Pods = 2
		s.Placement.GeneratorPinning = v1alpha1.Preferred
	}))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	want := []string{"gang-000-go attempt 1 generator-0", "gang-000-go attempt 1 generator-1", "gang-000-go attempt 1 server-0"}
	if diff := cmp.Diff(want, w.agents.started()); diff != "" {
		t.Errorf("who was told to start (-want +got):\n%s", diff)
	}
	store, err := artifact.Open(w.store)
	w.must(err)
	data, err := store.Load(t.Context(), artifact.RunPrefix("", facts.Run(run)), "")
	if err != nil || len(data.Trials) != 1 || len(data.Trials[0].Generators) != 2 {
		t.Errorf("stored are %d trials: %v", len(data.Trials), err)
	}
}

func TestImplementationFailureIsNotRetriedAndOthersContinue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("faults", func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 }, with("go",
		v1alpha1.Implementation{Name: "rust", Image: "rust:1"}, v1alpha1.Implementation{Name: "wrong", Image: imageWrong}, v1alpha1.Implementation{Name: "deaf", Image: imageDeaf},
		v1alpha1.Implementation{Name: "exits", Image: imageExits}, v1alpha1.Implementation{Name: "none", Image: imageNone},
		v1alpha1.Implementation{Name: "slow", Image: imageSlow, Build: v1alpha1.Build{Optimized: v1alpha1.ExpectRequired}}))
	run = w.awaitEnd(run)
	says := map[string][]string{
		"wrong": {v1alpha1.ReasonWrongResponse, "implementations[wrong]: GET / answered 500 instead of 200: correct the server, or request and expect of the load"},
		"deaf":  {v1alpha1.ReasonServerNotListening, "implementations[deaf] did not listen on port 8080 within 30s of its start: check port and command"},
		"exits": {v1alpha1.ReasonServerExited, `implementations[exits] exited (exit code 3, Error, last output: "bind: address in use")`},
		"slow":  {v1alpha1.ReasonBuildMismatch, "implementations[slow].build.optimized: expected Required, found no (-O0): build the image with it, or remove the expectation"},
		"none":  {v1alpha1.ReasonImagePull, `implementations[none].image: "none:1" cannot be pulled on node node-server: no such image: correct the name, or load the image into the node`},
	}
	var all []string
	first := map[string]string{}
	for _, trial := range w.trials(run) {
		name := trial.Labels[v1alpha1.LabelImplementation]
		if name == "go" || name == "rust" {
			condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			continue
		}
		want := says[name]
		tried := slices.Contains(w.kubelet.pods(), render.PodName(trial.Name, 1, record.MemberServer(0)))
		if earlier := first[name]; earlier != "" {
			want = append(want, "skipped: trial "+earlier+" has already failed this way")
		}
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, want[0], want[1:]...)
		if tried != (first[name] == "") || trial.Status.Attempt != 1 {
			t.Errorf("%s: pods were made: %v, attempt %d", trial.Name, tried, trial.Status.Attempt)
		}
		if first[name] == "" {
			first[name] = trial.Name
			all = append(all, says[name][1])
		}
	}
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, append(all, "10 of 14 trials failed")...)
	condition(t, run.Status.Conditions, v1alpha1.ConditionExecuted, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed)
	condition(t, run.Status.Conditions, v1alpha1.ConditionReported, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if started := w.agents.started(); len(started) != 8 {
		t.Errorf("of seven implementations two can be measured, but these were: %v", started)
	}
}

func TestRunStopsIfNothingIsLeftToCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("alone", func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 3 }, with("go", v1alpha1.Implementation{Name: "wrong", Image: imageWrong})))
	const says = "implementations[wrong]: GET / answered 500 instead of 200"
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, "3 of 6 trials failed", says)
	stopped := 0
	for _, trial := range w.trials(run) {
		if reason, message := facts.Outcome(&trial); reason == v1alpha1.ReasonStoppedEarly {
			stopped++
			if !strings.Contains(message, "nothing is left to compare: trial ") || !strings.Contains(message, says) {
				t.Errorf("trial %s says %q", trial.Name, message)
			}
		}
	}
	// The first block may have measured go before the other one failed.
	if stopped < 2 || len(w.agents.started()) > 2 {
		t.Errorf("%d trials were stopped, and these were started: %v", stopped, w.agents.started())
	}
}

func TestUnusableStoreIsRefusedBeforeRun(t *testing.T) {
	t.Parallel()
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		t.Parallel()
		for name, tc := range map[string]struct {
			change func(*artifact.Config)
			says   string
		}{
			"the bucket is not there": {func(c *artifact.Config) { c.Bucket = "nobody-made-this" }, "the bucket does not exist: create it, or set another one (chart value s3.bucket)"},
			"the secret key is wrong": {func(c *artifact.Config) { c.SecretKey = "wrong" }, "the object store rejected the access key: correct the Secret that holds it (chart value s3.existingSecret), and restart the operator"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, storedAt(at), func(w *world) { tc.change(&w.store) })
				run := w.awaitEnd(w.apply("nostore", func(s *v1alpha1.BenchmarkRunSpec) { s.PatienceSeconds = 1 }))
				for _, kind := range []string{v1alpha1.ConditionPlanned, v1alpha1.ConditionSucceeded} {
					condition(t, run.Status.Conditions, kind, metav1.ConditionFalse, v1alpha1.ReasonStoreUnavailable, tc.says, "s3://"+w.store.Bucket)
				}
				if trials, pods := w.trials(run), w.kubelet.pods(); len(trials) > 0 || len(pods) > 0 {
					t.Errorf("there are %d trials and %d pods", len(trials), len(pods))
				}
			})
		}
	})
}

func TestRunTooLargeForNodesIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("large", func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].CPUs, s.PatienceSeconds = 3, 1 }))
	condition(t, run.Status.Conditions, v1alpha1.ConditionPlanned, metav1.ConditionFalse, v1alpha1.ReasonNotEnoughCPUs,
		"spec.implementations[0].cpus is 3: its pod needs 3200m CPU on one node", "node-server, has 2200m allocatable: ask for fewer CPUs or add a larger node")
	if run.Status.StartTime != nil {
		t.Error("a run that cannot be has had its turn")
	}
}

func TestRunEndsAtTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("slow", long, func(s *v1alpha1.BenchmarkRunSpec) { s.TimeoutSeconds = 600 })
	w.awaitMeasuring("slow-000-go", 1)
	w.clock.Forward(10 * time.Minute)
	w.poke(run)
	run = w.awaitEnd(run)
	for _, kind := range []string{v1alpha1.ConditionExecuted, v1alpha1.ConditionSucceeded} {
		condition(t, run.Status.Conditions, kind, metav1.ConditionFalse, v1alpha1.ReasonTimedOut, "the run exceeded its timeout of 600 s: raise spec.timeoutSeconds")
	}
	await(w, w.trial("slow-000-go"), "its end", func(t *v1alpha1.Trial) bool { return t.Status.CompletionTime != nil })
	w.awaitLeft("the end of its load", func(left string) bool {
		return !w.exists(&corev1.Pod{}, render.PodName("slow-000-go", 1, record.MemberServer(0))) && !strings.Contains(left, "token")
	})
}

func TestForeignPodWithSameNameIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: render.PodName("taken-000-go", 1, record.MemberServer(0))},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
	}
	w.must(w.c.Create(t.Context(), stranger))
	run := w.awaitEnd(w.apply("taken"))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if trial := w.trials(run)[0]; trial.Status.Attempt != 2 || strings.Contains(strings.Join(trial.Status.Failures, " "), v1alpha1.ReasonPodRejected) {
		t.Errorf("attempt %d after faults %q", trial.Status.Attempt, trial.Status.Failures)
	}
	w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger))
	w.must(w.c.Delete(t.Context(), stranger, client.GracePeriodSeconds(0)))
}

func TestMissingArgoIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.argo.namespace = "nowhere" })
	run := w.apply("alone")
	await(w, w.trial("alone-000-go"), "readiness", func(t *v1alpha1.Trial) bool {
		return meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionPrepared)
	})
	w.clock.Forward(argo.Patience + 2*time.Second)
	w.poke(run)
	await(w, run, "a word about Argo", func(r *v1alpha1.BenchmarkRun) bool {
		c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionExecuted)
		return c != nil && c.Reason == v1alpha1.ReasonWorkflowEngineDown && strings.Contains(c.Message, "argo.instanceID")
	})
	if len(w.agents.started()) > 0 {
		t.Error("a trial was measured without its step")
	}
}

func TestEndpointRefusesRequestsWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("guarded", long)
	w.awaitMeasuring("guarded-000-go", 1)
	token := argo.Token(w.key, string(run.UID))
	for name, tc := range map[string]struct {
		method, trial, token string
		want                 int
	}{
		"no token":                {http.MethodPost, "guarded-000-go", "", http.StatusForbidden},
		"a wrong token":           {http.MethodPost, "guarded-000-go", token[1:], http.StatusForbidden},
		"another run's token":     {http.MethodPost, "guarded-000-go", argo.Token(w.key, "other"), http.StatusForbidden},
		"a trial that is not":     {http.MethodPost, "guarded-001-go", token, http.StatusNotFound},
		"another way of asking":   {http.MethodGet, "guarded-000-go", token, http.StatusMethodNotAllowed},
		"a way out of the folder": {http.MethodPost, "..%2F..%2Fx", token, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, tc.method, "http://"+w.addr+"/v1/trials/"+w.namespace+"/"+tc.trial, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", tc.token)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("answered %s, want %d", resp.Status, tc.want)
			}
		})
	}
}
