package kube

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestARunThatIsThereIsFollowedIfItMeasuresTheSame(t *testing.T) {
	for name, tc := range map[string]struct {
		there, asked v1alpha1.BenchmarkRunSpec
		followed     bool
	}{
		"it is the same":             {v1alpha1.BenchmarkRunSpec{Blocks: 7}, v1alpha1.BenchmarkRunSpec{Blocks: 7}, true},
		"it is another":              {v1alpha1.BenchmarkRunSpec{Blocks: 8}, v1alpha1.BenchmarkRunSpec{Blocks: 7}, false},
		"it was suspended since":     {v1alpha1.BenchmarkRunSpec{Suspend: new(true), Blocks: 7}, v1alpha1.BenchmarkRunSpec{Blocks: 7}, true},
		"it was resumed since":       {v1alpha1.BenchmarkRunSpec{Blocks: 7}, v1alpha1.BenchmarkRunSpec{Suspend: new(true), Blocks: 7}, true},
		"it is another, and resumed": {v1alpha1.BenchmarkRunSpec{Blocks: 8}, v1alpha1.BenchmarkRunSpec{Suspend: new(true), Blocks: 7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			of := func(spec v1alpha1.BenchmarkRunSpec) *v1alpha1.BenchmarkRun {
				return &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick"}, Spec: spec}
			}
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(of(tc.there)).Build()
			followed, err := Applier{Client: c}.Apply(t.Context(), of(tc.asked))
			if followed != tc.followed || (err == nil) != tc.followed {
				t.Errorf("it is followed: %v, %v; want %v", followed, err, tc.followed)
			}
		})
	}
}
