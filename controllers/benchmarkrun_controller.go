package controllers

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/pass"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/queue"
	"loadstone.dev/loadstone/internal/workflows"
)

// BenchmarkRunReconciler takes runs from a spec to a report.
type BenchmarkRunReconciler struct {
	client.Client
	// Live reads from the API server itself, where a cache could be too old.
	Live     client.Reader
	Store    Store
	Recorder record.EventRecorder
	Key      ed25519.PrivateKey
	// Namespace is the operator's own, where workflows live.
	Namespace string
	// Service is the address of the trial endpoint as Argo's agent pod reaches it.
	Service                string
	WorkflowServiceAccount string
	InstanceID             string
	// Network is what the NetworkPolicy of a run allows beside its own pods; nil makes none.
	Network *networkingv1.NetworkPolicySpec
	Version string
	Now     func() time.Time
}

// Reconcile does one pass over a run: 1 observe, 2 go through the phases as far as they lead, 3 write the status.
func (r *BenchmarkRunReconciler) Reconcile(ctx context.Context, run *v1alpha1.BenchmarkRun) (ctrl.Result, error) {
	if !run.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, run)
	}
	s, err := r.observe(ctx, run.DeepCopy())
	if err != nil {
		return ctrl.Result{}, err
	}
	return pass.Drive(ctx, r.Client, s, r.phases(), r.announce)
}

// announce tells of conditions that have changed, after they were written.
func (r *BenchmarkRunReconciler) announce(before, after *v1alpha1.BenchmarkRun) {
	for _, c := range after.Status.Conditions {
		old := meta.FindStatusCondition(before.Status.Conditions, c.Type)
		if c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled || c.Status == "Unknown" || old != nil && old.Status == c.Status {
			continue
		}
		kind := corev1.EventTypeNormal
		if c.Status == "False" && c.Type != v1alpha1.ConditionConclusive {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Event(after, kind, c.Reason, pick.Clip(c.Type+" is "+string(c.Status)+": "+c.Message, pass.MaxMessage))
	}
}

func (r *BenchmarkRunReconciler) finalize(ctx context.Context, run *v1alpha1.BenchmarkRun) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(run, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	done, err := r.cleanUp(ctx, run)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !done {
		return ctrl.Result{RequeueAfter: 500 * time.Millisecond}, nil
	}
	return ctrl.Result{}, r.letGo(ctx, run)
}

// observe reads all that the phases decide upon.
func (r *BenchmarkRunReconciler) observe(ctx context.Context, run *v1alpha1.BenchmarkRun) (*runScope, error) {
	s := &runScope{run: run, now: r.Now()}
	var trials v1alpha1.TrialList
	if err := r.List(ctx, &trials, client.InNamespace(run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
		return nil, fmt.Errorf("listing trials: %w", err)
	}
	s.trials = trials.Items
	slices.SortFunc(s.trials, func(a, b v1alpha1.Trial) int { return int(*a.Spec.Index - *b.Spec.Index) })
	var err error
	s.workflow, err = r.engine().Find(ctx, run, runFacts(s).Part())
	return s, err
}

// engine is Argo, which takes the trials of a run in their order.
func (r *BenchmarkRunReconciler) engine() workflows.Engine {
	return workflows.Engine{
		Client: r.Client, Live: r.Live, Key: r.Key, Namespace: r.Namespace,
		Service: r.Service, ServiceAccount: r.WorkflowServiceAccount, InstanceID: r.InstanceID,
	}
}

// SetupWithManager registers the reconciler. One worker: whose turn it is is decided by one pass at a time.
func (r *BenchmarkRunReconciler) SetupWithManager(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).
		For(&v1alpha1.BenchmarkRun{}).
		Owns(&v1alpha1.Trial{}).
		Watches(workflows.New(), handler.EnqueueRequestsFromMapFunc(r.byUID)).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.queued)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(reconcile.AsReconciler(r.Client, r))
}

// byUID is the run that an object in the operator's namespace was made for.
func (r *BenchmarkRunReconciler) byUID(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, func(run *v1alpha1.BenchmarkRun) bool { return string(run.UID) == o.GetLabels()[v1alpha1.LabelRunUID] })
}

// queued are the runs that wait for the one that has changed, and holds up nobody any more.
func (r *BenchmarkRunReconciler) queued(ctx context.Context, o client.Object) []reconcile.Request {
	changed, ok := o.(*v1alpha1.BenchmarkRun)
	if !ok || queue.HoldsUp(changed) {
		return nil
	}
	return r.requests(ctx, func(run *v1alpha1.BenchmarkRun) bool {
		return run.UID != o.GetUID() && run.Status.StartTime == nil && run.Status.CompletionTime == nil
	})
}

func (r *BenchmarkRunReconciler) requests(ctx context.Context, which func(*v1alpha1.BenchmarkRun) bool) []reconcile.Request {
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs, client.UnsafeDisableDeepCopy); err != nil { // They are only read.
		ctrl.LoggerFrom(ctx).Error(err, "Listing BenchmarkRuns")
		return nil
	}
	var list []reconcile.Request
	for i := range runs.Items {
		if which(&runs.Items[i]) {
			list = append(list, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&runs.Items[i])})
		}
	}
	return list
}
