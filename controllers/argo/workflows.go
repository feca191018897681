package argo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Engine creates a run's workflow in the operator's namespace and reads its progress.
type Engine struct {
	client.Client
	// Live reads from the API server where the cache could be stale.
	Live      client.Reader
	Key       ed25519.PrivateKey
	Namespace string
	// Service is the address of the trial endpoint for Argo's agent pod.
	Service, ServiceAccount, InstanceID string
}

// Find reads the workflow of a part of a run; nil if there is none.
func (e Engine) Find(ctx context.Context, run *v1alpha1.BenchmarkRun, part plan.Part) (*unstructured.Unstructured, error) {
	w := New()
	err := e.Get(ctx, client.ObjectKey{Namespace: e.Namespace, Name: render.WorkflowName(run.Name, string(run.UID), part)}, w)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading workflow: %w", err)
	}
	return w, nil
}

// New is a workflow without a name.
func New() *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(render.WorkflowKind)
	return w
}

// Make creates the workflow of a part of a run, and its token. An existing workflow is left alone.
func (e Engine) Make(ctx context.Context, run *v1alpha1.BenchmarkRun, p plan.Plan, part plan.Part) (*unstructured.Unstructured, error) {
	w := render.Workflow(p, render.WorkflowOptions{
		Namespace: e.Namespace, RunNamespace: run.Namespace, RunName: run.Name, RunUID: string(run.UID),
		Service: e.Service, ServiceAccount: e.ServiceAccount, InstanceID: e.InstanceID, Part: part,
	})
	if made, err := e.there(ctx, w.GetName()); made != nil || err != nil {
		return made, err // Its token was written before it.
	}
	token := Token(e.Key, string(run.UID))
	if err := SetToken(ctx, e.Client, e.Namespace, w.GetName(), token); err != nil {
		return nil, err
	}
	if err := e.Create(ctx, w); err != nil {
		return nil, fmt.Errorf("creating Workflow %s: %w", w.GetName(), err)
	}
	return w, nil
}

// It lists, because the operator has no right to get.
func (e Engine) there(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(render.WorkflowKind)
	if err := e.Live.List(ctx, list, client.InNamespace(e.Namespace), client.MatchingFields{metav1.ObjectNameField: name}); err != nil {
		return nil, fmt.Errorf("reading Workflow %s: %w", name, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}

// RemoveAll deletes the workflows of a run. One failed deletion does not stop the others.
func (e Engine) RemoveAll(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	there := &unstructured.UnstructuredList{}
	there.SetGroupVersionKind(render.WorkflowKind)
	list := func() error {
		return e.Live.List(ctx, there, client.InNamespace(e.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)})
	}
	if err := reconciler.Insist(list); err != nil {
		return fmt.Errorf("listing workflows: %w", err)
	}
	var refused []error
	for i := range there.Items {
		if w := &there.Items[i]; w.GetDeletionTimestamp().IsZero() {
			refused = append(refused, reconciler.Insist(func() error { return e.Remove(ctx, w) }))
		}
	}
	return errors.Join(refused...)
}

// Remove deletes a workflow by UID, never a successor of the same name.
func (e Engine) Remove(ctx context.Context, w *unstructured.Unstructured) error {
	uid := w.GetUID()
	err := e.Delete(ctx, w, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Workflow %s: %w", w.GetName(), err)
	}
	return nil
}

// RemoveTokens removes all tokens of a run.
func (e Engine) RemoveTokens(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	names := []string{render.WorkflowName(run.Name, string(run.UID), plan.Part{Following: true})}
	for repeat := range plan.RepeatBlocks(plan.BlocksOf(run.Spec)) + 1 {
		names = append(names, render.WorkflowName(run.Name, string(run.UID), plan.Part{Repeat: repeat}))
	}
	return reconciler.Insist(func() error { return client.IgnoreNotFound(RemoveTokens(ctx, e.Client, e.Namespace, names...)) })
}

// Follow returns the progress of a workflow, and replaces agent pods that cannot recover.
func (e Engine) Follow(ctx context.Context, w *unstructured.Unstructured, owed facts.Owed, led, now time.Time) (Standing, error) {
	var agents []corev1.Pod
	if owed.Trial != "" {
		var err error
		if agents, err = e.AgentPods(ctx, w.GetName()); err != nil {
			return Standing{}, err
		}
	}
	s := Stands(w, agents, owed, led, now)
	switch phase, _ := Phase(w); {
	case s.Suspended:
		return s, nil
	case s.Why != v1alpha1.ReasonWorkflowEngineDown || phase == "":
	case len(agents) > 0:
		// If Argo is available, it creates another one, which recovers; if not, it does so later.
		return s, e.ReplaceAgentPods(ctx, agents, Patience, now)
	default:
		if err := e.agentPodRefused(ctx, w.GetName()); err != nil {
			s.Why = v1alpha1.ReasonTrialWaiting
			s.Waiting = fmt.Sprintf("Argo cannot create the agent pod of workflow %s, which releases trial %s, and the run's timeout continues: %s", w.GetName(), owed.Trial, err)
		}
		return s, nil
	}
	patience := never
	if s.Unanswered {
		patience = AnswerPatience
	}
	return s, e.ReplaceAgentPods(ctx, agents, patience, now)
}

// never is longer than any pod lives.
const never = time.Duration(math.MaxInt64)

// agentPodRefused is the quota that has no room for Argo's agent pod; nil if there is none. Argo retries silently after a quota error; after
// other errors it ends the workflow with a message.
func (e Engine) agentPodRefused(ctx context.Context, workflow string) error {
	err := e.Create(ctx, render.AgentPod(e.Namespace, workflow, e.ServiceAccount), client.DryRunAll)
	if reconciler.OverQuota(err) {
		return err
	}
	return nil
}

// AgentPods are the pods that Argo has made for a workflow.
func (e Engine) AgentPods(ctx context.Context, workflow string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := e.Live.List(ctx, &list, client.InNamespace(e.Namespace), client.MatchingLabels{"workflows.argoproj.io/workflow": workflow}); err != nil {
		return nil, fmt.Errorf("listing pods of workflow %s: %w", workflow, err)
	}
	return list.Items, nil
}

// ReplaceAgentPods deletes the failed and the overdue agent pods of a workflow. Argo never repairs them, but creates new ones, which ask again
// for every open step.
func (e Engine) ReplaceAgentPods(ctx context.Context, agents []corev1.Pod, patience time.Duration, now time.Time) error {
	for i := range agents {
		p := &agents[i]
		lost := p.Status.Phase == corev1.PodFailed || overdue(p, patience, now)
		if !lost || !p.DeletionTimestamp.IsZero() {
			continue
		}
		if err := e.Delete(ctx, p); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %s: %w", p.Name, err)
		}
	}
	return nil
}

// overdue reports whether an agent pod had enough time. A starting pod may still pull its image, as a new one would.
func overdue(p *corev1.Pod, patience time.Duration, now time.Time) bool {
	if p.Status.Phase == corev1.PodPending {
		return now.Sub(p.CreationTimestamp.Time) > max(patience, Patience)
	}
	return now.Sub(pods.Settled([]*corev1.Pod{p})) > patience
}

// Phase is the workflow's phase and message; empty before Argo has handled it.
func Phase(w *unstructured.Unstructured) (phase, message string) {
	phase, _, _ = unstructured.NestedString(w.Object, "status", "phase")
	message, _, _ = unstructured.NestedString(w.Object, "status", "message")
	return phase, message
}

// Stopped reports whether a user asked Argo to end the workflow.
func Stopped(w *unstructured.Unstructured) bool {
	shutdown, _, _ := unstructured.NestedString(w.Object, "spec", "shutdown")
	return shutdown != ""
}

// Ended reports whether a workflow has reached a final phase: Succeeded, Failed or Error.
func Ended(w *unstructured.Unstructured) bool {
	phase, _ := Phase(w)
	return phase == "Succeeded" || phase == "Failed" || phase == "Error"
}
