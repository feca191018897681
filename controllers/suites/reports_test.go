package suites

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

// counted is a real store that counts what is read from it.
type counted struct {
	*artifact.Store
	reads atomic.Int32
}

func (c *counted) Get(ctx context.Context, key, sha256 string) ([]byte, error) {
	c.reads.Add(1)
	return c.Store.Get(ctx, key, sha256)
}

// bucket opens a bucket of the test's own, at an address.
func (w *world) bucket(at testbed.ObjectStore, name string) *counted {
	w.t.Helper()
	store, err := artifact.Open(artifact.Config{Endpoint: at.Endpoint, Bucket: name, Region: "us-east-1", AccessKey: at.AccessKey, SecretKey: at.SecretKey})
	w.must(err)
	return &counted{Store: store}
}

// put stores the report of the run that goes on, whose costly server costs more by a factor.
func (w *world) put(store *counted, round int32, cost float64) {
	w.t.Helper()
	table, err := analysis.Analyse(recordtest.Round(int(round), cost))
	w.must(err)
	body, err := report.JSON(table)
	w.must(err)
	for _, run := range w.runs() {
		if run.Status.CompletionTime == nil {
			_, err = store.Put(w.t.Context(), lies(&run)+"/reports/0123456789ab/report.json", "application/json", body)
			w.must(err)
		}
	}
}

// measure lets a round of the suite pass, with a report unless its cost is 0.
func (w *world) measure(store *counted, round int32, cost float64) {
	w.t.Helper()
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10*round))
	w.await("the round", measures(round))
	if cost > 0 {
		w.put(store, round, cost)
	}
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
}

// The reports are read from a real store, once for each round, whatever becomes of the operator; those of runs that are gone are found, too.
func TestAValueThatBecameWorseMissesTheGate(t *testing.T) {
	w := newWorld(t)
	w.stop()
	at := testbed.Store(t)
	store := w.bucket(at, at.NewBucket(t))
	w.reports, w.gate.ChangePoints.WithinRounds = store, 10
	w.start()
	const rounds = 20
	for round := int32(1); round <= rounds; round++ {
		cost := 1.0
		if round > 10 {
			cost = 1.2
		}
		if round == 2 {
			cost = 0
		}
		w.measure(store, round, cost)
		w.await("the end of the round's reading", func(s *v1alpha1.BenchmarkSuite) bool {
			return s.Status.LastRound.Round == round && s.Status.LastRound.ChangePoints.CompletionTime != nil
		})
	}
	s := w.await("a stall", is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRegressed))
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "round 20: found to be worse within the newest 10 rounds: ") || !strings.Contains(c.Message, "server CPU time per request of go-slow / go under sweep: round 11: +") {
		t.Errorf("Ready is %+v", c)
	}
	if p := s.Status.LastRound.ChangePoints; !strings.Contains(p.Message, "r0 of round 2 left out: ") || s.Status.LastRound.Outcome != v1alpha1.RoundPassed {
		t.Errorf("the round is %+v", s.Status.LastRound)
	}
	w.stop()
	w.start()
	w.gate.ChangePoints.WithinRounds = 3
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10*rounds))
	w.await("readiness by another bound", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	if got, want := store.reads.Load(), int32(rounds*(rounds+1)/2); got != want {
		t.Errorf("%d reports were read, want %d: those of each round and of the rounds before it", got, want)
	}
}

func TestAStoreThatIsAwayIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.stop()
	at := testbed.Store(t)
	name := at.NewBucket(t)
	store, nowhere := w.bucket(at, name), at
	nowhere.Endpoint = "127.0.0.1:1"
	w.reports, w.gate.ChangePoints.WithinRounds = w.bucket(nowhere, name), 5
	w.start()
	w.measure(store, 1, 1)
	s := w.await("that the store is missed", is(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable))
	if p := s.Status.LastRound.ChangePoints; p.StartTime == nil || p.CompletionTime != nil || !strings.Contains(p.Message, artifact.ErrUnreachable.Error()) {
		t.Errorf("the round waits with %+v", p)
	}
	w.stop()
	w.reports = w.bucket(at, "no-such-bucket")
	w.start()
	w.await("that the bucket is missed", is(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonStoreRefused))
	w.stop()
	w.reports = store
	w.start()
	s = w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	if p := s.Status.LastRound.ChangePoints; p.Reason != "" || !strings.Contains(p.Message, "not enough rounds yet: 1 of ") {
		t.Errorf("the round has %+v", p)
	}
}
