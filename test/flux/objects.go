package flux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Patience limits waits on a busy machine.
const Patience = 10 * time.Minute

var (
	// Sources are Git repositories that Flux follows.
	Sources = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
	// Kustomizations are folders of a source that Flux applies.
	Kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
)

// Objects are Flux' objects in a namespace.
type Objects struct {
	// T is the current test or subtest.
	T         *testing.T
	Client    client.Client
	Namespace string
}

// Must ends the test for an error.
func (o *Objects) Must(err error) {
	o.T.Helper()
	if err != nil {
		o.T.Fatal(err)
	}
}

// Await waits until missing returns an empty string.
func (o *Objects) Await(what string, missing func() string) {
	o.T.Helper()
	for deadline := time.Now().Add(Patience); ; time.Sleep(50 * time.Millisecond) {
		text := missing()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			o.T.Fatalf("%s has not come about: %s", what, text)
		}
	}
}

// Get reads an object of Flux.
func (o *Objects) Get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o.T.Helper()
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(kind)
	o.Must(o.Client.Get(o.T.Context(), client.ObjectKey{Namespace: o.Namespace, Name: name}, got))
	return got
}

// Change merges a patch into an object of Flux.
func (o *Objects) Change(kind schema.GroupVersionKind, name, text string) {
	o.T.Helper()
	o.Must(o.Client.Patch(o.T.Context(), o.Get(kind, name), client.RawPatch("application/merge-patch+json", []byte(text))))
}

// Stands waits for a Ready condition of a Kustomization, with a revision and a part of the message.
func (o *Objects) Stands(name string, status metav1.ConditionStatus, revision, text string) {
	o.T.Helper()
	tried := map[metav1.ConditionStatus]string{metav1.ConditionTrue: "lastAppliedRevision"}[status]
	if tried == "" {
		tried = "lastAttemptedRevision"
	}
	o.Await(fmt.Sprintf("that Flux says %s of %s at %s", status, name, revision), func() string {
		got := o.Get(Kustomizations, name)
		at, _, err := unstructured.NestedString(got.Object, "status", tried)
		o.Must(err)
		ready, err := Condition(got, "Ready")
		o.Must(err)
		if at == revision && ready.Status == status && ready.ObservedGeneration == got.GetGeneration() && strings.Contains(ready.Message, text) {
			return ""
		}
		return fmt.Sprintf("%s is %s, %s", tried, at, ready.Message)
	})
}

// Again makes Flux fetch a source and apply Kustomizations, like flux reconcile, and waits for it.
func (o *Objects) Again(token, source string, kustomizations ...string) {
	o.T.Helper()
	o.again(token, Sources, source)
	for _, name := range kustomizations {
		o.again(token, Kustomizations, name)
	}
}

func (o *Objects) again(token string, kind schema.GroupVersionKind, name string) {
	o.T.Helper()
	o.Change(kind, name, Request(token))
	o.Await("that Flux looks at "+name+" again", func() string {
		said, _, err := unstructured.NestedString(o.Get(kind, name).Object, "status", "lastHandledReconcileAt")
		o.Must(err)
		if said == token {
			return ""
		}
		return "it has looked at " + said
	})
}

// Request is what flux reconcile writes.
func Request(token string) string {
	return fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationReconcileAt, token)
}

// Condition returns an object's condition; empty if it is missing.
func Condition(o *unstructured.Unstructured, kind string) (metav1.Condition, error) {
	var read struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	err := kruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &read)
	if c := meta.FindStatusCondition(read.Status.Conditions, kind); c != nil {
		return *c, err
	}
	return metav1.Condition{}, err
}
