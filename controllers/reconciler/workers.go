package reconciler

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

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
