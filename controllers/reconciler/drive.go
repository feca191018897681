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

const afterConflict = 40 * time.Millisecond

// Step is the result of a phase: Stop ends the pass, After requests another one (0: on the next change).
type Step struct {
	Stop  bool
	After time.Duration
}

var (
	// GoOn continues with the next phase.
	GoOn = Step{}
	// Halt ends the pass until something changes.
	Halt = Step{Stop: true}
)

// Again ends the pass and requests another one after a delay.
func Again(after time.Duration) Step { return Step{Stop: true, After: max(after, time.Millisecond)} }

// Phase is one step of a pass. Each observes the world again, so that a pass can start anywhere.
type Phase[S any] func(context.Context, S) (Step, error)

// Within gives phases one deadline for all that they read and write. The status is written after it.
func Within[S any](limit time.Duration, phases ...Phase[S]) Phase[S] {
	return func(ctx context.Context, s S) (Step, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		for _, phase := range phases {
			if next, err := phase(ctx, s); next.Stop || err != nil {
				return next, err
			}
		}
		return GoOn, nil
	}
}

// Scope is the knowledge of one pass over an object.
type Scope[O client.Object] interface {
	// Hindered records an error, for the status.
	Hindered(err error)
	// States are the observed object, and the object with the new status.
	States() (before, after O)
}

// Drive runs the phases, writes the status, and then sends events about changes. A panic counts as an error of its phase: the status shows it,
// and the deadlines of a run still apply.
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
	// afterError is the first retry delay after an error, and longestError its maximum. With the default maximum, an object could be ignored
	// for a quarter of an hour after its problem is solved.
	afterError, longestError = 5 * time.Millisecond, 10 * time.Second
	// failedRate and failedBurst limit the retries per second: all objects may fail at once.
	failedRate, failedBurst = 10, 100
)

// Workers are the options of a controller with this many parallel passes.
func Workers(n int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: n,
		RateLimiter: workqueue.NewTypedMaxOfRateLimiter[reconcile.Request](
			workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](afterError, longestError),
			&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(failedRate, failedBurst)},
		),
	}
}
