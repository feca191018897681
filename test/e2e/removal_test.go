package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/run/plan"
)

// goes limits how long a run takes to be removed while another test measures.
const goes = 5 * time.Minute

// removals are runs of ended tests. They are removed during the next test; leftovers fail the whole test run.
var removals struct {
	going sync.WaitGroup
	lock  sync.Mutex
	err   error
}

// leave deletes a run and does not wait until its objects are gone.
func leave(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	if err := loadstone.Client.Delete(context.Background(), run); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	on := loadstone.Client // A test of upgrades replaces it.
	removals.going.Go(func() {
		if err := vanished(on, run); err != nil {
			removals.lock.Lock()
			defer removals.lock.Unlock()
			removals.err = errors.Join(removals.err, err)
		}
	})
}

// removed waits until all deleted runs are gone, and lists leftovers.
func removed() error {
	removals.going.Wait()
	removals.lock.Lock()
	defer removals.lock.Unlock()
	return removals.err
}

// remove deletes a run and waits until all its objects are gone, except artifacts.
func remove(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	if err := loadstone.Client.Delete(context.Background(), run); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	if err := vanished(loadstone.Client, run); err != nil {
		t.Error(err)
	}
}

// vanished waits until nothing is left of a deleted run.
func vanished(on client.Client, run *v1alpha1.BenchmarkRun) error {
	ctx, cancel := context.WithTimeout(context.Background(), goes)
	defer cancel()
	for {
		left, err := leftovers(ctx, on, run)
		switch {
		case err == nil && len(left) == 0:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s after its deletion the run %s has left %v: %w", goes, run.Name, left, errors.Join(err, ctx.Err()))
		case err != nil:
			return fmt.Errorf("what the run %s has left: %w", run.Name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// leftovers are a run's remaining objects in the cluster.
func leftovers(ctx context.Context, on client.Client, run *v1alpha1.BenchmarkRun) (left []string, err error) {
	workflows := &unstructured.UnstructuredList{}
	workflows.SetGroupVersionKind(render.WorkflowKind)
	for _, list := range []client.ObjectList{&v1alpha1.TrialList{}, &corev1.PodList{}, &networkingv1.NetworkPolicyList{}, workflows} {
		if err := on.List(ctx, list, client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}); err != nil {
			return left, fmt.Errorf("listing %T: %w", list, err)
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			return left, err
		}
		for _, o := range objects {
			left = append(left, fmt.Sprintf("%T %s", o, o.(metav1.Object).GetName()))
		}
	}
	var agents corev1.PodList
	const ofWorkflow = "workflows.argoproj.io/workflow"
	if err := on.List(ctx, &agents, client.InNamespace(system), client.HasLabels{ofWorkflow}); err != nil {
		return left, fmt.Errorf("listing Argo's agents: %w", err)
	}
	// Workflows of repeat blocks and later parts have the first workflow's name as prefix.
	name := render.WorkflowName(run.Name, string(run.UID), plan.Part{})
	for _, p := range agents.Items {
		// Argo's agent may miss the signal to end while it starts. It then ends after half a minute, and the test does not wait.
		if strings.HasPrefix(p.Labels[ofWorkflow], name) && p.DeletionTimestamp.IsZero() {
			left = append(left, "agent pod "+p.Name)
		}
	}
	var tokens corev1.Secret
	if err := on.Get(ctx, client.ObjectKey{Namespace: system, Name: render.TokensSecret}, &tokens); err != nil {
		return left, fmt.Errorf("reading the tokens: %w", err)
	}
	for of := range tokens.Data {
		if strings.HasPrefix(of, name) {
			left = append(left, "the token of "+of)
		}
	}
	err = on.Get(ctx, client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
	if err == nil {
		left = append(left, "itself")
	}
	return left, client.IgnoreNotFound(err)
}
