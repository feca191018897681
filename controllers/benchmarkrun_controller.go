package controllers

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/argo"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
)

// BenchmarkRunReconciler takes runs from a spec to a report.
type BenchmarkRunReconciler struct {
	client.Client
	Live      client.Reader
	Store     artifact.Bucket
	Recorder  events.EventRecorder
	Key       ed25519.PrivateKey
	Namespace string
	// Service is the address of the trial endpoint for Argo's agent pod.
	Service                string
	WorkflowServiceAccount string
	InstanceID             string
	// Memory is the heap limit of the operator, which limits the size of reports; 0 without a limit.
	Memory int64
	// Network is what a run's NetworkPolicy allows besides its own pods; nil creates no policy.
	Network *networkingv1.NetworkPolicySpec
	// Pods are the installation's settings of measured pods.
	Pods v1alpha1.PodSettings
	// Analyses makes analyses and reports in other processes; nil makes them during the pass.
	Analyses *Analyses
	// Absence is when there was no leader before this operator; nil if unknown.
	Absence func() (from, to time.Time)
	Version string
	Now     func() time.Time

	// tries is used only by the single worker.
	tries Tries
	plans plans
}

// Reconcile does one pass over a run: observe, run the phases, write the status.
func (r *BenchmarkRunReconciler) Reconcile(ctx context.Context, run *v1alpha1.BenchmarkRun) (ctrl.Result, error) {
	if !run.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, run)
	}
	s, err := r.observe(ctx, run.DeepCopy())
	if err != nil {
		return ctrl.Result{}, err
	}
	return reconciler.Drive(ctx, r.Client, s, r.phases(), r.announce)
}

// announce sends one event about changed conditions after they were written, with the reason of the last one (Succeeded at the end of the
// run).
func (r *BenchmarkRunReconciler) announce(before, after *v1alpha1.BenchmarkRun) {
	kind, why := corev1.EventTypeNormal, ""
	var changed, messages []string
	for _, c := range after.Status.Conditions {
		old := meta.FindStatusCondition(before.Status.Conditions, c.Type)
		if c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled || c.Status == "Unknown" || old != nil && old.Status == c.Status {
			continue
		}
		text := c.Type + " is " + string(c.Status)
		if c.Status == "False" {
			text += " (" + c.Reason + ")"
			if c.Type != v1alpha1.ConditionConclusive {
				kind = corev1.EventTypeWarning
			}
		}
		why, changed = c.Reason, append(changed, text)
		if c.Message != "" && !slices.Contains(messages, c.Message) {
			messages = append(messages, c.Message)
		}
	}
	if len(changed) > 0 {
		r.Recorder.Eventf(after, nil, kind, why, "Measure", "%s", util.Clip(strings.Join(changed, ", ")+": "+strings.Join(messages, "; "), reconciler.MaxMessage))
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
	return ctrl.Result{}, letGo(ctx, r.Client, run)
}

func (r *BenchmarkRunReconciler) observe(ctx context.Context, run *v1alpha1.BenchmarkRun) (*runScope, error) {
	trials, err := index.TrialsOf(ctx, r.Client, run.Namespace, string(run.UID))
	if err != nil {
		return nil, err
	}
	var from, to time.Time
	if r.Absence != nil {
		from, to = r.Absence()
	}
	s := &runScope{run: run, now: r.Now(), trials: trials, absence: facts.Absence(run, from, to), downloadKey: download.RunKey(r.Key, run.UID)}
	s.workflow, err = r.engine().Find(ctx, run, runFacts(s).Part())
	return s, err
}

func (r *BenchmarkRunReconciler) engine() argo.Engine {
	return argo.Engine{
		Client: r.Client, Live: r.Live, Key: r.Key, Namespace: r.Namespace,
		Service: r.Service, ServiceAccount: r.WorkflowServiceAccount, InstanceID: r.InstanceID,
	}
}

// SetupWithManager registers the reconciler with a single worker, so that only one pass at a time decides whose turn it is.
func (r *BenchmarkRunReconciler) SetupWithManager(m ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(m)
	if r.Analyses != nil {
		b = b.WatchesRawSource(source.Channel(r.Analyses.ended, &handler.EnqueueRequestForObject{}))
	}
	return b.
		For(&v1alpha1.BenchmarkRun{}).
		Owns(&v1alpha1.Trial{}).
		Watches(argo.New(), handler.EnqueueRequestsFromMapFunc(r.byUID)).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.queued), builder.WithPredicates(predicate.Funcs{UpdateFunc: movesQueue})).
		WithOptions(reconciler.Workers(1)).
		Complete(reconcile.AsReconciler(r.Client, r))
}

// byUID maps an object in the operator's namespace to its run.
func (r *BenchmarkRunReconciler) byUID(ctx context.Context, o client.Object) []reconcile.Request {
	runs, err := index.RunOf(ctx, r.Client, o.GetLabels()[v1alpha1.LabelRunUID])
	return index.Requests(ctx, runs, err)
}

// movesQueue reports whether a change of a run matters to the runs behind it.
func movesQueue(e event.UpdateEvent) bool {
	before, is := e.ObjectOld.(*v1alpha1.BenchmarkRun)
	after, are := e.ObjectNew.(*v1alpha1.BenchmarkRun)
	return is && are && queue.Ahead(before) != queue.Ahead(after)
}

func (r *BenchmarkRunReconciler) queued(ctx context.Context, o client.Object) []reconcile.Request {
	changed, ok := o.(*v1alpha1.BenchmarkRun)
	if !ok || queue.HoldsUp(changed) && changed.Status.StartTime == nil && changed.Status.WaitingSince == nil {
		return nil
	}
	runs, err := index.OpenRuns(ctx, r.Client)
	return index.Requests(ctx, slices.DeleteFunc(runs, func(run v1alpha1.BenchmarkRun) bool { return run.UID == o.GetUID() || run.Status.StartTime != nil }), err)
}
