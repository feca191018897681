package index

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// indexed gives a client that is built the indexes of the operator's cache.
type indexed struct{ *fake.ClientBuilder }

func (b indexed) IndexField(_ context.Context, of client.Object, name string, values client.IndexerFunc) error {
	b.WithIndex(of, name, values)
	return nil
}

func run(name string, ended bool) *v1alpha1.BenchmarkRun {
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID("uid-of-" + name)}}
	if ended {
		r.Status.CompletionTime = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return r
}

func trial(namespace, name, of string, index int32, ended bool) *v1alpha1.Trial {
	t := &v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.LabelRunUID: "uid-of-" + of}}}
	t.Spec.Index = &index
	if ended {
		t.Status.CompletionTime = &metav1.MicroTime{Time: time.Unix(1, 0)}
	}
	return t
}

func names[T any](t *testing.T, items []T, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range items {
		list = append(list, any(&items[i]).(client.Object).GetName())
	}
	return list
}

func TestRunsAndTrialsAreFoundByTheirIndexes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		run("old", true), run("measures", false), run("waits", false),
		trial("a", "old-0", "old", 0, true),
		// Their names are not in the order of their turns.
		trial("a", "a-third", "measures", 2, false), trial("a", "b-second", "measures", 1, false), trial("a", "c-first", "measures", 0, true),
		trial("b", "elsewhere", "measures", 0, true),
	)
	if err := Index(t.Context(), indexed{builder}); err != nil {
		t.Fatal(err)
	}
	c := builder.Build()
	trials := func(found []v1alpha1.Trial, err error) []string { return names(t, found, err) }
	runs := func(found []v1alpha1.BenchmarkRun, err error) []string { return names(t, found, err) }
	for name, tc := range map[string]struct{ got, want []string }{
		"the trials of a run, in their order":  {trials(TrialsOf(t.Context(), c, "a", "uid-of-measures")), []string{"c-first", "b-second", "a-third"}},
		"no trials of a run that nobody knows": {trials(TrialsOf(t.Context(), c, "a", "uid-of-nobody")), nil},
		"the trials that have not ended":       {trials(OpenTrials(t.Context(), c)), []string{"a-third", "b-second"}},
		"the trials whose turn it is":          {trials(Turns(t.Context(), c)), []string{"b-second"}},
		"the runs that have not ended":         {runs(OpenRuns(t.Context(), c)), []string{"measures", "waits"}},
		"the run of a UID":                     {runs(RunOf(t.Context(), c, "uid-of-old")), []string{"old"}},
		"no run of an object of nobody's":      {runs(RunOf(t.Context(), c, "")), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
