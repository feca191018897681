package controllers

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// step is how a phase ends: stop ends the pass, after asks for another one (0: when something changes).
type step struct {
	stop  bool
	after time.Duration
}

var (
	goOn = step{}
	halt = step{stop: true}
)

func again(after time.Duration) step { return step{stop: true, after: max(after, time.Millisecond)} }

// phase is one step of a pass over what S knows. Each observes the world again, so that a pass can begin anywhere.
type phase[S any] func(context.Context, S) (step, error)

// scope is what one pass over an object knows.
type scope[O client.Object] interface {
	// hindered notes an error, for people to see why nothing moves.
	hindered(err error)
	// states are the object as it was observed, and the same with the status that follows from what the pass has seen.
	states() (before, after O)
}

// drive does a pass over what was observed: it goes through the phases as far as they lead, writes the status, and then tells of what
// has changed.
func drive[O client.Object, S scope[O]](ctx context.Context, c client.Client, s S, phases []phase[S], tell func(before, after O)) (ctrl.Result, error) {
	var result ctrl.Result
	var trouble error
	for _, phase := range phases {
		next, err := phase(ctx, s)
		if err != nil {
			if apierrors.IsConflict(err) {
				return ctrl.Result{RequeueAfter: pollEvery}, nil
			}
			// It is tried again, later and later.
			trouble = err
			s.hindered(err)
			break
		}
		if next.stop {
			result.RequeueAfter = next.after
			break
		}
	}
	before, after := s.states()
	changed, err := writeStatus(ctx, c, before, after)
	if err != nil {
		if benign(err) {
			return ctrl.Result{RequeueAfter: pollEvery}, nil
		}
		return ctrl.Result{}, err
	}
	if changed && tell != nil {
		tell(before, after)
	}
	return result, trouble
}
