package notifications

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	// workers is the number of suites notified in parallel, so that a slow receiver does not delay other suites.
	workers = 16
	// afterError and longestError limit the retry delay of a failed pass, which may have posted without recording it.
	afterError, longestError = 10 * time.Second, 15 * time.Minute
)

// conflicts is the backoff for writing the notification status after conflicts: an unrecorded try would be repeated.
var conflicts = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1}

// Reconciler tells the sinks of suites.
type Reconciler struct {
	client.Client
	// Live reads from the API server where the cache could be stale.
	Live     client.Reader
	Recorder events.EventRecorder
	// Post posts an event to a sink. The answer has a reason and a message if it was not accepted. An error is unrelated to the sink.
	Post func(ctx context.Context, address string, event []byte) (notify.Answer, error)
	// Forges notifies GitHub and GitLab.
	Forges *Forges
	Now    func() time.Time
}

// Reconcile notifies each sink of one round: observe, post, record.
func (r *Reconciler) Reconcile(ctx context.Context, cached *v1alpha1.BenchmarkSuite) (ctrl.Result, error) {
	if !cached.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	due, after := r.next(cached)
	if len(due) == 0 && notify.Known(cached) {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	s, err := r.live(ctx, cached)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if due, after = r.next(s); len(due) == 0 && notify.Known(s) {
		return ctrl.Result{RequeueAfter: after}, nil // The cache did not know yet.
	}
	answers, err := r.tell(ctx, s, due)
	if err != nil {
		return ctrl.Result{}, err
	}
	s, err = r.remember(ctx, s, answers)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	due, after = r.next(s)
	if len(due) > 0 {
		after = time.Millisecond // The turn is that of another suite first.
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

func (r *Reconciler) next(s *v1alpha1.BenchmarkSuite) ([]notify.Due, time.Duration) {
	now := r.Now()
	return notify.Next(s, now, func(line v1alpha1.SuiteRound) time.Duration { return suite.Held(s, line, now) })
}

func (r *Reconciler) live(ctx context.Context, of *v1alpha1.BenchmarkSuite) (*v1alpha1.BenchmarkSuite, error) {
	s := &v1alpha1.BenchmarkSuite{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(of), s); err != nil {
		return nil, fmt.Errorf("reading BenchmarkSuite %s: %w", of.Name, err)
	}
	return s, nil
}

func (r *Reconciler) tell(ctx context.Context, s *v1alpha1.BenchmarkSuite, due []notify.Due) ([]notify.Answer, error) {
	if len(due) == 0 {
		return nil, nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(s.UID)}); err != nil {
		return nil, fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	answers, errs := make([]notify.Answer, len(due)), make([]error, len(due))
	var all sync.WaitGroup
	for i, d := range due {
		event := suite.Told(s, runs.Items, d.Round)
		event.Data.MeasuredBefore = d.FirstSeenTime != nil
		all.Go(func() {
			if d.Sink.URL == "" {
				answers[i], errs[i] = r.Forges.Tell(ctx, s, d, event)
			} else {
				answers[i], errs[i] = r.Post(ctx, d.Sink.URL, event.Text())
			}
			answers[i].Due = d
		})
	}
	all.Wait()
	// A canceled try says nothing about its sink.
	return answers, errors.Join(append(errs, ctx.Err())...)
}

// remember records the results of tries and returns the updated suite. After a conflict it writes again, without a new try.
func (r *Reconciler) remember(ctx context.Context, s *v1alpha1.BenchmarkSuite, answers []notify.Answer) (*v1alpha1.BenchmarkSuite, error) {
	before := s
	after := s.DeepCopy()
	err := retry.RetryOnConflict(conflicts, func() error {
		now, err := r.live(ctx, s)
		if err != nil {
			return err
		}
		before, after = now, now.DeepCopy()
		if now.UID != s.UID {
			return nil // Another suite of that name has nothing to do with the tries.
		}
		after.Status = notify.Remember(now, answers, r.Now())
		if equality.Semantic.DeepEqual(before.Status, after.Status) {
			return nil
		}
		return r.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return nil, fmt.Errorf("writing the notification status of BenchmarkSuite %s: %w", s.Name, err)
	}
	r.announce(before, after)
	return after, nil
}

func (r *Reconciler) announce(before, after *v1alpha1.BenchmarkSuite) {
	c := meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionNotified)
	old := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionNotified)
	if c == nil {
		return
	}
	changed := old == nil || old.Status != c.Status || old.Reason != c.Reason
	failing := c.Status == metav1.ConditionFalse
	known := givenUp(before)
	lost := slices.ContainsFunc(givenUp(after), func(round string) bool { return !slices.Contains(known, round) })
	switch {
	case lost && !failing:
		r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, v1alpha1.ReasonSinkRefused, "Notify", "%s", util.Clip("Notified: "+c.Message, reconciler.MaxMessage))
	case failing && (changed || lost):
		r.Recorder.Eventf(after, nil, corev1.EventTypeWarning, c.Reason, "Notify", "%s", util.Clip("Notified is False: "+c.Message, reconciler.MaxMessage))
	case changed && old != nil:
		r.Recorder.Eventf(after, nil, corev1.EventTypeNormal, c.Reason, "Notify", "%s", util.Clip("Notified is True: "+c.Message, reconciler.MaxMessage))
	}
}

// givenUp lists all rounds that were not reported.
func givenUp(s *v1alpha1.BenchmarkSuite) []string {
	var lost []string
	for _, n := range s.Status.Notifications {
		for _, round := range notify.GivenUp(n) {
			lost = append(lost, n.Name+" "+round)
		}
	}
	return lost
}

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).
		Named("notifications").
		For(&v1alpha1.BenchmarkSuite{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](afterError, longestError),
		}).
		Complete(reconcile.AsReconciler(r.Client, r))
}
