package tries

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestAReportIsBegunByThreeOperators(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "large", UID: "a"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).WithStatusSubresource(run).Build()
	for operator := int32(1); operator <= most+1; operator++ {
		var tries Tries
		for range 2 { // An operator that tries again, since the store was away, has not ended over it.
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), run); err != nil {
				t.Fatal(err)
			}
			err := tries.Begin(t.Context(), c, run)
			if refused := operator > most; errors.Is(err, ErrTooMany) != refused || (err != nil) != refused {
				t.Errorf("operator %d: %v", operator, err)
			}
			if want := min(operator, most); run.Status.Report.Tries != want {
				t.Errorf("operator %d: %d tries are written, want %d", operator, run.Status.Report.Tries, want)
			}
		}
	}
}
