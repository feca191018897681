package controllers

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/index"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// TrialReconciler takes trials through their cells.
type TrialReconciler struct {
	client.Client
	// Live reads uncached objects from the API server.
	Live  client.Reader
	Store artifact.Bucket
	// StoreCA are private CA certificates (PEM) for uploads by agents.
	StoreCA      string
	Agents       agents.Client
	Key          ed25519.PrivateKey
	AgentImage   string
	ToolboxImage string
	PullSecrets  []string
	// Pods are the installation's settings of measured pods.
	Pods    v1alpha1.PodSettings
	Version string
	Now     func() time.Time

	plans plans
}

// Reconcile does one pass over a trial: observe, run the phases, write the status.
func (r *TrialReconciler) Reconcile(ctx context.Context, t *v1alpha1.Trial) (ctrl.Result, error) {
	if !t.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // Its pods are its dependents and go with it.
	}
	if t.Status.CompletionTime != nil {
		again, err := tidyPods(ctx, r.Client, t, r.Now()) // Thousands have ended, and an operator that starts looks at each.
		return ctrl.Result{RequeueAfter: again}, err
	}
	s, err := r.observe(ctx, t)
	if err != nil {
		return ctrl.Result{}, err
	}
	return reconciler.Drive(ctx, r.Client, s, r.phases(), nil)
}

func (r *TrialReconciler) observe(ctx context.Context, t *v1alpha1.Trial) (*trialScope, error) {
	s := &trialScope{trial: t, now: r.Now(), attempt: max(t.Status.Attempt, 1), prepared: t.Status.StartTime != nil}
	var run v1alpha1.BenchmarkRun
	err := r.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: t.Spec.RunName}, &run)
	switch {
	case err == nil && string(run.UID) == t.Labels[v1alpha1.LabelRunUID]:
		s.run = &run
		s.plan, s.unplanned = r.plans.of(ctx, r.Store, &run)
	case err != nil && !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading BenchmarkRun %s: %w", t.Spec.RunName, err)
	}
	trials, err := index.TrialsOf(ctx, r.Client, t.Namespace, t.Labels[v1alpha1.LabelRunUID])
	if err != nil {
		return nil, err
	}
	if !s.awaitsPlan() { // Without the plan, nothing tells the servers of one trial from those of another.
		s.siblings = facts.Trials(trials, s.plan)
	}
	pods, err := measuredPods(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	if s.nodes, err = readNodes(ctx, r.Client); err != nil {
		return nil, err
	}
	owners, err := ownersOf(ctx, r.Client, pods)
	if err != nil {
		return nil, err
	}
	s.placePods(pods, owners)
	return s, nil
}

func (r *TrialReconciler) publicKey() ed25519.PublicKey { return r.Key.Public().(ed25519.PublicKey) }

// SetupWithManager registers the reconciler. The next trial is reconciled when any trial or measured pod changes, because it waits for
// them.
func (r *TrialReconciler) SetupWithManager(m ctrl.Manager) error {
	waiting := handler.EnqueueRequestsFromMapFunc(r.next)
	return ctrl.NewControllerManagedBy(m).
		For(&v1alpha1.Trial{}).
		Owns(&corev1.Pod{}).
		Watches(&corev1.Pod{}, waiting).
		Watches(&v1alpha1.Trial{}, waiting).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.ofRun)).
		WithOptions(reconciler.Workers(4)).
		Complete(reconcile.AsReconciler(r.Client, r))
}

func (r *TrialReconciler) next(ctx context.Context, _ client.Object) []reconcile.Request {
	trials, err := index.Turns(ctx, r.Client)
	return index.Requests(ctx, trials, err)
}

func (r *TrialReconciler) ofRun(ctx context.Context, o client.Object) []reconcile.Request {
	run, ok := o.(*v1alpha1.BenchmarkRun)
	if !ok || run.DeletionTimestamp.IsZero() && facts.EndReason(run) == "" && run.Status.Interim.AnalysedBlocks == 0 {
		return nil
	}
	trials, err := index.OpenTrials(ctx, r.Client)
	return index.Requests(ctx, slices.DeleteFunc(trials, func(t v1alpha1.Trial) bool { return t.Labels[v1alpha1.LabelRunUID] != string(run.UID) }), err)
}
