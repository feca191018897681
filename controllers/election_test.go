package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

// TestOperatorTakesOverFromCrashedLeader leads a run with two operators. The leader crashes at one write after another.
func TestOperatorTakesOverFromCrashedLeader(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*candidate){
		"it is told to end, and gives its lease back": func(c *candidate) { c.cancel() },
		"it is killed, and its lease runs out":        func(c *candidate) { c.gate.set(gateCut) },
		"it hangs, and wakes when another leads":      func(c *candidate) { c.gate.set(gateHeld) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newElection(t, end)
			run := e.w.apply("led", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}))
			e.until("the run's end", func() bool {
				e.w.must(e.w.c.Get(t.Context(), client.ObjectKeyFromObject(run), run))
				return run.Status.CompletionTime != nil
			})
			condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
			startedOnce(t, e.w, run)
			inTheirTurn(t, e.w, run)
			artifactsOf(t, e.w, run)
			e.w.must(e.w.c.Delete(t.Context(), run))
			e.until("nothing to be left", func() bool { return e.w.left(t.Context()) == "" && e.settled() })
			if left := e.places(); len(left) > 0 {
				t.Errorf("no leader has ended at %q", left)
			}
		})
	}
}

// election is a world with two operators, one of them leading. A crashed one is replaced.
type election struct {
	w       *world
	service *service
	// end is how leaders end.
	end   func(*candidate)
	ends  *leaderEnds
	alive []*candidate
}

func newElection(t *testing.T, end func(*candidate)) *election {
	t.Helper()
	w := newWorld(t, func(w *world) { w.elects = true })
	// Argo CD installs no Lease: the operators create it.
	w.must(w.c.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.system, Name: "loadstone"}}))
	e := &election{w: w, end: end, ends: newLeaderEnds(), service: newService(t, w.addr)}
	w.stop = func() {
		for _, c := range e.alive {
			c.gate.set(gateOpen)
			c.cancel()
			e.over(c, <-c.ended)
		}
	}
	for range 2 {
		e.alive = append(e.alive, e.stand())
	}
	return e
}

// until keeps two operators going until something has come about. Each leader has the whole deadline.
func (e *election) until(what string, done func() bool) {
	e.w.t.Helper()
	left := len(e.places())
	for deadline := time.Now().Add(testbed.Patience); !done(); time.Sleep(lookEvery) {
		if n := len(e.places()); n < left {
			left, deadline = n, time.Now().Add(testbed.Patience)
		}
		if time.Now().After(deadline) {
			e.w.t.Fatalf("waited in vain for %s; no leader has ended at %q yet; there is %s:\n%s", what, e.places(), e.w.left(e.w.t.Context()), e.w.dump())
		}
		for i, c := range e.alive {
			select {
			case err := <-c.ended:
				e.over(c, err)
				e.alive[i] = e.stand()
			default:
			}
		}
		e.look()
	}
}

// look leads the workflows' steps to the operator that leads, and wakes the one that hung until then.
func (e *election) look() {
	i := slices.IndexFunc(e.alive, func(c *candidate) bool { return !c.gate.ending() && c.fence.Check() == nil })
	if i < 0 {
		return
	}
	e.service.lead(e.alive[i].addr)
	for other, c := range e.alive {
		if other != i {
			c.gate.wake()
		}
	}
}

func (e *election) settled() bool {
	return !slices.ContainsFunc(e.alive, func(c *candidate) bool { return c.gate.ending() })
}

func (e *election) over(c *candidate, err error) {
	late, refused := c.gate.woken()
	if len(late) > 0 {
		e.w.t.Errorf("an operator that had lost its lease wrote %q", late)
	}
	if c.gate.hung() && refused == 0 {
		e.w.t.Error("an operator that hung had nothing to write when it woke")
	}
	if err != nil && !strings.Contains(err.Error(), "leader election lost") {
		e.w.t.Errorf("an operator ended: %v", err)
	}
}

// places are the writes without a crashed leader so far.
func (e *election) places() []string { return e.ends.left() }

func (e *election) stand() *candidate {
	e.w.t.Helper()
	addr, err := testbed.FreeAddress()
	e.w.must(err)
	return newCandidate(e.w, addr, electionLease, e.ends, e.end)
}
