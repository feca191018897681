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

// aSuite measures some short runs in each round.
func aSuite(t *testing.T, name string, runs ...*v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkSuite {
	t.Helper()
	s := &v1alpha1.BenchmarkSuite{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkSuite"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
	}
	for _, run := range runs {
		text, err := json.Marshal(run.Spec)
		if err != nil {
			t.Fatal(err)
		}
		s.Spec.Runs = append(s.Spec.Runs, v1alpha1.SuiteRun{Name: run.Name, Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: text}}})
	}
	return s
}

func readSuite(t *testing.T, name string) *v1alpha1.BenchmarkSuite {
	t.Helper()
	s := &v1alpha1.BenchmarkSuite{}
	if err := loadstone.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// request requests a round, like loadstone suite run.
func request(t *testing.T, name, token string) {
	t.Helper()
	s := readSuite(t, name)
	before := s.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1alpha1.AnnotationRequestedAt, token)
	if err := loadstone.Client.Patch(t.Context(), s, client.MergeFrom(before), client.FieldOwner("loadstone")); err != nil {
		t.Fatal(err)
	}
}

// awaitRound waits until a round has ended, nothing measures, and the status is that of the current spec.
func awaitRound(t *testing.T, name string, round int32) *v1alpha1.BenchmarkSuite {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		s := &v1alpha1.BenchmarkSuite{}
		// The suite may not exist yet if it comes from Git.
		if err := loadstone.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
		if s.Status.LastRound.Round == round && s.Status.Current.Round == 0 && c != nil && c.ObservedGeneration == s.Generation {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("round %d has not ended: %+v", round, s.Status)
		}
	}
}

func runsOf(t *testing.T, suite *v1alpha1.BenchmarkSuite) []v1alpha1.BenchmarkRun {
	t.Helper()
	var runs v1alpha1.BenchmarkRunList
	if err := loadstone.Client.List(context.Background(), &runs, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(suite.UID)}); err != nil {
		t.Fatal(err)
	}
	return runs.Items
}

func removeSuite(t *testing.T, suite *v1alpha1.BenchmarkSuite) {
	t.Helper()
	runs := runsOf(t, suite)
	if err := loadstone.Client.Delete(context.Background(), suite); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	for i := range runs {
		leave(t, &runs[i])
	}
}
