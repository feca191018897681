package suites

import (
	"context"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
)

// workers is the number of suites reconciled in parallel, so that a slow registry does not delay other suites.
const workers = 4

// Reconciler takes suites from round to round.
type Reconciler struct {
	client.Client
	// Live reads from the API server where the cache could be stale.
	Live     client.Reader
	Recorder events.EventRecorder
	Registry func(ctx context.Context, image string, keys authn.Keychain) suite.Resolution
	Reports  artifact.Runs
	Now      func() time.Time

	answers  answers
	silences silences
	// reading is held while reports are read: one suite at a time, to limit memory.
	reading sync.Mutex
}

// Reconcile does one pass over a suite: observe, run the phases, write the status.
func (r *Reconciler) Reconcile(ctx context.Context, s *v1alpha1.BenchmarkSuite) (ctrl.Result, error) {
	if !s.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // Its runs are collected with it, and stop their load first.
	}
	runs, err := owned(ctx, r.Client, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	of := &scope{facts: suite.Facts{Suite: s.DeepCopy(), Runs: runs, Now: r.Now()}}
	return reconciler.Drive(ctx, r.Client, of, []reconciler.Phase[*scope]{r.resolve, r.show, r.decide, r.read, r.act}, r.announce)
}

// announce sends events about changed conditions after they were written.
func (r *Reconciler) announce(before, after *v1alpha1.BenchmarkSuite) {
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionImagesResolved, v1alpha1.ConditionMeasuring} {
		c, old := meta.FindStatusCondition(after.Status.Conditions, kind), meta.FindStatusCondition(before.Status.Conditions, kind)
		if c == nil || c.Status == metav1.ConditionUnknown || old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if kind == v1alpha1.ConditionMeasuring && (c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonNoRound) {
			continue // Only that a request waits is news: of rounds tells Ready.
		}
		level := corev1.EventTypeNormal
		if c.Status == metav1.ConditionFalse {
			level = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(after, nil, level, c.Reason, c.Type, "%s", util.Clip(c.Type+" is "+string(c.Status)+": "+c.Message, reconciler.MaxMessage))
	}
}

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).
		For(&v1alpha1.BenchmarkSuite{}).
		Owns(&v1alpha1.BenchmarkRun{}).
		WithOptions(reconciler.Workers(workers)).
		Complete(reconcile.AsReconciler(r.Client, r))
}
