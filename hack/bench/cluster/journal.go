package cluster

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// What can be seen of an object.
const (
	created   = "created"
	scheduled = "scheduled"
	running   = "running"
	deleting  = "deleting"
	gone      = "gone"
	prepared  = "prepared"
	released  = "released"
	started   = "started"
	stored    = "stored"
	begun     = "begun"
	completed = "completed"
)

func trialFact(trial, what string) string { return "trial " + trial + " " + what }
func podFact(pod, what string) string     { return "pod " + pod + " " + what }
func runFact(run, what string) string     { return "run " + run + " " + what }

// agentFact is about the pod from which Argo calls the steps of a workflow.
func agentFact(workflow, what string) string { return "agent " + workflow + " " + what }

// happened is what an object shows, as it is told by a watch.
func happened(kind watch.EventType, o client.Object) []string {
	switch o := o.(type) {
	case *v1alpha1.BenchmarkRun:
		return collect(runFact, o.Name, map[string]bool{
			created: true, begun: o.Status.StartTime != nil, completed: o.Status.CompletionTime != nil, gone: kind == watch.Deleted,
		})
	case *v1alpha1.Trial:
		return collect(trialFact, o.Name, map[string]bool{
			created:  true,
			prepared: meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionPrepared),
			released: o.Spec.Start == v1alpha1.StartReleased,
			started:  o.Status.StartTime != nil,
			stored:   o.Status.CompletionTime != nil,
		})
	case *corev1.Pod:
		name, fact := o.Name, podFact
		if workflow := o.Labels[workflowLabel]; workflow != "" {
			name, fact = workflow, agentFact
		}
		return collect(fact, name, map[string]bool{
			created: true, scheduled: o.Spec.NodeName != "", running: o.Status.Phase == corev1.PodRunning,
			deleting: o.DeletionTimestamp != nil, gone: kind == watch.Deleted,
		})
	}
	return nil
}

func collect(fact func(string, string) string, name string, shown map[string]bool) []string {
	var list []string
	for what, yes := range shown {
		if yes {
			list = append(list, fact(name, what))
		}
	}
	return list
}

// journal notes when facts were first seen.
type journal struct {
	mu      sync.Mutex
	first   map[string]time.Time
	changed chan struct{}
}

func newJournal() *journal {
	return &journal{first: map[string]time.Time{}, changed: make(chan struct{})}
}

func (j *journal) note(at time.Time, facts []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range facts {
		if _, known := j.first[f]; !known {
			j.first[f] = at
		}
	}
	close(j.changed)
	j.changed = make(chan struct{})
}

// seen is what has been seen so far; changed is closed when there is more.
func (j *journal) seen() (facts map[string]time.Time, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.first), j.changed
}

// await returns when a fact has been seen.
func (j *journal) await(ctx context.Context, fact string) (time.Time, error) {
	for {
		seen, changed := j.seen()
		if at, ok := seen[fact]; ok {
			return at, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting for %q: %w", fact, ctx.Err())
		}
	}
}

// count is the number of trials of which something has been seen.
func count(seen map[string]time.Time, what string) int {
	n := 0
	for fact := range seen {
		if strings.HasPrefix(fact, "trial ") && strings.HasSuffix(fact, " "+what) {
			n++
		}
	}
	return n
}

// watchAll notes what happens to all objects of a list's kind until ctx ends. It returns once the watch is open.
func (j *journal) watchAll(ctx context.Context, c client.WithWatch, list client.ObjectList, namespace string) error {
	w, err := c.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("watching %T: %w", list, err)
	}
	go func() {
		defer w.Stop()
		for e := range w.ResultChan() {
			if o, ok := e.Object.(client.Object); ok {
				j.note(time.Now(), happened(e.Type, o))
			}
		}
	}()
	return nil
}
