package cli

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
)

func TestSuiteRunRequestsRound(t *testing.T) {
	w := newCluster(t)
	if out, err := execute(t, "suite", "list"); err != nil || out != "no suites found\n" {
		t.Errorf("without a suite the list is %q, %v", out, err)
	}
	if _, err := execute(t, "suite", "run", "checkout"); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "there is no BenchmarkSuite "+w.namespace+"/checkout") {
		t.Errorf("a round of no suite ends with %v", err)
	}
	suspended := true
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
	s.Spec.Suspend = &suspended
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(`{}`)}}}}
	w.create(s)
	for i := range 2 {
		before := s.Annotations[v1alpha1.AnnotationRequestedAt]
		out, err := execute(t, "suite", "run", "checkout")
		if err != nil || !strings.Contains(out, "requested a round; it starts when spec.suspend is false") {
			t.Errorf("asking for a round prints %q, %v", out, err)
		}
		if err := w.c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		if now := s.Annotations[v1alpha1.AnnotationRequestedAt]; now == "" || now == before {
			t.Errorf("request %d has the value %q after %q", i, now, before)
		}
		if !slices.ContainsFunc(s.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "loadstone" }) {
			t.Errorf("request %d was written by %+v", i, s.ManagedFields)
		}
	}
	s.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObjectivesMissed, Message: "round 3: small: p99 +23 %", LastTransitionTime: metav1.Now(),
		ObservedGeneration: s.Generation,
	}}
	s.Status.LastRound = v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundMissed}
	if err := w.c.Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, "suite", "list")
	if err != nil || !strings.Contains(out, "False  ObjectivesMissed  -          3 Missed  round 3: small: p99 +23 %") {
		t.Errorf("the list is %s, %v", out, err)
	}
	out, err = execute(t, "suite", "list", "--all-namespaces", "--output", "json")
	var listed []screen.Suite
	if err != nil || json.Unmarshal([]byte(out), &listed) != nil || len(listed) != 1 || listed[0].Last.Round != 3 || listed[0].Namespace != w.namespace {
		t.Errorf("for programs the list is %s, %v", out, err)
	}
	if _, err := execute(t, "suite", "run", "checkout", "--wait", "1ms"); err == nil || status(err) != statusFailed || !strings.Contains(err.Error(), "did not end within 1ms") {
		t.Errorf("waiting for a round that does not begin ends with %v", err)
	}
}

func TestSuiteRunWaitExitCodes(t *testing.T) {
	for outcome, want := range map[v1alpha1.RoundOutcome]int{
		v1alpha1.RoundPassed: 0, v1alpha1.RoundMissed: statusMissed, v1alpha1.RoundInconclusive: statusInconclusive,
		v1alpha1.RoundFailed: statusFailed, v1alpha1.RoundReplaced: statusFailed, v1alpha1.RoundIncomplete: statusFailed,
	} {
		var out strings.Builder
		got, text := 0, ""
		if err := tellEnd(&out, textOutput, v1alpha1.SuiteRound{Round: 3, Outcome: outcome, Message: "small: p99 +23 %"}); err != nil {
			got, text = status(err), err.Error()
		}
		if said := out.String() + text; got != want || strings.TrimSpace(said) != "round 3: "+strings.ToLower(string(outcome))+": small: p99 +23 %" {
			t.Errorf("%s exits with %d and says %q", outcome, got, said)
		}
	}
}

// A pipeline that distinguishes exit codes gets the same ones with and without the store.
func TestMissingReportKeepsRoundExitCode(t *testing.T) {
	away := errors.New("the store is away")
	for name, tc := range map[string]struct {
		outcome v1alpha1.RoundOutcome
		err     error
		want    int
	}{
		"it is missed, and its report is here":         {v1alpha1.RoundMissed, nil, statusMissed},
		"it is missed, and the store is away":          {v1alpha1.RoundMissed, away, statusMissed},
		"it is inconclusive, and the store is away":    {v1alpha1.RoundInconclusive, away, statusInconclusive},
		"it has failed, and what was asked is no good": {v1alpha1.RoundFailed, badInput(away), statusFailed},
		"it has passed, and the store is away":         {v1alpha1.RoundPassed, away, statusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			err := withReport(tellEnd(io.Discard, textOutput, v1alpha1.SuiteRound{Round: 7, Outcome: tc.outcome}), tc.err)
			if got := status(err); got != tc.want {
				t.Errorf("it exits with %d, want %d", got, tc.want)
			}
			if tc.err != nil && !errors.Is(err, away) || tc.outcome != v1alpha1.RoundPassed && !strings.HasPrefix(err.Error(), "round 7: ") {
				t.Errorf("it says %v", err)
			}
		})
	}
	if err := withReport(nil, nil); err != nil {
		t.Errorf("what has passed ends with %v", err)
	}
}
