package controllers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// The trouble does not end with the run, which is deleted in the midst of it.
func TestFailingAPIServerLosesNoRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of     func(*http.Request) bool
		code   int
		reason metav1.StatusReason
	}{
		"it fails at one write of three":              {writes, http.StatusInternalServerError, metav1.StatusReasonInternalError},
		"it fails at one request of three":            {unwatched, http.StatusInternalServerError, metav1.StatusReasonInternalError},
		"it has too many requests":                    {writes, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests},
		"one patch of three is of something outdated": {patches, http.StatusConflict, metav1.StatusReasonConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trouble trouble
			leadsTo(t, trouble.oneOfThree(tc.of, tc.code, tc.reason), cutShort)
			if trouble.refused.Load() == 0 {
				t.Errorf("none of %d requests met trouble", trouble.asked.Load())
			}
			t.Logf("%d of %d requests met trouble", trouble.refused.Load(), trouble.asked.Load())
		})
	}
}

func TestSlowAPIServerLosesNoRun(t *testing.T) {
	t.Parallel()
	leadsTo(t, far, cutShort)
}

// Watch events come late, so passes use stale data.
func TestStaleAPIServerStartsEachTrialOnce(t *testing.T) {
	t.Parallel()
	leadsTo(t, behind, func(t *testing.T, w *world, run *v1alpha1.BenchmarkRun) {
		t.Helper()
		startedOnce(t, w, run)
		oneAtATime(t, w)
	})
}

// oneAtATime checks that of two new runs one begins and the other waits. The name decides between runs of one second. An operator that only used its
// cache would see the other one first, and start both.
func oneAtATime(t *testing.T, w *world) {
	t.Helper()
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	second := w.apply("made-b", long)
	time.Sleep(300 * time.Millisecond)
	first := w.apply("made-a", long)
	if !first.CreationTimestamp.Equal(&second.CreationTimestamp) {
		first, second = second, first // On a machine that stood still in between, the older one is the first.
	}
	queued := saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonQueued, "/"+first.Name+" ")
	await(w, second, "a begin, or a word about the queue", func(r *v1alpha1.BenchmarkRun) bool { return r.Status.StartTime != nil || queued(r) })
	await(w, first, "its begin", func(r *v1alpha1.BenchmarkRun) bool { return r.Status.StartTime != nil })
	await(w, second, "a look at it", func(*v1alpha1.BenchmarkRun) bool { return true })
	if second.Status.StartTime != nil || !queued(second) {
		t.Errorf("%s began at %s, and %s did, too: %+v", first.Name, first.Status.StartTime, second.Name, second.Status)
	}
	if n := w.kubelet.crowd(); n != 1 {
		t.Errorf("pods of %d trials were there at the same time", n)
	}
}

func TestRestartedWatchesLoseNoRun(t *testing.T) {
	t.Parallel()
	f := forgetful{of: map[string]int{}}
	leadsTo(t, f.between, startedOnce)
	if f.refused.Load() == 0 {
		t.Error("no watch had to begin anew")
	}
}

// leadsTo leads a run with something between its operator and the API server, which is there until it is deleted, too.
func leadsTo(t *testing.T, between func(http.RoundTripper) http.RoundTripper, also func(*testing.T, *world, *v1alpha1.BenchmarkRun)) {
	t.Helper()
	w := newWorld(t, func(w *world) { w.between = between })
	run := w.apply("hard", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
	w.within("the run's end", func() bool {
		w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
		return run.Status.CompletionTime != nil
	})
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	inTheirTurn(t, w, run)
	artifactsOf(t, w, run)
	also(t, w, run)
}

// cutShort deletes a run while it measures, when another has ended.
func cutShort(t *testing.T, w *world, _ *v1alpha1.BenchmarkRun) {
	t.Helper()
	cut := w.apply("cut", long)
	w.within("the load of another run", func() bool {
		return slices.ContainsFunc(w.trials(cut), func(t v1alpha1.Trial) bool { return w.begun(&t) })
	})
	w.must(w.c.Delete(t.Context(), cut))
	w.within("its end", func() bool { return !w.exists(cut, cut.Name) })
}

// tooShort is a time-out that a run exceeds in ten minutes, unless they are none of its time. It leaves a busy machine all of the rest.
func tooShort(s *v1alpha1.BenchmarkRunSpec) { s.TimeoutSeconds = 590 }

// unled checks that a run records time without an operator.
func unled(t *testing.T, run *v1alpha1.BenchmarkRun, least time.Duration) {
	t.Helper()
	if away := time.Duration(run.Status.Absence.Seconds) * time.Second; away < least {
		t.Errorf("of %s in which nobody led it the run knows %s", least, away)
	}
}

// The API server is unavailable for ten minutes while agents measure. The operator cannot renew its lease, and exits. Another one continues later.
func TestTenMinuteAPIServerOutageLosesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of      func(*http.Request) bool
		message string
	}{
		"nobody reaches it":            {everything, ""},
		"its etcd does not answer":     {unwatched, "etcdserver: request timed out"},
		"its etcd is full":             {writes, "etcdserver: mvcc: database space exceeded"},
		"its etcd has lost its leader": {writes, "etcdserver: leader changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o outage
			w := newWorld(t, func(w *world) { w.between, w.elects = o.of(tc.of, tc.message), true })
			w.elect()
			run := w.apply("patient", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), tooShort)
			w.awaitFirst("patient")
			o.lasts.Store(true)
			w.clock.Forward(10 * time.Minute)
			w.deposed()
			if o.met.Load() == 0 {
				// The machine was too busy to renew the lease before the outage. The next operator meets it.
				w.elect()
				w.within("a failed request", func() bool { return o.met.Load() > 0 })
				w.stop()
			}
			o.lasts.Store(false)
			w.elect()
			run = w.awaitEnd(run)
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			unled(t, run, 10*time.Minute)
			startedOnce(t, w, run)
			inTheirTurn(t, w, run)
			artifactsOf(t, w, run)
		})
	}
}

// deposed waits until the operator has ended because it could not renew its lease.
func (w *world) deposed() {
	w.t.Helper()
	select {
	case err := <-w.elected.ended:
		w.elected, w.stop = nil, func() {}
		if !deposed(err) {
			w.t.Errorf("an operator that could not renew its lease ended: %v", err)
		}
	case <-time.After(testbed.Patience):
		w.t.Fatal("an operator goes on that cannot renew its lease")
	}
}

// Argo is unavailable for ten minutes while a trial is measured. The next one is prepared and waits for its step. The first minute counts as the
// run's time, since Argo may be slow.
func TestTenMinuteArgoOutageLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Its two trials leave it less than ten minutes.
	run := w.apply("unled", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), ample, func(s *v1alpha1.BenchmarkRunSpec) { s.TimeoutSeconds = 2*s.Loads[0].DurationSeconds + 590 })
	first := w.awaitFirst("unled")
	w.argo.away.Store(true)
	w.awaitTrial(run, first)
	trials := w.trials(run)
	next := &trials[slices.IndexFunc(trials, func(t v1alpha1.Trial) bool { return *t.Spec.Index == 1 })]
	prepared := func(t *v1alpha1.Trial) bool {
		return meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionPrepared)
	}
	await(w, next, "its turn", prepared)
	w.clock.Forward(argo.Patience + 2*time.Second)
	w.poke(run)
	await(w, run, "a word about Argo", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonWorkflowEngineDown, ""))
	// A quota keeps Argo from creating its agent pod, which looks like an outage.
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.system, Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	w.must(w.c.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}
	w.must(w.c.Status().Update(t.Context(), quota))
	w.within("a word about the quota", func() bool {
		w.poke(run)
		w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
		return saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonTrialWaiting, "exceeded quota: full")(run)
	})
	w.must(w.c.Delete(t.Context(), quota))
	w.within("a word about Argo again", func() bool {
		w.poke(run)
		w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
		return saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonWorkflowEngineDown, "")(run)
	})
	w.clock.Forward(10 * time.Minute)
	w.argo.away.Store(false)
	run = w.awaitHastened(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	unled(t, run, 10*time.Minute)
	startedOnce(t, w, run)
	inTheirTurn(t, w, run)
	artifactsOf(t, w, run)
}

// Another of its name is made as soon as the API server lets go of the one that is deleted while its second trial measures.
func TestRecreatedRunIsDifferentRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	two := with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"})
	first := w.apply("twice", two, long)
	stored := w.awaitTrial(first, w.awaitFirst("twice"))
	w.within("the load of its second trial", func() bool {
		return slices.ContainsFunc(w.trials(first), func(t v1alpha1.Trial) bool { return *t.Spec.Index == 1 && w.begun(&t) })
	})
	before := w.manifestOf(first, stored)
	w.must(w.c.Delete(t.Context(), first))
	second := w.drafted("twice", two)
	w.within("room for another of its name", func() bool {
		err := w.c.Create(t.Context(), second)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		return err == nil
	})
	second = w.awaitEnd(second)
	condition(t, second.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	artifactsOf(t, w, second)
	if diff := cmp.Diff(before, w.manifestOf(first, stored)); diff != "" {
		t.Errorf("what the first has stored has changed (-before +after):\n%s", diff)
	}
	for _, trial := range w.trials(second) {
		if m := w.manifestOf(second, &trial); m.Key == before.Key || m.SHA256 == before.SHA256 {
			t.Errorf("both have stored %s", m.Key)
		}
	}
}

// A pod of the first run stays, on a dead node or for a foreign finalizer. The second run, with the same names of trials and pods, is still measured.
func TestRunIsRecreatedDespiteStuckPod(t *testing.T) {
	for name, dead := range map[string]bool{"its node is dead": true, "somebody keeps it": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world) {
				var first string
				w.kubelet.place = func(p *corev1.Pod) string {
					uid, role := p.Labels[v1alpha1.LabelRunUID], p.Labels[v1alpha1.LabelRole]
					if first == "" {
						first = uid
					}
					if uid == first {
						return w.namespace + "-" + role
					}
					return role
				}
			})
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + v1alpha1.RoleServer}}
			w.must(w.c.Create(t.Context(), node))
			defer func() { w.must(w.c.Delete(context.Background(), node)) }()
			first := w.apply("phoenix", long)
			attempt := w.awaitFirst("phoenix").Status.Attempt
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: render.PodName("phoenix-000-go", attempt, record.MemberServer(0))}}
			keep := func(finalizers string) {
				w.must(w.c.Patch(context.Background(), pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": `+finalizers+`}}`))))
			}
			keep(`["example.com/keep"]`)
			defer keep("null")
			if dead {
				node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
				w.must(w.c.Status().Update(t.Context(), node))
			}
			w.must(w.c.Delete(t.Context(), first))
			if !dead {
				await(w, pod, "its deletion", func(p *corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() })
				w.clock.Forward(10 * time.Minute)
			}
			w.within("the end of the first", func() bool { return !w.exists(&v1alpha1.BenchmarkRun{}, first.Name) })
			second := w.awaitEnd(w.apply("phoenix"))
			condition(t, second.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			if trial := w.trials(second)[0]; strings.Contains(strings.Join(trial.Status.Failures, "\n"), v1alpha1.ReasonPodRejected) {
				t.Errorf("a name that is taken has cost attempts: %q", trial.Status.Failures)
			}
			w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
		})
	}
}

// manifestOf is the manifest of a trial as an object of the store, which says that it is of that run.
func (w *world) manifestOf(run *v1alpha1.BenchmarkRun, trial *v1alpha1.Trial) record.Artifact {
	w.t.Helper()
	store, err := artifact.Open(w.store)
	w.must(err)
	found, err := store.Find(w.t.Context(), artifact.ManifestKey(artifact.TrialPrefix(artifact.RunPrefix("", facts.Run(run)), trial.Name, trial.Status.Attempt)))
	w.must(err)
	data, err := artifact.LoadTrial(w.t.Context(), store, found)
	w.must(err)
	if data.Manifest.Run.UID != string(run.UID) || data.Manifest.Name != trial.Name {
		w.t.Errorf("%s is of %s of the run %s %s, want %s of %s", found.Key, data.Manifest.Name, data.Manifest.Run.Name, data.Manifest.Run.UID, trial.Name, run.UID)
	}
	return found
}

func TestRunIsDeletedWhileStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	var proxy *testbed.Proxy
	w := newWorld(t, func(w *world) {
		proxy = testbed.NewProxy(t, w.store.Endpoint)
		w.store.Endpoint = proxy.Addr
	})
	run := w.apply("unstored", long)
	w.awaitFirst("unstored")
	proxy.Down()
	w.must(w.c.Delete(t.Context(), run))
	w.within("nothing to be left", func() bool { return w.left(t.Context()) == "" })
}

func TestRunDeletedWithoutOperatorIsRemovedByNextOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("unled", long)
	w.awaitFirst("unled")
	w.stop()
	w.must(w.c.Delete(t.Context(), run))
	if left := w.left(t.Context()); !strings.Contains(left, "BenchmarkRunList unled") || !strings.Contains(left, "unled-000-go") {
		t.Errorf("without an operator there is only %s", left)
	}
	w.startManager()
	w.within("nothing to be left", func() bool { return w.left(t.Context()) == "" })
}

// The measured trial is stored, the other one is measured, and hours without an operator do not count as the run's time.
func TestOperatorAbsenceDoesNotCountForTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.elects = true })
	w.elect()
	run := w.apply("left", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
	w.awaitFirst("left")
	w.stop()
	w.clock.Forward(2 * time.Hour)
	w.elect()
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	unled(t, run, 2*time.Hour)
	startedOnce(t, w, run)
	artifactsOf(t, w, run)
}

// A policy of the cluster keeps the finalizer of a run. That run stays first in the queue.
func TestRunWithoutFinalizerDoesNotBlockQueue(t *testing.T) {
	t.Parallel()
	var barred atomic.Bool
	barred.Store(true)
	w := newWorld(t, func(w *world) {
		w.between = func(to http.RoundTripper) http.RoundTripper {
			return way(func(q *http.Request) (*http.Response, error) {
				if barred.Load() && q.Method == http.MethodPatch && strings.HasSuffix(q.URL.Path, "/benchmarkruns/barred") {
					return refusesWith(q, http.StatusForbidden, metav1.StatusReasonForbidden, "a policy forbids it"), nil
				}
				return to.RoundTrip(q)
			})
		}
	})
	first := w.apply("barred")
	await(w, first, "a word about the refusal", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonInProgress, "adding finalizer"))
	second := w.apply("free")
	await(w, second, "a place in the queue", saysOf(v1alpha1.ConditionSucceeded, v1alpha1.ReasonQueued, "/barred comes first"))
	w.clock.Forward(time.Minute)
	w.poke(second)
	second = w.awaitEnd(second)
	condition(t, second.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	barred.Store(false)
	w.poke(first)
	first = w.awaitEnd(first)
	condition(t, first.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
}
