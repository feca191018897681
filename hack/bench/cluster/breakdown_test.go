package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestABreakdownSaysWhatTookHowLong(t *testing.T) {
	seen := map[string]time.Time{
		"a1": after(100 * time.Millisecond), "a2": after(300 * time.Millisecond), "b1": after(200 * time.Millisecond),
		"c1": after(10500 * time.Millisecond), "c2": after(10100 * time.Millisecond),
	}
	got := breakdown([]stretch{
		{from: instant, to: after(time.Second), stages: []stage{{"both", []string{"a1", "a2"}}, {"one", []string{"b1"}}}},
		{from: after(10 * time.Second), to: after(11 * time.Second), stages: []stage{{"both", []string{"c1", "c2"}}, {"one", []string{"never"}}}},
	}, seen)
	want := []row{
		{"one", 1, 200 * time.Millisecond, 200 * time.Millisecond},
		{"both", 2, 400 * time.Millisecond, 200 * time.Millisecond},
		{"first load", 2, time.Second, 600 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFactsOfObjects(t *testing.T) {
	now := metav1.Now()
	named := metav1.ObjectMeta{Name: "x"}
	tests := map[string]struct {
		kind   watch.EventType
		object client.Object
		want   []string
	}{
		"a pod that waits for a node": {watch.Added, &corev1.Pod{ObjectMeta: named}, []string{"pod x created"}},
		"a pod that runs": {
			watch.Modified, &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
			[]string{"pod x created", "pod x running", "pod x scheduled"},
		},
		"a pod that is gone": {
			watch.Deleted, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", DeletionTimestamp: &now}},
			[]string{"pod x created", "pod x deleting", "pod x gone"},
		},
		"Argo's agent pod is named like its workflow": {
			watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w-123-agent", Labels: map[string]string{workflowLabel: "w"}}},
			[]string{"agent w created"},
		},
		"a trial that was stored": {
			watch.Modified,
			&v1alpha1.Trial{ObjectMeta: named, Spec: v1alpha1.TrialSpec{Start: v1alpha1.StartReleased}, Status: v1alpha1.TrialStatus{
				StartTime: &metav1.MicroTime{}, CompletionTime: &metav1.MicroTime{},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionPrepared, Status: "True"}, {Type: v1alpha1.ConditionMeasured, Status: "Unknown"}},
			}},
			[]string{"trial x created", "trial x prepared", "trial x released", "trial x started", "trial x stored"},
		},
		"a run that has begun": {
			watch.Modified, &v1alpha1.BenchmarkRun{ObjectMeta: named, Status: v1alpha1.BenchmarkRunStatus{StartTime: &now}},
			[]string{"run x begun", "run x created"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := facts(tc.kind, tc.object)
			if diff := cmp.Diff(tc.want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJournalKeepsWhenAFactWasFirstSeen(t *testing.T) {
	j := newJournal()
	j.note(instant, []string{"trial a stored"})
	j.note(after(time.Second), []string{"trial a stored", "trial b stored", "pod c stored"})
	got, err := j.await(t.Context(), "trial a stored")
	if err != nil || !got.Equal(instant) {
		t.Errorf("got %s, %v; want %s", got, err, instant)
	}
	if seen, _ := j.seen(); count(seen, stored) != 2 {
		t.Errorf("%d trials are stored, want 2", count(seen, stored))
	}
}
