package reconciler

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/base/util"
)

// afterConflict is when a pass is done again that was built on something old: the cache will soon know the new.
const afterConflict = 40 * time.Millisecond

// Step is how a phase ends: Stop ends the pass, After asks for another one (0: when something changes).
type Step struct {
	Stop  bool
	After time.Duration
}

var (
	// GoOn goes on to the next phase.
	GoOn = Step{}
	// Halt ends the pass until something changes.
	Halt = Step{Stop: true}
)

// Again ends the pass and asks for another one after a while.
func Again(after time.Duration) Step { return Step{Stop: true, After: max(after, time.Millisecond)} }

// Phase is one step of a pass over what S knows. Each observes the world again, so that a pass can begin anywhere.
type Phase[S any] func(context.Context, S) (Step, error)

// Scope is what one pass over an object knows.
type Scope[O client.Object] interface {
	// Hindered notes an error, for people to see why nothing moves.
	Hindered(err error)
	// States are the object as it was observed, and the same with the status that follows from what the pass has seen.
	States() (before, after O)
}

// Drive does a pass over what was observed: it goes through the phases as far as they lead, writes the status, and then tells of what
// has changed. A phase that panics has failed, so that the status says what hinders the next, and the deadlines of a run hold.
func Drive[O client.Object, S Scope[O]](ctx context.Context, c client.Client, s S, phases []Phase[S], tell func(before, after O)) (ctrl.Result, error) {
	var result ctrl.Result
	var trouble error
	for _, phase := range phases {
		var next Step
		err := util.Guard(func() (err error) {
			next, err = phase(ctx, s)
			return err
		})
		if err != nil {
			if apierrors.IsConflict(err) {
				return ctrl.Result{RequeueAfter: afterConflict}, nil
			}
			// It is tried again, later and later.
			trouble = err
			s.Hindered(err)
			break
		}
		if next.Stop {
			result.RequeueAfter = next.After
			break
		}
	}
	before, after := s.States()
	changed, err := writeStatus(ctx, c, before, after)
	if err != nil {
		if Benign(err) {
			return ctrl.Result{RequeueAfter: afterConflict}, nil
		}
		return ctrl.Result{}, err
	}
	if changed && tell != nil {
		tell(before, after)
	}
	return result, trouble
}
