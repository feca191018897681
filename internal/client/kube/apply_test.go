package kube

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestExistingEqualRunIsFollowed(t *testing.T) {
	spec := func(blocks int32, suspend *bool) v1alpha1.BenchmarkRunSpec {
		return v1alpha1.BenchmarkRunSpec{Blocks: blocks, Suspend: suspend}
	}
	for name, tc := range map[string]struct {
		there, asked v1alpha1.BenchmarkRunSpec
		followed     bool
		suspended    bool
		note         string
	}{
		"it is the same":                        {spec(7, nil), spec(7, nil), true, false, ""},
		"it is another":                         {spec(8, nil), spec(7, nil), false, false, ""},
		"it was suspended since":                {spec(7, new(true)), spec(7, nil), true, true, "set spec.suspend: false in the file to resume it"},
		"it was resumed since":                  {spec(7, nil), spec(7, new(true)), true, false, ""},
		"it is another, and resumed":            {spec(8, nil), spec(7, new(true)), false, false, ""},
		"it is suspended, as the file has it":   {spec(7, new(true)), spec(7, new(true)), true, true, ""},
		"the file resumes it":                   {spec(7, new(true)), spec(7, new(false)), true, false, "benchmarkrun bench/quick resumed"},
		"the file resumes what goes on":         {spec(7, new(false)), spec(7, new(false)), true, false, ""},
		"the file resumes it, and asks another": {spec(7, new(true)), spec(8, new(false)), false, true, ""},
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
			var notes string
			followed, err := Applier{Client: c, Note: func(text string) { notes += text }}.Apply(t.Context(), of(tc.asked))
			if followed != tc.followed || (err == nil) != tc.followed {
				t.Errorf("it is followed: %v, %v; want %v", followed, err, tc.followed)
			}
			if !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
				t.Errorf("it says %q", notes)
			}
			there, err := Run(t.Context(), c, client.ObjectKeyFromObject(of(tc.there)))
			if err != nil {
				t.Fatal(err)
			}
			if suspended := there.Spec.Suspend != nil && *there.Spec.Suspend; suspended != tc.suspended {
				t.Errorf("it is suspended: %v", suspended)
			}
		})
	}
}
