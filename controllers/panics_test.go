package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/base/util"
)

func panics[S any](context.Context, S) (reconciler.Step, error) { panic("index out of range") }

// driven is a pass over an object whose only phase panics.
func driven[O client.Object, S reconciler.Scope[O]](t *testing.T, object client.Object, s S) error {
	t.Helper()
	scheme := newScheme(t)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	_, err := reconciler.Drive(t.Context(), c, s, []reconciler.Phase[S]{panics[S]}, nil)
	return err
}

func TestOperatorFailureInRunDoesNotBlockQueue(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*runScope)
		ends   bool
	}{
		"before its turn":              {func(s *runScope) { s.run.Status.StartTime, s.trials = nil, nil }, true},
		"before it is planned":         {func(s *runScope) { s.plan = nil }, true},
		"while it measures":            {func(*runScope) {}, false},
		"after it has ended, for once": {func(s *runScope) { s.run.Status.CompletionTime = s.run.Status.StartTime }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := runScopeOf(t, tc.change)
			if err := driven(t, s.run, s); !errors.Is(err, util.ErrPanic) {
				t.Errorf("the pass ends with %v", err)
			}
			if (s.end != nil) != tc.ends {
				t.Fatalf("the run ends with %+v", s.end)
			}
			if tc.ends && (s.end.Reason != v1alpha1.ReasonOperatorFailed || !strings.Contains(s.end.Message, "index out of range")) {
				t.Errorf("the run ends with %+v", s.end)
			}
		})
	}
}

func TestOperatorFailureInTrialReleasesPods(t *testing.T) {
	s := scopeOf(later(0))
	s.trial.Status.Attempt, s.attempt, s.trial.Status.Failures = 3, 3, []string{"one", "two"}
	if err := driven(t, s.trial, s); !errors.Is(err, util.ErrPanic) {
		t.Errorf("the pass ends with %v", err)
	}
	if got := describe(s.fault); !strings.HasPrefix(got, "OperatorFailed transient: ") || !strings.Contains(got, "index out of range") {
		t.Errorf("the attempt ends with %s", got)
	}
	if st := trialStatus(s); st.CompletionTime == nil {
		t.Error("the last attempt has not ended")
	}
}
