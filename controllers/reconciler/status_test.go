package reconciler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// observed is a client that knows a pod, and a pass over the pod as it is, which will write that it waits.
func observed(t *testing.T, funcs interceptor.Funcs) (client.WithWatch, *scope) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "a"}}
	c := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).WithInterceptorFuncs(funcs).Build()
	s := &scope{pod: &corev1.Pod{}, trouble: "it waits"}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), s.pod); err != nil {
		t.Fatal(err)
	}
	return c, s
}

// said is the message in the status of the pod, as it is stored.
func said(t *testing.T, c client.Client) string {
	t.Helper()
	var pod corev1.Pod
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "bench", Name: "a"}, &pod); err != nil {
		t.Fatal(err)
	}
	return pod.Status.Message
}

// A concurrent write is kept: the pass is repeated over it.
func TestAStatusThatFollowsFromSomethingOldIsNotWritten(t *testing.T) {
	c, s := observed(t, interceptor.Funcs{})
	newer := s.pod.DeepCopy()
	newer.Status.Message = "somebody else's"
	if err := c.Status().Update(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	told := 0
	phases := []Phase[*scope]{ends("first", Again(time.Minute), nil)}
	got, err := Drive(t.Context(), c, s, phases, func(_, _ *corev1.Pod) { told++ })
	if err != nil || got.RequeueAfter != afterConflict || told != 0 {
		t.Errorf("the pass ends with %+v, %v, and was told of %d times", got, err, told)
	}
	if message := said(t, c); message != "somebody else's" {
		t.Errorf("the status says %q", message)
	}
}

func TestAStatusThatCannotBeWrittenIsAnError(t *testing.T) {
	down := errors.New("etcd is down")
	refuse := func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		return down
	}
	c, s := observed(t, interceptor.Funcs{SubResourcePatch: refuse})
	told := 0
	if _, err := Drive(t.Context(), c, s, nil, func(_, _ *corev1.Pod) { told++ }); !errors.Is(err, down) || told != 0 {
		t.Errorf("the pass ends with %v, and was told of %d times", err, told)
	}
}

// A pass that has seen nothing new writes nothing: each write would wake everybody who watches the object.
func TestAStatusThatIsAsItWasIsNotWritten(t *testing.T) {
	writes := 0
	count := func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		writes++
		return nil
	}
	c, s := observed(t, interceptor.Funcs{SubResourcePatch: count})
	for trouble, want := range map[string]int{"": 0, "it waits": 1} {
		writes, s.trouble = 0, trouble
		got, err := Drive(t.Context(), c, s, []Phase[*scope]{ends("first", Again(time.Minute), nil)}, nil)
		if err != nil || writes != want || got.RequeueAfter != time.Minute {
			t.Errorf("of %q the pass writes %d times and ends with %+v, %v", trouble, writes, got, err)
		}
	}
}

func TestWhatAnAPIServerDoesNotDoAtTheMomentIsAskedForAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal error
		// refused is how many requests are refused, asked how many are made, and done whether the last is granted.
		refused, asked int
		done           bool
	}{
		"nothing is refused":                {nil, 0, 1, true},
		"one that fails inside":             {apierrors.NewInternalError(errors.New("etcd")), 1, 2, true},
		"too many, three times":             {apierrors.NewTooManyRequests("busy", 0), 3, 4, true},
		"one that is away for longer":       {apierrors.NewServiceUnavailable("away"), 9, 4, false},
		"in words of our own":               {fmt.Errorf("deleting pods: %w", apierrors.NewTimeoutError("slow", 1)), 1, 2, true},
		"somebody else was faster":          {apierrors.NewConflict(schema.GroupResource{}, "run", nil), 1, 1, false},
		"nobody may do it":                  {apierrors.NewForbidden(schema.GroupResource{}, "run", nil), 1, 1, false},
		"it is no longer there":             {apierrors.NewNotFound(schema.GroupResource{}, "run"), 1, 1, false},
		"the connection has not come about": {errors.New("connection refused"), 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			err := Insist(func() error {
				if asked++; asked <= tc.refused {
					return tc.refusal
				}
				return nil
			})
			if asked != tc.asked || (err == nil) != tc.done {
				t.Errorf("it was asked for %d times, and ends with %v", asked, err)
			}
		})
	}
}
