package e2e

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// aSuite measures one server in one short cell and wants its requests to cost less CPU time than the parameter says.
func aSuite(t *testing.T) *v1alpha1.BenchmarkSuite {
	t.Helper()
	spec := small("").Spec
	spec.Implementations[0].Command = []string{"/usr/local/bin/gohttp", "--port=8080", "--burn=$(burn)"}
	spec.Blocks = 3
	spec.Objectives = []v1alpha1.Objective{{Metric: v1alpha1.ObjectiveServerCPUPerRequest, Max: "2000"}}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &v1alpha1.BenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Name: "checkout", Namespace: namespace},
		Spec: v1alpha1.BenchmarkSuiteSpec{
			Parameters: []v1alpha1.Parameter{{Name: "burn", Default: "0"}},
			Runs:       []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: text}}}},
			Triggers:   v1alpha1.Triggers{Change: v1alpha1.ChangeTrigger{Images: v1alpha1.ImagesAsWritten}},
		},
	}
}

// awaitRound waits until a round of a suite has ended, nothing is measured, and the suite's status is that of its spec.
func awaitRound(t *testing.T, suite *v1alpha1.BenchmarkSuite, round int32) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if err := loadstone.Client.Get(t.Context(), client.ObjectKeyFromObject(suite), suite); err != nil {
			t.Fatal(err)
		}
		c := meta.FindStatusCondition(suite.Status.Conditions, v1alpha1.ConditionReady)
		if suite.Status.LastRound.Round == round && suite.Status.Current.Round == 0 && c != nil && c.ObservedGeneration == suite.Generation {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("round %d has not ended: %+v", round, suite.Status)
		}
	}
}

// A change of the inputs is measured once, and makes the suite ready, or not where it costs too much; what was measured is not measured again.
func TestASuiteMeasuresEachChangeOnce(t *testing.T) {
	suite := aSuite(t)
	if err := loadstone.Client.Create(t.Context(), suite); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeSuite(t, suite) })
	disturbed := false
	expect := func(round int32, outcome v1alpha1.RoundOutcome, ready metav1.ConditionStatus) {
		t.Helper()
		awaitRound(t, suite, round)
		c := meta.FindStatusCondition(suite.Status.Conditions, v1alpha1.ConditionReady)
		t.Logf("round %d: %s: %+v", round, suite.Status.LastRound.Outcome, c)
		// What a suite becomes with inputs that were measured before follows from the round of these, too.
		disturbed = disturbed || suite.Status.LastRound.Outcome == v1alpha1.RoundInconclusive
		if !disturbed && (suite.Status.LastRound.Outcome != outcome || c.Status != ready) {
			t.Errorf("round %d ended as %s, and Ready is %s: want %s and %s: %s", round, suite.Status.LastRound.Outcome, c.Status, outcome, ready, c.Message)
		}
	}
	expect(1, v1alpha1.RoundPassed, metav1.ConditionTrue)
	change := func(burn string) {
		t.Helper()
		before := suite.DeepCopy()
		suite.Spec.Parameters[0].Default = burn
		if err := loadstone.Client.Patch(t.Context(), suite, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	change("5000000")
	expect(2, v1alpha1.RoundMissed, metav1.ConditionFalse)
	change("0")
	expect(2, v1alpha1.RoundMissed, metav1.ConditionTrue)
	var runs v1alpha1.BenchmarkRunList
	if err := loadstone.Client.List(t.Context(), &runs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelSuite: suite.Name}); err != nil || len(runs.Items) != 2 {
		t.Errorf("%d runs were made: %v", len(runs.Items), err)
	}
}

// removeSuite deletes a suite, with its runs.
func removeSuite(t *testing.T, suite *v1alpha1.BenchmarkSuite) {
	t.Helper()
	ctx := context.Background()
	var runs v1alpha1.BenchmarkRunList
	if err := loadstone.Client.List(ctx, &runs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelSuite: suite.Name}); err != nil {
		t.Error(err)
	}
	if err := loadstone.Client.Delete(ctx, suite); err != nil {
		t.Error(err)
	}
	for i := range runs.Items {
		leave(t, &runs.Items[i])
	}
}
