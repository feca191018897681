package lookup

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Trials trims the trials that the operator's cache keeps. A thousand runs leave twenty thousand of them, of which those of a run have most in common.
type Trials struct {
	mu sync.Mutex
	// recent is what was kept of the last trials, by their run and implementations.
	recent map[string]common
}

// common is what trials of one run and of the same implementations have in common after they have ended.
type common struct {
	servers []v1alpha1.Implementation
	sweep   v1alpha1.Sweep
}

// remembered is how many kinds of trials are remembered: those of a run follow each other, in a list and in time.
const remembered = 64

// Trim is what the cache keeps of a trial. One that has ended is not measured again: of its spec only the timetable is kept and who was measured.
func (k *Trials) Trim(o any) (any, error) {
	t, ok := o.(*v1alpha1.Trial)
	if !ok {
		return o, nil
	}
	t.ManagedFields = nil
	if t.Status.CompletionTime == nil {
		return t, nil
	}
	own := common{sweep: t.Spec.Sweep}
	own.sweep.Cells = slices.Clone(own.sweep.Cells) // A trial may come twice, and then its cells are shared already with those in the cache.
	key := t.Labels[v1alpha1.LabelRunUID]
	for _, s := range t.Spec.Servers {
		own.servers = append(own.servers, v1alpha1.Implementation{Name: s.Name, CPUs: s.CPUs})
		key += "/" + s.Name
	}
	for i := range own.sweep.Cells {
		own.sweep.Cells[i].Request, own.sweep.Cells[i].Requests = v1alpha1.Request{}, nil
	}
	own = k.share(key, own)
	t.Spec.Servers, t.Spec.Sweep = own.servers, own.sweep
	for i := range t.Status.Conditions {
		c := &t.Status.Conditions[i]
		c.Type, c.Reason = unique.Make(c.Type).Value(), unique.Make(c.Reason).Value()
	}
	return t, nil
}

// share returns what another trial has kept, if it is the same.
func (k *Trials) share(key string, own common) common {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, known := k.recent[key]; known && reflect.DeepEqual(other, own) {
		return other
	}
	if k.recent == nil || len(k.recent) >= remembered {
		k.recent = map[string]common{}
	}
	k.recent[key] = own
	return own
}

// TrimWorkflow is what the operator's cache keeps of a workflow: whose it is, how far it is, and whether somebody holds or ends it. What Argo notes
// of each step is larger than all the rest.
func TrimWorkflow(o any) (any, error) {
	w, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	kept := &unstructured.Unstructured{Object: map[string]any{"metadata": w.Object["metadata"]}}
	kept.SetGroupVersionKind(w.GroupVersionKind())
	kept.SetManagedFields(nil)
	for _, path := range [][]string{{"spec", "shutdown"}, {"spec", "suspend"}, {"status", "phase"}, {"status", "message"}} {
		value, found, err := unstructured.NestedFieldNoCopy(w.Object, path...)
		if err != nil || !found {
			continue // A workflow that Argo has not looked at has no status.
		}
		if err := unstructured.SetNestedField(kept.Object, value, path...); err != nil {
			return nil, fmt.Errorf("keeping %s of workflow %s: %w", strings.Join(path, "."), w.GetName(), err)
		}
	}
	return kept, nil
}
