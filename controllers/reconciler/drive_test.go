package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

// scope is a pass over a pod whose status holds what hinders it.
type scope struct {
	pod     *corev1.Pod
	went    []string
	trouble string
}

func (s *scope) Hindered(err error) { s.trouble = err.Error() }

func (s *scope) States() (before, after *corev1.Pod) {
	after = s.pod.DeepCopy()
	after.Status.Message = s.trouble
	return s.pod, after
}

func ends(name string, next Step, err error) Phase[*scope] {
	return func(_ context.Context, s *scope) (Step, error) {
		s.went = append(s.went, name)
		return next, err
	}
}

func count(plan map[string]int) { plan["x"]++ }

func TestAPassGoesThroughItsPhasesAsFarAsTheyLead(t *testing.T) {
	last := ends("last", Halt, nil)
	panics := func(context.Context, *scope) (Step, error) {
		count(nil)
		return GoOn, nil
	}
	for name, tc := range map[string]struct {
		phases []Phase[*scope]
		// went are the phases gone through, trouble the beginning of what the status says of an error, and after when the next pass is.
		went, trouble string
		after         time.Duration
	}{
		"all go on":                      {[]Phase[*scope]{ends("first", GoOn, nil), last}, "first last", "", 0},
		"one halts":                      {[]Phase[*scope]{ends("first", Halt, nil), last}, "first", "", 0},
		"one asks for another pass":      {[]Phase[*scope]{ends("first", Again(time.Second), nil), last}, "first", "", time.Second},
		"one asks for a pass in no time": {[]Phase[*scope]{ends("first", Again(-time.Second), nil), last}, "first", "", time.Millisecond},
		"one fails":                      {[]Phase[*scope]{ends("first", GoOn, errors.New("no room")), last}, "first", "no room", 0},
		"one was built on something old": {[]Phase[*scope]{ends("first", GoOn, apierrors.NewConflict(configMaps, "a", errors.New("old"))), last}, "first", "", afterConflict},
		"one panics":                     {[]Phase[*scope]{panics, last}, "", "a fault of Loadstone's own: assignment to entry in nil map at drive_test.go:", 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "a"}}
			c := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).Build()
			s := &scope{pod: &corev1.Pod{}}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), s.pod); err != nil {
				t.Fatal(err)
			}
			told := 0
			got, err := Drive(t.Context(), c, s, tc.phases, func(_, _ *corev1.Pod) { told++ })
			if strings.Join(s.went, " ") != tc.went || got.RequeueAfter != tc.after {
				t.Errorf("went through %q, the next pass after %s", s.went, got.RequeueAfter)
			}
			var stored corev1.Pod
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), &stored); err != nil {
				t.Fatal(err)
			}
			if (err != nil) != (tc.trouble != "") || !strings.HasPrefix(stored.Status.Message, tc.trouble) || (told > 0) != (tc.trouble != "") {
				t.Errorf("ends with %v, the status says %q and was told of %d times", err, stored.Status.Message, told)
			}
		})
	}
}

func TestAPassOverAnObjectThatHasGoneIsDoneAgain(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "a", ResourceVersion: "1"}}
	s := &scope{pod: pod, trouble: "it waits"}
	got, err := Drive(t.Context(), fake.NewClientBuilder().Build(), s, nil, nil)
	if err != nil || got.RequeueAfter != afterConflict {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSomeErrorsOnlyMeanThatThePassWasBuiltOnSomethingOld(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("writing: %w", apierrors.NewConflict(configMaps, "a", errors.New("old"))): true,
		fmt.Errorf("writing: %w", apierrors.NewNotFound(configMaps, "a")):                    true,
		apierrors.NewInternalError(errors.New("etcd")):                                       false,
		errors.New("no such object"):                                                         false,
	} {
		if Benign(err) != want {
			t.Errorf("%v is benign: %v", err, !want)
		}
	}
}
