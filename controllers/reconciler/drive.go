package reconciler

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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

const (
	// afterError is when a pass that has failed is done again, and longestError what that doubles to, failure by failure. Unbounded, as it is by default, an
	// object of which many passes have failed would be left alone for a quarter of an hour when nothing is in its way any more.
	afterError, longestError = 5 * time.Millisecond, 10 * time.Second
	// failedRate and failedBurst bound how many passes that have failed are done again in a second: all objects may fail at once.
	failedRate, failedBurst = 10, 100
)

// Workers are the options of a controller that does so many passes at a time, over different objects.
func Workers(n int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: n,
		RateLimiter: workqueue.NewTypedMaxOfRateLimiter[reconcile.Request](
			workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](afterError, longestError),
			&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(failedRate, failedBurst)},
		),
	}
}
