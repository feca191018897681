package controllers

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

// refusesWith is an answer of an API server that does not do what it was asked.
func refusesWith(q *http.Request, code int, reason metav1.StatusReason) *http.Response {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "not now",
	})
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: q, ProtoMajor: 1, ProtoMinor: 1,
	}
}

// trouble stands between an operator and its API server.
type trouble struct{ n atomic.Int64 }

// everyThird refuses every third request of a sort.
func (t *trouble) everyThird(of func(*http.Request) bool, code int, reason metav1.StatusReason) func(http.RoundTripper) http.RoundTripper {
	return func(to http.RoundTripper) http.RoundTripper {
		return way(func(q *http.Request) (*http.Response, error) {
			if of(q) && t.n.Add(1)%3 == 0 {
				return refusesWith(q, code, reason), nil
			}
			return to.RoundTrip(q)
		})
	}
}

func writes(q *http.Request) bool    { return q.Method != http.MethodGet }
func patches(q *http.Request) bool   { return q.Method == http.MethodPatch }
func watches(q *http.Request) bool   { return q.URL.Query().Get("watch") != "" }
func unwatched(q *http.Request) bool { return !watches(q) }

// far lets a way take some time.
func far(to http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		time.Sleep(60 * time.Millisecond)
		return to.RoundTrip(q)
	})
}

// The trouble does not end with the run, which is deleted in the midst of it.
func TestAnAPIServerInTroubleCostsNoRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of     func(*http.Request) bool
		code   int
		reason metav1.StatusReason
	}{
		"it fails at every third write":              {writes, http.StatusInternalServerError, metav1.StatusReasonInternalError},
		"it fails at every third request":            {unwatched, http.StatusInternalServerError, metav1.StatusReasonInternalError},
		"it has too many requests":                   {writes, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests},
		"every third patch is of something outdated": {patches, http.StatusConflict, metav1.StatusReasonConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trouble trouble
			leadsTo(t, trouble.everyThird(tc.of, tc.code, tc.reason))
			if trouble.n.Load() < 3 {
				t.Errorf("only %d requests met trouble", trouble.n.Load())
			}
		})
	}
}

func TestAnAPIServerThatIsFarAwayCostsNoRun(t *testing.T) {
	t.Parallel()
	leadsTo(t, far)
}

// leadsTo leads a run with something between its operator and the API server, and deletes it.
func leadsTo(t *testing.T, between func(http.RoundTripper) http.RoundTripper) {
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
}

func TestARunIsDeletedWhileItsStoreIsAway(t *testing.T) {
	t.Parallel()
	var proxy *testbed.Proxy
	w := newWorld(t, func(w *world) {
		proxy = testbed.NewProxy(t, w.store.Endpoint)
		w.store.Endpoint = proxy.Addr
	})
	run := w.apply("unstored", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
	w.awaitFirst("unstored")
	proxy.Down()
	w.must(w.c.Delete(t.Context(), run))
	w.within("nothing to be left", func() bool { return w.left(t.Context()) == "" })
}

func TestARunThatIsDeletedWithoutAnOperatorGoesWhenThereIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.apply("unled", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
	w.awaitFirst("unled")
	w.stop()
	w.must(w.c.Delete(t.Context(), run))
	if left := w.left(t.Context()); !strings.Contains(left, "BenchmarkRunList unled") || !strings.Contains(left, "unled-000-go") {
		t.Errorf("without an operator there is only %s", left)
	}
	w.startManager()
	w.within("nothing to be left", func() bool { return w.left(t.Context()) == "" })
}

// The trial that was measured is stored, the other is measured, and the hours in which nobody was there are not the run's.
func TestAnOperatorThatIsAwayForHoursCostsARunNoneOfItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.elects = true })
	lead := func() {
		c := newCandidate(w, w.addr, &leaderEnds{by: map[*candidate]bool{}}, nil)
		w.stop = sync.OnceFunc(func() {
			c.cancel()
			if err := <-c.ended; err != nil {
				t.Errorf("an operator ended: %v", err)
			}
		})
	}
	lead()
	run := w.apply("left", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
	w.awaitFirst("left")
	w.stop()
	w.clock.Forward(2 * time.Hour)
	lead()
	run = w.awaitEnd(run)
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	if away := time.Duration(run.Status.Absence.Seconds) * time.Second; away < 2*time.Hour {
		t.Errorf("of two hours without an operator the run knows %s", away)
	}
	startedOnce(t, w, run)
	artifactsOf(t, w, run)
}

// A run of which a policy of the cluster keeps the finalizer is first in the queue, and would be for ever.
func TestARunThatCannotBeTakenIntoTheQueueHoldsUpNobody(t *testing.T) {
	t.Parallel()
	var barred atomic.Bool
	barred.Store(true)
	w := newWorld(t, func(w *world) {
		w.between = func(to http.RoundTripper) http.RoundTripper {
			return way(func(q *http.Request) (*http.Response, error) {
				if barred.Load() && q.Method == http.MethodPatch && strings.HasSuffix(q.URL.Path, "/benchmarkruns/barred") {
					return refusesWith(q, http.StatusForbidden, metav1.StatusReasonForbidden), nil
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
