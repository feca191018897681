package namespaces

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// answering is an API server whose lists in namespace b end with err.
type answering struct {
	client.Client
	err error
}

func (a *answering) List(ctx context.Context, list client.ObjectList, how ...client.ListOption) error {
	var o client.ListOptions
	if o.ApplyOptions(how).Namespace == "b" && a.err != nil {
		return a.err
	}
	return a.Client.List(ctx, list, how...)
}

func TestNamespaceIsLeftOutAfterLastingRefusal(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errRefused)
	away := errors.New("connection refused")
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	type step struct {
		after time.Duration
		err   error
		out   bool
	}
	for name, steps := range map[string][]step{
		"a refusal that ends is forgotten":             {{0, forbidden, false}, {grace - 1, forbidden, false}, {grace, nil, false}, {grace + 1, forbidden, false}, {2 * grace, forbidden, false}},
		"one that lasts is not":                        {{0, forbidden, false}, {grace, forbidden, true}, {2 * grace, forbidden, true}},
		"an unavailable API server changes nothing":    {{0, away, false}, {grace, away, false}, {2 * grace, forbidden, false}, {3 * grace, forbidden, true}, {4 * grace, away, true}},
		"a namespace that can be read is back at once": {{0, forbidden, false}, {grace, forbidden, true}, {grace + 1, nil, false}, {grace + 2, forbidden, false}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &answering{Client: fake.NewClientBuilder().Build()}
			a := NewAccess(Led{"a", "b"}, c, funcr.New(func(string, string) {}, funcr.Options{}), &corev1.PodList{})
			for i, s := range steps {
				c.err = s.err
				_, before := a.state("b")
				was := a.leavesOut("b")
				a.Look(t.Context(), noon.Add(s.after))
				if got := a.leavesOut("b"); got != s.out || a.leavesOut("a") {
					t.Errorf("step %d: it is left out: %t, want %t", i+1, got, s.out)
				}
				select {
				case <-before:
					if was == s.out {
						t.Errorf("step %d: a change is reported, and there is none", i+1)
					}
				default:
					if was != s.out {
						t.Errorf("step %d: the change is not reported", i+1)
					}
				}
			}
		})
	}
}

func TestReaderUsesMemoryForARecentRefusal(t *testing.T) {
	pod := func(namespace string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}}
	}
	c := &answering{Client: fake.NewClientBuilder().WithObjects(pod("a"), pod("b"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}}).Build()}
	a := NewAccess(Led{"a", "b"}, c, funcr.New(func(string, string) {}, funcr.Options{}), &corev1.PodList{})
	r := a.Reader(c, c.Client)
	count := func(want int) {
		t.Helper()
		var list corev1.PodList
		if err := r.List(t.Context(), &list); err != nil || len(list.Items) != want {
			t.Errorf("it lists %d pods, %v, want %d", len(list.Items), err, want)
		}
	}
	count(2)
	c.err = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errRefused)
	count(2)
	now := time.Now()
	a.Look(t.Context(), now)
	a.Look(t.Context(), now.Add(grace))
	count(1)
	c.err = errors.New("connection refused")
	a.Look(t.Context(), now.Add(2*grace))
	count(1)
	c.err = nil
	a.Look(t.Context(), now.Add(3*grace))
	count(2)
	c.err = errors.New("connection refused")
	var list corev1.PodList
	if err := r.List(t.Context(), &list); !errors.Is(err, c.err) {
		t.Errorf("of an unavailable API server, it lists %d pods, %v", len(list.Items), err)
	}
}

func TestLogNamesTheRemedyForAnUnreadableNamespace(t *testing.T) {
	now := metav1.Now()
	for want, objects := range map[string][]client.Object{
		"create it and upgrade the chart": nil,
		"creates the Role and":            {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}}},
		"remove the finalizers":           {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b", DeletionTimestamp: &now, Finalizers: []string{"x"}}}},
	} {
		var said []string
		c := &answering{fake.NewClientBuilder().WithObjects(objects...).Build(), apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errRefused)}
		a := NewAccess(Led{"b"}, c, funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{}), &corev1.PodList{})
		for i := range 3 {
			a.Look(t.Context(), now.Add(time.Duration(i)*grace))
		}
		if len(said) != 1 || !strings.Contains(said[0], want) || !strings.Contains(said[0], `"namespace"="b"`) {
			t.Errorf("it says %q, want %q once", said, want)
		}
		c.err = nil
		if a.Look(t.Context(), now.Add(4*grace)); len(said) != 2 || !strings.Contains(said[1], "can be read again") {
			t.Errorf("it says %q", said)
		}
	}
}
